"""The store of an earlier system: `context.json`, version 1 or 2, with `plans/*.md` beside it. Its facts only.

Version 1 has all notes in one text. Identifiers are made into ours the same way each time, so
that importing twice finds everything again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid5

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from knowledge.files import text_of

SPACE = UUID("6b0f2f1e-3c52-4f38-9d0a-6f4f1d3e7a11")
PLAN_FILE = re.compile(r"[A-Za-z0-9._-]+\.md")
SOURCES = {"manual": "typed", "selection": "message", "agent": "import"}

Record = dict[str, Any]


def records(path: Path) -> Iterator[tuple[str, Record | str]]:
    """(list name, record, or what is wrong with an entry) of everything in the store at `path`."""
    try:
        store = json.loads(text_of(path.read_bytes()))
    except (ValueError, RecursionError) as error:
        raise ValidationError(_("context.json is not JSON.")) from error
    if not isinstance(store, dict) or store.get("version", 1) not in (1, 2):
        raise ValidationError(_("This is no context.json of version 1 or 2."))
    for name, read in (("notes", note), ("todos", todo), ("plans", plan)):
        for entry in entries(store.get(name), name):
            try:
                yield name, read(entry, path.parent)
            except ValidationError as error:
                yield name, " ".join(error.messages)


def entries(found: Any, name: str) -> list[Mapping[str, Any]]:
    """The entries of one list; in version 1 the notes are one text, and so one entry."""
    if isinstance(found, str) and name == "notes":
        return [{"id": "notes", "body": found}] if found.strip() else []
    listed = found if isinstance(found, list) else []
    return [entry if isinstance(entry, dict) else {} for entry in listed]


def note(entry: Mapping[str, Any], _folder: Path) -> Record:
    """A note."""
    found = entry.get("origin")
    origin = found if isinstance(found, dict) else {}
    return {
        **usual(entry, "note"),
        "text": entry.get("body"),
        "source": SOURCES.get(str(entry.get("source")), "import"),
        "origin_session": str(origin.get("sessionId") or "")[:200],
        "origin_message": str(origin.get("messageId") or "")[:200],
        "pinned": entry.get("pinned") is True,
    }


def todo(entry: Mapping[str, Any], _folder: Path) -> Record:
    """A todo."""
    return {**usual(entry, "todo"), "text": entry.get("text"), "done": entry.get("completed") is True}


def plan(entry: Mapping[str, Any], folder: Path) -> Record:
    """A plan; its text is in a file of its own, which must lie where the store says plans lie."""
    name = str(entry.get("file"))
    path = folder / "plans" / name
    if not PLAN_FILE.fullmatch(name) or not path.is_file() or path.is_symlink():
        raise ValidationError(_("The file of the plan “%(title)s” is missing."), params={"title": entry.get("title")})
    return {
        **usual(entry, "plan"),
        "text": text_of(path.read_bytes()),
        "source": "import",
        "pinned": entry.get("pinned") is True,
    }


def usual(entry: Mapping[str, Any], kind: str) -> Record:
    """Identifier and times."""
    if not entry.get("id"):
        raise ValidationError(_("An entry without an id."))
    created = moment(entry.get("createdAt"))
    return {
        "uid": str(uuid5(SPACE, f"{kind}:{entry['id']}")),
        "created_at": created,
        "updated_at": moment(entry.get("updatedAt")) or created,
    }


def moment(milliseconds: Any) -> str | None:
    """A time in milliseconds since 1970 as records tell it; None for what is none."""
    if not isinstance(milliseconds, (int, float)) or isinstance(milliseconds, bool):
        return None
    try:
        return datetime.fromtimestamp(milliseconds / 1000, tz=UTC).isoformat()
    except (OverflowError, ValueError, OSError):
        return None
