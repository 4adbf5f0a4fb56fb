"""Markdown that is written to be slow: three times the text must take about three times as long, never nine."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ.setdefault("OPENCHAMBER_DATA_DIR", tempfile.mkdtemp(prefix="openchamber-benchmark-"))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "openchamber.settings")

import django

django.setup()

from openchamber import markup  # noqa: E402

PIECES = [
    "[",
    "![",
    "*a ",
    "**a *b ",
    "`a",
    "> ",
    "[a](",
    "[[a](b)",
    "^[",
    "[^a]",
    "<a ",
    "<!-- ",
    "~~a",
    "- [ ] a\n",
    "&#",
]


def seconds(piece: str, size: int) -> float:
    """Processor time of rendering `size` characters of `piece`, the best of three."""
    text = piece * (size // len(piece))
    found = []
    for _round in range(3):
        markup._rendered.cache_clear()
        start = time.thread_time()
        markup.render(text)
        found.append(time.thread_time() - start)
    return min(found)


def main() -> None:
    """One row for each piece: 10,000 characters, 30,000, and how many times as long that takes (linear: 3)."""
    print("| piece | 10,000 | 30,000 | times |\n| --- | --- | --- | --- |")
    for piece in PIECES:
        seconds(piece, 2_000)
        once, thrice = seconds(piece, 10_000), seconds(piece, 30_000)
        print(f"| `{piece!r}` | {once * 1000:.1f} ms | {thrice * 1000:.1f} ms | {thrice / max(once, 1e-6):.1f} |")


if __name__ == "__main__":
    main()
