"""What is written of an entry: which fields a save, a scan, a verdict and an edit set, and in which form."""

from __future__ import annotations

from typing import Any

from memory import texts

# What is written by whoever saves an entry.
TEXTS = {"title", "description", "body", "type"}
# What a scan writes, and what a verdict does.
SCANNED = ["content_hash", "scanned_with", "matches"]
VERDICT = ["judgement", "flagged", "conflicting"]
# What an edit may write.
EDITED = [
    "title",
    "title_key",
    "description",
    "body",
    "type",
    "name",
    "revision",
    "updated_at",
    *SCANNED,
    *VERDICT,
]


def stored(fields: dict[str, str]) -> dict[str, Any]:
    """The fields as they are stored: lines of one line, one kind of line end."""
    lines = {"title", "description", "name", "type"}
    return {name: (texts.one_line if name in lines else texts.plain)(value) for name, value in fields.items()}
