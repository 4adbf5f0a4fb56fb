"""Reading: what can be told of a scope, or that it cannot be read. A broken scope is never an empty one."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple

from django.db import DatabaseError, connection, transaction
from django.db.models import QuerySet

from memory import texts
from memory.models import Entry, Scope
from memory.models.questions import EntryQuerySet
from memory.models.scopes import lock_scopes, scope_changed
from memory.threats import SCANNER_VERSION

logger = logging.getLogger(__name__)

# What a store that cannot be read raises: the database itself, or a row that does not hold what it should
# (Django may ask a time that it could not read for its zone: an AttributeError).
BROKEN = (DatabaseError, ValueError, TypeError, AttributeError)


class Line(NamedTuple):
    """What an index and a comparison need of an entry; a whole row costs ten times as much to make."""

    pk: int
    title: str
    title_key: str
    description: str
    body: str
    type: str
    name: str
    flagged: bool
    awaiting: bool
    scanned_with: str
    content_hash: str
    updated_at: datetime

    @property
    def withheld(self) -> bool:
        """Whether agents are not told of it."""
        return self.flagged or self.awaiting

    def content(self) -> tuple[str, str, str]:
        """What is scanned, compared and told."""
        return self.title, self.description, self.body


@dataclass(frozen=True, slots=True)
class Reading:
    """A scope as it was read: every live entry, the newest first; `failed` where it could not be."""

    kind: str
    scope: Scope | None = None
    entries: Sequence[Entry] = field(default_factory=list)
    failed: bool = False

    @property
    def told(self) -> list[Entry]:
        """What an agent may be told of."""
        return [entry for entry in self.entries if not entry.withheld]


@dataclass(frozen=True, slots=True)
class LineReading:
    """The same by lines: all of them, and those that an agent may be told of."""

    kind: str
    scope: Scope | None = None
    lines: Sequence[Line] = field(default_factory=list)
    told: Sequence[Line] = field(default_factory=list)
    failed: bool = False


def read(kind: str, scope: Scope | None) -> Reading:
    """The scope, each entry judged by the present scanner. One query, unless something must be scanned anew."""
    if scope is None:
        return Reading(kind)
    try:
        entries = list(scope.entries.live().newest_first())
        for entry in entries:
            entry.scope = scope
        judge(scope, entries)
    except BROKEN as broken:
        log_broken(scope.source, broken)
        return Reading(kind, scope, failed=True)
    return Reading(kind, scope, entries)


def read_lines(kind: str, scope: Scope | None, *, without: QuerySet[Entry] | None = None) -> LineReading:
    """What can be told of the scope, line by line, leaving out `without`. One query like `read`, and a tenth of its
    time."""
    if scope is None:
        return LineReading(kind)
    try:
        rows: EntryQuerySet = scope.entries.live().newest_first()
        rows = rows.exclude(pk__in=without.values("pk")) if without is not None else rows
        lines = lines_of(rows)
        if old := [line.pk for line in lines if not is_judged(line)]:
            judge(scope, whole(scope, old))
            lines = lines_of(rows)
    except BROKEN as broken:
        log_broken(scope.source, broken)
        return LineReading(kind, scope, failed=True)
    return as_read(scope, lines)


def read_all_lines(scopes: Sequence[Scope]) -> list[LineReading]:
    """Several scopes in one query; one by one those that must be scanned anew, and all where one is broken."""
    if not scopes:
        return []
    lines: dict[int, list[Line]] = {scope.pk: [] for scope in scopes}
    rows = Entry.objects.live().filter(scope__in=list(lines)).newest_first()
    try:
        for scope_id, *values in unconverted(rows.values_list("scope_id", *Line._fields)):
            lines[scope_id].append(line_of(values))
        return [line_reading(scope, lines[scope.pk]) for scope in scopes]
    except BROKEN:
        return [read_lines(scope.kind, scope) for scope in scopes]


def line_reading(scope: Scope, lines: Sequence[Line]) -> LineReading:
    """What can be told of these lines of the scope, or of it as it is after a scan that they need."""
    if not all(map(is_judged, lines)):
        return read_lines(scope.kind, scope)
    return as_read(scope, lines)


def as_read(scope: Scope, lines: Sequence[Line]) -> LineReading:
    """A scope of these lines, each judged by the present scanner."""
    return LineReading(scope.kind, scope, lines, [line for line in lines if not line.withheld])


def lines_of(rows: EntryQuerySet) -> list[Line]:
    """The entries as lines."""
    return [line_of(values) for values in unconverted(rows.values_list(*Line._fields))]


def unconverted(rows: QuerySet[Entry, Any]) -> list[tuple[Any, ...]]:
    """The rows as the database's driver gives them: going through Django's converters takes, for hundreds of rows,
    several times as long as the database does."""
    statement, parameters = rows.query.sql_with_params()
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        rows_read: list[tuple[Any, ...]] = cursor.fetchall()
        return rows_read


def line_of(values: Sequence[Any]) -> Line:
    """A line of a driver's values: SQLite's times have no zone, and are in UTC."""
    if None in values:
        raise ValueError(f"{values[0]} lacks something")
    *others, time = values
    return Line._make((*others, time if time.tzinfo else time.replace(tzinfo=UTC)))


def sound(entry: Entry) -> Entry:
    """The entry; ValueError where its row does not hold what it should. SQLite keeps anything in any column, and its
    driver reads any text as a time or as nothing."""
    words = (entry.title, entry.description, entry.body, entry.name, entry.type)
    lacking = None in (entry.created_at, entry.updated_at, entry.flagged, entry.awaiting)
    known = isinstance(entry.matches, list) and all(isinstance(match, dict) for match in entry.matches)
    if lacking or not known or not all(isinstance(text, str) for text in words):
        raise ValueError(f"{entry.pk} is broken")
    return entry


def log_broken(what: str, error: Exception) -> None:
    """Tell the operator what cannot be read and where that came out, without what the error says: a database's quotes
    the row, and nothing that is withheld gets into a log."""
    places = "".join(traceback.format_tb(error.__traceback__))
    logger.error("%s could not be read: %s\n%s", what, type(error).__name__, places)


def whole(scope: Scope, keys: Sequence[int]) -> list[Entry]:
    """The entries with these ids."""
    entries = list(scope.entries.filter(pk__in=keys[:500])) + (whole(scope, keys[500:]) if keys[500:] else [])
    for entry in entries:
        entry.scope = scope
    return entries


def judge(scope: Scope, entries: Iterable[Entry]) -> int:
    """Scan what no present verdict is about: an older scanner's, or another content's. How many that were."""
    old = [entry for entry in entries if not is_judged(sound(entry))]
    if not old:
        return 0
    for entry in old:
        entry.judge_content()
    # What is withheld from now on first: it may leave its title to one that is not any more.
    with transaction.atomic():
        lock_scopes(scope.pk)
        for entry in sorted(old, key=lambda entry: not entry.flagged):
            entry.store_verdict()
        scope_changed(scope)
    return len(old)


def is_judged(entry: Entry | Line) -> bool:
    """Whether what is stored as verdict is about this content, by the present scanner."""
    return entry.scanned_with == SCANNER_VERSION and entry.content_hash == texts.content_hash(*entry.content())
