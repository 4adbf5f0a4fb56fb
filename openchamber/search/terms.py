"""From text to the terms that are searched for, and from what a user types to a query. Pure.

Both sides are taken apart here and not by a database, so that the same words are found on every
one: accents folded, English words in all their forms, `main.py` and `foo_bar` by their parts,
`C++` and `don't` as one, Chinese, Japanese, Korean, Thai and their like in pairs of characters,
emoji each for itself. A term is made of letters and digits only.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import snowballstemmer

TERM_LENGTH = 64  # characters; longer ones are cut alike on both sides
MOST_TERMS = 16  # of one query

# Scripts that put no space between words, by their code points.
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3100-\u312f\u3130-\u318f"
    "\u31a0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff"
)
TOKEN = re.compile(
    rf"(?P<unspaced>[{UNSPACED}]+)"
    r"|(?P<plus>(?<![^\W_])[^\W\d_]{1,3}(?:\+\+|\#)(?![^\W_]))"
    rf"|(?P<word>(?:(?![{UNSPACED}])[^\W_])+(?:['’](?:s|t|d|m|ll|re|ve)(?![^\W_]))?)"
    r"|(?P<sign>[^\w\s\x00-\xbf])",
    re.IGNORECASE,
)
HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
MARKS = re.compile("[\u0300-\u036f]")
# Letters that look like another with a mark and do not come apart.
BARRED = str.maketrans({"ł": "l", "ø": "o", "đ": "d", "ħ": "h", "ŧ": "t", "ı": "i", "æ": "ae", "œ": "oe", "’": "'"})
QUOTED = re.compile(r'"([^"]*)"?|(\S+)')
SIGNS = {"Sm", "So", "Sc"}

_stemmer = snowballstemmer.stemmer("english")


def fold(text: str) -> str:
    """Text without what a searcher does not mind: case, accents, the form of its code points."""
    if text.isascii():
        return text.lower()
    apart = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text).casefold())
    return unicodedata.normalize("NFC", MARKS.sub("", apart)).translate(BARRED)


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """The word that stands for all forms of an English one; any other word itself."""
    if not word.isascii() or not word.isalpha() or len(word) > 30:
        return word
    stemmed: str = _stemmer.stemWord(word)
    return stemmed


@dataclass(frozen=True, slots=True)
class Terms:
    """What a text is found by: its terms in order, and more words that it is found by from their beginning."""

    ordered: list[str]
    more: set[str]


@dataclass(frozen=True, slots=True)
class Term:
    """One term of a text: where it stands there, what it is, and the word that it comes from."""

    start: int
    end: int
    stem: str
    word: str


def terms(text: str) -> Terms:
    """The terms of a text."""
    ordered: list[str] = []
    more: set[str] = set()
    for found in TOKEN.finditer(unicodedata.normalize("NFKC", text)):
        for term, besides in terms_of(found[0], found.lastgroup or ""):
            ordered.append(term)
            more.update(besides)
    return Terms(ordered, more)


def located(text: str) -> Iterator[Term]:
    """The terms of a text with their places in it. The text must be in its normal form (NFKC)."""
    for found in TOKEN.finditer(text):
        start, kind = found.start(), found.lastgroup or ""
        for place, (term, besides) in enumerate(terms_of(found[0], kind)):
            word = besides[0] if besides and kind == "word" else term
            if kind == "unspaced":
                yield Term(start + place, min(start + place + 2, found.end()), term, word)
            else:
                yield Term(start, found.end(), term, word)


@lru_cache(maxsize=50_000)
def terms_of(token: str, kind: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The terms of one token, each with more words that lead to it: the word before stemming, then its humps."""
    if kind == "unspaced":
        return tuple((pair, ()) for pair in pairs(fold(token)))
    if kind == "plus":
        return ((fold(token.rstrip("+#")) + ("plusplus" if token[-1] == "+" else "sharp"), ()),)
    if kind == "sign":
        return ((f"sign{ord(token):x}", ()),) if unicodedata.category(token) in SIGNS else ()
    word = fold(token).replace("'", "")[:TERM_LENGTH]
    stemmed = stem(word)
    besides = [word] if stemmed != word else []
    if not token.islower():
        besides += [fold(part)[:TERM_LENGTH] for part in HUMP.split(token) if part != token]
    return ((stemmed, tuple(besides)),) if word else ()


def pairs(run: str) -> Iterator[str]:
    """A run of an unspaced script as pairs of neighbours, and its last character: so that one alone is found."""
    for first, second in pairwise(run):
        yield first + second
    yield run[-1:]


@dataclass(frozen=True, slots=True)
class Wish:
    """One thing that a query asks for: terms that stand side by side, the last perhaps only begun."""

    terms: tuple[str, ...]
    begun: str = ""

    @property
    def text(self) -> str:
        """The terms as they stand in an indexed text."""
        return " ".join(self.terms)


def wishes(query: str) -> list[Wish]:
    """What a query asks for. Any input is one: what has no letters asks for nothing.

    Quotes bind words to a phrase, and so does being written as one (`main.py`). The last word, while
    nothing stands behind it, is taken for a beginning.
    """
    found: list[Wish] = []
    for chunk in QUOTED.finditer(query[:1000]):
        quoted, plain = chunk[1], chunk[2]
        begun = quoted is None and chunk.end() == len(query)
        if wish := wish_of(quoted if plain is None else plain, begun=begun):
            found.append(wish)
    return list(dict.fromkeys(found))[:MOST_TERMS]


def wish_of(text: str, *, begun: bool) -> Wish | None:
    """One quoted or unbroken stretch of a query; None when there is nothing to search for in it."""
    parts = list(located(unicodedata.normalize("NFKC", text)))
    if not parts:
        return None
    last = parts[-1]
    unspaced = re.fullmatch(f"[{UNSPACED}]{{1,2}}", last.word) is not None
    if unspaced and len(parts) > 1 and last.end - last.start == 1:
        parts.pop()  # the end of a run: in a text more may follow it
        return Wish(tuple(part.stem for part in parts))
    # One letter begins far too much to be meant; one character of an unspaced script is a word.
    begins = unspaced if len(last.word) == 1 else begun and not unspaced
    return Wish(tuple(part.stem for part in parts), begun=last.word if begins else "")
