"""The Memory tab, an agent's entries, the review queue, switches and settings: plain and with htmx."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from memory.earlier import Kept, take_in
from memory.holders import ensure
from memory.models import Agent, Author, Entry, Scope, SeenMark, Switches
from memory.scopes import workspace_key
from openchamber.models import Project
from tests.memory.test_tool import THREAT, break_scope, sqlite_only

TAB = "/agents/default/memory/"


def entry_url(entry: Entry, act: str = "") -> str:
    return f"{TAB}{entry.pk}/{act}"


# ------------------------------------------------------------------------- the list


def test_the_tab_lists_by_scope_the_user_s_first(panel: Client, write: Callable[..., Entry], workspace: Scope) -> None:
    write("Uses make", scope=workspace)
    write("Prefers tabs")
    page = panel.get(TAB).content.decode()
    assert page.index("Prefers tabs") < page.index("Uses make")
    assert workspace.directory in page


def test_the_tab_finds_by_words(htmx: Client, write: Callable[..., Entry]) -> None:
    write("Prefers tabs", "Because of accessibility.")
    write("Uses make")
    answer = htmx.get(TAB, {"q": "accessib"}).content.decode()
    assert answer.lstrip().startswith("<section")
    assert "Prefers tabs" in answer
    assert "Uses make" not in answer


def test_the_tab_costs_the_same_for_2_and_200_entries(
    panel: Client, write: Callable[..., Entry], count_queries: Callable[..., int]
) -> None:
    for number in range(2):
        write(f"Fact {number}")
    two = count_queries(lambda: panel.get(TAB))
    for number in range(2, 200):
        write(f"Fact {number}")
    assert count_queries(lambda: panel.get(TAB)) == two


def test_a_scope_without_entries_says_what_to_do(panel: Client, on: None) -> None:
    assert "Tell the agent what to remember" in panel.get(TAB).content.decode()


@sqlite_only
def test_a_broken_scope_is_unavailable_and_the_other_is_listed(
    panel: Client, write: Callable[..., Entry], user_scope: Scope, workspace: Scope
) -> None:
    write("Prefers tabs")
    write("Uses make", scope=workspace)
    break_scope(user_scope)
    page = panel.get(TAB).content.decode()
    assert "cannot be read right now" in page
    assert "unavailable" in page
    assert "Uses make" in page


@sqlite_only
@pytest.mark.parametrize("show", ["recent", "flagged"])
def test_review_names_what_cannot_be_read_and_shows_the_rest(
    panel: Client, write: Callable[..., Entry], user_scope: Scope, workspace: Scope, show: str
) -> None:
    for scope in (user_scope, workspace):
        write("Prefers tabs", scope=scope)
        write("Orders", THREAT, scope=scope)
    break_scope(user_scope)
    page = panel.get(f"/memory/review/?show={show}").content.decode()
    assert "cannot be read right now" in page
    assert str(user_scope) in page
    assert page.count('<li class="entry"') == 1
    assert "Nothing waits here" not in page


def test_a_project_s_page_has_its_scope_and_what_is_about_the_user(
    panel: Client, project: Project, write: Callable[..., Entry], workspace: Scope, agent: Agent
) -> None:
    write("Prefers tabs")
    write("Uses make", scope=workspace)
    write("Elsewhere", scope=ensure(agent, workspace_key("/srv/other"), "/srv/other"))
    page = panel.get("/projects/shop/memory/").content.decode()
    assert "Prefers tabs" in page
    assert "Uses make" in page
    assert "Elsewhere" not in page


def test_a_member_sees_what_is_about_the_user_and_their_projects_alone(
    sign_in: Callable[..., Client], member: Any, write: Callable[..., Entry], workspace: Scope, agent: Agent
) -> None:
    write("Uses make", scope=workspace)
    theirs = write("Elsewhere", scope=ensure(agent, workspace_key("/srv/other"), "/srv/other"))
    browser = sign_in(member)
    page = browser.get(TAB).content.decode()
    assert "Uses make" in page
    assert "Elsewhere" not in page
    assert browser.get(entry_url(theirs)).status_code == 404
    assert browser.post(entry_url(theirs, "delete/")).status_code == 404


def test_an_unknown_agent_and_a_stranger_s_project_are_404(
    panel: Client, sign_in: Callable[..., Client], stranger: Any, project: Project, on: None
) -> None:
    assert panel.get("/agents/nobody/memory/").status_code == 404
    assert sign_in(stranger).get("/projects/shop/memory/").status_code == 404


# ------------------------------------------------------------------------- badges


def test_badges_are_each_user_s_own_and_kept_on_the_server(
    panel: Client, sign_in: Callable[..., Client], member: Any, owner: Any, write: Callable[..., Entry], by: Author
) -> None:
    entry = write("Prefers tabs")
    assert 'data-state="new">new' in panel.get(TAB).content.decode()
    scopes = str(entry.scope_id)
    assert panel.post(f"{TAB}seen/", {"until": timezone.now().isoformat(), "scopes": scopes}).status_code == 302
    assert 'data-state="new">new' not in panel.get(TAB).content.decode()
    assert 'data-state="new">new' in sign_in(member).get(TAB).content.decode()
    entry.edit(by=by, body="In every project.")
    assert ">changed</span>" in panel.get(TAB).content.decode()


def test_old_entries_that_are_taken_in_are_new_to_who_looked_before(
    panel: Client, write: Callable[..., Entry], user_scope: Scope
) -> None:
    write("Prefers tabs")
    panel.post(f"{TAB}seen/", {"until": timezone.now().isoformat(), "scopes": str(user_scope.pk)})
    long_ago = timezone.now() - timedelta(days=400)
    take_in(user_scope, [Kept("Uses make", "Always.", "fact", session="", created_at=long_ago, updated_at=long_ago)])
    page = panel.get(TAB).content.decode()
    assert page.count('data-state="new">new') == 1
    panel.post(f"{TAB}seen/", {"until": timezone.now().isoformat(), "scopes": str(user_scope.pk)})
    assert 'data-state="new">new' not in panel.get(TAB).content.decode()


def test_a_seen_mark_never_moves_back_nor_into_the_future(htmx: Client, owner: Any, user_scope: Scope) -> None:
    now = timezone.now()
    for until in (now, now - timedelta(days=1), now + timedelta(days=1)):
        answer = htmx.post(f"{TAB}seen/", {"until": until.isoformat(), "scopes": str(user_scope.pk)})
        assert answer.status_code == 204
        assert now <= SeenMark.of(owner)[user_scope.pk] <= timezone.now()


def test_nonsense_is_no_seen_mark(htmx: Client, on: None) -> None:
    assert htmx.post(f"{TAB}seen/", {"until": "soon", "scopes": "1,x"}).status_code == 422


# ------------------------------------------------------------------------- review and switches


def test_the_review_queue_has_what_somebody_should_look_at(panel: Client, htmx: Client, write: Any) -> None:
    write("Release notes", THREAT)
    write("Held", awaiting=True)
    write("Prefers tabs")
    assert "Release notes" in panel.get("/memory/review/").content.decode()
    assert "Held" in htmx.get("/memory/review/?show=awaiting").content.decode()
    assert "Nothing waits" in panel.get("/memory/review/?show=conflicting").content.decode()
    assert "Prefers tabs" in panel.get("/memory/review/?show=recent").content.decode()


def test_review_belongs_to_the_agents_and_says_how_much_waits(panel: Client, write: Any) -> None:
    write("Release notes", THREAT)
    write("Prefers tabs")
    page = panel.get("/memory/review/").content.decode()
    assert '<a href="/agents/" aria-current="page">Agents</a>' in page
    assert 'Review <span class="count">1</span>' in page
    panel.post(entry_url(Entry.objects.get(title="Release notes"), "judge/"), {"verdict": "threat"})
    assert 'Review <span class="count">0</span>' in panel.get(TAB).content.decode()


def test_the_list_says_how_a_text_begins_where_nothing_describes_it(panel: Client, write: Any) -> None:
    write("Uses make", "\n  Because of\u200b the Makefile.\nAnd more.")
    page = panel.get(TAB).content.decode()
    assert '<span class="meta">Because of⟨U+200B⟩ the Makefile.</span>' in page


def test_a_project_s_section_counts_what_its_page_shows(panel: Client, write: Any, workspace: Scope) -> None:
    write("Uses make", scope=workspace)
    write("Prefers tabs")
    project = Project.objects.get(directory=workspace.directory)
    page = panel.get(f"/projects/{project.slug}/memory/").content.decode()
    assert "2 entries" in page
    assert 'Memory <span class="count">2</span>' in page


def test_the_review_queue_costs_the_same_for_2_and_200(
    panel: Client, write: Any, count_queries: Callable[..., int]
) -> None:
    for number in range(2):
        write(f"Notes {number}", f"{THREAT} {number}")
    two = count_queries(lambda: panel.get("/memory/review/?show=flagged"))
    for number in range(2, 200):
        write(f"Notes {number}", f"{THREAT} {number}")
    assert count_queries(lambda: panel.get("/memory/review/?show=flagged")) == two


def test_the_switch_of_an_agent_writes_the_wanted_state(panel: Client, htmx: Client, agent: Agent) -> None:
    panel.post(f"{TAB}switch/", {})
    agent.refresh_from_db()
    assert not agent.memory_enabled
    answer = htmx.post(f"{TAB}switch/", {"on": "on"}).content.decode()
    assert "Memory is on" in answer
    assert answer.lstrip().startswith("<form")
    agent.refresh_from_db()
    assert agent.memory_enabled


def test_the_settings_row_switches_memory_and_its_limits(panel: Client, htmx: Client, off: None) -> None:
    assert "memory-switches" in panel.get("/settings/").content.decode()
    fields = {"enabled": "on", "user_limit": "70", "workspace_limit": "250"}
    assert panel.post("/memory/switches/", fields).status_code == 302
    assert (Switches.current().enabled, Switches.current().limit("user")) == (True, 70)
    assert htmx.post("/memory/switches/", {**fields, "user_limit": "0"}).status_code == 422
    assert Switches.current().limit("user") == 70


def test_only_staff_may_set_switches_and_add_agents(sign_in: Callable[..., Client], member: Any) -> None:
    browser = sign_in(member)
    assert "memory-switches" not in browser.get("/settings/").content.decode()
    assert browser.post("/memory/switches/", {"enabled": "on"}).status_code == 403
    assert browser.post("/agents/", {"slug": "mine", "name": "Mine"}).status_code == 403


def test_an_agent_is_added_with_its_user_scope(panel: Client, on: None) -> None:
    assert panel.post("/agents/", {"slug": "reviewer", "name": "Reviewer"}).status_code == 302
    assert Agent.objects.get(slug="reviewer").scopes.get().key == "user"
    assert panel.post("/agents/", {"slug": "reviewer", "name": "Again"}).status_code == 422
    assert "Reviewer" in panel.get("/agents/").content.decode()


def test_what_was_kept_below_a_new_project_can_be_moved_there(
    panel: Client, project: Project, agent: Agent, by: Author
) -> None:
    path = f"{project.directory}/api"
    scope = ensure(agent, workspace_key(path), path)
    Entry.write(scope=scope, by=by, title="Port 8080", body="For the API.")
    assert "Move it to the project" in panel.get("/projects/shop/memory/").content.decode()
    assert panel.post(f"/projects/shop/memory/gather/{scope.pk}/").status_code == 302
    assert Entry.objects.get().scope.directory == project.directory
    assert panel.post("/projects/shop/memory/gather/999/").status_code == 404


def test_the_menu_leads_to_the_agents_and_the_section_to_the_project_s_memory(
    panel: Client, project: Project, on: None
) -> None:
    page = panel.get("/projects/shop/notes/").content.decode()
    assert 'href="/agents/"' in page
    assert 'href="/projects/shop/memory/"' in page


def test_acts_need_post(panel: Client, write: Any) -> None:
    entry = write("Prefers tabs")
    for act in ("judge/", "approve/", "settle/", "delete/", "undelete/", "move/"):
        assert panel.get(entry_url(entry, act)).status_code == 405
