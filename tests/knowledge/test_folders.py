"""Folders of files and what the commands say: everything that is not taken in is named, and nothing comes twice."""

from __future__ import annotations

import os
import shutil
from io import StringIO
from types import SimpleNamespace

import pytest
from django.core.management import CommandError, call_command
from hypothesis import example, given
from hypothesis import strategies as st

from knowledge import checklists
from knowledge.models import Note, Plan, Todo
from openchamber.models import Project


def run(*arguments):
    """What a command says on both streams, and the sentence that it fails with."""
    out = StringIO()
    try:
        call_command(*map(str, arguments), stdout=out, stderr=out)
    except CommandError as error:
        out.write(str(error))
    return out.getvalue()


def todos():
    return list(Todo.objects.in_order().values_list("text", "done"))


# Todos ------------------------------------------------------------------------------------


def test_lines_that_become_no_todo_are_named_and_the_others_are_taken_in(project, tmp_path):
    lines = ["# Todos", "", "- [ ] first", f"- [ ] {'x' * 2_100}", "- [ ] third", "- plain", "words", "- [ ] ", "  "]
    (tmp_path / "todos.md").write_text("\n".join(lines))
    for outcome in ("2 new", "2 same"):
        told = run("import_knowledge", "shop", tmp_path)
        assert outcome in told
        assert "todos.md, line 4: It has 2100 characters, and a todo at most 2000." in told
        assert "todos.md, line 6: This is no task item" in told
        assert "todos.md, line 7: This is no task item" in told
        assert "todos.md, line 8: Write something first" in told
        assert "4 were refused" in told
        assert [line[15] for line in told.splitlines() if line.startswith("todos.md, line ")] == ["4", "6", "7", "8"]
        assert todos() == [("first", False), ("third", False)]


def test_a_file_without_task_items_is_refused_as_a_whole(project, tmp_path):
    (tmp_path / "todos.md").write_text("# Nothing\nto do\n")
    assert "todos.md: There is no task item" in run("import_knowledge", "shop", tmp_path)


def test_what_is_done_meanwhile_stays_done(project, tmp_path, by):
    (tmp_path / "todos.md").write_text("- [ ] one\n- [ ] one\n- [x] two\n")
    assert "3 new" in run("import_knowledge", "shop", tmp_path)
    Todo.objects.first().edit(done=True, by=by)
    assert "1 kept, 2 same" in run("import_knowledge", "shop", tmp_path)
    assert todos() == [("one", True), ("one", False), ("two", True)]


def test_further_lines_belong_to_their_item_and_nested_items_are_their_own(project, tmp_path):
    (tmp_path / "todos.md").write_bytes(
        b"- [ ] one\r\n  more\r\n\r\n  and more\r\n  - [x] two\r\n\ttab\r\n1. [ ] three\r\n"
    )
    run("import_knowledge", "shop", tmp_path)
    assert todos() == [("one\nmore\n\nand more", False), ("two\ntab", True), ("three", False)]


LINES = st.text(st.sampled_from("ab -*[]x1.\\\t\u2028\x0b\x85#"), max_size=12)
TEXTS = st.lists(LINES | st.sampled_from(["- [ ] a", r" \- [x] b", ""]), min_size=1, max_size=4).map("\n".join)


@given(todos=st.lists(st.builds(SimpleNamespace, text=TEXTS, done=st.booleans()), max_size=4))
@example(todos=[SimpleNamespace(text="\n\n", done=True), SimpleNamespace(text=" a \n", done=False)])
def test_any_todos_go_through_a_checklist_unchanged(todos):
    items, strays = checklists.read("".join(map(checklists.item_text, todos)))
    assert [(item.text, item.done) for item in items] == [(todo.text, todo.done) for todo in todos]
    assert strays == []


def test_todos_of_several_lines_come_back_from_a_folder_as_they_were(project, tmp_path, write_todo):
    write_todo("one\n\n  indented\n- [ ] like an item", done=True)
    write_todo("two")
    other = Project.objects.create(name="Other", slug="other", directory="/nowhere/other")
    run("export_knowledge", "shop", tmp_path / "out")
    assert "2 new" in run("import_knowledge", "other", tmp_path / "out")
    assert [todo.text for todo in other.todos.in_order()] == [todo.text for todo in project.todos.in_order()]


