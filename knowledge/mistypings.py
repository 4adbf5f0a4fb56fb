"""After a query that nothing matches: the words that may have been meant."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import connection

from openchamber.search.terms import Wish, wishes


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
