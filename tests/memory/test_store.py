"""What the store promises: constraints, history, names, import of an earlier store, purge, scan, admin."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django.test import Client
from django.utils import timezone

from memory.models import Author, Entry, Judgement, Scope, Stale, Switches, Taken
from memory.texts import name_from, title_key, validate_name
from memory.threats import SCANNER_VERSION
from openchamber.signals import purge_wanted
from tests.memory.test_tool import THREAT


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Prefers Tabs!", "prefers-tabs"),
        ("Café: where we meet", "café-where-we-meet"),
        ("部署在星期一", "部署在星期一"),
        ("...", "entry"),
        ("Memory", "memory-entry"),
        ("con", "con-entry"),
        ("../../etc/passwd", "etc-passwd"),
        ("x" * 100, "x" * 60),
        ("word " * 40, "-".join(["word"] * 12)),
        ("Παράδοση τον Μαΐου", "παράδοση-τον-μαΐου"),
        ("हिंदी में उत्तर दें", "हिंदी-में-उत्तर-दें"),
        ("தமிழ் மொழி", "தமிழ்-மொழி"),
        ("ig\u200bnore\ufe0f \u0301 it", "ignore-it"),
    ],
)
def test_a_title_gives_a_safe_file_name(title: str, name: str) -> None:
    assert name_from(title) == name


def test_every_letter_gives_a_name_that_is_one() -> None:
    letters = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    telling = [one for one in letters if one.casefold() != one or unicodedata.category(one)[0] == "M"]
    for letter in [*telling, *letters[::97]]:
        for title in (letter, f"a{letter}b"):
            validate_name(name_from(title))


def test_titles_that_look_the_same_are_the_same(write: Callable[..., Entry]) -> None:
    entry = write("Prefers tabs")
    with pytest.raises(Taken):
        write("Prefers\u200b ta\u00adbs", "Another text.")
    assert title_key("Pre\u2060fers tabs\ufe0f") == entry.title_key
    england, scotland = (
        "\U0001f3f4" + "".join(chr(0xE0000 + ord(x)) for x in f"{where}\x7f") for where in ("gbeng", "gbsct")
    )
    assert title_key(england) != title_key(scotland)


@pytest.mark.parametrize("fields", [{"title": "\u200b\u2800"}, {"body": "\u200b\n\u2060"}])
def test_what_nobody_can_see_is_empty(write: Callable[..., Entry], fields: dict[str, str]) -> None:
    with pytest.raises(ValidationError, match="empty"):
        write(**fields)


def test_titles_that_differ_only_far_behind_are_two(write: Callable[..., Entry]) -> None:
    long = "\ufdfa" * 14  # each is a greeting of eighteen letters
    assert write(f"{long}A").title_key != write(f"{long}B").title_key


def test_two_titles_of_one_name_get_numbers(write: Callable[..., Entry]) -> None:
    assert [write(title).name for title in ("C!", "C?", "C#")] == ["c", "c-2", "c-3"]


def test_the_database_refuses_two_live_entries_of_one_title_or_name(write: Callable[..., Entry]) -> None:
    first, second = write("Prefers tabs"), write("Uses make")
    for fields in ({"title_key": first.title_key}, {"name": first.name}):
        with pytest.raises(IntegrityError), transaction.atomic():
            Entry.objects.filter(pk=second.pk).update(**fields)


def test_an_edit_of_another_revision_is_refused(write: Callable[..., Entry], by: Author) -> None:
    entry = write("Prefers tabs")
    stale = Entry.objects.select_related("scope__agent").get(pk=entry.pk)
    entry.edit(by=by, body="In Go.")
    with pytest.raises(Stale):
        stale.edit(by=by, body="In C.")
    entry.bin(by=by)
    with pytest.raises(Stale):
        Entry.objects.select_related("scope__agent").get(pk=entry.pk).edit(by=by, body="In Rust.")
    assert Entry.objects.get(pk=entry.pk).body == "In Go."


def test_taking_another_entry_s_title_is_refused(write: Callable[..., Entry], by: Author) -> None:
    write("Prefers tabs")
    entry = write("Uses make")
    with pytest.raises(Taken):
        entry.edit(by=by, title="PREFERS tabs")
    assert Entry.objects.get(pk=entry.pk).title == "Uses make"


def test_what_no_database_holds_is_taken_out(write: Callable[..., Entry]) -> None:
    entry = write("Prefers\r\ntabs\x00", "One\r\ntwo\x00\ud800")
    assert (entry.title, entry.body) == ("Prefers tabs", "One\ntwo?")


# ------------------------------------------------------------------------- commands


def earlier_store(path: Path, entries: list[Any]) -> Path:
    path.write_text(json.dumps({"version": 1, "entries": entries}))
    return path


def test_an_earlier_store_is_taken_in_once_and_scanned(user_scope: Scope, tmp_path: Path) -> None:
    store = earlier_store(
        tmp_path / "memory.json",
        [
            {
                "id": "1",
                "title": "Prefers tabs",
                "body": "Everywhere.",
                "type": "preference",
                "createdAt": 1_700_000_000_000,
            },
            {"id": "2", "title": "Old rule", "body": THREAT, "type": "rumour", "updatedAt": "yesterday"},
            {"id": "3", "title": "Prefers tabs", "body": "Again."},
            {"id": "4", "title": " ", "body": "x"},
            "nonsense",
        ],
    )
    out = StringIO()
    call_command("import_memory", str(store), stdout=out)
    assert "1 added, 1 flagged, 3 refused" in out.getvalue()
    assert "refused: 4: 4: This is no entry" in out.getvalue()
    assert "refused: 5: nonsense: This is no entry" in out.getvalue()
    entry = Entry.objects.get(title="Prefers tabs")
    assert (entry.type, entry.created_at.year, entry.history.get().through) == ("preference", 2023, "import")
    call_command("import_memory", str(store), stdout=StringIO())
    assert Entry.objects.count() == 2


def test_an_earlier_store_of_a_project(project: Any, on: None, tmp_path: Path) -> None:
    store = earlier_store(tmp_path / "memory.json", [{"title": "Uses make", "body": "For all."}])
    call_command("import_memory", str(store), directory=project.directory, stdout=StringIO())
    assert Entry.objects.get().scope.directory == project.directory


def taken_in(path: Path, entries: list[Any], **options: str) -> str:
    """What the command says."""
    out = StringIO()
    call_command("import_memory", str(earlier_store(path / "memory.json", entries)), stdout=out, **options)
    return out.getvalue()


def test_an_import_refuses_by_name_what_does_not_fit_and_cuts_and_drops_nothing(
    user_scope: Scope, tmp_path: Path
) -> None:
    Switches.change(user_limit=2)
    long = {"title": "x" * 121, "body": "Too long."}
    same = [{"title": "Prefers tabs", "body": "In Go."}, {"title": "Prefers tabs", "body": "In C."}]
    more = [{"title": "Uses make", "body": "For all."}, {"title": "Uses vim", "body": "For all."}]
    told = taken_in(tmp_path, [long, *same, *more])
    assert "2 added, 3 refused" in told
    assert "xxx: This has 121 characters" in told
    assert "refused: Prefers tabs: There is another entry" in told
    assert "refused: Uses vim: “User” is full. Entries of this kind: 2; at most 2 fit." in told
    assert sorted(Entry.objects.values_list("title", "body")) == [("Prefers tabs", "In Go."), ("Uses make", "For all.")]


def test_what_is_no_text_is_no_title_and_no_body(user_scope: Scope, tmp_path: Path) -> None:
    told = taken_in(tmp_path, [{"title": {"a": 1}, "body": "x"}, {"title": "Numbers", "body": [1, 2]}])
    assert "refused: 1: {'a': 1}: This is no entry" in told
    assert "refused: 2: Numbers: This is no entry" in told
    assert not Entry.objects.exists()


def test_an_imported_session_s_name_turns_no_line_round(user_scope: Scope, tmp_path: Path) -> None:
    taken_in(tmp_path, [{"title": "Prefers tabs", "body": "x", "sessionId": "ses\u202e\n1\0\ud800"}])
    assert Entry.objects.get().origin_session == "ses 1 ?"


def test_no_imported_entry_is_of_the_future(user_scope: Scope, tmp_path: Path) -> None:
    year_9999 = 253_402_300_799_999
    taken_in(tmp_path, [{"title": "Prefers tabs", "body": "x", "createdAt": year_9999, "updatedAt": year_9999}])
    entry = Entry.objects.get()
    assert max(entry.created_at, entry.updated_at) <= timezone.now()


def test_a_byte_order_mark_is_no_hindrance(user_scope: Scope, tmp_path: Path) -> None:
    store = tmp_path / "memory.json"
    store.write_text(json.dumps([{"title": "Prefers tabs", "body": "In Go."}]), encoding="utf-8-sig")
    call_command("import_memory", str(store), stdout=StringIO())
    assert Entry.objects.get().title == "Prefers tabs"


def test_no_title_reaches_the_terminal_as_it_is(write: Callable[..., Entry], tmp_path: Path) -> None:
    write("\x1b[2J Release notes", THREAT)
    out = StringIO()
    call_command("scan_memory", stdout=out)
    told = out.getvalue() + taken_in(tmp_path, [{"title": f"\x1b[31m{'x' * 200}", "body": "Red."}, "\x1b[32m"])
    assert told.count("⟨U+001B⟩") == 3
    assert "\x1b" not in told


def test_an_import_about_the_user_waits_for_approval_where_that_is_set(user_scope: Scope, tmp_path: Path) -> None:
    Switches.change(hold_user_entries=True)
    assert "1 awaiting" in taken_in(tmp_path, [{"title": "Prefers tabs", "body": "In Go."}])
    assert Entry.objects.get().awaiting


def test_a_relative_directory_is_made_whole(
    project: Any, on: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project.directory)
    taken_in(tmp_path, [{"title": "Uses make", "body": "For all."}], directory=".")
    assert Scope.objects.get(kind="workspace").directory == project.directory


@pytest.mark.parametrize("text", ["not json", '{"version": 1}', "7", "[" * 200_000])
def test_what_is_no_store_is_refused(user_scope: Scope, tmp_path: Path, text: str) -> None:
    (tmp_path / "memory.json").write_text(text)
    with pytest.raises(CommandError):
        call_command("import_memory", str(tmp_path / "memory.json"))
    with pytest.raises(CommandError):
        call_command("import_memory", str(tmp_path / "gone.json"))
    with pytest.raises(CommandError):
        call_command("import_memory", str(tmp_path / "memory.json"), agent="nobody")


def test_a_refused_import_leaves_no_scope_behind(tmp_path: Path, db: None) -> None:
    (tmp_path / "broken.json").write_text("not json")
    (tmp_path / "memory.json").write_text('{"entries": []}')
    for file, directory in (("broken.json", tmp_path), ("memory.json", tmp_path / "nowhere")):
        with pytest.raises(CommandError):
            call_command("import_memory", str(tmp_path / file), directory=str(directory))
    assert not Scope.objects.filter(kind="workspace").exists()


def test_scanning_again_judges_what_an_older_scanner_saw(write: Callable[..., Entry]) -> None:
    entry = write("Release notes", THREAT)
    write("Prefers tabs")
    Entry.objects.filter(pk=entry.pk).update(scanned_with="0-old", flagged=False, matches=[])
    out = StringIO()
    call_command("scan_memory", stdout=out)
    assert f"{SCANNER_VERSION}: 1 scanned" in out.getvalue()
    assert "withheld: Default: User · Release notes (" in out.getvalue()
    out = StringIO()
    call_command("scan_memory", "--all", stdout=out)
    assert "2 scanned" in out.getvalue()


def test_a_verdict_outlives_a_new_scanner(write: Callable[..., Entry], by: Author, owner: Any) -> None:
    entry = write("Release notes", THREAT)
    entry.judge("safe", by=owner, through=by)
    Entry.objects.update(scanned_with="0-old")
    call_command("scan_memory", stdout=StringIO())
    entry.refresh_from_db()
    assert not entry.flagged


def test_emptying_the_bin_removes_entries_with_their_history_and_keeps_the_audit(
    write: Callable[..., Entry], by: Author, owner: Any
) -> None:
    entry = write("Release notes", THREAT)
    entry.judge("threat", by=owner, through=by)
    entry.bin(by=by)
    write("Prefers tabs")
    answers = dict(purge_wanted.send(None, before=timezone.now()))
    assert {"memory": 1} in answers.values()
    assert Entry.objects.get().title == "Prefers tabs"
    assert Entry.history.count() == 1
    assert Judgement.objects.get().entry is None


# ------------------------------------------------------------------------- admin


def test_the_admin_judges_in_bulk_and_keeps_who_did_it(panel: Client, owner: Any, write: Callable[..., Entry]) -> None:
    entries = [write(f"Notes {number}", f"{THREAT} {number}") for number in range(2)]
    page = panel.get("/admin/memory/entry/").content.decode()
    assert "displaced instructions" in page
    chosen = {"_selected_action": [entry.pk for entry in entries]}
    for action, flagged in (("judge_safe", False), ("judge_threat", True), ("unjudge", True)):
        panel.post("/admin/memory/entry/", {**chosen, "action": action})
        assert set(Entry.objects.values_list("flagged", flat=True)) == {flagged}
    assert Judgement.objects.filter(by=owner).count() == 6
    assert "Notes 0" in panel.get("/admin/memory/judgement/").content.decode()
    assert {entry.history.first().through for entry in entries} == {"admin"}


def test_the_admin_deletes_and_brings_back_and_shows_invisible_characters(
    panel: Client, write: Callable[..., Entry]
) -> None:
    entry = write("Prefers tabs", "In ev\u200bery language.", awaiting=True)
    assert "⟨U+200B⟩" in panel.get(f"/admin/memory/entry/{entry.pk}/change/").content.decode()
    for action in ("approve", "delete_entries", "bring_back"):
        panel.post("/admin/memory/entry/", {"_selected_action": [entry.pk], "action": action})
    entry.refresh_from_db()
    assert (entry.awaiting, entry.deleted_at) == (False, None)
    assert panel.get("/admin/memory/entry/add/").status_code == 403
    for model in ("agent", "scope", "switches"):
        assert panel.get(f"/admin/memory/{model}/").status_code == 200


def test_the_limits_are_what_was_set(db: None) -> None:
    assert (Switches.current().limit("user"), Switches.current().limit("workspace")) == (60, 200)
