"""The notes page: every act plain and with htmx, and what each refuses."""

from __future__ import annotations

import pytest
from django.urls import reverse

from knowledge.models import Note
from openchamber.models import Session


@pytest.fixture
def page(project):
    return reverse("knowledge:notes", args=[project.slug])


@pytest.fixture
def write(project):
    return reverse("knowledge:write-note", args=[project.slug])


def act(name, note):
    if name == "edit-note":
        return reverse("knowledge:edit-note", args=[note.project.slug, note.pk])
    return reverse(f"knowledge:{name}-item", args=[note.project.slug, "notes", note.pk])


def test_the_page_shows_notes_as_markdown_the_newest_first(panel, page, write_note):
    write_note("older")
    write_note("**newer**")
    html = panel.get(page).text
    assert "<strong>newer</strong>" in html
    assert html.index("newer") < html.index("older</p>")
    assert 'aria-current="page"' in html


def test_htmx_gets_the_list_alone(htmx, page, note):
    answer = htmx.get(page)
    assert answer.text.strip().startswith('<section id="notes"')
    assert "HX-Request" in answer.headers["Vary"]


def test_writing_a_note_leads_back_to_it(panel, write, project):
    answer = panel.post(write, {"body": "A note.\r\nSecond line."})
    note = project.notes.get()
    assert answer.status_code == 302
    assert answer.url == note.get_absolute_url()
    assert note.body == "A note.\nSecond line."
    assert (note.source, note.pinned) == ("typed", False)


def test_writing_a_note_with_htmx_clears_the_writer_and_shows_the_note(htmx, write, project):
    answer = htmx.post(write, {"body": "A note.", "pinned": "on"})
    assert answer.status_code == 200
    assert 'id="note-writer"' in answer.text
    assert "A note.</textarea>" not in answer.text
    assert "<p>A note.</p>" in answer.text
    assert project.notes.get().pinned


@pytest.mark.parametrize("body", ["", "  \n", "x" * 20_001, "null\x00"])
def test_a_refused_note_stays_in_the_writer_with_the_reason(panel, htmx, write, body, project):
    for client in (panel, htmx):
        answer = client.post(write, {"body": body})
        assert answer.status_code == 422
        assert 'role="alert"' in answer.text
        assert body.strip() in answer.text.replace("&#x27;", "'")
    assert not project.notes.exists()


def test_the_reason_names_the_limit(htmx, write):
    assert "20001 characters; at most 20000" in htmx.post(write, {"body": "x" * 20_001}).text.replace(",", "")


def test_editing_opens_the_editor_in_place_and_saving_shows_the_note(htmx, note):
    form = htmx.get(act("edit-note", note))
    assert f'id="note-{note.pk}"' in form.text
    assert note.revision in form.text
    saved = htmx.post(act("edit-note", note), {"body": "Changed.", "seen": note.revision})
    assert saved.status_code == 200
    assert "Changed." in saved.text
    assert f'id="note-{note.pk}"' in saved.text
    note.refresh_from_db()
    assert note.body == "Changed."


def test_editing_works_without_javascript(panel, note):
    assert panel.get(act("edit-note", note)).status_code == 200
    answer = panel.post(act("edit-note", note), {"body": "Changed.", "seen": note.revision})
    assert answer.url == note.get_absolute_url()


def test_an_edit_that_breaks_a_rule_keeps_what_was_typed(panel, htmx, note):
    for client in (panel, htmx):
        answer = client.post(act("edit-note", note), {"body": "y" * 20_001, "seen": note.revision})
        assert answer.status_code == 422
        assert "y" * 20_001 in answer.text


def test_a_stale_edit_shows_both_texts_and_overwrites_nothing(panel, htmx, note, by):
    seen = note.revision
    note.edit(body="No deploys on Friday, says Olena.", by=by)
    for client in (panel, htmx):
        answer = client.post(act("edit-note", note), {"body": "No deploys at all.", "seen": seen})
        assert answer.status_code == 409
        assert "says Olena" in answer.text
        assert "No deploys at all." in answer.text
    assert Note.objects.get().body == "No deploys on Friday, says Olena."


def test_an_edit_of_a_note_that_was_deleted_meanwhile_loses_no_text(htmx, panel, note, by):
    note.bin(by=by)
    for client in (panel, htmx):
        answer = client.post(act("edit-note", note), {"body": "Mine.", "seen": note.revision})
        assert answer.status_code == 409
        assert "Mine." in answer.text
    assert panel.get(act("edit-note", note)).status_code == 404


