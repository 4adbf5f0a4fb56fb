"""Look-alikes: entries that may say the same. They are reported and never merged. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from openchamber.search.terms import terms

# What an entry must share, of the shorter one's words, to be reported.
SHARED = 0.6
FEWEST = 3
# How many are reported at most, the likest first.
MOST = 5
# Words that say nothing about what an entry is about, and the ones that turn it round.
COMMON = frozenset(
    terms(
        "a an the of to in on at for with and or is are be was were it this that use used should must will can our we"
        " I you they from by as not no never always don't only der die das und ist nicht le la les et est el los y es"
    ).ordered
)
EUROPEAN = (
    "not no never don't cannot can't without nicht nie kein keine ne pas jamais nunca jamás non mai não nie nigdy"
)
EASTERN = "не никогда ні ніколи 不 不要 从不 没有 ない しない 안 않 لا नहीं"
NEGATIONS = frozenset(
    f"{EUROPEAN} {EASTERN}".split(),
)
NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")


@lru_cache(maxsize=2_048)  # the same entries are compared at every save
def words_of(text: str) -> frozenset[str]:
    """What a text is about: its terms (pairs of characters where a script has no spaces) without the common ones."""
    return frozenset(terms(text).ordered) - COMMON


def likeness(one: str, other: str) -> float:
    """From 0 to 1: the share of the shorter text's words that the other has too."""
    mine, theirs = words_of(one), words_of(other)
    fewer = min(len(mine), len(theirs))
    return len(mine & theirs) / fewer if fewer >= FEWEST else 0.0


def alike(text: str, others: Sequence[tuple[str, str]]) -> list[tuple[float, str, str]]:
    """Those of `others` (key, text) that may say the same or the opposite: (likeness, key, how they differ)."""
    near = sorted(((likeness(text, other), key, other) for key, other in others), reverse=True)
    return [(score, key, difference(text, other)) for score, key, other in near[:MOST] if score >= SHARED]


def difference(one: str, other: str) -> str:
    """What tells two similar texts apart: `negation`, `numbers`, or "" for nothing of the kind."""
    if bool(_negations(one)) != bool(_negations(other)):
        return "negation"
    return "numbers" if set(NUMBER.findall(one)) != set(NUMBER.findall(other)) else ""


def _negations(text: str) -> set[str]:
    folded = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    words = set(re.findall(r"[^\W\d_]+(?:'[^\W\d_]+)?", folded))
    unspaced = {word for word in NEGATIONS if not word.isascii() and len(word) <= 2 and word in folded}
    return (words & NEGATIONS) | {word for word in unspaced if _is_unspaced(word)}


def _is_unspaced(word: str) -> bool:
    return any("\u3040" <= letter <= "\u9fff" or "\uac00" <= letter <= "\ud7a3" for letter in word)
