"""History: who changed what through what, and the way back, in the panel and over the API."""

from __future__ import annotations

import pytest
from django.urls import reverse

from knowledge.models import Note


def page(name, item, *more):
    return reverse(f"knowledge:{name}", args=["shop", item.list_name, item.pk, *more])


@pytest.fixture
def changed(note, by):
    """A note with three entries."""
    note.edit(body="No deploys on Friday, ever.", by=by)
    note.edit(body="Deploys whenever you like.", by=by)
    return note


def test_the_page_shows_what_changed_word_by_word(panel, changed):
    html = panel.get(page("item-history", changed)).text
    assert "Deploys whenever you like." in html
    entry = changed.history.all()[1]
    html = panel.get(page("item-history", changed), {"entry": entry.pk}).text
    assert "No deploys on <del>Friday</del><ins>Friday, ever</ins>." in html or "<ins>, ever</ins>" in html
    assert "owner" in html
    assert "through the panel" in html
    since = panel.get(page("item-history", changed), {"entry": entry.pk, "against": "now"}).text
    assert "<del>" in since


def test_an_earlier_text_stands_again_and_nothing_is_lost(panel, changed):
    first = changed.history.last()
    answer = panel.post(page("restore-entry", changed, first.pk), {"seen": changed.revision})
    assert answer.url == page("item-history", changed)
    changed.refresh_from_db()
    assert changed.body == "No deploys on Friday."
    assert [entry.change for entry in changed.history.all()] == ["restored", "changed", "changed", "created"]


def test_restoring_over_a_text_that_was_not_seen_is_refused(panel, changed):
    answer = panel.post(page("restore-entry", changed, changed.history.last().pk), {"seen": "0123456789abcdef"})
    assert answer.status_code == 409
    assert Note.objects.get().body == "Deploys whenever you like."


def test_the_entries_of_another_note_are_not_reached(panel, changed, write_note):
    other = write_note("other")
    assert panel.get(page("item-history", other), {"entry": changed.history.first().pk}).status_code == 404
    assert panel.post(page("restore-entry", other, changed.history.first().pk)).status_code == 404
    assert panel.get(page("item-history", other), {"entry": "x"}).status_code == 404


def test_deleting_and_undeleting_are_entries(panel, note, by):
    note.bin(by=by)
    note.undelete(by=by)
    html = panel.get(page("item-history", note)).text
    assert "Moved to the bin" in html
    assert "Taken out of the bin" in html


@pytest.mark.parametrize("kind", ["notes", "todos", "plans"])
def test_every_kind_has_a_history_over_the_api(api, kind, write_note, write_todo, write_plan, by):
    item = {"notes": write_note, "todos": write_todo, "plans": write_plan}[kind]("before")
    item.edit(**{item.text_field: "after"}, by=by)
    path = f"/projects/shop/{kind}/{item.pk}"
    newest, oldest = api("GET", f"{path}/history").json()["results"]
    assert (newest["body"], newest["change"], newest["author"], newest["through"]) == (
        "after",
        "changed",
        "owner",
        "panel",
    )
    assert (oldest["body"], oldest["change"]) == ("before", "created")
    assert newest["revision"] == item.revision
    restored = api("POST", f"{path}/history/{oldest['id']}/restore")
    assert restored.status_code == 200
    assert restored.json()[item.text_field] == "before"
    assert restored.headers["ETag"]
    assert [entry["change"] for entry in api("GET", f"{path}/history?limit=1").json()["results"]] == ["restored"]
    assert api("GET", f"{path}/history").json()["results"][0]["through"] == "api"


def test_restoring_over_the_api_minds_if_match(api, changed):
    path = f"/projects/shop/notes/{changed.pk}/history/{changed.history.last().pk}/restore"
    assert api("POST", path, **{"If-Match": '"0123456789abcdef"'}).status_code == 412
    assert api("POST", path, **{"If-Match": f'"{changed.revision}"'}).status_code == 200


@pytest.mark.parametrize("entry", ["0", "999999", "abc"])
def test_an_entry_that_is_not_there_cannot_be_restored(api, note, entry):
    assert api("POST", f"/projects/shop/notes/{note.pk}/history/{entry}/restore").status_code == 404


def test_a_stranger_reads_no_history(sign_in, stranger, changed):
    client = sign_in(stranger)
    assert client.get(page("item-history", changed)).status_code == 404
    assert client.get(f"/api/projects/shop/notes/{changed.pk}/history").status_code == 404


def test_a_history_asks_as_often_for_200_entries_as_for_2(panel, api, note, by, count_queries):
    note.edit(body="second", by=by)
    path = f"/projects/shop/notes/{note.pk}/history"
    panel.get(page("item-history", note)), api("GET", path)
    few = count_queries(lambda: panel.get(page("item-history", note)))
    few_api = count_queries(lambda: api("GET", path))
    for number in range(198):
        note.edit(body=f"number {number}", by=by)
    assert count_queries(lambda: panel.get(page("item-history", note))) == few
    assert count_queries(lambda: api("GET", path)) == few_api


def test_the_bin_shows_everything_deleted_and_brings_it_back(panel, htmx, write_note, write_todo, write_plan, by):
    bin_page = reverse("knowledge:bin", args=["shop"])
    items = [write_note("a note"), write_todo("a todo"), write_plan("# a plan")]
    for item in items:
        item.bin(by=by)
    html = panel.get(bin_page).text
    assert html.index("a plan</p>") < html.index("a todo</p>") < html.index("a note</p>")
    for item in items:
        assert htmx.post(page("undelete-item", item)).status_code == 204
    assert "The bin is empty." in panel.get(bin_page).text


def test_the_bin_asks_as_often_for_200_rows_as_for_2(panel, write_note, write_plan, by, count_queries):
    bin_page = reverse("knowledge:bin", args=["shop"])
    for write in (write_note, write_plan):
        write().bin(by=by)
    panel.get(bin_page)
    few = count_queries(lambda: panel.get(bin_page))
    for _number in range(99):
        write_note().bin(by=by), write_plan().bin(by=by)
    assert count_queries(lambda: panel.get(bin_page)) == few
