"""How well texts match a query: BM25 over their terms, titles first, new ones a little before old ones. Pure.

Reckoned here and not by a database, so that every database gives the same first hit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar

from openchamber.search.terms import Wish

TITLE = 4.0  # how much a word in the title counts, against one in the text
SATURATION, LENGTH = 1.2, 0.6  # BM25's k1 and b
RECENCY, HALF_LIFE = 0.1, 30.0  # at most so much more for what changed just now; days

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Text(Generic[T]):
    """A text that may match, as its terms joined by spaces, and what it is the text of."""

    of: T
    title: str
    body: str
    more: str
    changed_at: datetime


def ranked(
    texts: Sequence[Text[T]], wishes: Sequence[Wish], *, rarity: Sequence[float], now: datetime
) -> list[tuple[float, T]]:
    """(score, what) of the texts that match at all, the best first. `rarity`: how much each wish counts."""
    if not texts:
        return []
    usual = sum(len(text.body) for text in texts) / len(texts) or 1
    wanted = [(Sought.of(wish), rare) for wish, rare in zip(wishes, rarity, strict=True)]
    found: list[tuple[float, T]] = []
    for text in texts:
        length = 1 - LENGTH + LENGTH * len(text.body) / usual
        title, body = f" {text.title} ", f" {text.body} "
        score = 0.0
        for sought, rare in wanted:
            if count := sought.count(title, body, text.more):
                score += rare * count / (count + SATURATION * length)
        if score:
            found.append((score * freshness(text.changed_at, now), text.of))
    return sorted(found, key=lambda pair: -pair[0])


@dataclass(frozen=True, slots=True)
class Sought:
    """A wish as it stands in a text of terms: whole, and perhaps only begun."""

    whole: str
    begun: str
    single: bool

    @classmethod
    def of(cls, wish: Wish) -> Sought:
        """Put together once, and looked for in many texts."""
        begun = " ".join(["", *wish.terms[:-1], wish.begun]) if wish.begun else ""
        return cls(f" {wish.text} ", begun, len(wish.terms) == 1)

    def count(self, title: str, body: str, more: str) -> float:
        """How often it is in a text; in its title it counts four times, only begun half."""
        count: float = TITLE * title.count(self.whole) + body.count(self.whole)
        if not self.begun:
            return count
        longer = TITLE * title.count(self.begun) + body.count(self.begun)
        # `more` holds single words; of a phrase it cannot say where they stand.
        elsewhere = f" {more}".count(self.begun) if self.single else 0
        return max(count, 0.5 * longer, 0.5 * elsewhere)


def occurrences(text: Text[T], wish: Wish) -> float:
    """How often a wish is in a text."""
    return Sought.of(wish).count(f" {text.title} ", f" {text.body} ", text.more)


def rareness(having: int, total: int) -> float:
    """BM25's inverse document frequency, never below zero."""
    total = max(total, having)
    return math.log(1 + (total - having + 0.5) / (having + 0.5))


def freshness(changed_at: datetime, now: datetime) -> float:
    """A factor from 1 (long ago) to 1.1 (just now)."""
    days = max(0.0, (now - changed_at).total_seconds() / 86_400)
    return 1 + RECENCY * math.exp2(-days / HALF_LIFE)
