"""Import and export: files, archives and an earlier system's store, both ways and nothing lost."""

from __future__ import annotations

import json
import re
import sqlite3
import zipfile
from io import StringIO

import pytest
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.db import connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from knowledge.archives import records
from knowledge.files import import_plan, text_of
from knowledge.models import LISTS, Author, Note, Plan, Through, Todo, rows_of
from openchamber.models import Project
from openchamber.search import ask


@pytest.fixture
def other(db, tmp_path):
    return Project.objects.create(name="Other", slug="other", directory=str(tmp_path / "other"))


def run(*arguments):
    out, err = StringIO(), StringIO()
    call_command(*map(str, arguments), stdout=out, stderr=err)
    return out.getvalue() + err.getvalue()


def told(project):
    """Everything of a project as an archive tells it, but for ids that differ anywhere."""
    return {name: list(records(project, name)) for name in LISTS}


# Files ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"plain\n", "plain\n"),
        ("é 🧑‍🚀".encode(), "é 🧑‍🚀"),
        (b"\xef\xbb\xbf# with a mark", "# with a mark"),
        ("UTF-16 é".encode("utf-16"), "UTF-16 é"),
        ("UTF-16 BE".encode("utf-16-be").join([b"\xfe\xff", b""]), "UTF-16 BE"),
        ("UTF-32".encode("utf-32"), "UTF-32"),
    ],
)
def test_a_text_file_is_read_by_its_byte_order_mark_or_as_utf_8(data, text):
    assert text_of(data) == text


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b" \n\t", "empty"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "null bytes"),
        ("no mark".encode("utf-16-le"), "null bytes"),
        ("é".encode("latin-1"), "byte 1"),
        (b"\xff\xfea", "UTF-16"),
    ],
)
def test_what_is_no_text_is_refused_with_the_reason(data, reason):
    with pytest.raises(ValidationError) as refused:
        text_of(data)
    assert reason in refused.value.messages[0]


def test_a_plan_from_a_file_has_its_heading_first_line_or_file_name_as_title(project, by):
    assert import_plan(project, "a.md", b"\r\n# Winter\r\ntext", by=by).title == "Winter"
    assert import_plan(project, "b.txt", b"first line\nmore", by=by).title == "first line"
    assert import_plan(project, "the-name.markdown", b"---", by=by).title == "the-name"
    with pytest.raises(ValidationError):
        import_plan(project, "c.png", b"text", by=by)
    entry = Plan.objects.first().history.get()
    assert entry.through == "panel"


def test_a_folder_of_files_becomes_notes_plans_and_todos(project, tmp_path):
    for name, text in {
        "notes/one.md": "A note.",
        "plans/deep/two.md": "# A plan\r\n",
        "loose.md": "# Loose",
        "todos.md": "# Todos\n- [ ] open\n- [x] done\n",
        "ignored.png": "x",
    }.items():
        path = tmp_path / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    assert "5 new" in run("import_knowledge", "shop", tmp_path / "in")
    assert [note.body for note in Note.objects.all()] == ["A note."]
    assert {plan.body for plan in Plan.objects.all()} == {"# A plan\n", "# Loose"}
    assert [(todo.text, todo.done) for todo in Todo.objects.all()] == [("open", False), ("done", True)]
    assert Note.objects.get().history.get().through == Through.FILE


def test_a_refused_file_is_named_and_the_others_are_imported(project, tmp_path):
    (tmp_path / "good.md").write_text("good")
    (tmp_path / "bad.md").write_bytes(b"\x00\x01")
    (tmp_path / "long.md").write_text("x" * 1_000_001)
    with pytest.raises(CommandError) as refused:
        run("import_knowledge", "shop", tmp_path)
    assert "2 were refused" in str(refused.value)
    assert [plan.body for plan in Plan.objects.all()] == ["good"]


