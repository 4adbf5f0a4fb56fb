"""Room: how many entries a scope may hold, those that are told and those that wait for the user counted apart."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count, Q
from django.utils.translation import gettext as _

from memory.models.questions import Taken
from memory.models.scopes import Scope
from memory.models.switches import Switches


class NoRoom(Taken):
    """The scope holds as many entries as it may; said with the numbers."""

    def __init__(self, scope: Scope, count: int, limit: int) -> None:
        sentence = _("“%(scope)s” has %(count)d entries of this kind and at most %(limit)d fit.")
        Exception.__init__(self, sentence % {"scope": scope.label, "count": count, "limit": limit})


@dataclass(frozen=True, slots=True)
class Room:
    """How many entries are told, how many are withheld, and how many of each fit."""

    told: int
    withheld: int
    limit: int

    @classmethod
    def of(cls, scope: Scope) -> Room:
        """As it is now."""
        withheld = Count("pk", filter=Q(flagged=True) | Q(awaiting=True))
        counted = scope.entries.live().aggregate(count=Count("pk"), withheld=withheld)
        return cls(counted["count"] - counted["withheld"], counted["withheld"], Switches.current().limit(scope.kind))

    def taken(self, *, withheld: bool) -> int:
        """How many there are of the kind."""
        return self.withheld if withheld else self.told

    def is_full(self, *, withheld: bool) -> bool:
        """Whether not one more fits."""
        return self.taken(withheld=withheld) >= self.limit


def check_room(scope: Scope, *, withheld: bool) -> None:
    """Refuse one more in a full scope."""
    room = Room.of(scope)
    if room.is_full(withheld=withheld):
        raise NoRoom(scope, room.taken(withheld=withheld), room.limit)
