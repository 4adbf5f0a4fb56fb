"""Archives that nobody's export made: refused as a whole or line by line, and never half taken in."""

from __future__ import annotations

import io
import json
import zipfile
from functools import partial

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from knowledge.archives import records
from knowledge.models import LISTS, Note, Plan, Todo
from openchamber import archive
from openchamber.models import Project

UID = "6b0f2f1e-3c52-4f38-9d0a-6f4f1d3e7a11"
GOOD = {"uid": "11111111-1111-4111-8111-111111111111", "text": "good"}
MANIFEST = '{"format": 1}'


def packed(members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made:
        for name, text in members.items():
            made.writestr(name, text)
    return file.getvalue()


def take_in(project, data, existing="skip"):
    return archive.take_in(project, io.BytesIO(data), name="odd.zip", existing=existing)


def lines(*rows):
    return "".join(row if isinstance(row, str) else f"{json.dumps(row)}\n" for row in rows)


def with_flags(data, flags):
    """The archive with the general purpose flags of all its members set to `flags`."""
    return patched(data, {b"PK\x03\x04": 6, b"PK\x01\x02": 8}, flags)


def with_compression(data, method):
    return patched(data, {b"PK\x03\x04": 8, b"PK\x01\x02": 10}, method)


def patched(data, places, value):
    found = bytearray(data)
    for mark, offset in places.items():
        start = found.rfind(mark)  # of the last member: the manifest is the first
        found[start + offset : start + offset + 2] = value.to_bytes(2, "little")
    return bytes(found)


@pytest.mark.parametrize(
    ("list_name", "record"),
    [
        ("notes", {"history": ["x"]}),
        ("notes", {"history": [None]}),
        ("notes", {"history": "x"}),
        ("notes", {"history": [{"text": "x" * 20_001}]}),
        ("todos", {"history": [{"text": "a", "done": "maybe"}]}),
        ("notes", {"origin_session": None}),
        ("notes", {"origin_session": 5}),
        ("notes", {"origin_message": []}),
        ("notes", {"source": None}),
        ("notes", {"source": "\ud800"}),
        ("notes", {"origin_session": "\ud800"}),
        ("notes", {"text": "\ud800"}),
        ("notes", {"uid": "\ud800"}),
        ("notes", {"created_at": "\ud800"}),
        ("notes", {"\ud800": 1}),
        ("notes", {"history": [{"text": "a", "by": "\ud800"}]}),
        ("notes", {"history": [{"text": "a", "history_change_reason": "\ud800"}]}),
        ("notes", {"history": [{"text": "a", "history_change_reason": "\x00"}]}),
        ("notes", {"created_at": "9999-12-31T23:59:59-23:00"}),
        ("notes", {"updated_at": "0001-01-01T00:00:00+23:00"}),
        ("notes", {"created_at": "0001-06-01T00:00:00Z"}),
        ("notes", {"created_at": "9999-06-01T00:00:00Z"}),
        ("notes", {"deleted_at": "9999-12-31T23:59:59-23:00"}),
        ("notes", {"deleted_at": False}),
        ("notes", {"history": [{"text": "a", "at": "0001-01-01T00:00:00+23:00"}]}),
        ("todos", {"done": "maybe"}),
        ("todos", {"done": None}),
        ("notes", {"pinned": "False"}),
        ("notes", {"pinned": 1}),
        ("notes", {"source": "x" * 100_000}),
    ],
)
@pytest.mark.parametrize("existing", ["skip", "overwrite"])
def test_an_odd_line_is_refused_and_the_others_are_taken_in(project, list_name, record, existing):
    data = packed(
        {"openchamber.json": MANIFEST, f"knowledge/{list_name}.jsonl": lines({"uid": UID, "text": "a", **record}, GOOD)}
    )
    found = take_in(project, data, existing)
    assert len(found.refused) == 1
    assert "line 1" in found.refused[0]
    assert len(found.refused[0].encode()) < 2_000
    assert [row.typed for row in LISTS[list_name].objects.all()] == ["good"]


def test_an_odd_line_is_refused_on_the_page_too(panel, project):
    odd = lines({"uid": UID, "text": "a", "source": "\ud800"}, GOOD)
    file = SimpleUploadedFile("odd.zip", packed({"openchamber.json": MANIFEST, "knowledge/notes.jsonl": odd}))
    address = reverse("openchamber:take-in-archive", args=["shop"])
    answer = panel.post(address, {"file": file, "existing": "skip"}, follow=True)
    assert "lone surrogate" in answer.text
    assert "1 new" in answer.text


@pytest.mark.parametrize(
    ("plans", "oddly"),
    [
        ("[" * 200_000, bytes),
        ("1" * 5_000, bytes),
        ("{}", partial(with_flags, flags=1)),  # encrypted
        ("{}", partial(with_compression, method=97)),
        ("nonsense" * 20, partial(with_compression, method=zipfile.ZIP_BZIP2)),
        ("nonsense" * 20, partial(with_compression, method=zipfile.ZIP_LZMA)),
    ],
)
def test_a_file_that_turns_out_odd_halfway_changes_nothing(project, plans, oddly):
    parts = {"openchamber.json": MANIFEST, "knowledge/notes.jsonl": lines(GOOD), "knowledge/plans.jsonl": plans}
    with pytest.raises(archive.ArchiveError, match=r"damaged|not JSON"):
        take_in(project, oddly(packed(parts)))
    assert not Note.objects.exists()


def test_sizes_are_looked_at_before_anything_is_unpacked(project, monkeypatch):
    monkeypatch.setattr(zipfile.ZipFile, "read", lambda *_: pytest.fail("read first"))
    data = packed({"openchamber.json": " " * 1_000_000})
    with pytest.raises(archive.ArchiveError, match="more than an archive"):
        archive.take_in(project, io.BytesIO(data), name="odd.zip", existing="skip", most_bytes=1_000)
    with pytest.raises(archive.ArchiveError, match="too large"):
        take_in(project, data)


def test_a_line_that_is_too_long_is_refused_before_it_is_read_whole(project, monkeypatch):
    monkeypatch.setattr(archive, "LINE_BYTES", 100)
    rows = lines(GOOD, {"uid": UID, "text": "x" * 100})
    with pytest.raises(archive.ArchiveError, match=r"notes.jsonl, line 2: too long"):
        take_in(project, packed({"openchamber.json": MANIFEST, "knowledge/notes.jsonl": rows}))
    assert not Note.objects.exists()


# Overwriting ------------------------------------------------------------------------------


def exported(project):
    file = io.BytesIO()
    archive.export(project, file)
    return file.getvalue()


def stands(row):
    row.refresh_from_db()
    return {name: getattr(row, name, None) for name in ("typed", "done", "pinned", "deleted_at")}


def test_overwriting_takes_over_whether_it_is_done_pinned_or_in_the_bin(
    project, write_note, write_plan, write_todo, by
):
    done, opened, pinned, unpinned = (
        write_todo("a", done=True),
        write_todo("b"),
        write_note("c", pinned=True),
        write_plan(),
    )
    binned, kept = write_note("d"), write_todo("e")
    binned.bin(by=by)
    rows = [done, opened, pinned, unpinned, binned, kept]
    before, data = [stands(row) for row in rows], exported(project)
    done.edit(done=False, by=by)
    opened.edit(done=True, by=by)
    pinned.unpin()
    unpinned.pin()
    binned.undelete(by=by)
    kept.bin(by=by)
    assert take_in(project, data).outcomes == {"kept": 6}
    assert take_in(project, data, "overwrite").outcomes == {"overwritten": 6}
    assert [stands(row) for row in rows] == before
    assert take_in(project, data, "overwrite").outcomes == {"same": 6}
    assert [entry.done for entry in done.history.all()] == [True, False, True]
    assert done.history.first().change == "imported"
    assert binned.history.first().change == "deleted"


def test_overwriting_what_is_in_the_bin_with_a_broken_rule_leaves_it_there(project, write_note, by):
    note = write_note("a")
    note.bin(by=by)
    row = {"uid": str(note.uid), "text": "x" * 20_001}
    data = packed({"openchamber.json": MANIFEST, "knowledge/notes.jsonl": lines(row)})
    assert take_in(project, data, "overwrite").refused
    assert list(Note.objects.binned()) == [note]
    assert note.history.count() == 2


def test_another_text_for_what_lies_in_the_bin_stays_in_the_bin(project, write_plan, by):
    plan = write_plan("# Old")
    plan.bin(by=by)
    other = Project.objects.create(name="Other", slug="other", directory="/nowhere/other")
    take_in(other, exported(project))
    copy = Plan.objects.get(project=other)
    copy.undelete(by=by)
    copy.edit(body="# New", by=by)
    take_in(other, exported(project), "overwrite")
    assert stands(copy) == stands(plan)
    assert not Todo.objects.exists()
    assert [row["text"] for row in records(other, "plans")] == ["# Old"]
