"""Who may ask what of agents' memory: members, strangers, and tokens of each kind."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import resolve

from memory.holders import Holder
from memory.models import Agent, Author, Entry, Scope, Switches
from memory.urls import urlpatterns
from openchamber.api import api
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


# ------------------------------------------------------------------------- every route, every caller

SHOP = "/api/projects/shop/agents/default/memory"
# What each kind of caller gets; a change is asked for with a body that is refused (422) by whoever may ask at all.
ROUTES = {
    ("GET", SHOP): "project",
    ("GET", f"{SHOP}/user"): "project",
    ("GET", f"{SHOP}/{{shop}}"): "project",
    ("GET", f"{SHOP}/{{outside}}"): "own",
    ("GET", f"{SHOP}/user/prefers-tabs"): "project",
    ("PATCH", f"{SHOP}/user/prefers-tabs"): "project",
    ("PATCH", f"{SHOP}/{{outside}}/salary"): "own",
    ("DELETE", f"{SHOP}/user/gone"): "absent",
    ("DELETE", f"{SHOP}/{{outside}}/gone"): "absent",
    ("POST", f"{SHOP}/user/gone/undelete"): "absent",
    ("POST", f"{SHOP}/{{outside}}/salary/undelete"): "own",
    ("POST", f"{SHOP}/template-placeholder"): "staff of the project",
    ("GET", "/api/agents/default/config"): "anybody",
    ("PATCH", "/api/agents/default/config"): "staff",
    ("GET", "/api/settings"): "anybody",
    ("PATCH", "/api/settings"): "staff",
    ("POST", "/api/memory/tool"): "tool",
}
OWNER, OF_SHOP, ELSEWHERE, AGENT, NOBODY = "owner", "of shop", "elsewhere", "agent", "nobody"
STATUSES = {
    #                       owner's, a member's,  a stranger's, agent's, nobody's
    "project": {OWNER: 200, OF_SHOP: 200, ELSEWHERE: 404, AGENT: 403, NOBODY: 401},
    "own": {OWNER: 200, OF_SHOP: 404, ELSEWHERE: 404, AGENT: 403, NOBODY: 401},
    "absent": {OWNER: 404, OF_SHOP: 404, ELSEWHERE: 404, AGENT: 403, NOBODY: 401},
    "staff of the project": {OWNER: 200, OF_SHOP: 403, ELSEWHERE: 404, AGENT: 403, NOBODY: 401},
    "staff": {OWNER: 200, OF_SHOP: 403, ELSEWHERE: 403, AGENT: 403, NOBODY: 401},
    "anybody": {OWNER: 200, OF_SHOP: 200, ELSEWHERE: 200, AGENT: 403, NOBODY: 401},
    "tool": {OWNER: 200, OF_SHOP: 200, ELSEWHERE: 403, AGENT: 200, NOBODY: 401},
}


@pytest.fixture
def callers(program: Program, owner: Any, member: Any, stranger: Any, project: Project) -> list[tuple[str, Client]]:
    """Programs of every kind, each with what it is to the project Shop."""
    other = Project.objects.create(name="Other", slug="other", directory="/srv/other")
    return [
        (OWNER, program(owner)),
        (OF_SHOP, program(owner, projects=[project])),
        (OF_SHOP, program(member)),
        (OF_SHOP, program(member, projects=[project])),
        (ELSEWHERE, program(owner, projects=[other])),
        (ELSEWHERE, program(stranger)),
        (AGENT, program(owner, scope="agent")),
        (AGENT, program(member, scope="agent", projects=[project])),
        (NOBODY, Client()),
    ]


def asked(client: Client, method: str, path: str, project: Project) -> int:
    """The status of a call of a route."""
    bodies: dict[str, dict[str, Any]] = {
        "/api/memory/tool": {"action": "list", "directory": project.directory},
        "/api/settings": {"memory_enabled": True},
    }
    body = bodies.get(path, {} if path.endswith("config") else {"type": "fact"})
    content = {} if method == "GET" else {"data": json.dumps(body), "content_type": "application/json"}
    return client.generic(method, path, **content).status_code


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_every_route_answers_every_kind_of_caller_by_the_rules(
    callers: list[tuple[str, Client]],
    write: Callable[..., Entry],
    workspace: Scope,
    outside: str,
    project: Project,
    method: str,
    path: str,
) -> None:
    write("Prefers tabs")
    keys = {"shop": workspace.key, "outside": Scope.objects.get(directory=outside).key}
    expected = STATUSES[ROUTES[method, path]]
    for kind, client in callers:
        assert (kind, asked(client, method, path.format(**keys), project)) == (kind, expected[kind])


def test_no_route_is_missing_from_the_table() -> None:
    words = ("/memory", "/agents/", "/api/settings")
    paths = {path: of for path, of in api.get_openapi_schema()["paths"].items() if any(word in path for word in words)}
    known = {(method.upper(), path.replace("{", "<").replace("}", ">")) for path in paths for method in paths[path]}
    assert {(method, f"/{resolve(path.format(shop='s', outside='o')).route}") for method, path in ROUTES} == known


# ------------------------------------------------------------------------- every page, every user

TAB = "/agents/default/memory"
# What the owner, a member of Shop and a member of nothing get. {user} and {outside} are entries.
PAGES = {
    ("GET", "/agents/"): (200, 200, 200),
    ("POST", "/agents/"): (422, 403, 403),
    ("GET", f"{TAB}/"): (200, 200, 200),
    ("POST", f"{TAB}/switch/"): (302, 403, 403),
    ("POST", f"{TAB}/seen/"): (422, 422, 422),
    ("GET", "/memory/review/"): (200, 200, 200),
    ("GET", "/memory/pulse/"): (200, 200, 200),
    ("POST", "/memory/switches/"): (422, 403, 403),
    ("GET", "/projects/shop/memory/"): (200, 200, 404),
    ("POST", "/projects/shop/memory/gather/99/"): (404, 404, 404),
    ("GET", f"{TAB}/{{user}}/"): (200, 200, 404),
    ("GET", f"{TAB}/{{user}}/history/"): (200, 200, 404),
    ("GET", f"{TAB}/{{outside}}/"): (200, 404, 404),
    ("GET", f"{TAB}/{{outside}}/history/"): (200, 404, 404),
    ("POST", f"{TAB}/{{outside}}/history/{{version}}/restore/"): (302, 404, 404),
    ("POST", f"{TAB}/{{outside}}/move/"): (422, 404, 404),
    **{("POST", f"{TAB}/{{user}}/{act}/"): (302, 302, 404) for act in ("judge", "approve", "settle", "delete")},
    **{("POST", f"{TAB}/{{outside}}/{act}/"): (302, 404, 404) for act in ("judge", "approve", "settle", "delete")},
    ("POST", f"{TAB}/{{outside}}/undelete/"): (302, 404, 404),
}


@pytest.mark.parametrize(("method", "path"), PAGES)
def test_every_page_answers_every_kind_of_user_by_the_rules(
    sign_in: Callable[..., Client],
    owner: Any,
    member: Any,
    stranger: Any,
    write: Callable[..., Entry],
    outside: str,
    method: str,
    path: str,
) -> None:
    private = Entry.objects.get()
    keys = {"user": write("Prefers tabs").pk, "outside": private.pk, "version": private.history.get().pk}
    address = path.format(**keys)
    # The owner last: what they do to an entry must not be why others are refused.
    answers = [sign_in(user).generic(method, address).status_code for user in (stranger, member, owner)]
    assert tuple(reversed(answers)) == PAGES[method, path]
    assert Client().generic(method, address).status_code == 302


def test_no_page_is_missing_from_the_table() -> None:
    told = {resolve(path.format(user=1, outside=1, version=1)).url_name for _method, path in PAGES}
    assert told == {pattern.name for pattern in urlpatterns}
