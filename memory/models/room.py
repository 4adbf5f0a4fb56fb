"""Room: how many entries a scope may hold, those that are told and those that wait for the user counted apart."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Q
from django.utils.translation import gettext as _

from memory.models.entries import Entry
from memory.models.questions import Taken
from memory.models.scopes import Scope
from memory.models.switches import Switches


class NoRoom(Taken):
    """The scope holds as many entries as it may; said with the numbers."""

    def __init__(self, scope: Scope, count: int, limit: int) -> None:
        sentence = _("“%(scope)s” is full. Entries of this kind: %(count)d; at most %(limit)d fit.")
        Exception.__init__(self, sentence % {"scope": scope.label, "count": count, "limit": limit})


@dataclass(frozen=True, slots=True)
class Room:
    """How many entries are told, how many are withheld, and how many of each fit."""

    told: int
    withheld: int
    limit: int

    @classmethod
    def of(cls, scope: Scope, *, besides: Entry | None = None) -> Room:
        """As it is now, not counting `besides`."""
        withheld = Count("pk", filter=Q(flagged=True) | Q(awaiting=True))
        others = scope.entries.live().exclude(pk=besides.pk if besides else 0)
        counted = others.aggregate(count=Count("pk"), withheld=withheld)
        return cls(counted["count"] - counted["withheld"], counted["withheld"], Switches.current().limit(scope.kind))

    def taken(self, *, withheld: bool) -> int:
        """How many there are of the kind."""
        return self.withheld if withheld else self.told

    def is_full(self, *, withheld: bool) -> bool:
        """Whether not one more fits."""
        return self.taken(withheld=withheld) >= self.limit


def others_came(scope: Scope, *, since: datetime) -> bool:
    """Whether anything was added or moved to the scope since then: without, bringing one back is never refused."""
    later = Entry.history.filter(scope=scope.pk, history_date__gt=since)
    return bool(later.filter(Q(history_type="+") | Q(history_change_reason="moved")).exists())


def check_room(scope: Scope, *, withheld: bool, besides: Entry | None = None) -> None:
    """Refuse one more, which may stand there already as `besides`, in a full scope."""
    room = Room.of(scope, besides=besides)
    if room.is_full(withheld=withheld):
        raise NoRoom(scope, room.taken(withheld=withheld), room.limit)
