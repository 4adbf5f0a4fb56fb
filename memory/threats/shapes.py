"""Shapes: what threatens by its form and not by its words, such as marks of a turn, commands and keys.

A shape is found where its first expression stands and all its others stand near it, in the same line. Every expression
is bounded, so that no input makes it slow; its needles are looked for first, because that costs next to nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from memory.threats.rules import ENOUGH

# How far the others may stand from the first, and what a needle stands in, in characters.
BEFORE, AFTER = 200, 400
AROUND = 80
LIKELY = 2


@dataclass(frozen=True, slots=True)
class Shape:
    """A form: its category, what it counts (like a rule), words one of which every such text has, its expressions,
    and whether case matters."""

    category: str
    weight: int
    needles: tuple[str, ...]
    expressions: tuple[re.Pattern[str], ...]
    exact: bool

    @property
    def name(self) -> str:
        """What tells it from the others."""
        return self.expressions[0].pattern

    def find(self, text: str) -> re.Match[str] | None:
        """Its first expression round one of its needles, with all the others near it."""
        first, *others = self.expressions
        for match in self._firsts(first, text):
            near = line_round(text, match) if others else ""
            if all(other.search(near) for other in others):
                return match
        return None

    def _firsts(self, first: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
        """Where the first expression stands round a needle; not twice where the others are looked for at once."""
        for needle in self.needles:
            position = begin = 0
            while (position := text.find(needle, position)) >= 0:
                begin = max(begin, position - AROUND)
                end = position + AFTER
                if match := first.search(text, begin, end):
                    yield match
                    begin = max(match.end(), match.start() + BEFORE)
                    position = max(position + 1, begin - AROUND)
                else:
                    # The needles that stand wholly in what was looked at need no second look.
                    position = max(position + 1, end - 2 * AROUND)


def line_round(text: str, match: re.Match[str]) -> str:
    """What stands round a match in its line."""
    begin = max(text.rfind("\n", 0, match.start()) + 1, match.start() - BEFORE)
    end = text.find("\n", match.end(), match.end() + AFTER)
    return text[begin : end if end >= 0 else match.end() + AFTER]


def shape(category: str, needles: Iterable[str], *expressions: str, weight: int = ENOUGH, exact: bool = False) -> Shape:
    """A shape of lowered text, or with `exact` of the text as it is."""
    return Shape(category, weight, tuple(needles), tuple(map(re.compile, expressions)), exact)


def any_of(*expressions: str) -> str:
    """An expression that matches what any of these does."""
    return f"(?:{'|'.join(expressions)})"


def found(shapes: Iterable[Shape], text: str) -> Iterator[tuple[Shape, re.Match[str]]]:
    """A place of every shape that a text has; one that is enough for its category ends the search for others of it."""
    lowered = text.lower()
    done: set[str] = set()
    for each in shapes:
        if each.category not in done and (match := each.find(text if each.exact else lowered)):
            if each.weight >= ENOUGH:
                done.add(each.category)
            yield each, match
