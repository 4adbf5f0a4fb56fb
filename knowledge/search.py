"""Finding what the user wrote: the answer to `search_wanted`, on SQLite and PostgreSQL alike.

The database is asked only where which words stand, the newest places first. What is found in more
and rarer words goes on to `ranking`, which reckons with the texts themselves: so both databases
give the same hits in the same order, and a word that stands everywhere costs no more than others.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from heapq import nlargest
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.db import connection
from django.dispatch import receiver
from django.urls import reverse
from django.utils import timezone

from knowledge.mistypings import corrected
from knowledge.models.search import SearchText
from openchamber.models.projects import ProjectQuerySet
from openchamber.search import Hit, ranking
from openchamber.search.terms import Wish, wishes
from openchamber.signals import search_wanted

# How many places of one word are looked at (fewer of each where there are many words, but never less than texts are
# read), how many of all words together and of titles, and how many texts are read.
PLACES, PLACES_OF_ALL, TOGETHER, TEXTS = 400, 800, 100, 100


class Passage(NamedTuple):
    """What is known of a passage that may match, by the names of its row's fields."""

    pk: int
    project_id: int
    kind: str
    item: int
    label: str
    start: int
    title: str
    body: str
    more: str
    changed_at: datetime


class Place(NamedTuple):
    """Where to look: in these projects (their ids), for this kind ("" for all)."""

    projects: Sequence[int]
    kind: str


@receiver(search_wanted)
def knowledge_hits(projects: ProjectQuerySet, query: str, kind: str, limit: int, **_more: Any) -> list[Hit]:
    """The notes, todos and plans that match, the best first; after a mistyped query those that were meant."""
    slugs = dict(projects.values_list("pk", "slug"))
    place = Place(list(slugs), kind)
    wanted = wishes(query)
    if not slugs or not wanted or kind not in ("", "note", "todo", "plan"):
        return []
    found = best(place, wanted)
    if not found and (meant := corrected(wanted)) != wanted:
        wanted = meant
        found = best(place, wanted)
    address = Address(slugs, query)
    return [hit(score, passage, address, wanted) for score, passage in found[:limit]]


def best(place: Place, wanted: Sequence[Wish]) -> list[tuple[float, Passage]]:
    """One passage, the best, of everything that matches; the best first."""
    newest = newest_passage()
    places = looked_up(place, wanted)
    most = places_of_each(wanted)
    rarity = [ranking.rareness(having(found, newest, most), newest) for found in places.single]
    passages = fetch(place, promising(places, rarity))
    texts = [ranking.Text(one, one.title, one.body, one.more, one.changed_at) for one in passages]
    seen: set[tuple[str, int]] = set()
    found: list[tuple[float, Passage]] = []
    for score, passage in ranking.ranked(texts, wanted, rarity=rarity, now=timezone.now()):
        if (passage.kind, passage.item) not in seen:
            seen.add((passage.kind, passage.item))
            found.append((score, passage))
    return found


@dataclass(frozen=True, slots=True)
class Places:
    """The ids of passages: for each wish the newest that meet it, and the newest that meet all, or any in the title."""

    single: list[list[int]]
    together: list[int]
    titled: list[int]


def newest_passage() -> int:
    """The highest id there is: about how many passages there are, at no cost."""
    return rows("SELECT max(id) FROM knowledge_searchtext")[0][0] or 0


