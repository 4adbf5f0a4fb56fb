"""What rides with every message of a project: how large it is, what of it will be cut, and who holds it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from django.conf import settings

from knowledge.models import Pinnable
from knowledge.wanted import note_item, plan_item
from openchamber.models import Project
from openchamber.sessions.carriers import Carried
from openchamber.sessions.context import Item, write
from openchamber.sessions.riding import TONES, Bar, bars

# Sessions that were never told anything say nothing, and very old ones are not asked.
SESSIONS = 200


@dataclass(frozen=True, slots=True)
class Rider:
    """A pinned note or plan: whether it will be cut, and how many sessions hold this very text of it."""

    item: Item
    cut: bool
    held: int

    @property
    def characters(self) -> int:
        """How long it is."""
        return len(self.item.text)


@dataclass(frozen=True, slots=True)
class Group:
    """The riders of one kind; `tone` ties them to their part of the bar."""

    kind: str
    riders: Sequence[Rider]

    @property
    def tone(self) -> int:
        """The colour that the same kind has in a session's work status."""
        return TONES[self.kind]

    @property
    def characters(self) -> int:
        """How long all of them are."""
        return sum(rider.characters for rider in self.riders)


@dataclass(frozen=True, slots=True)
class Riding:
    """Everything that is pinned, against what one message can carry."""

    riders: Sequence[Rider]
    budget: int
    sessions: int

    @property
    def characters(self) -> int:
        """How long all of it is."""
        return sum(rider.characters for rider in self.riders)

    @property
    def cut(self) -> list[Rider]:
        """What does not fit in whole."""
        return [rider for rider in self.riders if rider.cut]

    @property
    def groups(self) -> list[Group]:
        """The riders by kind, in the order in which they are told."""
        return [Group(kind, list(riders)) for kind, riders in groupby(self.riders, lambda rider: rider.item.kind)]

    @property
    def bars(self) -> list[Bar]:
        """How full the budget is, and of what."""
        return bars(self.groups, self.budget)


def riding(project: Project) -> Riding:
    """What rides in the project: three queries, however much it is."""
    items = pinned_items(project)
    _text, cut = write(items, settings.CONTEXT_BUDGET)
    told = holdings(project)
    held = Counter((key, revision) for session in told for key, revision in session.items())
    riders = [Rider(item, item.key in cut, held[item.key, item.revision]) for item in items]
    return Riding(riders, settings.CONTEXT_BUDGET, len(told))


def pinned_items(project: Project) -> list[Item]:
    """The items of all that the project pinned."""
    notes = project.notes.live().pinned().order_by("created_at", "pk").select_related("project")
    plans = project.plans.live().pinned().order_by("created_at", "pk").select_related("project")
    return [*map(note_item, notes), *(plan_item(plan) for plan in plans if plan.body.strip())]


def holdings(project: Project) -> list[Mapping[str, str]]:
    """What each of the project's newest sessions was told: {key: revision}."""
    rows = project.sessions.exclude(carried_at=None).order_by("-created_at").values_list("carried", flat=True)
    return [Carried.load(carried).told for carried in rows[:SESSIONS]]


def titles_cut(item: Pinnable) -> list[str]:
    """The titles of what will be cut now that `item` is pinned as well; empty while everything fits."""
    return [rider.item.title for rider in riding(item.project).cut]