# Notes and plans --------------------------------------------------------------------------


def test_a_folder_that_is_taken_in_twice_doubles_nothing(project, tmp_path, write_note, write_plan):
    write_note("\ufeffa mark of its own")
    write_note("note")
    write_plan("# Plan\n\nbody")
    write_plan("no heading")
    other = Project.objects.create(name="Other", slug="other", directory="/nowhere/other")
    run("export_knowledge", "shop", tmp_path / "out")
    assert "4 new" in run("import_knowledge", "other", tmp_path / "out")
    assert "4 same" in run("import_knowledge", "other", tmp_path / "out")
    for kind in ("notes", "plans"):
        texts = [set(getattr(one, kind).values_list("body", flat=True)) for one in (project, other)]
        assert texts[0] == texts[1]
    assert "4 same" in run("import_knowledge", "shop", tmp_path / "out")


# Links ------------------------------------------------------------------------------------


def test_links_are_named_and_not_followed(project, tmp_path):
    outside, folder = tmp_path / "outside", tmp_path / "in"
    outside.mkdir()
    (folder / "notes").mkdir(parents=True)
    (outside / "secret.md").write_text("secret")
    (folder / "notes" / "good.md").write_text("good")
    (folder / "notes" / "link.md").symlink_to(outside / "secret.md")
    (folder / "plans").symlink_to(outside)
    (folder / "todos.md").symlink_to(outside / "gone.md")
    (folder / "picture.png").symlink_to(outside / "gone.png")
    told = run("import_knowledge", "shop", folder)
    assert [note.body for note in Note.objects.all()] == ["good"]
    assert not Plan.objects.exists()
    for name in ("notes/link.md", "plans", "todos.md"):
        assert f"{name}: It is a link" in told
    assert "3 were refused" in told


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_that_cannot_be_read_is_named(project, tmp_path):
    (tmp_path / "locked.md").write_text("x")
    (tmp_path / "locked.md").chmod(0)
    assert "locked.md: It cannot be read: Permission denied." in run("import_knowledge", "shop", tmp_path)


# What the commands say --------------------------------------------------------------------


def test_a_target_that_cannot_be_written_is_a_sentence(project, tmp_path):
    (tmp_path / "file").write_text("x")
    assert "out.zip cannot be written: No such file" in run("export_knowledge", "shop", tmp_path / "nodir" / "out.zip")
    assert "file cannot be written: " in run("export_knowledge", "shop", tmp_path / "file")
    assert (tmp_path / "file").read_text() == "x"


def test_an_ending_in_capitals_is_an_archive_too(project, tmp_path, write_note):
    write_note()
    assert "The whole project is in" in run("export_knowledge", "shop", tmp_path / "OUT.ZIP")
    assert "1 same" in run("import_knowledge", "shop", tmp_path / "OUT.ZIP")
    shutil.copy(tmp_path / "OUT.ZIP", tmp_path / "kept.backup")
    assert "1 same" in run("import_knowledge", "shop", tmp_path / "kept.backup")


def test_a_loose_file_is_answered_with_what_can_be_imported(project, tmp_path):
    (tmp_path / "loose.md").write_text("x")
    told = run("import_knowledge", "shop", tmp_path / "loose.md")
    assert "give the folder it is in, a .zip or a context.json" in told


@pytest.mark.django_db
def test_an_unknown_project_is_answered_with_those_that_there_are(tmp_path):
    assert "There is no project shop. There is none at all yet." in run("export_knowledge", "shop", tmp_path)
    for number in range(12):
        Project.objects.create(name=str(number), slug=f"p{number:02}", directory=f"/nowhere/{number}")
    told = run("import_knowledge", "shop", tmp_path)
    assert "There are: p00, p01," in told
    assert "p09 and 2 more." in told
    assert "p10" not in told
