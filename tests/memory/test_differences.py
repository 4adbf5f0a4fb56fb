"""What differs between two texts of an entry, whatever they say in a moment."""

from __future__ import annotations

import random
import time

import pytest

from memory.differences import pieces


def test_one_changed_word_is_one_changed_word() -> None:
    found = [(piece.kind, piece.text) for piece in pieces("go on Friday please", "go on Monday please")]
    assert found == [("same", "go on "), ("removed", "Friday "), ("added", "Monday "), ("same", "please")]


def chosen(letters: str, count: int) -> str:
    pick = random.Random(7)
    return " ".join(pick.choice(letters) for _word in range(count))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a " * 4_000, "b a " * 2_000),
        ("a " * 1_990, "b a " * 995),
        ("a\n" * 4_000, "b\na\n" * 2_000),
        ("a " * 3_700, "b a " * 99),
        (chosen("ab", 1_990), chosen("abc", 1_990)),
        (chosen("abcdefghijklmnopqrst", 4_000), chosen("tsrqponmlkjihgfedcba", 4_000)),
    ],
)
def test_words_that_repeat_are_compared_in_a_moment_too(before: str, after: str) -> None:
    started = time.thread_time()
    found = pieces(before, after)
    assert time.thread_time() - started < 1
    assert "".join(piece.text for piece in found if piece.kind != "added") == before
    assert "".join(piece.text for piece in found if piece.kind != "removed") == after


def test_a_long_text_that_changed_in_a_few_places_still_shows_which() -> None:
    words = [f"word{min(place, place * 7919 % 300)}" for place in range(2_000)]
    before = " ".join(words)
    words[300], words[1_700] = "here", "there"
    found = pieces(before, " ".join(words))
    assert [piece.text for piece in found if piece.kind == "added"] == ["here ", "there "]
