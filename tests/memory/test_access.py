"""Who may ask what of agents' memory: members, strangers, and tokens of each kind."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from memory.holders import Holder
from memory.models import Agent, Author, Entry, Switches
from openchamber.models import ApiToken, Project

Program = Callable[..., Client]


@pytest.fixture
def program(db: None) -> Program:
    """Make a program of a user's: `program(user, scope="agent", projects=[project])`."""

    def make(user: Any, *, scope: str = "all", projects: Any = ()) -> Client:
        _token, secret = ApiToken.make(user=user, name="theirs", scope=scope, projects=list(projects))
        return Client(headers={"Authorization": f"Bearer {secret}"})

    return make


@pytest.fixture
def outside(tmp_path: Path, on: None) -> str:
    """A directory outside all projects, about which the default agent keeps something."""
    path = tmp_path.resolve() / "private"
    path.mkdir()
    scope = Holder.of("", str(path)).scope("workspace")
    assert scope
    Entry.write(scope=scope, by=Author("tool"), title="Salary", body="It is secret.")  # type: ignore[arg-type]
    return str(path)


def tool(client: Client, action: str, **fields: str) -> Any:
    return client.post("/api/memory/tool", json.dumps({"action": action, **fields}), content_type="application/json")


# ------------------------------------------------------------------------- the tool


@pytest.mark.parametrize("scope", ["all", "agent"])
def test_what_belongs_to_no_project_is_the_owner_s_alone(
    program: Program, owner: Any, member: Any, stranger: Any, project: Project, outside: str, scope: str
) -> None:
    others = [
        program(member, scope=scope),
        program(stranger, scope=scope),
        program(member, scope=scope, projects=[project]),
        program(owner, scope=scope, projects=[project]),
    ]
    for client in others:
        assert tool(client, "list", directory=outside).status_code == 403
        assert tool(client, "read", directory=outside, title="Salary").status_code == 403
        assert tool(client, "delete", directory=outside, title="Salary").status_code == 403
        assert tool(client, "save", directory=outside, title="x", body="y", scope="workspace").status_code == 403
    assert Entry.objects.live().get().title == "Salary"
    assert "Salary" in tool(program(owner, scope=scope), "list", directory=outside).json()["text"]


def test_a_session_s_directory_outside_all_projects_is_no_way_round(
    program: Program, owner: Any, member: Any, stranger: Any, outside: str
) -> None:
    from openchamber.models import Session

    Session.objects.create(pk="ses_private", directory=outside)
    assert tool(program(member), "list", session="ses_private").status_code == 403
    assert tool(program(stranger), "list", session="ses_private").status_code == 403
    assert "Salary" in tool(program(owner), "list", session="ses_private").json()["text"]


def test_without_a_directory_there_is_what_is_about_the_user_for_whoever_has_a_project(
    program: Program, owner: Any, member: Any, stranger: Any, project: Project, write: Callable[..., Entry]
) -> None:
    write("Prefers tabs")
    gone = Project.objects.create(name="Gone", slug="gone", directory="/srv/gone")
    without = program(owner, projects=[gone])
    gone.delete()
    for client in (program(owner), program(member), program(owner, scope="agent", projects=[project])):
        assert [entry["title"] for entry in tool(client, "list").json()["entries"]] == ["Prefers tabs"]
    for client in (program(stranger), without):
        assert tool(client, "list").status_code == 403
        assert tool(client, "delete", title="Prefers tabs").status_code == 403
    assert Entry.objects.live().count() == 1


# ------------------------------------------------------------------------- pages


def test_whoever_has_no_project_sees_nothing_of_what_is_about_the_user(
    sign_in: Callable[..., Client], stranger: Any, write: Callable[..., Entry]
) -> None:
    entry = write("Prefers tabs")
    browser = sign_in(stranger)
    for page in ("/agents/default/memory/", "/memory/review/?show=recent", "/agents/"):
        answer = browser.get(page)
        assert answer.status_code == 200
        assert "Prefers tabs" not in answer.content.decode()
        assert "1 memory" not in answer.content.decode()
    assert browser.get(entry.get_absolute_url()).status_code == 404
    assert browser.post(f"{entry.get_absolute_url()}delete/").status_code == 404


# ------------------------------------------------------------------------- what every session is told


def test_what_every_session_is_told_is_for_staff_and_unbound_tokens(
    program: Program, owner: Any, member: Any, project: Project, agent: Agent
) -> None:
    agent.configure(system_prompt="You review.")
    for client in (program(member), program(member, projects=[project]), program(owner, projects=[project])):
        for path, body in (
            ("/api/agents/default/config", {"system_prompt": "Obey me."}),
            ("/api/settings", {"memory_enabled": False}),
        ):
            assert client.patch(path, json.dumps(body), content_type="application/json").status_code == 403
        assert client.post("/api/projects/shop/agents/default/memory/template-placeholder").status_code == 403
    agent.refresh_from_db()
    assert (agent.system_prompt, agent.memory_enabled, Switches.current().enabled) == ("You review.", True, True)


@pytest.mark.parametrize("as_htmx", [False, True])
def test_a_member_cannot_switch_an_agent_s_memory(
    sign_in: Callable[..., Client], member: Any, agent: Agent, as_htmx: bool
) -> None:
    browser = sign_in(member, htmx=as_htmx)
    assert browser.post("/agents/default/memory/switch/").status_code == 403
    agent.refresh_from_db()
    assert agent.memory_enabled
    assert " disabled" in sign_in(member).get("/agents/default/memory/").content.decode()
