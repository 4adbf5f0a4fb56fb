"""Finding what the user wrote: the answer to `search_wanted`, on SQLite and PostgreSQL alike.

The database only says which passages may match; how well they do is reckoned in `ranking`, so
that both give the same hits in the same order. Where very many match, words that stand everywhere
are left to those that do not, and then the newest passages stand for all.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.db import connection
from django.db.models import Max
from django.dispatch import receiver
from django.urls import reverse
from django.utils import timezone

from knowledge.models.search import SearchText
from openchamber.models.projects import ProjectQuerySet
from openchamber.search import MOST, Hit, ranking
from openchamber.search.terms import Wish, wishes
from openchamber.signals import search_wanted

# Scoring costs some microseconds a passage.
CANDIDATES = MOST


class Passage(NamedTuple):
    """What is known of a passage that may match, before its text is fetched."""

    pk: int
    project: int
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
    found = best(candidates(place, wanted), wanted)
    if not found and (meant := corrected(wanted)) != wanted:
        wanted = meant
        found = best(candidates(place, wanted), wanted)
    address = Address(slugs, query)
    return [hit(score, passage, address, wanted) for score, passage in found[:limit]]


def best(passages: Sequence[Passage], wanted: Sequence[Wish]) -> list[tuple[float, Passage]]:
    """One passage, the best, of everything that matches; the best first."""
    total = SearchText.objects.aggregate(last=Max("pk"))["last"] or 0
    texts = [ranking.Text(one, one.title, one.body, one.more, one.changed_at) for one in passages]
    seen: set[tuple[str, int]] = set()
    found: list[tuple[float, Passage]] = []
    for score, passage in ranking.ranked(texts, wanted, total=total, now=timezone.now()):
        if (passage.kind, passage.item) not in seen:
            seen.add((passage.kind, passage.item))
            found.append((score, passage))
    return found


def candidates(place: Place, wanted: Sequence[Wish]) -> list[Passage]:
    """Passages that may match any of the wishes, at most `CANDIDATES`."""
    found = fetch(place, wanted, every=False)
    if len(found) < CANDIDATES or len(wanted) == 1:
        return found
    rare = [wish for wish in wanted if count(place, wish) < CANDIDATES // 2]
    if rare:
        return fetch(place, rare, every=False)
    return fetch(place, wanted, every=True) or found


def fetch(place: Place, wanted: Sequence[Wish], *, every: bool) -> list[Passage]:
    """The newest passages with any of the wishes, or with every one."""
    condition, values = clause(place, wanted, every=every)
    # Only placeholders and names of ours are put together here.
    sql = f"""SELECT t.id, t.project_id, t.kind, t.item, t.label, t.start, t.title, t.body, t.more, t.changed_at
        FROM {condition} ORDER BY t.id DESC LIMIT {CANDIDATES}"""  # noqa: S608
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        rows = [Passage(*row) for row in cursor.fetchall()]
    if connection.vendor == "sqlite":
        return [row._replace(changed_at=datetime.fromisoformat(f"{row.changed_at}+00:00")) for row in rows]
    return rows


def count(place: Place, wish: Wish) -> int:
    """How many passages one wish is met by; counting ends at `CANDIDATES`."""
    condition, values = clause(place, [wish], every=False)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM (SELECT 1 FROM {condition} LIMIT {CANDIDATES}) AS first", values)  # noqa: S608
        return int(cursor.fetchone()[0])


def clause(place: Place, wanted: Sequence[Wish], *, every: bool) -> tuple[str, list[Any]]:
    """The tables and the condition that say what may match, with the values of its placeholders."""
    kind, kinds = (" AND t.kind = %s", [place.kind]) if place.kind else ("", [])
    marks = ", ".join(["%s"] * len(place.projects))
    where = f"t.project_id IN ({marks}){kind}"
    values = [*place.projects, *kinds]
    if connection.vendor == "sqlite":
        match = fts5(place, wanted, every=every)
        table = "knowledge_search AS s JOIN knowledge_searchtext AS t ON t.id = s.rowid"
        return f"{table} WHERE s.knowledge_search MATCH %s AND {where}", [match, *values]
    return f"knowledge_searchtext AS t WHERE t.terms @@ %s::tsquery AND {where}", [
        tsquery(wanted, every=every),
        *values,
    ]


def fts5(place: Place, wanted: Sequence[Wish], *, every: bool) -> str:
    """A query of SQLite's FTS5. Terms hold letters and digits only, and stand in quotes all the same."""
    asked = (" AND " if every else " OR ").join(f"({fts5_wish(wish)})" for wish in wanted)
    if len(place.projects) > 50:
        return f"{{title body more}} : ({asked})"
    scopes = " OR ".join(f'"p{project}"' for project in place.projects)
    return f"(scope : ({scopes})) AND ({{title body more}} : ({asked}))"


def fts5_wish(wish: Wish) -> str:
    phrase = f'"{wish.text}"'
    return f'{phrase} OR "{" ".join([*wish.terms[:-1], wish.begun])}" *' if wish.begun else phrase


def tsquery(wanted: Sequence[Wish], *, every: bool) -> str:
    """A query of PostgreSQL's. Where the terms of a phrase stand is checked when hits are ranked."""
    return (" & " if every else " | ").join(f"({tsquery_wish(wish)})" for wish in wanted)


def tsquery_wish(wish: Wish) -> str:
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
        project=address.slugs[passage.project],
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
        page = f"{self.root}projects/{self.slugs[passage.project]}/{passage.kind}s/"
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
