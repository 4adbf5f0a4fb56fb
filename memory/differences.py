"""What differs between two texts of an entry, word by word. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

WORDS = re.compile(r"\n|[^\S\n]+|\w+[^\S\n]*|[^\w\s][^\S\n]*")
# Comparing is quadratic at its worst; longer texts are shown as a whole.
MOST = 8_000


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text that is in both, only in the new or only in the old one."""

    kind: Literal["same", "added", "removed"]
    text: str


def pieces(before: str, after: str) -> list[Piece]:
    """`before` and `after` as one sequence of pieces."""
    old, new = WORDS.findall(before), WORDS.findall(after)
    if len(old) + len(new) > MOST:
        return [piece for piece in (Piece("removed", before), Piece("added", after)) if piece.text]
    found: list[Piece] = []
    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            found.append(Piece("same", "".join(old[a:b])))
            continue
        found += [Piece("removed", "".join(old[a:b])), Piece("added", "".join(new[c:d]))]
    return [piece for piece in found if piece.text]
