"""Rules as regular expressions over the symbols of a text. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain

from memory.threats import rules, vocabulary
from memory.threats.fold import composed, fold
from memory.threats.words import LANGUAGES

# The words of a text, and the ends of its sentences.
WORD = re.compile(r"[^\W_]+|[.!?]+")
# Articles and the like that French and Italian write together with the next word.
ELISION = re.compile(r"\b(l|d|n|s|c|j|m|t|qu|un|all|dell|nell|sull|dall)['’](?=[^\W\d_])", re.IGNORECASE)
IDEAS = frozenset(chain.from_iterable(LANGUAGES))
# A long text is read in blocks, each of which begins before the one before it ends, so that no rule's words are parted.
BLOCK, OVERLAP = 64, 24
UNLESSES = re.compile(r"~(\d+) ")
START = "^"  # in a rule: where a sentence begins
UNLESS = "~"  # in a rule, before a number: unless this follows within so many words of the sentence


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule, ready to be looked for: `weight` is what it counts, `needs` has a bit for each of its parts."""

    category: str
    text: str
    pattern: re.Pattern[str]
    weight: int
    needs: int


@dataclass(frozen=True, slots=True)
class Found:
    """A rule that was found in the words from `start` to `end`."""

    rule: Rule
    start: int
    end: int


def parts(text: str) -> list[str]:
    """The parts of a rule: names of ideas, numbers, and what must not follow, with its number."""
    return UNLESSES.sub(r"~\1:", text.removeprefix("!")).split()


def named(text: str) -> Iterator[str]:
    """The parts of a rule that stand for words which a text must have."""
    return (part for part in parts(text) if part[0] not in (START, UNLESS) and not part.isdigit())


def named_at_all(text: str) -> Iterator[str]:
    """These, and the ones that must not follow."""
    return (part.rpartition(":")[2] for part in parts(text) if part != START and not part.isdigit())


def own_words() -> set[str]:
    """The words that rules name themselves because no idea has that name."""
    texts = chain.from_iterable(chain.from_iterable(table.values()) for table in rules.TABLES.values())
    return {name for text in texts for part in named_at_all(text) for name in part.split("/") if name not in IDEAS}


VOCABULARY = vocabulary.of(own_words())
NOT = VOCABULARY.symbols("not")
# Not after a negation in the same sentence, up to two words before.
NOT_NEGATED = f"(?<![{NOT}])(?<![{NOT}][^|])(?<![{NOT}][^|][^|])"


@cache
def choice(part: str) -> str:
    """The symbols of a part of a rule: an idea, a word of the rule's own, or several of them."""
    names = [name if name in IDEAS else f"={name}" for name in part.split("/")]
    return "".join(sorted({symbol for name in names for symbol in VOCABULARY.symbols(name)}))


# For each symbol the parts that it can stand for, as bits.
_bits: dict[str, int] = {}
_part_bits: dict[str, int] = {}


def bit(part: str) -> int:
    """The bit of a part, which every symbol of it has."""
    if part not in _part_bits:
        _part_bits[part] = 1 << len(_part_bits)
        for symbol in choice(part):
            _bits[symbol] = _bits.get(symbol, 0) | _part_bits[part]
    return _part_bits[part]


def expression(part: str) -> str:
    """A part of a rule as it stands in an expression."""
    if part == START:
        return "(?:^|(?<=[|]))"
    if part[0] == UNLESS:
        words, _colon, name = part[1:].partition(":")
        return f"(?![^|]{{0,{words}}}[{choice(name)}])"
    return f".{{0,{part}}}?" if part.isdigit() else f"[{choice(part)}]"


def compiled(category: str, text: str, weight: int) -> Rule:
    """A rule as an expression. Gaps are bounded, so the time it takes grows with the text alone."""
    pattern = "".join(map(expression, parts(text)))
    guard = NOT_NEGATED if text.startswith("!") else ""
    needs = 0
    for part in named(text):
        needs |= bit(part)
    return Rule(category, text, re.compile(guard + pattern), weight, needs)


RULES = [
    compiled(category, text, weight)
    for weight, table in rules.TABLES.items()
    for category, texts in table.items()
    for text in texts
]


def words_of(text: str) -> list[str]:
    """The folded words of a text and the ends of its sentences."""
    if "'" in text or "’" in text:
        text = ELISION.sub(r"\1 ", text)
    if text.isascii():
        return WORD.findall(fold(text))
    return WORD.findall(VOCABULARY.spaced(fold(composed(text))))


def symbols_of(words: Sequence[str]) -> str:
    """One symbol per word."""
    known, other = VOCABULARY.words.get, VOCABULARY.symbol
    return "".join([known(word) or other(word) for word in words])


def found(symbols: str) -> Iterator[Found]:
    """Every rule in every block of a text's symbols, in the order of the blocks; of a category that has one that is
    enough, no further ones."""
    rules_left = RULES
    for start in range(0, max(1, len(symbols) - OVERLAP), BLOCK):
        block = symbols[start : start + BLOCK + OVERLAP]
        present = 0
        for symbol in set(block):
            present |= _bits.get(symbol, 0)
        for rule in rules_left:
            if rule.needs & present == rule.needs and (match := rule.pattern.search(block)):
                yield Found(rule, start + match.start(), start + match.end())
                if rule.weight >= rules.ENOUGH:
                    rules_left = [other for other in rules_left if other.category != rule.category]
