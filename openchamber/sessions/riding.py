"""Work status as the panel shows it: groups with their tone, entries with their mark. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from django.utils.translation import gettext as _

from openchamber.sessions.status import Entry, Status

TONES = {"message": 1, "note": 2, "plan": 3, "index": 4}
BAR = 240  # units of the bar's drawing
GAP = 1


@dataclass(frozen=True, slots=True)
class Ride:
    """One entry with what the page says of it: `mark` is its state, `shape` the icon where it differs."""

    entry: Entry
    mark: str
    words: str
    shape: str = ""

    @property
    def message(self) -> str:
        """The id of the pinned message that it is, "" for anything else."""
        return self.entry.url.removeprefix("#message-") if self.entry.kind == "message" else ""

    @property
    def choosable(self) -> bool:
        """Whether this session can do without it, or have it back."""
        return self.entry.kind in ("note", "plan") and self.entry.state in ("held", "owed", "detached")

    @property
    def slug(self) -> str:
        """Its key as it can stand in an `id`."""
        return self.entry.key.replace(":", "-")


@dataclass(frozen=True, slots=True)
class Group:
    """The entries under one heading; `tone` ties it to its part of the bar, 0 to none."""

    name: str
    tone: int
    rides: Sequence[Ride]

    @property
    def characters(self) -> int:
        """The size of what rides in it."""
        return sum(ride.entry.characters for ride in self.rides if ride.entry.state in ("held", "owed"))


class Coloured(Protocol):
    """What has a part of the budget bar."""

    @property
    def tone(self) -> int:
        """The colour that ties it to its part, 0 to none."""

    @property
    def characters(self) -> int:
        """How long the part is."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A group's part of the budget bar."""

    tone: int
    start: float
    width: float


def groups(status: Status) -> list[Group]:
    """The entries by heading, in the order in which they are told."""
    return [
        Group(heading(name), TONES.get(entries[0].kind, 0), [ride(entry) for entry in entries])
        for name, entries in status.groups()
    ]


def heading(name: str) -> str:
    """A group's name for people: in their language, without what it says to agents in brackets."""
    return _(name.partition(" (")[0]) if name else _("Other")


def ride(entry: Entry) -> Ride:
    """An entry with its mark: a shape, a word, and a colour only where something is asked for."""
    if entry.state == "held":
        return Ride(entry, "held", _("held, cut"), "cut") if entry.cut else Ride(entry, "held", _("held"))
    if entry.state == "owed":
        return Ride(entry, "owed", _("owed, changed") if entry.change == "changed" else _("owed"))
    if entry.state == "leaving":
        return Ride(entry, "owed", _("to be taken out"))
    if entry.state == "failed":
        return Ride(entry, "failed", entry.reason or _("failed to load"))
    return Ride(entry, "detached", _("detached here"))


def bars(shown: Sequence[Coloured], budget: int) -> list[Bar]:
    """The bar's parts; together never longer than the bar."""
    sizes = [(group.tone, group.characters) for group in shown if group.tone and group.characters]
    scale = (BAR - GAP * len(sizes)) / max(budget, sum(size for _tone, size in sizes), 1)
    found: list[Bar] = []
    start = 0.0
    for tone, size in sizes:
        width = max(2.0, round(size * scale, 1))
        found.append(Bar(tone, round(start, 1), width))
        start += width + GAP
    return found
