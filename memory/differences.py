"""What differs between two texts of an entry, word by word. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from openchamber.comparing import LINES, WORDS, Bounded, TooDear


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text that is in both, only in the new or only in the old one."""

    kind: Literal["same", "added", "removed"]
    text: str


def pieces(before: str, after: str) -> list[Piece]:
    """`before` and `after` as one sequence of pieces: by words, where that takes too long by rarer words or by lines,
    and where that does too, as a whole."""
    for unit, rough in ((WORDS, False), (WORDS, True), (LINES, True)):
        try:
            return compared(unit.findall(before), unit.findall(after), rough=rough)
        except TooDear:
            continue
    return [piece for piece in (Piece("removed", before), Piece("added", after)) if piece.text]


def compared(old: Sequence[str], new: Sequence[str], *, rough: bool) -> list[Piece]:
    """The pieces of two texts in words or lines; TooDear where finding them takes too long."""
    found: list[Piece] = []
    for tag, a, b, c, d in Bounded(old, new, rough=rough).get_opcodes():
        if tag == "equal":
            found.append(Piece("same", "".join(old[a:b])))
            continue
        found += [Piece("removed", "".join(old[a:b])), Piece("added", "".join(new[c:d]))]
    return [piece for piece in found if piece.text]