def test_pinning_says_the_wanted_state_and_twice_is_once(panel, htmx, note):
    for client, wish, pinned in [(panel, {"pinned": "on"}, True), (htmx, {"pinned": "on"}, True), (htmx, {}, False)]:
        answer = client.post(act("pin", note), wish)
        assert answer.status_code == (200 if client is htmx else 302)
        note.refresh_from_db()
        assert note.pinned is pinned


def test_deleting_offers_undo_and_undo_brings_the_note_back(panel, note, page):
    answer = panel.post(act("delete", note), follow=True)
    assert not Note.objects.live().exists()
    assert act("undelete", note) in answer.text
    panel.post(act("undelete", note))
    assert Note.objects.live().get() == note


def test_deleting_with_htmx_empties_the_place_and_offers_undo_in_the_toast(htmx, note):
    answer = htmx.post(act("delete", note))
    assert (answer.status_code, answer.content) == (200, b"")
    assert act("undelete", note) in answer.headers["HX-Trigger"]
    answer = htmx.post(act("undelete", note))
    assert answer.status_code == 204
    assert "knowledge-changed" in answer.headers["HX-Trigger"]
    assert Note.objects.live().exists()


def test_a_filter_shows_what_it_says(panel, page, write_note):
    write_note("pinned one", pinned=True)
    write_note("from a message", source="message", session="ses_1", message="msg_1")
    pinned = panel.get(page, {"show": "pinned"}).text
    assert "pinned one" in pinned
    assert "from a message</p>" not in pinned
    html = panel.get(page, {"show": "message"}).text
    assert "/sessions/ses_1/#message-msg_1" in html
    assert "pinned one</p>" not in html


def test_older_notes_are_one_page_further(panel, page, write_note):
    for number in range(21):
        write_note(f"number {number}")
    assert "?page=2" in panel.get(page).text
    assert "number 0</p>" in panel.get(page, {"page": "2"}).text


@pytest.mark.parametrize("name", ["pin", "delete", "undelete", "edit-note"])
def test_a_stranger_reaches_no_note(sign_in, stranger, note, name):
    assert sign_in(stranger).post(act(name, note), {"body": "x"}).status_code == 404
    note.refresh_from_db()
    assert (note.pinned, note.deleted_at, note.body) == (False, None, "No deploys on Friday.")


def test_a_member_does_what_the_owner_does(sign_in, member, note, page):
    client = sign_in(member)
    assert client.get(page).status_code == 200
    client.post(act("edit-note", note), {"body": "By a member.", "seen": note.revision})
    assert note.history.first().history_user == member


def test_acts_are_never_done_by_get(panel, note, write):
    for address in (write, act("pin", note), act("delete", note), act("undelete", note)):
        assert panel.get(address).status_code == 405


def test_the_page_asks_as_often_for_200_notes_as_for_2(panel, page, write_note, count_queries):
    for _number in range(2):
        write_note(pinned=True)
    panel.get(page)
    few = count_queries(lambda: panel.get(page))
    for number in range(198):
        write_note(f"number {number}", pinned=number % 2 == 0)
    assert count_queries(lambda: panel.get(page)) == few


def test_the_pulse_is_silent_until_something_changes(htmx, project, write_note):
    pulse = reverse("knowledge:pulse", args=[project.slug])
    assert htmx.get(pulse, {"revision": project.revision}).status_code == 204
    before = project.revision
    write_note()
    answer = htmx.get(pulse, {"revision": before, "section": "notes"})
    assert answer.status_code == 200
    assert "knowledge-changed" in answer.headers["HX-Trigger"]
    assert 'id="pulse"' in answer.text


def test_what_is_kept_names_a_message_by_its_id(panel, project):
    Session.objects.create(id="ses_1", project=project)
    kept = {"body": "Berths have four letters.", "kind": "note"}
    for key in ("nope", "m" * 300, "msg" * 100, "msg", "msg_1%0A"):
        assert panel.post(f"/projects/shop/sessions/ses_1/messages/{key}/keep/", kept).status_code == 404
    assert not Note.objects.exists()
    assert panel.post("/projects/shop/sessions/ses_1/messages/msg_1/keep/", kept).status_code == 302
    assert Note.objects.get().origin_message == "msg_1"
