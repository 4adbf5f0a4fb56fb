"""Scanning: what in a text is an order to the agent that will read it. Pure, and linear in the text's length."""

from __future__ import annotations

import hashlib
import json
import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from memory.threats import grammar, rules, shapes, words
from memory.threats.categories import HIDDEN
from memory.threats.decode import decoded
from memory.threats.fold import visible
from memory.threats.marks import SHAPES
from memory.threats.respell import respelled

# How near what is not certain must stand to count together, in words.
NEAR = 30
# How deep one encoding may lie in another, and how many characters of decoded text are read.
DEPTH, MOST_READ = 3, 200_000
# How much of a text is read, in characters: five times the longest entry. What is longer is withheld, because nobody
# read the rest.
MOST_TEXT = 100_000
# How much of a match is shown to people, in characters.
SHOWN = 200
STYLED = re.compile(
    r"display:\s{0,3}none|visibility:\s{0,3}hidden|font-size:\s{0,3}0|opacity:\s{0,3}0|color:\s{0,3}(?:white|#fff|transparent)",
    re.IGNORECASE,
)
MOST_HIDDEN = 2_000
# Ways of spelling that only a program reads. Such a text threatens whatever it says; a few characters can be chance.
UNSEEN = {"tags": 4, "selectors": 6, "zero-width": 6}


@dataclass(frozen=True, slots=True)
class Match:
    """Something that threatens: its category, the words that matched (invisible characters made visible), and in
    which way they were spelled ("" for plainly, else `base64`, `rot13`...)."""

    category: str
    words: str
    way: str = ""


@dataclass(frozen=True, slots=True)
class Hint:
    """Something that counts: what it is, how much, where (in words), and the match that it would be."""

    name: str
    weight: int
    at: int
    end: int
    match: Match


@dataclass
class Reading:
    """A text as it can be read, and in which way it is spelled."""

    text: str
    way: str = ""
    depth: int = 0

    @cached_property
    def words(self) -> list[str]:
        """Its folded words."""
        return grammar.words_of(self.text)

    def others(self) -> Iterator[Reading]:
        """What it carries, and how else its words can be read. What was respelled is not taken apart again."""
        if self.depth >= DEPTH:
            return
        for name, text in decoded(self.text):
            yield Reading(text, self._way(name), self.depth + 1)
        for name, text in respelled(self.text, self.words):
            yield Reading(text, self._way(name), DEPTH)

    def _way(self, name: str) -> str:
        return f"{self.way}, {name}" if self.way else name


def version() -> str:
    """What stands for everything that decides: other words or rules are another version."""
    forms = [[shape.category, *shape.needles, *(part.pattern for part in shape.expressions)] for shape in SHAPES]
    decides = json.dumps([list(rules.TABLES.items()), words.LANGUAGES, forms, NEAR])
    return "1-" + hashlib.sha256(decides.encode()).hexdigest()[:8]


SCANNER_VERSION = version()


def scan(*texts: str) -> list[Match]:
    """What threatens in texts that are read one after the other (a title and a body), one match per category."""
    matches: dict[str, Match] = {}
    text = "\n".join(filter(None, texts))
    for reading in readings(text[:MOST_TEXT]):
        for match in threats(reading):
            matches.setdefault(match.category, match)
    if rest := text[MOST_TEXT:].strip():
        matches.setdefault(HIDDEN, Match(HIDDEN, visible(rest[:SHOWN]), "unread"))
    return list(matches.values())


def readings(text: str) -> Iterator[Reading]:
    """The text, every text that it carries, and every way to read those."""
    waiting = deque([Reading(text)])
    seen = {text}
    budget = MOST_READ
    while waiting:
        reading = waiting.popleft()
        yield reading
        for other in reading.others():
            if other.text not in seen and budget > 0:
                budget -= len(other.text) if other.depth < DEPTH else 0
                seen.add(other.text)
                waiting.append(other)


def threats(reading: Reading) -> Iterator[Match]:
    """What threatens in one reading."""
    if len(reading.text) >= UNSEEN.get(reading.way.rpartition(", ")[2], len(reading.text) + 1):
        yield Match(HIDDEN, reading.text[:SHOWN], reading.way)
    yield from enough([*spoken(reading), *shaped(reading)])
    yield from hidden(reading)


def spoken(reading: Reading) -> Iterator[Hint]:
    """What the words say."""
    for found in grammar.found(grammar.symbols_of(reading.words)):
        said = " ".join(reading.words[found.start : found.end])[:SHOWN]
        rule = found.rule
        yield Hint(rule.text, rule.weight, found.start, found.end, Match(rule.category, said, reading.way))


def shaped(reading: Reading) -> Iterator[Hint]:
    """What its form says."""
    for shape, found in shapes.found(SHAPES, reading.text):
        certain = shape.weight >= rules.ENOUGH
        at = 0 if certain else len(grammar.words_of(reading.text[: found.start()]))
        match = Match(shape.category, visible(found[0].strip()[:SHOWN]), reading.way)
        yield Hint(shape.name, shape.weight, at, at + 1, match)


def enough(hints: Iterable[Hint]) -> Iterator[Match]:
    """The matches of what is certain, and the first of those that are enough near each other."""
    near: deque[Hint] = deque()
    for hint in sorted(hints, key=lambda hint: hint.at):
        if hint.weight >= rules.ENOUGH:
            yield hint.match
            continue
        near.append(hint)
        while hint.at - near[0].at > NEAR:
            near.popleft()
        if weight(near) >= rules.ENOUGH:
            yield near[0].match
            return


def weight(hints: Iterable[Hint]) -> int:
    """What hints count together: each rule once, and of those that are about the same words the first."""
    counted: dict[str, int] = {}
    end = -1
    for hint in hints:
        if hint.at >= end and hint.name not in counted:
            counted[hint.name] = hint.weight
            end = hint.end
    return sum(counted.values())


def hidden(reading: Reading) -> Iterator[Match]:
    """What a reader of the rendered text does not see and that speaks to an agent."""
    told = grammar.words_of("\n".join(dict.fromkeys(out_of_sight(reading.text))))
    for found in grammar.found(grammar.symbols_of(told)):
        if found.rule.weight < 2:
            continue
        around = " ".join(told[max(0, found.start - 10) : found.end + 10])
        yield Match(HIDDEN, around[:SHOWN], reading.way)
        return


def out_of_sight(text: str) -> Iterator[str]:
    """Comments, and what follows a style that hides it."""
    start = 0
    while (begin := text.find("<!--", start)) >= 0 and (end := text.find("-->", begin)) >= 0:
        yield text[begin + 4 : min(end, begin + MOST_HIDDEN)]
        start = end + 3
    start = 0
    while match := STYLED.search(text, start) if "style" in text else None:
        start = match.end() + MOST_HIDDEN
        yield text[match.end() : start].partition("</")[0]
