"""Which notes and plans ride in a session."""

from __future__ import annotations

import pytest

from knowledge.models import SessionPin
from knowledge.wanted import choose_item, detached_items, pinned_items
from openchamber.models import Project, Session


@pytest.fixture
def session(project):
    return Session.objects.create(id="ses_1", project=project, directory=project.directory)


@pytest.fixture
def other(db, tmp_path):
    return Project.objects.create(name="Other", slug="other", directory=str(tmp_path / "other"))


def riding(session):
    items, failures = pinned_items(project=session.project, session=session, agent="build")
    assert failures == []
    return [item.key for item in items]


def test_a_pinned_note_rides_and_an_unpinned_one_does_not(session, write_note):
    pinned, _other = write_note("# Friday\n\nNo *deploys*.", pinned=True), write_note("unpinned")
    (item,), _failures = pinned_items(project=session.project, session=session, agent="")
    assert item.key == f"knowledge:note:{pinned.pk}"
    assert (item.kind, item.group, item.title, item.text) == ("note", "Notes", "Friday", "# Friday\n\nNo *deploys*.")
    assert item.at == pinned.created_at
    assert item.url == f"/projects/shop/notes/#note-{pinned.pk}"


def test_an_edit_changes_the_revision_of_the_item(session, write_note, by):
    note = write_note("before", pinned=True)
    (before,), _failures = pinned_items(project=session.project, session=session)
    note.edit(body="after", by=by)
    (after,), _failures = pinned_items(project=session.project, session=session)
    assert (after.key, after.text) == (before.key, "after")
    assert after.revision != before.revision


def test_a_session_detaches_what_the_project_pinned_and_attaches_what_it_did_not(session, write_note):
    pinned, unpinned = write_note("pinned", pinned=True), write_note("unpinned")
    SessionPin.choose("ses_1", pinned, attached=False)
    SessionPin.choose("ses_1", unpinned, attached=True)
    assert riding(session) == [f"knowledge:note:{unpinned.pk}"]
    (choice,) = detached_items(project=session.project, session=session)
    assert (choice.key, choice.title, choice.characters) == (f"knowledge:note:{pinned.pk}", "pinned", 6)
    SessionPin.choose("ses_1", pinned, attached=None)
    SessionPin.choose("ses_1", unpinned, attached=None)
    assert riding(session) == [f"knowledge:note:{pinned.pk}"]
    assert detached_items(project=session.project, session=session) == []


def test_one_session_chooses_for_itself_alone(session, project, write_note):
    note = write_note(pinned=True)
    SessionPin.choose("ses_2", note, attached=False)
    assert riding(session) == [f"knowledge:note:{note.pk}"]


def test_a_note_in_the_bin_rides_nowhere(session, write_note, by):
    note = write_note(pinned=True)
    SessionPin.choose("ses_1", note, attached=True)
    note.bin(by=by)
    assert riding(session) == []
    assert detached_items(project=session.project, session=session) == []


def test_notes_of_another_project_never_ride(session, write_note, other):
    write_note("elsewhere", project=other, pinned=True)
    assert riding(session) == []


def test_a_session_without_a_project_holds_nothing_of_ours(write_note, db):
    write_note(pinned=True)
    session = Session.objects.create(id="ses_9")
    assert pinned_items(project=None, session=session, agent="") == ([], [])
    assert detached_items(project=None, session=session) == []


def test_asking_costs_the_same_for_200_notes_as_for_2(session, write_note, count_queries):
    for _number in range(2):
        write_note(pinned=True)
    few = count_queries(lambda: riding(session))
    for _number in range(198):
        SessionPin.choose("ses_1", write_note(pinned=True), attached=False)
    assert count_queries(lambda: riding(session)) == few
    assert count_queries(lambda: detached_items(project=session.project, session=session)) == 2


def test_a_sub_agents_session_rides_as_its_parent_unless_it_chose_for_itself(session, project, write_note):
    pinned, unpinned = write_note("pinned", pinned=True), write_note("unpinned")
    child = Session.objects.create(id="ses_child", project=project, parent="ses_1")
    SessionPin.choose("ses_1", pinned, attached=False)
    SessionPin.choose("ses_1", unpinned, attached=True)
    assert riding(child) == [f"knowledge:note:{unpinned.pk}"]
    SessionPin.choose("ses_child", pinned, attached=True)
    SessionPin.choose("ses_child", unpinned, attached=False)
    assert riding(child) == [f"knowledge:note:{pinned.pk}"]
    assert riding(session) == [f"knowledge:note:{unpinned.pk}"]


@pytest.mark.parametrize("number", ["999", "²", "9" * 40, "", "x"])
def test_what_no_item_can_be_called_is_not_chosen(session, number):
    assert choose_item(session=session, key=f"knowledge:note:{number}", attached=True) is None
