"""Notes and pins over the API."""

from __future__ import annotations

import pytest

from knowledge.models import Note, SessionPin
from openchamber.models import Project, Session


@pytest.fixture
def notes(project):
    return f"/projects/{project.slug}/notes"


def test_a_note_is_written_read_edited_deleted_and_undeleted(api, notes):
    written = api("POST", notes, {"body": "Hello.", "source": "message", "origin": {"session": "s", "message": "m"}})
    assert written.status_code == 201
    note = written.json()
    assert isinstance(note["id"], str)
    assert written.headers["ETag"] == f'"{note["revision"]}"'
    assert note["origin"] == {"session": "s", "message": "m"}
    assert (note["source"], note["pinned"], note["warnings"]) == ("message", False, [])

    assert api("GET", f"{notes}/{note['id']}").json() == note
    edited = api("PATCH", f"{notes}/{note['id']}", {"body": "Bye."}, **{"If-Match": f'"{note["revision"]}"'})
    assert (edited.status_code, edited.json()["body"]) == (200, "Bye.")
    assert edited.headers["ETag"] == f'"{edited.json()["revision"]}"'

    assert api("DELETE", f"{notes}/{note['id']}").status_code == 204
    assert api("GET", f"{notes}/{note['id']}").status_code == 404
    assert api("DELETE", f"{notes}/{note['id']}").status_code == 404
    assert api("POST", f"{notes}/{note['id']}/undelete").json()["body"] == "Bye."
    assert api("POST", f"{notes}/{note['id']}/undelete").status_code == 200


def test_the_history_says_that_the_api_was_used(api, notes, owner):
    api("POST", notes, {"body": "Hello."})
    entry = Note.objects.get().history.get()
    assert (entry.through, entry.history_user) == ("api", owner)


def test_a_stale_edit_is_answered_with_412_and_what_is_stored(api, notes, note, by):
    seen = note.revision
    note.edit(body="Theirs.", by=by)
    answer = api("PATCH", f"{notes}/{note.pk}", {"body": "Mine."}, **{"If-Match": f'"{seen}"'})
    assert answer.status_code == 412
    assert answer.json()["error"]["code"] == "stale"
    assert answer.json()["current"]["body"] == "Theirs."
    assert Note.objects.get().body == "Theirs."
    assert api("PATCH", f"{notes}/{note.pk}", {"body": "Mine."}).status_code == 200


def test_any_of_several_tags_may_be_the_current_one(api, notes, note):
    tags = {"If-Match": f'"zzz", "{note.revision}"'}
    assert api("PATCH", f"{notes}/{note.pk}", {"body": "Mine."}, **tags).status_code == 200
    assert api("PATCH", f"{notes}/{note.pk}", {"body": "Again."}, **tags).status_code == 412
    assert api("PATCH", f"{notes}/{note.pk}", {"body": "Again."}, **{"If-Match": "*"}).status_code == 200


@pytest.mark.parametrize("kind", ["notes", "todos", "plans"])
def test_only_what_was_seen_is_deleted(api, project, kind):
    field = "text" if kind == "todos" else "body"
    rows = f"/projects/{project.slug}/{kind}"
    first = api("POST", rows, {field: "Seen."}).json()
    path = f"{rows}/{first['id']}"
    now = api("PUT" if kind == "plans" else "PATCH", path, {field: "Changed since."}).json()
    refused = api("DELETE", path, **{"If-Match": f'"{first["revision"]}"'})
    assert refused.status_code == 412
    assert refused.json()["error"]["code"] == "stale"
    assert refused.json()["current"] == api("GET", path).json() == now
    assert api("DELETE", path, **{"If-Match": f'"zzz", "{now["revision"]}"'}).status_code == 204
    assert api("DELETE", path, **{"If-Match": "*"}).status_code == 404


@pytest.mark.parametrize("key", ["\ud800", "a\x00", "two\nlines", "\u202e"])
@pytest.mark.parametrize("kind", ["notes", "plans"])
def test_an_origin_is_named_by_lines(api, project, kind, key):
    for origin in ({"session": key}, {"session": "s", "message": key}):
        answer = api("POST", f"/projects/{project.slug}/{kind}", {"body": "x", "origin": origin})
        assert answer.status_code == 422
        (field,) = answer.json()["error"]["fields"]
        assert field == ("origin_message" if "message" in origin else "origin_session")


@pytest.mark.parametrize("title", ["\ud800", "a\x00", "two\nlines", "\u202e"])
def test_the_title_of_a_plan_is_a_line(api, project, title):
    answer = api("POST", f"/projects/{project.slug}/plans", {"title": title})
    assert list(answer.json()["error"]["fields"]) == ["title"]


@pytest.mark.parametrize("session", ["x" * 201, "a%0Ab", "a%E2%80%AEb", "%1b"])
def test_a_session_that_chooses_has_an_id_of_one_short_line(api, note, session):
    answer = api("PUT", f"/sessions/{session}/pins/note/{note.pk}", {"attached": True})
    assert answer.status_code == 422
    assert list(answer.json()["error"]["fields"]) == ["s"]
    assert not SessionPin.objects.exists()
    assert api("PUT", f"/sessions/{'x' * 200}/pins/note/{note.pk}", {"attached": True}).status_code == 204


