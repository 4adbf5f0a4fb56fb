"""The manual: what an agent is told about its memory's tool, and what the tool takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memory.index import TOOL
from memory.texts import BODY_LENGTH, DESCRIPTION_LENGTH, TITLE_LENGTH

NAME = TOOL
PATH = "/api/memory/tool"

DESCRIPTION = (
    "Your own memory across sessions. A session is told the titles only: read an entry before you rely on it."
    " Save what will still be true later: a stable preference, a convention, a decision with its reason, a pointer"
    " that was hard to find. Not: the state of a task, what code or configuration says already, secrets, or what the"
    " user asked you to forget. `scope` is `user` for what is true in every project, `workspace` for what is true"
    " here. One subject per entry; where it helps, a line `Why:` and a line `How to apply:`. Saving under an existing"
    " title or name replaces that entry (its earlier text stays in the history), so correct an entry by saving under"
    f" its title. Limits: title {TITLE_LENGTH} characters in one line, description {DESCRIPTION_LENGTH}, body"
    f" {BODY_LENGTH:,}; a scope holds so many entries, which list tells. Nothing is ever cut: what is too long"
    " is refused with its size. Only an answer that says “Saved” means that it is saved."
)

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "action": {
            "type": "string",
            "enum": ["list", "read", "save", "delete", "search"],
            "description": "list titles; read, save or delete one entry; search all of them by words",
        },
        "scope": {
            "type": "string",
            "enum": ["user", "workspace"],
            "description": "save: needed; else only there (both unless told)",
        },
        "title": {
            "type": "string",
            "description": f"save: one line, at most {TITLE_LENGTH} characters; read, delete: which entry",
        },
        "name": {"type": "string", "description": "an entry's name (small-letters-with-hyphens), instead of its title"},
        "id": {"type": "string", "description": "an entry's id, instead of its title"},
        "body": {"type": "string", "description": f"save: what to remember, at most {BODY_LENGTH:,} characters"},
        "description": {
            "type": "string",
            "description": f"save: one line about it, at most {DESCRIPTION_LENGTH} characters; a correction without it"
            " keeps the one that stands, an empty one takes it away",
        },
        "type": {
            "type": "string",
            "enum": ["fact", "preference", "reference"],
            "description": "save: what kind of thing it is; a fact unless told",
        },
        "revision": {
            "type": "string",
            "description": "save: the revision that you read; the save is refused when another stands by now",
        },
        "query": {"type": "string", "description": "search: any words; a phrase in double quotes"},
    },
    "required": ["action"],
}
