"""The list of a page: scopes, their entries as they can be read, and what is new to the user who looks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from memory.finding import matching
from memory.models import Entry, Scope, SeenMark, Through
from memory.models.questions import EntryQuerySet
from memory.models.scopes import ScopeQuerySet
from memory.reading import BROKEN, Reading, judge, log_broken, read, sound

if TYPE_CHECKING:
    from django.contrib.auth.models import User


@dataclass(frozen=True, slots=True)
class Row:
    """An entry in a list: `badge` is "new", "changed" or ""."""

    entry: Entry
    badge: str


@dataclass(frozen=True, slots=True)
class Group:
    """A scope and what is shown of it; `failed` where it cannot be read."""

    scope: Scope
    rows: Sequence[Row]
    failed: bool = False

    @property
    def count(self) -> int:
        """How many entries are shown."""
        return len(self.rows)


def groups(scopes: ScopeQuerySet, user: User, *, query: str = "") -> list[Group]:
    """The scopes in their order, each with its entries: the newest first, or those that match `query`."""
    listed = list(scopes.counted().in_order())
    marks = SeenMark.of(user)
    imported = imported_since(marks)
    return [group(reading, marks, imported, query) for reading in read_all(listed)]


def imported_since(marks: dict[int, datetime]) -> dict[int, datetime]:
    """When entries were taken in from an earlier system, as far as that is later than the earliest mark: they bring
    the times that they had there, which are older."""
    if not marks:
        return {}
    rows = Entry.history.filter(history_type="+", through=Through.IMPORT, history_date__gt=min(marks.values()))
    return dict(rows.values_list("id", "history_date"))


def group(reading: Reading, marks: dict[int, datetime], imported: dict[int, datetime], query: str) -> Group:
    """One scope's part of the list."""
    assert reading.scope is not None
    entries = reading.entries
    if query.strip():
        entries = [entry for _score, entry in matching(entries, query)]
    seen_at = marks.get(reading.scope.pk)
    rows = [Row(entry, badge(entry, seen_at, imported.get(entry.pk))) for entry in entries]
    return Group(reading.scope, rows, reading.failed)


def read_all(scopes: Sequence[Scope]) -> list[Reading]:
    """All scopes in one query; one by one only where that fails: a broken one keeps no other from being read."""
    by_key = {scope.pk: scope for scope in scopes}
    found: dict[int, list[Entry]] = {scope.pk: [] for scope in scopes}
    try:
        for entry in Entry.objects.live().filter(scope__in=by_key).newest_first():
            entry.scope = by_key[entry.scope_id]
            found[entry.scope_id].append(entry)
        for scope in scopes:
            judge(scope, found[scope.pk])
    except BROKEN:
        return [read(scope.kind, scope) for scope in scopes]
    return [Reading(scope.kind, scope, found[scope.pk]) for scope in scopes]


def newest_of(entries: EntryQuerySet, scopes: ScopeQuerySet, *, most: int) -> tuple[list[Entry], list[Scope]]:
    """The newest of these entries, and the scopes that cannot be read; such a one hides no other's entries."""
    try:
        return [sound(entry) for entry in entries[:most]], []
    except BROKEN:
        rows: list[Entry] = []
        broken: list[Scope] = []
        for scope in scopes:
            try:
                rows += [sound(entry) for entry in entries.filter(scope=scope)[:most]]
            except BROKEN as error:
                log_broken(scope.source, error)
                broken.append(scope)
        rows.sort(key=lambda entry: (entry.updated_at, entry.pk), reverse=True)
        return rows[:most], broken


def badge(entry: Entry, seen_at: datetime | None, imported_at: datetime | None = None) -> str:
    """Whether the entry is new or changed since the user looked."""
    if seen_at is None or max(imported_at or entry.created_at, entry.created_at) > seen_at:
        return "new"
    return "changed" if entry.updated_at > seen_at else ""
