"""Finding what agents keep: the answer to `search_wanted`."""

from __future__ import annotations

from typing import Any

from django.db.models import Q
from django.dispatch import receiver

from memory.finding import matching
from memory.listing import read_all
from memory.models import Entry, Scope, Switches
from openchamber.models.projects import ProjectQuerySet
from openchamber.search import Hit, Incomplete
from openchamber.search.terms import Wish, wishes
from openchamber.signals import search_wanted


@receiver(search_wanted)
def memory_hits(projects: ProjectQuerySet, query: str, kind: str, limit: int, **_more: Any) -> list[Hit]:
    """The entries that match, the best first: those about the projects, and those about the user. `Incomplete` where a
    scope cannot be read."""
    wanted = wishes(query)
    if not wanted or kind not in ("", "memory") or not Switches.current().enabled:
        return []
    slugs = dict(projects.values_list("directory", "slug"))
    if not slugs:
        return []  # what is kept about the user is told in projects, and shown to whoever has one
    scopes = Scope.objects.filter(Q(kind=Scope.Kind.USER) | Q(directory__in=slugs)).select_related("agent")
    readings = read_all(list(scopes))
    entries = [entry for reading in readings for entry in reading.entries]
    hits = [
        hit(entry, score, slugs.get(entry.scope.directory, ""), wanted)
        for score, entry in matching(entries, query)[:limit]
    ]
    if any(reading.failed for reading in readings):
        raise Incomplete(hits)
    return hits


def hit(entry: Entry, score: float, project: str, wanted: list[Wish]) -> Hit:
    """An entry as something that was found; a person may read flagged ones, under their warning."""
    return Hit(
        kind="memory",
        id=str(entry.pk),
        project=project,
        title=entry.title,
        score=score,
        changed_at=entry.updated_at,
        url=entry.get_absolute_url(),
        wishes=wanted,
        passage="" if entry.flagged else entry.body,
    )