def test_a_project_exported_as_a_folder_comes_back_the_same(
    project, other, tmp_path, write_note, write_plan, write_todo
):
    (
        write_note("A note.\n\n  indented 🧑‍🚀\n"),
        write_plan("# Plan\n\n- [ ] x\n"),
        write_todo("one"),
        write_todo("two", done=True),
    )
    run("export_knowledge", "shop", tmp_path / "out")
    run("import_knowledge", "other", tmp_path / "out")
    for name, field in (("notes", "body"), ("plans", "body"), ("todos", "text")):
        texts = [[getattr(row, field) for row in rows_of(name).filter(project=one)] for one in (project, other)]
        assert texts[0] == texts[1]


# Archives ---------------------------------------------------------------------------------


def test_an_archive_takes_everything_elsewhere_with_history_and_pins(
    project, other, tmp_path, write_note, write_plan, write_todo, by
):
    note = write_note("before", pinned=True, source="message", session="ses_1", message="msg_1")
    note.edit(body="after", by=by)
    write_note("binned").bin(by=by)
    write_plan("# Plan", pinned=True)
    a, b, c = write_todo("a"), write_todo("b", done=True), write_todo("c")
    c.move(before=a)
    run("export_knowledge", "shop", tmp_path / "shop.zip")
    assert (tmp_path / "shop.zip").stat().st_mode & 0o077 == 0
    assert "6 new" in run("import_knowledge", "other", tmp_path / "shop.zip")
    assert told(other) == told(project)
    assert [todo.text for todo in other.todos.in_order()] == ["c", "a", "b"]
    copy = other.notes.get(body="after")
    assert [entry.body for entry in copy.history.all()] == ["after", "before"]
    assert copy.history.first().history_user == by.user
    assert [hit.title for hit in ask(Project.objects.filter(pk=other.pk), "after").hits] == ["after"]
    assert ask(Project.objects.filter(pk=other.pk), "binned").hits == []
    assert b.done


def test_importing_twice_changes_nothing(project, other, tmp_path, write_note):
    write_note("one")
    run("export_knowledge", "shop", tmp_path / "shop.zip")
    for outcome in ("1 new", "1 same"):
        assert outcome in run("import_knowledge", "other", tmp_path / "shop.zip")
    assert other.notes.count() == 1
    assert "1 same" in run("import_knowledge", "shop", tmp_path / "shop.zip")


@pytest.mark.parametrize(
    ("existing", "texts", "outcome"),
    [
        ("skip", ["changed"], "1 kept"),
        ("overwrite", ["original"], "1 overwritten"),
        ("both", ["original", "changed"], "1 both"),
    ],
)
def test_what_is_there_already_stays_is_overwritten_or_both_are_kept(
    project, tmp_path, write_note, by, existing, texts, outcome
):
    note = write_note("original")
    run("export_knowledge", "shop", tmp_path / "shop.zip")
    note.edit(body="changed", by=by)
    assert outcome in run("import_knowledge", "shop", tmp_path / "shop.zip", "--existing", existing)
    assert sorted(row.body for row in project.notes.live()) == sorted(texts)
    note.refresh_from_db()
    assert "changed" in [entry.body for entry in note.history.all()]


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ({}, "no archive"),
        ({"openchamber.json": "nonsense"}, "no archive"),
        ({"openchamber.json": '{"format": 99}'}, "another version"),
        ({"openchamber.json": '{"format": 1}', "knowledge/notes.jsonl": "nonsense\n"}, "line 1: not JSON"),
        ({"openchamber.json": '{"format": 1}', "knowledge/notes.jsonl": "[]\n"}, "not an object"),
    ],
)
def test_what_is_no_archive_is_refused_with_the_reason(project, tmp_path, members, reason):
    path = tmp_path / "bad.zip"
    with zipfile.ZipFile(path, "w") as file:
        for name, text in members.items():
            file.writestr(name, text)
    with pytest.raises(CommandError, match=reason):
        run("import_knowledge", "shop", path)
    assert not Note.objects.exists()


