"""Scopes, entries, configuration and settings over the API."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from memory.holders import ensure
from memory.models import Agent, Author, Entry, Judgement, Scope, Switches
from memory.prompts import KEY_LINE, with_memory
from openchamber.models import ApiToken
from tests.memory.conftest import changed_meanwhile
from tests.memory.test_tool import THREAT, break_scope, sqlite_only

pytestmark = pytest.mark.usefixtures("project")
BASE = "/api/projects/shop/agents/default/memory"


def patch(api: Client, path: str, body: dict[str, Any], **headers: str) -> Any:
    return api.patch(path, json.dumps(body), content_type="application/json", headers=headers)


def test_the_overview_lists_the_user_scope_first_with_counts_and_the_index_s_size(
    api: Client, write: Callable[..., Entry], workspace: Scope
) -> None:
    write("Uses make", scope=workspace)
    write("Release notes", THREAT)
    told = api.get(BASE).json()
    assert (told["enabled"], told["template_has_memory"]) == (True, False)
    user, project = told["scopes"]
    assert (user["key"], user["kind"], user["path"], user["count"], user["flagged"]) == ("user", "user", None, 1, 1)
    assert user["index"] == {"lines": 0, "characters": 0, "over_budget": False}
    assert (project["key"], project["path"], project["count"]) == (workspace.key, workspace.directory, 1)
    assert (project["index"]["lines"], project["label"]) == (1, "shop")


def test_a_scope_lists_entries_without_bodies_page_by_page(api: Client, write: Callable[..., Entry]) -> None:
    for number in range(3):
        write(f"Fact {number}")
    first = api.get(f"{BASE}/user", {"limit": 2}).json()
    assert [entry["title"] for entry in first["results"]] == ["Fact 2", "Fact 1"]
    assert "In every language" not in json.dumps(first)
    rest = api.get(f"{BASE}/user", {"limit": 2, "cursor": first["next"]}).json()
    assert ([entry["title"] for entry in rest["results"]], rest["next"]) == (["Fact 0"], None)


def test_one_entry_has_its_body_and_an_etag(api: Client, write: Callable[..., Entry]) -> None:
    entry = write("Prefers tabs")
    answer = api.get(f"{BASE}/user/prefers-tabs")
    assert answer.json()["body"] == "In every language."
    assert answer.json()["origin"] == {"session": "ses_1", "agent": "build", "client": "opencode"}
    assert answer.headers["ETag"] == f'"{entry.revision}"'


def test_deleting_and_bringing_back(api: Client, write: Callable[..., Entry]) -> None:
    write("Prefers tabs")
    assert api.delete(f"{BASE}/user/prefers-tabs").status_code == 204
    assert api.get(f"{BASE}/user/prefers-tabs").status_code == 404
    assert api.delete(f"{BASE}/user/prefers-tabs").status_code == 404
    assert api.post(f"{BASE}/user/prefers-tabs/undelete").json()["title"] == "Prefers tabs"
    api.delete(f"{BASE}/user/prefers-tabs")
    write("Prefers tabs", "Again.")
    assert api.post(f"{BASE}/user/prefers-tabs/undelete").status_code == 409


def test_a_change_sets_type_verdict_and_scope(api: Client, write: Callable[..., Entry], workspace: Scope) -> None:
    write("Release notes", THREAT)
    path = f"{BASE}/user/release-notes"
    assert patch(api, path, {"type": "reference"}).json()["type"] == "reference"
    judged = patch(api, path, {"verdict": "safe"}).json()
    assert (judged["flagged"], judged["verdict"]) == (False, "safe")
    unjudged = patch(api, path, {"verdict": None}).json()
    assert (unjudged["flagged"], unjudged["verdict"]) == (True, None)
    assert "displaced instructions" in {match["category"] for match in unjudged["matches"]}
    moved = patch(api, path, {"move_to": workspace.key}).json()
    assert moved["scope"] == workspace.key
    assert api.get(path).status_code == 404


def test_a_stale_change_is_refused_with_what_stands(api: Client, write: Callable[..., Entry], by: Author) -> None:
    entry = write("Prefers tabs")
    seen = entry.revision
    entry.edit(by=by, body="In Go.")
    answer = patch(api, f"{BASE}/user/prefers-tabs", {"type": "reference"}, **{"If-Match": f'"{seen}"'})
    assert (answer.status_code, answer.json()["current"]["body"]) == (412, "In Go.")
    assert (
        patch(api, f"{BASE}/user/prefers-tabs", {"type": "reference"}, **{"If-Match": entry.revision}).status_code
        == 200
    )


def test_only_what_was_seen_is_deleted(api: Client, write: Callable[..., Entry], by: Author) -> None:
    entry = write("Prefers tabs")
    seen = entry.revision
    entry.edit(by=by, body="In Go.")
    path = f"{BASE}/user/prefers-tabs"
    answer = api.delete(path, headers={"If-Match": f'"{seen}"'})
    assert (answer.status_code, answer.json()["current"]["body"]) == (412, "In Go.")
    assert api.delete(path, headers={"If-Match": f'"{seen}", "{entry.revision}"'}).status_code == 204


@pytest.mark.parametrize("text", ["a\x00b", "half \ud800"])
def test_a_prompt_that_cannot_be_stored_is_refused(api: Client, agent: Agent, text: str) -> None:
    for body in ({"system_prompt": text}, {"memory": {"prompt": text}}, {"memory": {"workspace_prompt": text}}):
        assert patch(api, "/api/agents/default/config", body).status_code == 422


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 422),
        ({"type": "rumour"}, 422),
        ({"type": None}, 422),
        ({"verdict": "maybe"}, 422),
        ({"move_to": ""}, 422),
        ({"move_to": None}, 422),
        ({"move_to": "user\0"}, 422),
        ({"move_to": "nowhere-12345678"}, 404),
        ({"approved": False}, 422),
        ({"approved": None}, 422),
    ],
)
def test_nonsense_changes_nothing(api: Client, write: Callable[..., Entry], body: dict[str, Any], status: int) -> None:
    entry = write("Prefers tabs")
    assert patch(api, f"{BASE}/user/prefers-tabs", body).status_code == status
    entry.refresh_from_db()
    assert entry.type == "fact"


@pytest.mark.parametrize("key", ["nowhere-12345678", "..", "%2e%2e", "USER", "user%2f..", ".workspace", "MEMORY.md"])
def test_a_key_that_is_no_scope_is_404(api: Client, on: None, project: Any, key: str) -> None:
    assert api.get(f"{BASE}/{key}").status_code == 404
    assert api.get(f"{BASE}/user/{key}").status_code == 404


def test_another_agent_has_scopes_of_its_own(api: Client, write: Callable[..., Entry], project: Any) -> None:
    write("Prefers tabs")
    Agent.objects.create(slug="reviewer", name="Reviewer")
    assert api.get("/api/projects/shop/agents/reviewer/memory/user").json()["results"] == []
    assert api.get("/api/projects/shop/agents/nobody/memory").status_code == 404


def test_a_stranger_s_project_and_scopes_of_other_projects_are_404(
    stranger: Any, member: Any, write: Callable[..., Entry], workspace: Scope, agent: Agent
) -> None:
    other = Scope.objects.create(agent=agent, key="other-12345678", kind="workspace", directory="/srv/other")
    for user, status in ((stranger, 404), (member, 200)):
        _token, secret = ApiToken.make(user=user, name="theirs")
        theirs = Client(headers={"Authorization": f"Bearer {secret}"})
        assert theirs.get(BASE).status_code == status
        assert theirs.get(f"{BASE}/{other.key}").status_code == 404
    assert [scope["key"] for scope in theirs.get(BASE).json()["scopes"]] == ["user", workspace.key]


@sqlite_only
def test_a_broken_scope_is_503_and_marked_in_the_overview(
    api: Client, write: Callable[..., Entry], user_scope: Scope, workspace: Scope
) -> None:
    write("Prefers tabs")
    break_scope(user_scope)
    assert api.get(f"{BASE}/user").json()["error"]["code"] == "scope_unavailable"
    assert [scope["unavailable"] for scope in api.get(BASE).json()["scopes"]] == [True, False]


@sqlite_only
def test_an_entry_that_cannot_be_read_is_503_however_it_is_asked_for(
    api: Client, panel: Client, write: Callable[..., Entry], user_scope: Scope
) -> None:
    entry = write("Prefers tabs")
    break_scope(user_scope)
    path = f"{BASE}/user/prefers-tabs"
    for answer in (
        api.get(path),
        api.delete(path),
        patch(api, path, {"type": "reference"}),
        api.post(f"{path}/undelete"),
    ):
        assert (answer.status_code, answer.json()["error"]["code"]) == (503, "scope_unavailable")
    for page in (entry.get_absolute_url(), f"{entry.get_absolute_url()}history/"):
        assert panel.get(page).status_code == 503


def test_of_several_changes_all_are_made_or_none(api: Client, write: Callable[..., Entry], workspace: Scope) -> None:
    write("Prefers tabs", scope=workspace)
    entry = write("Prefers tabs")
    body = {"type": "reference", "verdict": "safe", "move_to": workspace.key}
    assert patch(api, f"{BASE}/user/prefers-tabs", body).status_code == 409
    entry.refresh_from_db()
    assert (entry.type, entry.judgement, entry.history.count()) == ("fact", "", 1)
    assert not Judgement.objects.exists()


def test_what_somebody_else_changes_just_then_is_409_and_412_with_if_match(
    api: Client, write: Callable[..., Entry], by: Author
) -> None:
    entry = write("Prefers tabs")
    path = f"{BASE}/user/prefers-tabs"
    for headers, status in (({}, 409), ({"If-Match": entry.revision}, 412)):
        with changed_meanwhile(entry):
            answer = api.delete(path, headers=headers)
        assert (answer.status_code, answer.json()["current"]["title"]) == (status, "Prefers tabs")
        with changed_meanwhile(entry):
            assert patch(api, path, {"type": "reference"}, **headers).status_code == status
    with changed_meanwhile(entry, deleted_at=timezone.now()):
        assert api.delete(path).status_code == 404
    with changed_meanwhile(entry):
        body = {"action": "delete", "title": "Prefers tabs"}
        assert api.post("/api/memory/tool", json.dumps(body), content_type="application/json").status_code == 409
    entry.bin(by=by)
    with changed_meanwhile(entry, deleted_at=None):
        assert api.post(f"{path}/undelete").status_code == 409


def test_the_configuration_of_an_agent(api: Client, agent: Agent) -> None:
    path = "/api/agents/default/config"
    told = api.get(path).json()
    assert told["defaults"] == {"system_prompt": True, "prompt": True, "workspace_prompt": True}
    changed = patch(api, path, {"system_prompt": "# Environment", "memory": {"enabled": False, "prompt": ""}}).json()
    assert (changed["system_prompt"], changed["memory"]["enabled"]) == ("# Environment", False)
    assert changed["defaults"] == {"system_prompt": False, "prompt": False, "workspace_prompt": True}
    assert patch(api, path, {"memory": {"prompt": None}}).json()["defaults"]["prompt"] is True
    assert api.get("/api/agents/nobody/config").status_code == 404


def test_the_placeholder_is_put_into_a_template_once(api: Client, agent: Agent) -> None:
    assert api.post(f"{BASE}/template-placeholder").json()["template_has_memory"] is False
    agent.configure(system_prompt="You review.\n\n# Environment\n- CWD: {{CWD}}\n")
    for _twice in range(2):
        assert api.post(f"{BASE}/template-placeholder").json()["template_has_memory"] is True
        agent.refresh_from_db()
        assert agent.system_prompt == (
            "You review.\n\n{{MEMORY}}\n\n# Environment\n"
            "- Workspace Memory Key: {{WORKSPACE_MEMORY_KEY}}\n- CWD: {{CWD}}\n"
        )


@pytest.mark.parametrize(
    ("template", "filled"),
    [
        ("A\n# Environment", f"A\n{{{{MEMORY}}}}\n\n# Environment\n{KEY_LINE}"),
        ("A\n## Environment\nB", f"A\n{{{{MEMORY}}}}\n\n## Environment\n{KEY_LINE}\nB"),
        ("# Environment variables", f"# Environment variables\n\n{{{{MEMORY}}}}\n\n{KEY_LINE}\n"),
        ("{{ MEMORY }}", f"{{{{ MEMORY }}}}\n\n{{{{MEMORY}}}}\n\n{KEY_LINE}\n"),
        (" ", " "),
    ],
)
def test_where_the_placeholder_goes(template: str, filled: str) -> None:
    assert with_memory(template) == filled
    assert with_memory(filled) == filled


def test_the_settings_switch_memory(api: Client, off: None, member: Any) -> None:
    assert api.get("/api/settings").json() == {"memory_enabled": False}
    assert patch(api, "/api/settings", {"memory_enabled": True}).json() == {"memory_enabled": True}
    assert Switches.current().enabled
    _token, secret = ApiToken.make(user=member, name="theirs")
    theirs = Client(headers={"Authorization": f"Bearer {secret}"})
    assert patch(theirs, "/api/settings", {"memory_enabled": False}).status_code == 403


def test_search_finds_entries_beside_notes(api: Client, project: Any, write: Callable[..., Entry]) -> None:
    write("Prefers tabs", "Because of accessibility.")
    write("Release notes", f"{THREAT} accessibility")
    found = api.get("/api/search", {"q": "accessibility", "kind": "memory"}).json()["results"]
    assert {hit["title"]: "<mark>" in hit["snippet"] for hit in found} == {"Prefers tabs": True, "Release notes": False}
    Switches.change(enabled=False)
    assert api.get("/api/search", {"q": "accessibility", "kind": "memory"}).json()["results"] == []


def test_the_overview_costs_the_same_for_2_and_40_scopes(
    api: Client, agent: Agent, by: Author, count_queries: Callable[..., int]
) -> None:
    def fill(numbers: range) -> None:
        for number in numbers:
            scope = ensure(agent, f"d{number}-aaaaaaaa", f"/srv/d{number}")
            Entry.write(scope=scope, by=by, title="Uses make", body="For all.")

    fill(range(2))
    api.get(BASE)  # the first makes the user's scope
    two = count_queries(lambda: api.get(BASE))
    fill(range(2, 40))
    assert count_queries(lambda: api.get(BASE)) == two
    assert [scope["index"]["lines"] for scope in api.get(BASE).json()["scopes"]] == [0, *[1] * 40]


def test_no_entry_is_skipped_while_others_are_deleted_from_the_pages(api: Client, write: Callable[..., Entry]) -> None:
    for number in range(6):
        write(f"Fact {number}")
    seen: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        told = api.get(f"{BASE}/user", {"limit": 2, "cursor": cursor}).json()
        for entry in told["results"]:
            seen.append(entry["title"])
            api.delete(f"{BASE}/user/{entry['name']}")
        cursor = told["next"]
    assert seen == [f"Fact {number}" for number in (5, 4, 3, 2, 1, 0)]


def test_a_list_judges_what_an_older_scanner_saw(api: Client, write: Callable[..., Entry]) -> None:
    write("Release notes", THREAT)
    Entry.objects.update(scanned_with="0-old", flagged=False, matches=[])
    assert api.get(f"{BASE}/user").json()["results"][0]["flagged"] is True


def test_a_verdict_or_an_approval_that_was_not_seen_is_not_overlooked(
    api: Client, write: Callable[..., Entry], by: Author, owner: Any
) -> None:
    entry = write("Prefers tabs", awaiting=True)
    path = f"{BASE}/user/prefers-tabs"
    tags = [api.get(path).headers["ETag"]]
    for change in ({"approved": True}, {"verdict": "threat"}):
        answer = patch(api, path, change, **{"If-Match": tags[-1]})
        assert answer.status_code == 200
        tags.append(answer.headers["ETag"])
    assert tags == [f'"{entry.revision}-awaiting"', f'"{entry.revision}"', f'"{entry.revision}-threat"']
    for tag in tags[:2]:
        assert patch(api, path, {"verdict": "safe"}, **{"If-Match": tag}).status_code == 412
        assert api.delete(path, headers={"If-Match": tag}).status_code == 412
    assert patch(api, path, {"verdict": "safe"}, **{"If-Match": tags[-1]}).json()["verdict"] == "safe"


def test_of_two_verdicts_on_one_etag_the_second_is_refused(
    api: Client, write: Callable[..., Entry], monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = write("Prefers tabs")
    path = f"{BASE}/user/prefers-tabs"
    lock = Entry.lock

    def late(self: Entry, *scopes: int) -> None:
        """The other verdict was given after this one's caller read the entry, and before its turn came."""
        lock(self, *scopes)
        Entry.objects.filter(pk=entry.pk, judgement="").update(judgement="threat", flagged=True)

    monkeypatch.setattr(Entry, "lock", late)
    answer = patch(api, path, {"verdict": "safe"}, **{"If-Match": entry.revision})
    assert (answer.status_code, answer.json()["current"]["verdict"]) == (412, "threat")


def test_a_new_type_does_not_write_over_a_verdict_given_just_then(write: Callable[..., Entry], by: Author) -> None:
    entry = write("Prefers tabs")
    Entry.objects.filter(pk=entry.pk).update(judgement="threat", flagged=True)
    entry.edit(by=by, type="reference")
    entry.refresh_from_db()
    assert (entry.type, entry.judgement, entry.flagged) == ("reference", "threat", True)
