"""The kinds of things that a user writes, by the name of their list."""

from __future__ import annotations

from typing import Any

from knowledge.models.notes import Note
from knowledge.models.plans import Plan
from knowledge.models.todos import Todo
from knowledge.models.written import Written, WrittenQuerySet

LISTS: dict[str, type[Written]] = {"notes": Note, "todos": Todo, "plans": Plan}
PINNABLE: dict[str, type[Note] | type[Plan]] = {"note": Note, "plan": Plan}


def rows_of(list_name: str) -> WrittenQuerySet[Any]:
    """Everything of one kind."""
    rows: WrittenQuerySet[Any] = LISTS[list_name]._default_manager.all()  # type: ignore[assignment]
    return rows
