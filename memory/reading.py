"""Reading: what can be told of a scope, or that it cannot be read. A broken scope is never an empty one."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from django.db import DatabaseError
from django.db.models import QuerySet

from memory import texts
from memory.models import Entry, Scope
from memory.models.entries import scope_changed
from memory.models.questions import EntryQuerySet
from memory.threats import SCANNER_VERSION

logger = logging.getLogger(__name__)

# What a store that cannot be read raises: the database itself, or a row that does not hold what it should.
BROKEN = (DatabaseError, ValueError, TypeError)


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


def read(kind: str, scope: Scope | None, *, without: QuerySet[Entry] | None = None) -> Reading:
    """The scope, each entry judged by the present scanner. One query, unless something must be scanned anew."""
    if scope is None:
        return Reading(kind)
    try:
        rows: EntryQuerySet = scope.entries.live().newest_first()
        entries = list(rows.exclude(pk__in=without.values("pk")) if without is not None else rows)
        for entry in entries:
            entry.scope = scope
        judge(scope, entries)
    except BROKEN:
        logger.exception("%s could not be read", scope.source)
        return Reading(kind, scope, failed=True)
    return Reading(kind, scope, entries)


def judge(scope: Scope, entries: Iterable[Entry]) -> int:
    """Scan what no present verdict is about: an older scanner's, or another content's. How many that were."""
    old = [entry for entry in entries if not is_judged(entry)]
    if not old:
        return 0
    for entry in old:
        entry.judge_content()
    Entry.objects.bulk_update(old, ["content_hash", "scanned_with", "matches", "judgement", "flagged"], batch_size=100)
    scope_changed(scope)
    return len(old)


def is_judged(entry: Entry) -> bool:
    """Whether what is stored as verdict is about this content, by the present scanner."""
    return entry.scanned_with == SCANNER_VERSION and entry.content_hash == texts.content_hash(*entry.content())
