"""The todos page: every act plain and with htmx."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse

from knowledge.models import Todo


def act(name, todo=None):
    return reverse(f"knowledge:{name}", args=["shop"] if todo is None else ["shop", todo.pk])


def texts():
    return [todo.text for todo in Todo.objects.live().in_order()]


def test_the_page_shows_what_is_to_do_in_order_and_what_is_done_below(panel, write_todo):
    write_todo("first"), write_todo("second"), write_todo("finished", done=True)
    html = panel.get(act("todos")).text
    assert html.index("first</span>") < html.index("second</span>") < html.index("finished</span>")
    assert "2 open, 1 done" in html
    assert "checked" in html[html.index("todos-done") :]


def test_a_todo_is_added_at_the_end(panel, htmx, project):
    assert panel.post(act("write-todo"), {"text": "one\r\ntwo"}).status_code == 302
    answer = htmx.post(act("write-todo"), {"text": "three"})
    assert 'id="todo-writer"' in answer.text
    assert 'hx-target="#todos"' in answer.text
    assert texts() == ["one\ntwo", "three"]


@pytest.mark.parametrize("text", ["", " ", "x" * 2001])
def test_a_refused_todo_stays_with_the_reason(panel, htmx, project, text):
    for client in (panel, htmx):
        answer = client.post(act("write-todo"), {"text": text})
        assert answer.status_code == 422
        assert 'role="alert"' in answer.text
        assert f'value="{text}"' in answer.text
    assert texts() == []


def test_ticking_says_the_wanted_state(panel, htmx, write_todo):
    todo = write_todo()
    for client, wish, done in [(panel, {"done": "on"}, True), (htmx, {"done": "on"}, True), (htmx, {}, False)]:
        client.post(act("mark-todo", todo), wish)
        todo.refresh_from_db()
        assert todo.done is done


def test_after_ticking_the_focus_goes_to_the_todo_that_takes_the_place(htmx, write_todo):
    a, b = write_todo("a"), write_todo("b")
    assert focused(htmx.post(act("mark-todo", a), {"done": "on"})) == f"todo-{b.pk}-done"
    assert focused(htmx.post(act("mark-todo", a), {})) == f"todo-{a.pk}-done"


def focused(answer):
    return re.search(r'<[^>]*id="([^"]+)"[^>]*autofocus', answer.text)[1]


def test_moving_by_the_buttons_goes_where_they_say(panel, htmx, write_todo):
    a, b, c = (write_todo(text) for text in "abc")
    html = panel.get(act("todos")).text

    def places(todo):
        row = html[html.index(f'id="todo-{todo.pk}"') :]
        up, down = re.findall(r'name="before" value="(\d*)"', row)[:2]
        return [up if up != str(todo.pk) else None, down if down != str(todo.pk) else None]

    assert places(a) == [None, str(c.pk)]
    assert places(b) == [str(a.pk), ""]
    assert places(c) == [str(b.pk), None]
    panel.post(act("move-todo", c), {"before": b.pk})
    assert texts() == ["a", "c", "b"]
    answer = htmx.post(act("move-todo", a) + "?by=down", {"before": ""})
    assert texts() == ["c", "b", "a"]
    assert focused(answer) == f"todo-{a.pk}-more"
    assert re.search(rf'<button id="todo-{a.pk}-down"[^>]* autofocus', answer.text)
    assert "Moved to position 3" in answer.headers["HX-Trigger"]


def test_a_todo_is_edited_in_its_place(panel, htmx, write_todo):
    todo = write_todo()
    assert todo.revision in htmx.get(act("edit-todo", todo)).text
    assert 'id="todos"' in htmx.post(act("edit-todo", todo), {"text": "Other", "seen": todo.revision}).text
    assert texts() == ["Other"]
    assert panel.get(act("edit-todo", todo)).status_code == 200
    refused = htmx.post(act("edit-todo", todo), {"text": "", "seen": ""})
    assert (refused.status_code, texts()) == (422, ["Other"])


def test_a_stale_edit_of_a_todo_shows_both_texts(panel, htmx, write_todo, by):
    todo = write_todo("Ask the office")
    seen = todo.revision
    todo.edit(text="Ask the harbour office", by=by)
    for client in (panel, htmx):
        answer = client.post(act("edit-todo", todo), {"text": "Ask them", "seen": seen})
        assert answer.status_code == 409
        assert "<ins>harbour " in answer.text
        assert "Ask them" in answer.text
    assert texts() == ["Ask the harbour office"]


def test_clearing_is_undone_as_a_whole(panel, htmx, write_todo):
    write_todo("kept"), write_todo("one", done=True), write_todo("two", done=True)
    answer = panel.post(act("clear-todos"), follow=True)
    assert texts() == ["kept"]
    undo = re.search(r'action="([^"]*undelete[^"]*)"', answer.text)[1]
    assert panel.post(undo).status_code == 302
    assert texts() == ["kept", "one", "two"]
    answer = htmx.post(act("clear-todos"))
    assert "2 done todos were deleted" in answer.headers["HX-Trigger"]
    undo = re.search(r'"undo": "([^"]+)"', answer.headers["HX-Trigger"])[1]
    assert htmx.post(undo).status_code == 204
    assert texts() == ["kept", "one", "two"]


NO_MOMENTS = ["", "yesterday", "2026-13-45T00:00:00Z", "2026-11-30T10:00:00"]
BEYOND_ALL_CALENDARS = ["9999-12-31T23:59:59-23:00", "0001-01-01T00:00:00%2B23:00"]


@pytest.mark.parametrize("at", [*NO_MOMENTS, *BEYOND_ALL_CALENDARS])
def test_undoing_a_clearing_that_never_was_is_refused(panel, project, at):
    assert panel.post(f"{act('undo-clearing')}?at={at}").status_code == 404


def test_deleting_a_todo_is_undone(htmx, write_todo):
    todo = write_todo()
    htmx.post(reverse("knowledge:delete-item", args=["shop", "todos", todo.pk]))
    assert texts() == []
    htmx.post(reverse("knowledge:undelete-item", args=["shop", "todos", todo.pk]))
    assert texts() == [todo.text]


def test_more_todos_come_when_asked_for(panel, write_todo):
    for number in range(32):
        write_todo(f"number {number}")
    html = panel.get(act("todos")).text
    assert "number 29</span>" in html
    assert "number 30</span>" not in html
    assert "?pages=2" in html
    assert "number 31</span>" in panel.get(act("todos"), {"pages": "2"}).text


def test_the_page_asks_as_often_for_200_todos_as_for_2(panel, write_todo, count_queries):
    for number in range(2):
        write_todo(done=number == 1)
    panel.get(act("todos"))
    few = count_queries(lambda: panel.get(act("todos")))
    for number in range(198):
        write_todo(done=number % 2 == 0)
    assert count_queries(lambda: panel.get(act("todos"))) == few


@pytest.mark.parametrize("name", ["mark-todo", "move-todo", "edit-todo"])
def test_a_stranger_changes_no_todo(sign_in, stranger, write_todo, name):
    todo = write_todo()
    assert sign_in(stranger).post(act(name, todo), {"text": "x", "done": "on"}).status_code == 404
    assert panel_state(todo) == (todo.text, False)


def panel_state(todo):
    todo.refresh_from_db()
    return todo.text, todo.done
