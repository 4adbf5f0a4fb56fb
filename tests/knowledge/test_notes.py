"""Notes: what is kept, what is refused, and who wins when two write at once."""

from __future__ import annotations

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from knowledge.models import Author, Note, Stale, Through
from knowledge.models.notes import NOTE_LENGTH
from openchamber.sessions.context import Item


def test_a_note_keeps_every_character_that_was_typed(write_note):
    body = "  first line \n\n\tindented 🧑‍🚀 é e\u0301 \u200d  \n"
    note = write_note(body)
    note.refresh_from_db()
    assert note.body == body


def test_line_ends_are_stored_as_one_newline(write_note):
    assert write_note("a\r\nb\rc\nd").body == "a\nb\nc\nd"


def test_the_revision_of_a_note_is_that_of_the_item_that_is_delivered(write_note):
    from knowledge.wanted import note_item

    note = write_note("é 🧑‍🚀")
    item = note_item(note)
    assert isinstance(item, Item)
    assert len(note.revision) == 16
    assert item.revision == note.revision


@pytest.mark.parametrize("body", ["", "   ", "\n\t\n"])
def test_a_note_in_which_there_is_nothing_to_read_is_refused(write_note, body):
    with pytest.raises(ValidationError) as refused:
        write_note(body)
    assert set(refused.value.message_dict) == {"body"}
    assert not Note.objects.exists()


def test_a_note_of_20000_characters_fits_and_one_more_is_refused_with_the_number(write_note):
    assert len(write_note("x" * NOTE_LENGTH).body) == 20_000
    with pytest.raises(ValidationError) as refused:
        write_note("é" * (NOTE_LENGTH + 1))
    sentence = refused.value.messages[0]
    assert "20000" in sentence.replace(",", "")
    assert "20001" in sentence.replace(",", "")


@pytest.mark.parametrize("body", ["a\x00b", "half \ud83d of an emoji"])
def test_what_no_database_can_hold_is_refused(write_note, body):
    with pytest.raises(ValidationError):
        write_note(body)


def test_the_database_itself_refuses_a_note_without_text(note):
    with pytest.raises(IntegrityError), transaction.atomic():
        Note.objects.filter(pk=note.pk).update(body="")


def test_an_edit_that_names_the_stored_revision_is_saved(note, by):
    before = note.revision
    note.edit(body="Deploys on Monday.", by=by, seen=before)
    note.refresh_from_db()
    assert note.body == "Deploys on Monday."
    assert note.title == "Deploys on Monday."
    assert note.revision != before
    assert note.updated_at > note.created_at


def test_a_stale_edit_is_refused_and_told_what_is_stored(note, by):
    mine, theirs = Note.objects.get(pk=note.pk), Note.objects.get(pk=note.pk)
    seen = note.revision
    theirs.edit(body="Theirs.", by=by, seen=seen)
    with pytest.raises(Stale) as refused:
        mine.edit(body="Mine.", by=by, seen=seen)
    assert refused.value.current.typed == "Theirs."
    assert Note.objects.get(pk=note.pk).body == "Theirs."


def test_an_edit_that_names_no_revision_replaces_whatever_stands(note, by):
    other = Note.objects.get(pk=note.pk)
    other.edit(body="Theirs.", by=by)
    note.edit(body="Mine.", by=by)
    assert Note.objects.get(pk=note.pk).body == "Mine."
    assert [entry.body for entry in note.history.all()] == ["Mine.", "Theirs.", "No deploys on Friday."]


def test_saving_without_a_change_writes_nothing(note, by, project):
    project.refresh_from_db()
    note.edit(body=note.body, by=by, seen=note.revision)
    assert note.history.count() == 1
    revision = project.revision
    project.refresh_from_db()
    assert project.revision == revision


def test_a_note_that_was_deleted_meanwhile_is_not_edited(note, by):
    Note.objects.get(pk=note.pk).bin(by=by)
    with pytest.raises(Stale) as refused:
        note.edit(body="Mine.", by=by, seen=note.revision)
    assert refused.value.current.deleted_at


def test_a_deleted_note_comes_back_with_its_pin_and_its_revision(write_note, by, project):
    note = write_note("Ride.", pinned=True)
    revision = note.revision
    note.bin(by=by)
    assert not project.notes.live().exists()
    note.undelete(by=by)
    note = project.notes.live().get()
    assert (note.body, note.pinned, note.revision) == ("Ride.", True, revision)


def test_deleting_twice_is_deleting_once(note, by):
    note.bin(by=by)
    at = Note.objects.get(pk=note.pk).deleted_at
    note.bin(by=by)
    assert Note.objects.get(pk=note.pk).deleted_at == at
    assert note.history.count() == 2


def test_the_history_says_who_through_what_and_what(note, owner):
    note.edit(body="Changed.", by=Author(owner, Through.API))
    newest = note.history.first()
    assert (newest.history_user, newest.through, newest.history_type, newest.body) == (owner, "api", "~", "Changed.")


def test_the_saves_of_one_sitting_are_one_entry(note, owner):
    for body in ["C", "Ch", "Changed."]:
        note.edit(body=body, by=Author(owner, Through.PANEL, "one"))
    note.edit(body="Changed again.", by=Author(owner, Through.PANEL, "two"))
    assert [entry.body for entry in note.history.all()] == ["Changed again.", "Changed.", "No deploys on Friday."]


def test_a_sitting_that_somebody_else_broke_into_goes_on_in_an_entry_of_its_own(note, owner, by):
    note.edit(body="Mine.", by=Author(owner, Through.PANEL, "one"))
    note.edit(body="Theirs.", by=by)
    note.edit(body="Mine again.", by=Author(owner, Through.PANEL, "one"))
    assert [entry.body for entry in note.history.all()][:3] == ["Mine again.", "Theirs.", "Mine."]


def test_every_change_moves_the_revision_of_the_project(project, by, write_note, django_capture_on_commit_callbacks):
    from openchamber.signals import knowledge_changed

    heard = []

    def hear(project, **_more):
        heard.append(project.pk)

    knowledge_changed.connect(hear)
    try:
        with django_capture_on_commit_callbacks(execute=True):
            note = write_note()
            note.edit(body="Other.", by=by)
            note.pin()
            note.unpin()
            note.bin(by=by)
            note.undelete(by=by)
    finally:
        knowledge_changed.disconnect(hear)
    project.refresh_from_db()
    assert project.revision == 6
    assert heard == [project.pk] * 6


def test_an_origin_without_a_session_says_nothing(write_note):
    note = write_note(source="message", message="msg_1")
    assert (note.origin_session, note.origin_message) == ("", "")
