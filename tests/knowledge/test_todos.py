"""Todos: what is kept, and that their order is what every move says."""

from __future__ import annotations

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from knowledge.models import Stale, Todo
from knowledge.models.todos import STEP, clear_done, undo_clearing


def texts(project):
    return [todo.text for todo in project.todos.live().in_order()]


def test_new_todos_come_last(project, write_todo):
    for text in "abc":
        write_todo(text)
    assert texts(project) == ["a", "b", "c"]


@pytest.mark.parametrize("text", ["", "  \n", "x" * 2001, "nul\x00", "\ud83d"])
def test_what_breaks_a_rule_is_refused(write_todo, text):
    with pytest.raises(ValidationError) as refused:
        write_todo(text)
    assert set(refused.value.message_dict) == {"text"}


def test_2000_characters_and_several_lines_fit(write_todo):
    assert len(write_todo("one\ntwo " + "x" * 1992).text) == 2000


def test_the_database_itself_refuses_a_todo_without_text(write_todo):
    todo = write_todo()
    with pytest.raises(IntegrityError), transaction.atomic():
        Todo.objects.filter(pk=todo.pk).update(text="")


def test_text_and_done_are_edited_each_for_itself(write_todo, by):
    todo = write_todo()
    todo.edit(done=True, by=by)
    todo.edit(text="Other", by=by)
    todo.refresh_from_db()
    assert (todo.text, todo.done) == ("Other", True)
    assert [(entry.text, entry.done) for entry in todo.history.all()][:2] == [
        ("Other", True),
        ("Refuse rows without a berth", True),
    ]


def test_done_belongs_to_the_revision_and_a_stale_tick_is_refused(write_todo, by):
    todo = write_todo()
    seen = todo.revision
    Todo.objects.get(pk=todo.pk).edit(text="Other", by=by)
    with pytest.raises(Stale):
        todo.edit(done=True, by=by, seen=seen)
    assert not Todo.objects.get(pk=todo.pk).done


def test_ticking_twice_is_ticking_once(write_todo, by):
    todo = write_todo()
    todo.edit(done=True, by=by)
    todo.edit(done=True, by=by)
    assert todo.history.count() == 2


def test_a_moved_todo_stands_before_the_one_that_was_named(project, write_todo):
    a, b, c = (write_todo(text) for text in "abc")
    c.move(before=a)
    assert texts(project) == ["c", "a", "b"]
    a.move(before=None)
    assert texts(project) == ["c", "b", "a"]
    b.move(before=c)
    assert texts(project) == ["b", "c", "a"]


def test_moving_keeps_the_revision_and_the_history(write_todo):
    a, b = write_todo("a"), write_todo("b")
    revision = b.revision
    b.move(before=a)
    b.refresh_from_db()
    assert b.revision == revision
    assert b.history.count() == 1


def test_there_is_always_room_between_two_todos(project, write_todo):
    first, last = write_todo("first"), write_todo("last")
    expected = []
    for number in range(60):  # log2 of the step is 20: three times counted anew
        todo = write_todo(str(number))
        todo.move(before=Todo.objects.get(pk=last.pk))
        expected.append(str(number))
    assert texts(project) == ["first", *expected, "last"]
    first.refresh_from_db()
    assert first.position % STEP == 0


def test_todos_at_one_position_can_be_moved_apart(project, write_todo):
    for text in "abc":
        write_todo(text)
    Todo.objects.update(position=7)
    a, b, c = Todo.objects.order_by("pk")
    c.move(before=b)
    assert texts(project) == ["a", "c", "b"]
    a.move(before=None)
    assert texts(project) == ["c", "b", "a"]


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(moves=st.lists(st.tuples(st.integers(0, 5), st.one_of(st.none(), st.integers(0, 5))), max_size=25))
def test_any_sequence_of_moves_is_the_same_in_a_list(project, write_todo, moves):
    Todo.objects.all().delete()
    todos = [write_todo(str(number)) for number in range(6)]
    expected = list(todos)
    for which, before in moves:
        todo, target = todos[which], None if before is None else todos[before]
        if todo == target:
            continue
        todo.refresh_from_db()
        todo.move(before=target and Todo.objects.get(pk=target.pk))
        expected.remove(todo)
        expected.insert(expected.index(target) if target else len(expected), todo)
    assert texts(project) == [todo.text for todo in expected]


def test_a_todo_comes_back_from_the_bin_to_its_place(project, write_todo, by):
    _a, b, _c = (write_todo(text) for text in "abc")
    b.bin(by=by)
    assert texts(project) == ["a", "c"]
    b.undelete(by=by)
    assert texts(project) == ["a", "b", "c"]


def test_clearing_what_is_done_is_undone_as_a_whole_and_brings_back_nothing_else(project, write_todo, by):
    kept, one, two = write_todo("kept"), write_todo("one", done=True), write_todo("two", done=True)
    binned = write_todo("binned before", done=True)
    binned.bin(by=by)
    count, at = clear_done(project, by=by)
    assert count == 2
    assert texts(project) == ["kept"]
    assert undo_clearing(project, at, by=by) == 2
    assert texts(project) == ["kept", "one", "two"]
    assert undo_clearing(project, at, by=by) == 0
    assert {todo.done for todo in (one, two)} == {True}
    assert not kept.done


def test_two_who_change_different_things_of_one_todo_at_once_both_get_their_way(write_todo, by):
    todo = write_todo("before")
    one, other = Todo.objects.get(pk=todo.pk), Todo.objects.get(pk=todo.pk)
    one.edit(text="after", by=by)
    other.edit(done=True, by=by)
    todo.refresh_from_db()
    assert (todo.text, todo.done) == ("after", True)
    assert [(entry.text, entry.done) for entry in todo.history.all()] == [
        ("after", True),
        ("after", False),
        ("before", False),
    ]
