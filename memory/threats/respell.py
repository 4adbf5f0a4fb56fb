"""Respelling: the same words where letters were exchanged, apart, run together, turned round or rotated. Pure."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator, Sequence

from memory.threats.fold import fold, plain_leet
from memory.threats.grammar import VOCABULARY

# Signs among letters that can stand for letters.
SIGNS = re.compile(r"[a-z0-9][@$!|](?=[a-z0-9])|(?<![^\s])[@$](?=[a-z])")
# At least eight letters that stand alone, with something between each two of them.
APART = re.compile(r"(?<![^\W_])(?:[^\W_](?:[^\w\n]|_){1,3}){7,400}[^\W_](?![^\W_])")
OPENING, CLOSING = "([{\"'", ".,;:!?)]}\"'"
GAP = re.compile(r"(?:[^\w\n]|_)+")
# A word that is too long to be one.
LONG = re.compile(r"[a-z]{16,80}")
LONG_WORD = 16
# How much is cut into words, in characters, and how many known words make it worth reading.
MOST_CUT, FEWEST_CUT = 20_000, 3
# What is worth recognising when it is turned round or rotated: words that no language has by chance.
TELLING = ("displace", "orders", "promptword", "prior", "credential", "reveal", "system", "safety", "guard", "approval")
FEWEST = 2


def telling_words() -> set[str]:
    """Known words of six letters and more that a threat can hardly do without."""
    symbols = {symbol for idea in TELLING for symbol in VOCABULARY.symbols(idea)}
    return {
        word for word, symbol in VOCABULARY.words.items() if symbol in symbols and len(word) >= 6 and word.isascii()
    }


ROTATED = {codecs.encode(word, "rot13") for word in telling_words()} - set(VOCABULARY.words)
REVERSED = {word[::-1] for word in telling_words()} - set(VOCABULARY.words)


def respelled(text: str, words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Other readings of a text with these folded words: (the name of the way, the text as it reads then)."""
    yield from _leet(text, words)
    lengths = [*map(len, words)]
    if lengths.count(1) >= 8:
        yield "spaced", APART.sub(_together, text)
    if max(lengths, default=0) >= LONG_WORD:
        yield from _run_together({word for word in words if len(word) >= LONG_WORD})
    seen = set(words)
    if len(seen & ROTATED) >= FEWEST:
        yield "rot13", codecs.encode(text, "rot13")
    if len(seen & REVERSED) >= FEWEST:
        yield "reversed", text[::-1]


def _leet(text: str, words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Words with digits or signs for letters, when several of them become known words."""
    if "@" in text or "$" in text:
        words = (
            [word.lstrip(OPENING).rstrip(CLOSING) for word in fold(text).split()]
            if len(SIGNS.findall(text.lower())) >= FEWEST
            else words
        )
    mixed = [word for word in words if not word.isalpha() and not word.isdigit()]
    if sum(plain_leet(word) in VOCABULARY.words for word in mixed) >= FEWEST:
        yield "leet", " ".join(plain_leet(word) if not word.isalpha() else word for word in words)


def _together(run: re.Match[str]) -> str:
    """Letters that stood apart as words: wider gaps end a word; where all are alike, known words are cut out."""
    gaps = GAP.findall(run[0])
    narrow = min(map(len, gaps))
    if all(len(gap) == narrow for gap in gaps):
        return " ".join(VOCABULARY.cut(fold(GAP.sub("", run[0]))))
    return GAP.sub(lambda gap: "" if len(gap[0]) == narrow else " ", run[0])


def _run_together(words: Iterable[str]) -> Iterator[tuple[str, str]]:
    budget = MOST_CUT
    told = []
    for word in words:
        for run in LONG.findall(word[:budget]):
            budget -= len(run)
            cut = VOCABULARY.cut(run)
            if len(cut) >= FEWEST_CUT:
                told.append(" ".join(cut))
        if budget <= 0:
            break
    if told:
        yield "run together", ". ".join(told)
