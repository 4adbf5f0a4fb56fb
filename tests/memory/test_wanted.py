"""Index lines: what a session is told of memory, when it is told no more, and what that costs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from memory.holders import Holder, ensure, user_scope
from memory.models import Agent, Author, Detachment, Entry, Scope, Switches
from memory.wanted import detached_entries, index_items, is_offered, memory_version
from openchamber.models import Project, Session
from openchamber.sessions import assembly
from openchamber.signals import choice_made, session_started
from tests.memory.test_tool import THREAT, break_scope, sqlite_only


@pytest.fixture
def session(project: Project) -> Session:
    """A session in the project."""
    return Session.objects.create(id="ses_1", project=project, directory=project.directory)


def told(session: Session, agent: str = "build") -> list[str]:
    items, failures = index_items(project=session.project, session=session, agent=agent)
    assert failures == []
    return [item.title for item in items]


def test_a_session_is_told_titles_and_types_under_two_headings(
    write: Callable[..., Entry], workspace: Scope, session: Session
) -> None:
    entry = write("Prefers tabs", "A secret of bodies.", type="preference")
    write("Uses make", "Another body.", scope=workspace)
    items, _failures = index_items(project=session.project, session=session, agent="build")
    first, second = items
    assert (first.key, first.text) == (f"memory:default:user:{entry.pk}", "Prefers tabs (preference)")
    assert first.group.startswith("About the user")
    assert second.group.startswith("About this project")
    assert {item.kind for item in items} == {"index"}
    assert "search" in first.reads
    assert "body" not in "".join(item.text for item in items).lower()


def test_a_flagged_one_and_one_that_waits_are_no_items(write: Callable[..., Entry], session: Session) -> None:
    write("Prefers tabs")
    write("Release notes", THREAT)
    write("New", awaiting=True)
    assert told(session) == ["Prefers tabs"]


def test_an_older_scanner_s_verdict_is_not_trusted(write: Callable[..., Entry], session: Session) -> None:
    entry = write("Release notes", "All is well.")
    Entry.objects.filter(pk=entry.pk).update(scanned_with="0-old", body=THREAT)
    assert told(session) == []
    entry.refresh_from_db()
    assert entry.flagged


def test_a_text_that_was_changed_behind_our_back_is_judged_anew(write: Callable[..., Entry], session: Session) -> None:
    entry = write("Release notes", "All is well.")
    with connection.cursor() as cursor:
        cursor.execute("UPDATE memory_entry SET body = %s WHERE id = %s", [THREAT, entry.pk])
    assert told(session) == []


def test_switched_off_nothing_is_wanted(write: Callable[..., Entry], agent: Agent, session: Session) -> None:
    write("Prefers tabs")
    Switches.change(enabled=False)
    assert told(session) == []
    Switches.change(enabled=True)
    agent.switch_memory(on=False)
    assert told(session) == []
    agent.switch_memory(on=True)
    assert told(session) == ["Prefers tabs"]


def test_the_tool_is_offered_exactly_while_memory_is_on(agent: Agent, project: Project) -> None:
    assert is_offered(project.directory, "build")
    agent.switch_memory(on=False)
    assert not is_offered(project.directory, "build")
    agent.switch_memory(on=True)
    Switches.change(enabled=False)
    assert not is_offered(project.directory, "build")


def test_an_agent_with_a_row_is_told_its_own(write: Callable[..., Entry], session: Session, by: Author) -> None:
    write("Prefers tabs")
    reviewer = Agent.objects.create(slug="reviewer", name="Reviewer")
    entry = Entry.write(scope=user_scope(reviewer), by=by, title="Reviews early", body="At nine.")
    items, _failures = index_items(project=session.project, session=session, agent="reviewer")
    assert [item.key for item in items] == [f"memory:reviewer:user:{entry.pk}"]


def test_an_agent_with_a_template_gets_no_items(write: Callable[..., Entry], agent: Agent, session: Session) -> None:
    write("Prefers tabs")
    agent.configure(system_prompt="# Environment\n")
    assert told(session) == []


@sqlite_only
def test_a_broken_scope_is_a_failure_of_its_name_and_the_other_still_travels(
    write: Callable[..., Entry], user_scope: Scope, workspace: Scope, session: Session
) -> None:
    write("Prefers tabs")
    write("Uses make", scope=workspace)
    break_scope(user_scope)
    items, failures = index_items(project=session.project, session=session, agent="build")
    assert failures == ["memory:default:user"]
    assert [item.title for item in items] == ["Uses make"]
    found = assembly.wanted(session, "build")
    assert "memory:default:user" in found.failures


def test_as_many_queries_for_two_entries_as_for_twenty(
    write: Callable[..., Entry], session: Session, count_queries: Callable[..., int]
) -> None:
    def ask() -> None:
        index_items(project=session.project, session=session, agent="build")

    for number in range(2):
        write(f"Fact {number}")
    two = count_queries(ask)
    for number in range(2, 20):
        write(f"Fact {number}")
    assert count_queries(ask) == two <= 5


def test_the_version_changes_with_all_that_changes_the_answer(
    write: Callable[..., Entry], agent: Agent, session: Session, by: Author
) -> None:
    seen = set()

    def version() -> str:
        return memory_version(project=session.project, session=session, agent="build")

    entry = write("Prefers tabs")
    acts: list[Callable[[], Any]] = [
        lambda: entry.edit(by=by, title="Prefers spaces"),
        lambda: entry.judge("threat", by=None, through=by),
        lambda: entry.judge("", by=None, through=by),
        lambda: entry.bin(by=by),
        lambda: entry.undelete(by=by),
        lambda: Detachment.choose(session.pk, entry, attached=False),
        lambda: agent.switch_memory(on=False),
        lambda: Switches.change(enabled=False),
    ]
    for act in acts:
        seen.add(version())
        act()
    assert len(seen | {version()}) == len(acts) + 1


def test_reading_the_version_costs_the_same_whatever_there_is(
    write: Callable[..., Entry], session: Session, count_queries: Callable[..., int]
) -> None:
    def ask() -> None:
        memory_version(project=session.project, session=session, agent="build")

    write("Fact 0")
    one = count_queries(ask)
    for number in range(1, 20):
        write(f"Fact {number}")
    assert count_queries(ask) == one <= 3


def test_an_entry_can_be_detached_from_one_session(write: Callable[..., Entry], session: Session) -> None:
    entry = write("Prefers tabs")
    other = Session.objects.create(id="ses_2", project=session.project, directory=session.directory)
    choice_made.send(Session, session=session, key=entry.key, attached=False)
    assert (told(session), told(other)) == ([], ["Prefers tabs"])
    assert [choice.key for choice in detached_entries(session=session)] == [entry.key]
    choice_made.send(Session, session=session, key=entry.key, attached=True)
    assert told(session) == ["Prefers tabs"]


def test_what_is_not_ours_to_choose_is_left_alone(write: Callable[..., Entry], session: Session, tmp_path: Any) -> None:
    elsewhere = Holder.of("", str(tmp_path))
    entry = write("Uses make", scope=ensure(elsewhere.agent, elsewhere.keys["workspace"], elsewhere.root))
    for key in (
        entry.key,
        "memory:default:user:999",
        "memory:default:user:x",
        f"memory:default:user:{'9' * 40}",
        "knowledge:note:1",
    ):
        answers = choice_made.send(Session, session=session, key=key, attached=False)
        assert [answer for receiver, answer in answers if receiver.__module__.startswith("memory")] == [None]


def test_a_session_s_start_makes_the_scopes_unless_memory_is_off(session: Session, off: None) -> None:
    session_started.send(Session, session=session)
    assert not Scope.objects.exists()
    Switches.change(enabled=True)
    session_started.send(Session, session=session)
    assert sorted(Scope.objects.values_list("kind", flat=True)) == ["user", "workspace"]
