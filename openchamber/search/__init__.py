"""Search: the question is asked of every app, and their hits are put together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from django.utils.safestring import SafeString

from openchamber.models.projects import Project, ProjectQuerySet
from openchamber.search.snippets import marked, snippet
from openchamber.search.terms import Wish, wishes
from openchamber.signals import search_wanted

MOST = 100  # hits that one app tells of for one query; counts end there

Reader = Callable[[Sequence[str]], Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Hit:
    """Something that matches a query.

    `kind` is note, todo, plan or memory; `project` its slug ("" where it belongs to none); `wishes`
    what it was found by, which after a mistyped query is not what was typed; `passage` the text
    around the match. An app with long texts leaves `passage` to `read`, which is given the `place`s
    of all the hits that are shown at once.
    """

    kind: str
    id: str
    project: str
    title: str
    score: float
    changed_at: datetime
    url: str
    wishes: Sequence[Wish] = ()
    passage: str = ""
    place: str = ""
    read: Reader | None = None

    @property
    def snippet(self) -> SafeString:
        """Why it was found: escaped HTML with `<mark>` only."""
        return snippet(self.passage, self.wishes)

    @property
    def excerpt(self) -> SafeString:
        """The same for a list that shows the title above it: what follows the title, "" where nothing does."""
        return snippet(self.passage, self.wishes, after=self.title)

    @property
    def marked_title(self) -> SafeString:
        """The title with what was searched for marked."""
        return marked(self.title, self.wishes)


class Incomplete(Exception):
    """Raised by an app that could not search everything; `hits` are what it found in the rest."""

    def __init__(self, hits: Sequence[Hit]) -> None:
        super().__init__("Some of it could not be read.")
        self.hits = hits


@dataclass(frozen=True, slots=True)
class Found:
    """The hits of all apps, the best first, how many of each kind, and the apps that could not answer fully."""

    query: str
    hits: list[Hit] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)

    @property
    def counts(self) -> Counter[str]:
        """How many hits there are of each kind."""
        return Counter(hit.kind for hit in self.hits)

    @property
    def corrected(self) -> bool:
        """Whether these are hits for another spelling than the one that was typed."""
        return bool(self.hits) and list(self.hits[0].wishes) != wishes(self.query)


def ask(projects: ProjectQuerySet, query: str, *, kind: str = "", limit: int = MOST) -> Found:
    """What matches `query` in `projects`: at most `limit` of each app, without the texts around the matches."""
    found = Found(query)
    answers = search_wanted.send_robust(Project, projects=projects, query=query, kind=kind, limit=limit)
    for receiver, answer in answers:
        if isinstance(answer, Exception):
            found.failed.append(receiver.__module__.partition(".")[0])
            found.hits.extend(answer.hits if isinstance(answer, Incomplete) else [])
        else:
            found.hits.extend(answer)
    found.hits.sort(key=lambda hit: (-hit.score, -hit.changed_at.timestamp(), hit.kind, hit.id))
    return found


def with_passages(hits: Sequence[Hit]) -> list[Hit]:
    """The hits with the texts around their matches: one look-up for each app."""
    texts: dict[tuple[Reader, str], str] = {}
    for read in {hit.read for hit in hits if hit.read}:
        places = [hit.place for hit in hits if hit.read == read]
        texts |= {(read, place): text for place, text in read(places).items()}
    return [replace(hit, passage=texts.get((hit.read, hit.place), "")) if hit.read else hit for hit in hits]