@pytest.mark.parametrize(
    "record",
    [
        {},
        {"uid": "x", "text": "a"},
        {"uid": "6b0f2f1e-3c52-4f38-9d0a-6f4f1d3e7a11"},
        {"uid": "6b0f2f1e-3c52-4f38-9d0a-6f4f1d3e7a11", "text": ""},
        {"uid": "6b0f2f1e-3c52-4f38-9d0a-6f4f1d3e7a11", "text": "a\x00"},
        {"uid": "6b0f2f1e-3c52-4f38-9d0a-6f4f1d3e7a11", "text": "x" * 20_001},
        {"uid": "6b0f2f1e-3c52-4f38-9d0a-6f4f1d3e7a11", "text": "a", "created_at": "yesterday"},
        {"uid": "6b0f2f1e-3c52-4f38-9d0a-6f4f1d3e7a11", "text": "a", "source": "song"},
        {"uid": "6b0f2f1e-3c52-4f38-9d0a-6f4f1d3e7a11", "text": "a", "pinned": "perhaps"},
        {"uid": "6b0f2f1e-3c52-4f38-9d0a-6f4f1d3e7a11", "text": "a", "history": [{"text": "\x00"}]},
    ],
)
def test_a_record_that_breaks_a_rule_is_named_and_leaves_the_others_alone(project, tmp_path, record):
    path = tmp_path / "mixed.zip"
    good = {"uid": "11111111-1111-4111-8111-111111111111", "text": "good"}
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("openchamber.json", '{"format": 1}')
        file.writestr("knowledge/notes.jsonl", f"{json.dumps(record)}\n{json.dumps(good)}\n")
    with pytest.raises(CommandError, match="1 were refused"):
        run("import_knowledge", "shop", path)
    assert [note.body for note in Note.objects.all()] == ["good"]
    assert Note.objects.get().history.count() == 1


TEXTS = st.text(st.characters(exclude_characters="\x00\r", exclude_categories=["Cs"]), min_size=1, max_size=60).filter(
    str.strip
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(TEXTS, max_size=4))
def test_any_text_goes_through_an_archive_unchanged(project, other, tmp_path, by, texts):
    for one in (project, other):
        for name in LISTS:
            rows_of(name).filter(project=one).delete()
    for text in texts:
        note = Note.write(project=project, body=text, by=by)
        Plan.write(project=project, body=text * 2, by=by)
        Todo.write(project=project, text=text, by=by)
        note.edit(body=text + "!", by=by)
    run("export_knowledge", "shop", tmp_path / "any.zip")
    run("import_knowledge", "other", tmp_path / "any.zip")
    assert told(other) == told(project)


# An earlier system's store ----------------------------------------------------------------


@pytest.fixture
def store(tmp_path):
    """Write an earlier system's store; its path."""

    def write(content, plans=()):
        folder = tmp_path / "earlier"
        (folder / "plans").mkdir(parents=True, exist_ok=True)
        for name, text in dict(plans).items():
            (folder / "plans" / name).write_text(text)
        (folder / "context.json").write_text(json.dumps(content))
        return folder

    return write


def test_an_earlier_store_of_version_2_is_taken_over(project, store):
    folder = store(
        {
            "version": 2,
            "notes": [
                {
                    "id": "n1",
                    "body": "A note",
                    "createdAt": 1760000000000,
                    "updatedAt": 1760000001000,
                    "source": "manual",
                },
                {
                    "id": "n2",
                    "body": "Kept",
                    "createdAt": 1,
                    "source": "selection",
                    "origin": {"sessionId": "s", "messageId": "m"},
                    "pinned": True,
                },
            ],
            "todos": [{"id": "t1", "text": "one", "completed": False}, {"id": "t2", "text": "two", "completed": True}],
            "plans": [{"id": "p1", "file": "1-plan.md", "title": "Plan", "createdAt": 1760000000000, "pinned": True}],
        },
        {"1-plan.md": "# Plan\r\ntext"},
    )
    assert "5 new" in run("import_knowledge", "shop", folder)
    note, kept = Note.objects.get(body="A note"), Note.objects.get(body="Kept")
    assert (note.source, note.created_at.year, note.pinned) == ("typed", 2025, False)
    assert (kept.source, kept.origin_session, kept.origin_message, kept.pinned) == ("message", "s", "m", True)
    assert [(todo.text, todo.done) for todo in Todo.objects.all()] == [("one", False), ("two", True)]
    plan = Plan.objects.get()
    assert (plan.title, plan.body, plan.pinned) == ("Plan", "# Plan\ntext", True)
    assert "5 same" in run("import_knowledge", "shop", folder)


