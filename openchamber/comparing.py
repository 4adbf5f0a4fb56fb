"""Comparing two texts by words or lines, within a bound: what would become cubic is given up instead. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import Match, SequenceMatcher
from itertools import accumulate

# Words and marks, each with the space after it, and line ends: what a reader sees as one change.
WORDS = re.compile(r"\n|[^\S\n]+|\w+[^\S\n]*|[^\w\s][^\S\n]*")
LINES = re.compile(r"[^\n]*\n|[^\n]+")
# How many pairs of equal elements a comparison may look at: about a tenth of a second.
MOST = 1_000_000


class TooDear(Exception):
    """The comparison would take too long."""


class Bounded(SequenceMatcher[str]):
    """A comparison that raises TooDear where it would take too long, reckoned before each step: so it never does.

    With `rough` what is frequent in a long sequence begins no match.
    """

    def __init__(self, old: Sequence[str], new: Sequence[str], *, rough: bool) -> None:
        super().__init__(None, old, new, autojunk=rough)
        # What looking for the elements before each place of `old` costs: every place of `new` that has the same.
        places = self.b2j  # type: ignore[attr-defined]  # public, and not in typeshed
        self._costs = [0, *accumulate(len(places.get(element, ())) + 1 for element in old)]
        self._left = MOST

    def find_longest_match(self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None) -> Match:
        """The step that is repeated for what stands before and after each match."""
        self._left -= self._costs[-1 if ahi is None else ahi] - self._costs[alo]
        if self._left < 0:
            raise TooDear
        return super().find_longest_match(alo, ahi, blo, bhi)
