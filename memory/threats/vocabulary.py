"""The vocabulary: each known word as one symbol, which stands for all the ideas that the word can mean. Pure.

A text becomes a string of symbols, one per word, on which the rules are ordinary regular expressions. So every rule
holds in every language, and costs the same however many words mean an idea.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from memory.threats.fold import composed, fold, latin, plain_leet
from memory.threats.words import LANGUAGES

OTHER = "."  # a word that means nothing here
END = "|"  # the end of a sentence
# The first symbol of an idea; what lies below is for the two above and regular expressions.
FIRST = 0x0100
SHORTEST_STEM = 4
LAST_LATIN = "\u2000"  # look-alikes of Latin letters stand before it
UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")


class Vocabulary:
    """Words and the symbols that they have."""

    def __init__(self, languages: Iterable[Mapping[str, str]], literals: Iterable[str]) -> None:
        ideas: dict[str, set[str]] = {}
        for language in languages:
            for idea, words in language.items():
                for word in words.split():
                    ideas.setdefault(fold(composed(word)), set()).add(idea)
        for word in literals:
            ideas.setdefault(word, set()).add(f"={word}")
        self._symbols: dict[frozenset[str], str] = {}
        spelled = {word: self._symbol(frozenset(meant)) for word, meant in ideas.items()}
        self.words = {word: symbol for word, symbol in spelled.items() if not word.endswith("*")}
        self._stems: dict[str, list[tuple[str, str]]] = {}
        for word, symbol in sorted(spelled.items(), reverse=True):
            if word.endswith("*"):
                self._stems.setdefault(word[:SHORTEST_STEM], []).append((word[:-1], symbol))
        self.unspaced = self._pattern_of_unspaced()
        self.longest = max(map(len, self.words))
        self._heads = {word[:3] for word in self.words if len(word) >= 3}

    def _symbol(self, meant: frozenset[str]) -> str:
        return self._symbols.setdefault(meant, chr(FIRST + len(self._symbols)))

    def _pattern_of_unspaced(self) -> re.Pattern[str]:
        """What finds the words of languages that put no spaces between theirs, the longest first."""
        words = sorted((word for word in self.words if UNSPACED.match(word)), key=len, reverse=True)
        heads = "".join(sorted({word[0] for word in words}))
        return re.compile(f"(?=[{heads}])({'|'.join(map(re.escape, words))})")

    def symbols(self, idea: str) -> str:
        """Every symbol that can mean `idea`, which is a name or, with `=` before it, a word."""
        return "".join(symbol for meant, symbol in self._symbols.items() if idea in meant)

    def symbol(self, word: str) -> str:
        """The symbol of a folded word that is not in `words` as it stands."""
        if word[0] in ".!?":
            return END
        for stem, symbol in self._stems.get(word[:SHORTEST_STEM], ()):
            if word.startswith(stem):
                return symbol
        if word[0] < LAST_LATIN and not word.isascii():
            return self.words.get(latin(word), OTHER)
        return OTHER

    def leet(self, word: str) -> str:
        """The symbol of a word that is spelled with digits for letters."""
        return self.words.get(plain_leet(word), OTHER)

    def spaced(self, folded: str) -> str:
        """The text with spaces round the words of languages that have none."""
        return " ".join(self.unspaced.split(folded)) if UNSPACED.search(folded) else folded

    def cut(self, run: str) -> list[str]:
        """A run of letters without spaces as the known words that follow each other in it, the longest first."""
        found: list[str] = []
        position = 0
        while position < len(run):
            if run[position : position + 3] not in self._heads:
                position += 1
                continue
            for end in range(min(len(run), position + self.longest), position + 2, -1):
                if run[position:end] in self.words:
                    found.append(run[position:end])
                    position = end
                    break
            else:
                position += 1
        return found


def of(literals: Iterable[str]) -> Vocabulary:
    """The vocabulary of all languages and of the words that rules name themselves."""
    return Vocabulary(LANGUAGES, literals)