def test_an_earlier_store_of_version_1_has_its_notes_in_one_text(project, store):
    folder = store({"notes": "All my notes", "todos": [], "plans": []})
    run("import_knowledge", "shop", folder / "context.json")
    note = Note.objects.get()
    run("import_knowledge", "shop", folder)
    assert Note.objects.get() == note
    assert note.body == "All my notes"
    run("import_knowledge", "shop", store({"version": 1, "notes": "  "}))
    assert Note.objects.count() == 1


def test_an_earlier_store_that_is_nested_too_deep_is_refused(project, tmp_path):
    (tmp_path / "context.json").write_text("[" * 100_000)
    with pytest.raises(CommandError, match=r"context\.json is not JSON"):
        run("import_knowledge", "shop", tmp_path / "context.json")


def test_bad_entries_of_an_earlier_store_are_named_and_good_ones_taken(project, store, tmp_path):
    (tmp_path / "secret.md").write_text("secret")
    folder = store(
        {
            "version": 2,
            "notes": [{"id": "n1", "body": "good"}, {"id": "", "body": "no id"}, "nonsense", {"id": "n2", "body": " "}],
            "plans": [{"id": "p1", "file": "../../secret.md"}, {"id": "p2", "file": "gone.md"}],
        }
    )
    with pytest.raises(CommandError, match="5 were refused"):
        run("import_knowledge", "shop", folder)
    assert [note.body for note in Note.objects.all()] == ["good"]
    assert not Plan.objects.exists()


@pytest.mark.parametrize("content", ["nonsense", [], {"version": 3}, {"version": "x"}])
def test_a_store_that_cannot_be_read_is_refused(project, store, content):
    with pytest.raises(CommandError):
        run("import_knowledge", "shop", store(content))


# Purge and backup -------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_purging_empties_the_bin_and_forgets_what_was_in_it(project, write_note, write_plan, by):
    from knowledge.models import SearchWord

    kept, gone = write_note("kept words"), write_note("a secretword")
    gone.bin(by=by)
    write_plan("# old plan").bin(by=by)
    assert "nothing" in run("purge")
    assert "1 notes, 1 plans" in run("purge", "--days", "0")
    assert [note.body for note in Note.objects.all()] == ["kept words"]
    assert not Note.history.filter(id=gone.pk).exists()
    assert not SearchWord.objects.filter(word="secretword").exists()
    assert SearchWord.objects.filter(word="kept").exists()
    assert kept.history.count() == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor != "sqlite", reason="pg_dump is PostgreSQL's own")
def test_a_backup_is_a_working_copy(project, write_note, tmp_path):
    write_note("kept")
    out = run("backup", tmp_path / "backups")
    (made,) = (tmp_path / "backups").iterdir()
    assert str(made) in out
    assert re.search(r"Remove (\S+), \1-wal and \1-shm, and copy its openchamber.sqlite3 there", out)
    assert made.stat().st_mode & 0o077 == 0
    with sqlite3.connect(made / "openchamber.sqlite3") as copy:
        assert copy.execute("SELECT body FROM knowledge_note").fetchall() == [("kept",)]
    copy.close()


@pytest.mark.parametrize("command", [("import_knowledge", "nowhere", "."), ("export_knowledge", "nowhere", "x")])
def test_an_unknown_project_is_told(db, command):
    with pytest.raises(CommandError, match="nowhere"):
        run(*command)
    with pytest.raises(CommandError):
        run("purge", "--days", "-1")


def test_the_author_of_an_import_is_the_import(project, store):
    run("import_knowledge", "shop", store({"notes": "x"}))
    entry = Note.objects.get().history.get()
    assert (entry.through, entry.history_user, entry.change) == ("import", None, "imported")
    assert Author(None, Through.IMPORT).sitting == ""
