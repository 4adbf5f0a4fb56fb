"""Texts as files: what a file must be to become a text, and where the files of a project lie in a folder.

notes/*.md    a note each        plans/*.md    a plan each        todos.md    the task items, in order (checklists)
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from pathlib import Path

from django.core.exceptions import ValidationError
from django.utils.text import slugify
from django.utils.translation import gettext as _

from knowledge import checklists
from knowledge.checklists import Outcome
from knowledge.models import Author, Note, Plan, Source
from knowledge.models.plans import with_heading
from knowledge.texts import normal_lines, revision_of
from openchamber.models import Project

SUFFIXES = (".md", ".markdown", ".txt")
BYTE_ORDER_MARKS = [
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
]


def text_of(data: bytes) -> str:
    """The text in a file's bytes: UTF-8, or what its byte order mark says. ValidationError says what else it is."""
    if not data.strip():
        raise ValidationError(_("The file is empty."))
    for mark, encoding in BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return decoded(data[len(mark) :] if encoding == "utf-8" else data, encoding)
    if b"\0" in data:
        raise ValidationError(_("This is no text: there are null bytes in it. UTF-16 needs its byte order mark."))
    return decoded(data, "utf-8")


def decoded(data: bytes, encoding: str) -> str:
    """The bytes as text of that encoding."""
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise ValidationError(
            _("This is no %(encoding)s text: byte %(position)d cannot be read. Save it as UTF-8."),
            params={"encoding": encoding.upper(), "position": error.start + 1},
        ) from error


def plan_in(name: str, data: bytes) -> str:
    """The body of the plan that a file is. One without a single word in it is called after the file."""
    check_name(name)
    plan = Plan(body=text_of(data))
    plan.derive()
    title = "" if any(map(str.isalnum, plan.heading)) else Path(name).stem
    return with_heading(title, normal_lines(plan.body))


def import_plan(project: Project, name: str, data: bytes, *, by: Author) -> Plan:
    """A plan from a file."""
    return Plan.write(project=project, body=plan_in(name, data), source=Source.IMPORT, by=by)


def take_text(project: Project, kind: str, name: str, data: bytes, *, by: Author) -> str:
    """What became of the file of a note or plan: "new", or "same" when a live one says just this."""
    body = plan_in(name, data) if kind == "plans" else normal_lines(text_of(data))
    model: type[Note] | type[Plan] = Plan if kind == "plans" else Note
    if model.objects.filter(project=project, deleted_at=None, revision=revision_of(body)).exists():
        return "same"
    model.write(project=project, body=body, source=Source.IMPORT, by=by)
    return "new"


def check_name(name: str) -> None:
    """Refuse a file that does not even claim to be text."""
    if Path(name).suffix.lower() not in SUFFIXES:
        raise ValidationError(_("Only Markdown and text files (.md, .markdown, .txt) are imported."))


def import_folder(project: Project, folder: Path, *, loose: str, by: Author) -> Iterator[Outcome]:
    """Take in each file below `folder`; `loose` files become notes or plans. What a link points to is not read."""
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        text = path.suffix.lower() in SUFFIXES
        if path.is_symlink():
            if text or path.is_dir():
                yield Outcome(name, "refused", _("It is a link, and links are not followed."))
            continue
        if not text or not path.is_file():
            continue
        try:
            if name == "todos.md":
                yield from checklists.take_in(project, text_of(path.read_bytes()), name=name, by=by)
            else:
                first = Path(name).parts[0]
                kind = first if first in ("notes", "plans") else loose
                yield Outcome(name, take_text(project, kind, path.name, path.read_bytes(), by=by))
        except ValidationError as error:
            yield Outcome(name, "refused", " ".join(error.messages))
        except OSError as error:
            yield Outcome(name, "refused", _("It cannot be read: %s.") % error.strerror)


def export_folder(project: Project, folder: Path) -> int:
    """Write the project's live texts as files below `folder`, which may hold others; how many were written."""
    count = 0
    for kind, rows in (("notes", project.notes), ("plans", project.plans)):
        (folder / kind).mkdir(parents=True, exist_ok=True)
        for row in rows.live().order_by("created_at", "pk").iterator(chunk_size=20):
            name = f"{slugify(row.title)[:60] or kind[:-1]}-{row.pk}.md"
            # A byte order mark that belongs to the text needs one before it, which reading takes off.
            encoding = "utf-8-sig" if row.body.startswith("\ufeff") else "utf-8"
            (folder / kind / name).write_bytes(row.body.encode(encoding))
            count += 1
    items = [checklists.item_text(todo) for todo in project.todos.live().in_order()]
    if items:
        (folder / "todos.md").write_bytes("".join(items).encode())
    return count + len(items)
