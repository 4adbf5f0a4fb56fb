"""What differs between two texts, word by word, and how two edits of one text go together. Pure."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from openchamber.comparing import LINES, WORDS, Bounded, TooDear

Kind = Literal["same", "added", "removed"]

# Comparing is at best quadratic. Longer stretches that changed as a whole are shown as a whole.
MOST_WORDS = 4_000
MOST_LINES = 4_000


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text that is in both, only in the new or only in the old one."""

    kind: Kind
    text: str


def pieces(before: str, after: str) -> list[Piece]:
    """`before` and `after` as one sequence of pieces: first by lines, then by words where lines differ."""
    found: list[Piece] = []
    for old, new in hunks(LINES.findall(before), LINES.findall(after), most=MOST_LINES):
        if old == new:
            found.append(Piece("same", old))
        else:
            found.extend(by_words(old, new))
    return joined(found)


def by_words(before: str, after: str) -> Iterator[Piece]:
    """Two short stretches, word by word."""
    for old, new in hunks(WORDS.findall(before), WORDS.findall(after), most=MOST_WORDS):
        if old == new:
            yield Piece("same", old)
        else:
            yield Piece("removed", old)
            yield Piece("added", new)


def hunks(old: Sequence[str], new: Sequence[str], *, most: int) -> Iterator[tuple[str, str]]:
    """Pairs of stretches of two sequences, in order: equal ones and changed ones."""
    start = same_beginning(old, new)
    end = same_beginning(old[start:][::-1], new[start:][::-1])
    same = "".join(old[:start])
    yield same, same
    yield from aligned(old[start : len(old) - end], new[start : len(new) - end], most=most)
    same = "".join(old[len(old) - end :])
    yield same, same


def aligned(old: Sequence[str], new: Sequence[str], *, most: int) -> Iterator[tuple[str, str]]:
    """The pairs of two sequences; long ones are first taken apart at what is in both exactly once."""
    if len(old) + len(new) <= most:
        for a, b, c, d in matched(old, new):
            yield "".join(old[a:b]), "".join(new[c:d])
        return
    a = c = 0
    for in_old, in_new in [*anchors(old, new), (len(old), len(new))]:
        if in_old - a + in_new - c <= most:
            yield from aligned(old[a:in_old], new[c:in_new], most=most)
        else:
            yield "".join(old[a:in_old]), "".join(new[c:in_new])
        same = "".join(old[in_old : in_old + 1])
        yield same, same
        a, c = in_old + 1, in_new + 1


def matched(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int, int, int]]:
    """From where to where pairs of stretches go in two short sequences; all of both where comparing takes too long."""
    try:
        return [(a, b, c, d) for _tag, a, b, c, d in Bounded(old, new, rough=True).get_opcodes()]
    except TooDear:
        return [(0, len(old), 0, len(new))]


def anchors(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Places of elements that are in both sequences exactly once, as many as keep their order in both."""
    in_old, in_new = Counter(old), Counter(new)
    places = {element: place for place, element in enumerate(new) if in_new[element] == 1}
    single = (place for place, element in enumerate(old) if in_old[element] == 1 and element in places)
    return longest_rise([(place, places[old[place]]) for place in single])


def longest_rise(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest sequence of `pairs`, which rise in their first number, that rises in its second one too."""
    tails: list[int] = []
    ends: list[int] = []
    previous: list[int | None] = []
    for number, (_first, second) in enumerate(pairs):
        length = bisect_left(tails, second)
        previous.append(ends[length - 1] if length else None)
        tails[length : length + 1] = [second]
        ends[length : length + 1] = [number]
    chain: list[tuple[int, int]] = []
    here = ends[-1] if ends else None
    while here is not None:
        chain.append(pairs[here])
        here = previous[here]
    return chain[::-1]


def same_beginning(old: Sequence[str], new: Sequence[str]) -> int:
    """How many elements two sequences begin with in common."""
    count = 0
    for one, other in zip(old, new, strict=False):
        if one != other:
            break
        count += 1
    return count


def joined(found: list[Piece]) -> list[Piece]:
    """Neighbours of one kind as one piece, empty ones left out."""
    result: list[Piece] = []
    for piece in found:
        if not piece.text:
            continue
        if result and result[-1].kind == piece.kind:
            piece = Piece(piece.kind, result.pop().text + piece.text)
        result.append(piece)
    return result


def folded(found: list[Piece], *, around: int = 3) -> list[Piece | int]:
    """The pieces with long unchanged stretches as the number of lines that they hide."""
    result: list[Piece | int] = []
    for position, piece in enumerate(found):
        lines = piece.text.split("\n")
        first, last = position == 0, position == len(found) - 1
        kept = around * (not first) + around * (not last)
        if piece.kind != "same" or len(lines) <= kept + 2:
            result.append(piece)
            continue
        if not first:
            result.append(Piece("same", "\n".join(lines[:around]) + "\n"))
        result.append(len(lines) - kept)
        if not last:
            result.append(Piece("same", "\n".join(lines[-around:])))
    return result


@dataclass(frozen=True, slots=True)
class Change:
    """One edit of a text: its elements from `start` to `end` became `text`."""

    start: int
    end: int
    text: str


def changes(base: Sequence[str], edited: Sequence[str]) -> list[Change]:
    """What an edit did to `base`, in its positions."""
    found: list[Change] = []
    position = count = 0
    lengths = [len(element) for element in base]
    for old, new in hunks(base, edited, most=MOST_WORDS):
        length = 0
        while length < len(old):
            length += lengths[count]
            count += 1
        if old != new:
            found.append(Change(position, count, new))
        position = count
    return found


def merged(base: str, theirs: str, yours: str) -> str:
    """Both edits of `base` in one text; where they touch the same words, theirs and then yours."""
    words = WORDS.findall(base)
    return "".join(put_together(words, changes(words, WORDS.findall(theirs)), changes(words, WORDS.findall(yours))))


def put_together(words: Sequence[str], theirs: list[Change], yours: list[Change]) -> Iterator[str]:
    """The elements of the base with the changes of both sides in place."""
    position = 0
    for start, end, texts in overlapping(theirs, yours):
        yield from words[position:start]
        yield " ".join(dict.fromkeys(text for text in texts if text)) if len(texts) > 1 else texts[0]
        position = end
    yield from words[position:]


def overlapping(theirs: list[Change], yours: list[Change]) -> Iterator[tuple[int, int, list[str]]]:
    """Changes of both sides in order; those that touch each other come as one stretch with both texts."""
    waiting = sorted([*theirs, *yours], key=lambda change: (change.start, change.end))
    while waiting:
        first = waiting.pop(0)
        start, end, texts = first.start, first.end, [first.text]
        while waiting and (waiting[0].start < end or waiting[0].start == start):
            end = max(end, waiting[0].end)
            texts.append(waiting.pop(0).text)
        yield start, end, texts
