"""The texts that the scanner is measured with: attacks by category and language, and ordinary memory entries."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
ESCAPE = re.compile(r"\\(n|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8})")


@dataclass(frozen=True, slots=True)
class Attack:
    """A text that must be held back."""

    category: str
    language: str
    text: str


def attacks() -> Iterator[Attack]:
    """Every attack; what an editor would not show is escaped in the file."""
    for line in (HERE / "attacks.tsv").read_text(encoding="utf-8").splitlines():
        category, language, text = line.split("\t")
        yield Attack(category, language, ESCAPE.sub(_unescaped, text))


def _unescaped(match: re.Match[str]) -> str:
    return "\n" if match[1] == "n" else chr(int(match[1][1:], 16))


def ordinary() -> list[str]:
    """Every ordinary entry."""
    return (HERE / "ordinary.txt").read_text(encoding="utf-8").split("\n")[:-1]