def test_what_is_not_there_is_named(api, note, notes):
    def said(path):
        return api("GET", path).json()["error"]["message"]

    assert said("/projects/nope/notes") == "There is no such project, or it is not yours."
    for kind in ("notes", "todos", "plans"):
        assert said(f"/projects/shop/{kind}/nope") == "There is no such thing here, or it is in the bin."
    restored = api("POST", f"{notes}/{note.pk}/history/7777/restore")
    assert restored.json()["error"]["message"] == "There is no such entry in this history."


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"body": ""}, 422),
        ({"body": " \n"}, 422),
        ({"body": "x" * 20_001}, 422),
        ({"body": "a\x00b"}, 422),
        ({"body": "\ud83d"}, 422),
        ({"body": "x", "source": "telepathy"}, 422),
        ({"body": 7}, 422),
        ({}, 422),
        ({"body": "x", "origin": {"session": "s" * 201}}, 422),
    ],
)
def test_what_breaks_a_rule_is_refused_and_nothing_is_stored(api, notes, body, status):
    answer = api("POST", notes, body)
    assert answer.status_code == status
    assert answer.json()["error"]["code"] == "invalid"
    assert answer.json()["error"]["fields"]
    assert not Note.objects.exists()


@pytest.mark.parametrize("method", ["POST", "PATCH"])
def test_a_field_that_nobody_knows_is_refused_by_name(api, notes, note, method):
    address = notes if method == "POST" else f"{notes}/{note.pk}"
    answer = api(method, address, {"body": "x", "pined": True})
    assert answer.status_code == 422
    assert list(answer.json()["error"]["fields"]) == ["pined"]
    assert [row.body for row in Note.objects.all()] == [note.body]


@pytest.mark.parametrize("key", ["0", "999999", "abc", "-1", "1.5", "%00", "9" * 30, "٣", ".."])
def test_an_id_that_is_none_is_just_not_there(api, notes, key, note):
    for method, body in [("GET", None), ("PATCH", {"body": "x"}), ("DELETE", None)]:
        assert api(method, f"{notes}/{key}", body).status_code in (404, 400)


def test_the_list_is_the_newest_first_page_by_page(api, notes, write_note):
    for number in range(5):
        write_note(f"number {number}")
    first = api("GET", f"{notes}?limit=2").json()
    assert [note["body"] for note in first["results"]] == ["number 4", "number 3"]
    second = api("GET", f"{notes}?limit=2&cursor={first['next']}").json()
    assert [note["body"] for note in second["results"]] == ["number 2", "number 1"]
    third = api("GET", f"{notes}?limit=2&cursor={second['next']}").json()
    assert ([note["body"] for note in third["results"]], third["next"]) == (["number 0"], None)


def test_listing_asks_as_often_for_200_notes_as_for_2(api, notes, write_note, count_queries):
    for _number in range(2):
        write_note()
    api("GET", notes)  # the token's first use is written down
    few = count_queries(lambda: api("GET", notes))
    for _number in range(198):
        write_note()
    assert count_queries(lambda: api("GET", notes)) == few


def test_pinning_and_unpinning_are_idempotent(api, project, note):
    pin = f"/projects/{project.slug}/pins/note/{note.pk}"
    for method, pinned in [("PUT", True), ("PUT", True), ("DELETE", False), ("DELETE", False)]:
        assert api(method, pin).status_code == 204
        note.refresh_from_db()
        assert note.pinned is pinned
    assert api("PUT", f"/projects/{project.slug}/pins/todo/{note.pk}").status_code in (404, 422)
    assert api("PUT", f"/projects/{project.slug}/pins/note/999").status_code == 404


def test_a_session_chooses_for_itself(api, project, note):
    Session.objects.create(id="ses_1", project=project)
    pin = f"/sessions/ses_1/pins/note/{note.pk}"
    for wish in (True, False):
        assert api("PUT", pin, {"attached": wish}).status_code == 204
        assert SessionPin.objects.get().attached is wish
    assert api("PUT", pin, {"attached": None}).status_code == 204
    assert not SessionPin.objects.exists()
    assert api("PUT", pin, {"attached": "perhaps"}).status_code == 422
    assert api("PUT", pin, {}).status_code == 422


def test_a_session_of_another_project_cannot_attach_the_note(api, note, tmp_path):
    other = Project.objects.create(name="Other", slug="other", directory=str(tmp_path / "o"))
    Session.objects.create(id="ses_2", project=other)
    assert api("PUT", f"/sessions/ses_2/pins/note/{note.pk}", {"attached": True}).status_code == 422
    assert not SessionPin.objects.exists()


def test_a_note_of_another_project_is_not_reached_through_this_one(api, note, tmp_path):
    other = Project.objects.create(name="Other", slug="other", directory=str(tmp_path / "o"))
    assert api("GET", f"/projects/{other.slug}/notes/{note.pk}").status_code == 404
    assert api("PUT", f"/projects/{other.slug}/pins/note/{note.pk}").status_code == 404


def test_a_stranger_reaches_nothing(sign_in, stranger, note, notes):
    client = sign_in(stranger)
    assert client.get(f"/api{notes}").status_code == 404
    assert client.get(f"/api{notes}/{note.pk}").status_code == 404
    client = sign_in(stranger, enforce_csrf_checks=True)
    assert client.delete(f"/api{notes}/{note.pk}").status_code == 403


def test_without_a_token_nothing_is_answered(client, notes, note):
    assert client.get(f"/api{notes}").status_code == 401