def places_of_each(wanted: Sequence[Wish]) -> int:
    """How many places of each word are looked at."""
    return max(TEXTS, min(PLACES, PLACES_OF_ALL // len(wanted)))


def having(found: list[int], newest: int, most: int) -> int:
    """How many passages meet a wish: counted, or from how close the newest `most` stand together."""
    if len(found) < most:
        return len(found)
    return len(found) * newest // max(1, newest - found[-1] + 1)


class Ask(NamedTuple):
    """What the database is asked: the `most` newest passages with any of the wishes, or with every one."""

    wanted: Sequence[Wish]
    every: bool
    most: int
    titles: bool = False


def looked_up(place: Place, wanted: Sequence[Wish]) -> Places:
    """Where the wishes are met."""
    asks = [Ask([wish], every=False, most=places_of_each(wanted)) for wish in wanted]
    asks += [Ask(wanted, every=True, most=TOGETHER)] if len(wanted) > 1 else []
    # Of many words some stand in nearly every title.
    asks.append(Ask(wanted[:3], every=len(wanted) > 3, most=TOGETHER, titles=True))
    sqlite = connection.vendor == "sqlite"
    *single, titled = sifted(place, asks) if sqlite else answers([tsearch(place, ask) for ask in asks])
    together = single.pop() if len(wanted) > 1 else []
    return Places(single, together, titled)


def answers(parts: Sequence[tuple[str, list[Any]]]) -> list[list[int]]:
    """What each of these queries (text, values) finds, the newest first: in one question to the database."""
    # Only placeholders and names of ours are put together here.
    selects = [f"SELECT {number}, id FROM ({text}) AS p{number}" for number, (text, _values) in enumerate(parts)]  # noqa: S608
    found: list[list[int]] = [[] for _part in parts]
    if parts:
        for number, pk in rows(" UNION ALL ".join(selects), [value for _text, values in parts for value in values]):
            found[number].append(pk)
    return [sorted(keys, reverse=True) for keys in found]


def sifted(place: Place, asks: Sequence[Ask]) -> list[list[int]]:
    """The same on SQLite: asked for anywhere first, and anew within its place only what too few of the newest are in.

    To find a rare word within a large project, FTS5 walks through all of the project's passages.
    """
    anywhere = answers([fts5(None, ask) for ask in asks])
    inside = among(place, {key for keys in anywhere for key in keys})
    found = [[key for key in keys if key in inside][: ask.most] for ask, keys in zip(asks, anywhere, strict=True)]
    short = [n for n, ask in enumerate(asks) if len(anywhere[n]) > ask.most > len(found[n])]
    for number, keys in zip(short, answers([fts5(place, asks[number]) for number in short]), strict=True):
        found[number] = keys[: asks[number].most]
    return found


def fts5(place: Place | None, ask: Ask) -> tuple[str, list[Any]]:
    """The query in SQLite's FTS5 (one more than asked for tells that there are more), and its values."""
    where = "FROM knowledge_search WHERE knowledge_search MATCH %s"
    return f"SELECT rowid AS id {where} ORDER BY rowid DESC LIMIT {ask.most + 1}", [match(place, ask)]


def tsearch(place: Place, ask: Ask) -> tuple[str, list[Any]]:
    """The query in PostgreSQL's full text, and its values."""
    column = "title_terms" if ask.titles else "terms"
    kind, kinds = (" AND kind = %s", [place.kind]) if place.kind else ("", [])
    where = f"FROM knowledge_searchtext WHERE {column} @@ %s::tsquery AND project_id = ANY(%s){kind}"
    values = [tsquery(ask.wanted, every=ask.every), list(place.projects), *kinds]
    return f"SELECT id {where} ORDER BY id DESC LIMIT {ask.most}", values


# Hundreds of rows by their ids: the ORM takes five times as long for them as the database.


def rows(text: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    """The rows of a query."""
    with connection.cursor() as cursor:
        cursor.execute(text, values)
        return cursor.fetchall()  # type: ignore[no-any-return]


def within(place: Place, keys: Collection[int]) -> str:
    """The condition that a passage is one of these and where was looked for. Only numbers and names of ours."""
    kind = f" AND kind = '{place.kind}'" if place.kind else ""
    return f"id IN ({ids(keys)}) AND project_id IN ({ids(place.projects)}){kind}"


def ids(keys: Collection[int]) -> str:
    """Numbers as a list in SQL."""
    return ",".join(str(int(key)) for key in keys)


def among(place: Place, keys: Collection[int]) -> set[int]:
    """Those of these passages that are where was looked for."""
    text = f"SELECT id FROM knowledge_searchtext WHERE {within(place, keys)}"  # noqa: S608
    return {row[0] for row in rows(text)} if keys else set()


def fetch(place: Place, keys: Sequence[int]) -> list[Passage]:
    """These passages, if they are where was looked for."""
    columns = ", ".join(Passage._fields).replace("pk", "id")
    text = f"SELECT {columns} FROM knowledge_searchtext WHERE {within(place, keys)} ORDER BY id DESC"  # noqa: S608
    return [Passage._make((*row[:-1], moment(row[-1]))) for row in rows(text)] if keys else []


def moment(value: datetime) -> datetime:
    """A time as the database tells it: SQLite's without its zone, which is UTC."""
    return value if value.tzinfo else value.replace(tzinfo=UTC)


def promising(places: Places, rarity: Sequence[float]) -> list[int]:
    """The passages whose texts are worth reading: those with more and rarer of the words, newer before older."""
    scores: dict[int, float] = {}
    for found, rare in zip(places.single, rarity, strict=True):
        for key in found:
            scores[key] = scores.get(key, 0.0) + rare
    for key in places.together:
        scores[key] = sum(rarity) + 1
    for key in places.titled:
        scores[key] = scores.get(key, 0.0) + max(rarity)
    return nlargest(TEXTS, scores, key=lambda key: (scores[key], key))


def match(place: Place | None, ask: Ask) -> str:
    """A condition of FTS5. Terms hold letters and digits only, and stand in quotes all the same."""
    columns = "title" if ask.titles else "title body more"
    asked = (" AND " if ask.every else " OR ").join(f"({fts5_wish(wish)})" for wish in ask.wanted)
    asked = f"({{{columns}}} : ({asked}))"
    if place is None:
        return asked
    scopes = [" OR ".join(f'"p{project}"' for project in place.projects)]
    scopes += [f'"k{place.kind}"'] if place.kind else []
    return " AND ".join([f"(scope : ({scope}))" for scope in scopes] + [asked])


def fts5_wish(wish: Wish) -> str:
    """One wish: the phrase, or the phrase whose last word is only begun."""
    phrase = f'"{wish.text}"'
    return f'{phrase} OR "{" ".join([*wish.terms[:-1], wish.begun])}" *' if wish.begun else phrase


def tsquery(wanted: Sequence[Wish], *, every: bool) -> str:
    """A query of PostgreSQL's. Where the terms of a phrase stand is checked when hits are ranked."""
    return (" & " if every else " | ").join(f"({tsquery_wish(wish)})" for wish in wanted)


def tsquery_wish(wish: Wish) -> str:
    """One wish: all terms of the phrase, the last perhaps only begun."""
    *before, last = [f"'{term}'" for term in wish.terms]
    end = f"({last} | '{wish.begun}':*)" if wish.begun else last
    return " & ".join([*before, end])


def passages_of(places: Sequence[str]) -> dict[str, str]:
    """The texts of these passages."""
    rows = SearchText.objects.filter(pk__in=places).values_list("pk", "passage")
    return {str(pk): passage for pk, passage in rows}


def hit(score: float, passage: Passage, address: Address, wanted: Sequence[Wish]) -> Hit:
    """A passage as search shows it."""
    return Hit(
        kind=passage.kind,
        id=str(passage.item),
        project=address.slugs[passage.project_id],
        title=passage.label,
        score=round(score, 4),
        changed_at=passage.changed_at,
        url=address.of(passage),
        wishes=wanted,
        place=str(passage.pk),
        read=passages_of,
    )


class Address:
    """Where hits are read, put together by hand: `reverse` a thousand times takes longer than the search."""

    def __init__(self, slugs: dict[int, str], query: str) -> None:
        self.slugs = slugs
        self.root = reverse("openchamber:projects")
        self.query = urlencode({"q": query})

    def of(self, passage: Passage) -> str:
        """The page at the match: a note or todo in its list, a plan from the passage on."""
        page = f"{self.root}projects/{self.slugs[passage.project_id]}/{passage.kind}s/"
        if passage.kind == "plan":
            return f"{page}{passage.item}/?start={passage.start}&{self.query}"
        return f"{page}?at={passage.item}#{passage.kind}-{passage.item}"
