"""Finding what the user wrote: the answer to `search_wanted`, on SQLite and PostgreSQL alike.

The database is asked only where which words stand, the newest places first. What is found in more
and rarer words goes on to `ranking`, which reckons with the texts themselves: so both databases
give the same hits in the same order, and a word that stands everywhere costs no more than others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from heapq import nlargest
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.db import connection
from django.db.models import Max
from django.dispatch import receiver
from django.urls import reverse
from django.utils import timezone

from knowledge.models.search import SearchText
from openchamber.models.projects import ProjectQuerySet
from openchamber.search import Hit, ranking
from openchamber.search.terms import Wish, wishes
from openchamber.signals import search_wanted

# How many places of one word are looked at (fewer of each where there are many words, but never less than texts are
# read), how many of all words together and of titles, and how many texts are read.
PLACES, PLACES_OF_ALL, TOGETHER, TEXTS = 500, 1000, 150, 150


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
    return SearchText.objects.aggregate(last=Max("pk"))["last"] or 0


def places_of_each(wanted: Sequence[Wish]) -> int:
    """How many places of each word are looked at."""
    return max(TEXTS, min(PLACES, PLACES_OF_ALL // len(wanted)))


def having(found: list[int], newest: int, most: int) -> int:
    """How many passages meet a wish: counted, or from how close the newest `most` stand together."""
    if len(found) < most:
        return len(found)
    return len(found) * newest // max(1, newest - found[-1] + 1)


def looked_up(place: Place, wanted: Sequence[Wish]) -> Places:
    """Where the wishes are met, in one question to the database."""
    parts = [part(place, [wish], every=False, most=places_of_each(wanted)) for wish in wanted]
    parts += [part(place, wanted, every=True, most=TOGETHER)] if len(wanted) > 1 else []
    # Of many words some stand in nearly every title.
    parts.append(part(place, wanted[:3], every=len(wanted) > 3, most=TOGETHER, titles=True))
    # Only placeholders and names of ours are put together here.
    selects = [f"SELECT {number}, id FROM ({text}) AS p{number}" for number, (text, _values) in enumerate(parts)]  # noqa: S608
    found: list[list[int]] = [[] for _part in parts]
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(selects), [value for _text, values in parts for value in values])
        for number, pk in cursor.fetchall():
            found[number].append(pk)
    *single, titled = [sorted(keys, reverse=True) for keys in found]
    together = single.pop() if len(wanted) > 1 else []
    return Places(single, together, titled)


def part(
    place: Place, wanted: Sequence[Wish], *, every: bool, most: int, titles: bool = False
) -> tuple[str, list[Any]]:
    """The query for the newest passages with any of the wishes (or every one), and the values of its placeholders."""
    if connection.vendor == "sqlite":
        match = fts5(place, wanted, every=every, titles=titles)
        where, order = "FROM knowledge_search WHERE knowledge_search MATCH %s", "rowid"
        return f"SELECT rowid AS id {where} ORDER BY {order} DESC LIMIT {most}", [match]
    column = "title_terms" if titles else "terms"
    kind, kinds = (" AND kind = %s", [place.kind]) if place.kind else ("", [])
    where = f"FROM knowledge_searchtext WHERE {column} @@ %s::tsquery AND project_id = ANY(%s){kind}"
    values = [tsquery(wanted, every=every), list(place.projects), *kinds]
    return f"SELECT id {where} ORDER BY id DESC LIMIT {most}", values


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


def fetch(place: Place, keys: Sequence[int]) -> list[Passage]:
    """These passages, if they are where was looked for."""
    rows = SearchText.objects.filter(pk__in=keys, project__in=place.projects).order_by("-pk")
    return [Passage(*row) for row in rows.values_list(*Passage._fields)]


def fts5(place: Place, wanted: Sequence[Wish], *, every: bool, titles: bool) -> str:
    """A query of SQLite's FTS5. Terms hold letters and digits only, and stand in quotes all the same."""
    columns = "title" if titles else "title body more"
    asked = f"{{{columns}}} : (" + (" AND " if every else " OR ").join(f"({fts5_wish(wish)})" for wish in wanted) + ")"
    scopes = [" OR ".join(f'"p{project}"' for project in place.projects)]
    scopes += [f'"k{place.kind}"'] if place.kind else []
    return " AND ".join([f"(scope : ({scope}))" for scope in scopes] + [f"({asked})"])


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


# After a query that nothing matches --------------------------------------------------------


def corrected(wanted: Sequence[Wish]) -> list[Wish]:
    """The wishes with words that stand in some text in place of those that do not."""
    return [wish if len(wish.terms) > 1 else next_to(wish) for wish in wanted]


def next_to(wish: Wish) -> Wish:
    """The wish for the word that is nearest to the one that was typed; the wish itself when none is near."""
    typed = wish.begun or wish.terms[0]
    if len(typed) < 4 or not typed.isalpha():
        return wish
    most = 1 if len(typed) < 6 else 2
    near = [(distance(typed, word, most), word) for word in similar(typed) if abs(len(word) - len(typed)) <= most]
    near = sorted(pair for pair in near if pair[0] <= most)
    return Wish(wishes(near[0][1])[0].terms, begun=near[0][1]) if near else wish


def similar(word: str) -> list[str]:
    """Known words that have much in common with this one, by their trigrams."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            trigrams = {word[place : place + 3] for place in range(len(word) - 2)}
            asked = " OR ".join(f'"{trigram}"' for trigram in sorted(trigrams))
            cursor.execute(
                "SELECT word FROM knowledge_searchword_near WHERE knowledge_searchword_near MATCH %s"
                " ORDER BY rank LIMIT 200",
                [asked],
            )
        else:
            cursor.execute(
                "SELECT word FROM knowledge_searchword WHERE similarity(word, %s) > 0.2"
                " ORDER BY similarity(word, %s) DESC LIMIT 200",
                [word, word],
            )
        return [row[0] for row in cursor.fetchall()]


def distance(one: str, other: str, most: int) -> int:
    """How many letters must change, come, go or swap with a neighbour; more than `most` is just more."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        earlier, before, row = before, row, [i]
        for j, their in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != their))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == their:
                cost = min(cost, earlier[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
    return row[-1]
