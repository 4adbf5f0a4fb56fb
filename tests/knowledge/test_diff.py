"""Differences between texts, and two edits of one text put together."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge.diff import folded, merged, pieces

TEXTS = st.text(alphabet="ab \n.é🧑", max_size=60)


@settings(deadline=None)
@given(TEXTS, TEXTS)
def test_the_pieces_of_a_difference_are_both_texts(before, after):
    found = pieces(before, after)
    assert "".join(piece.text for piece in found if piece.kind != "added") == before
    assert "".join(piece.text for piece in found if piece.kind != "removed") == after


def test_one_changed_word_is_one_changed_word():
    found = [(piece.kind, piece.text) for piece in pieces("go on Friday please", "go on Monday please")]
    assert found == [
        ("same", "go on "),
        ("removed", "Friday "),
        ("added", "Monday "),
        ("same", "please"),
    ]


@settings(deadline=None)
@given(TEXTS, TEXTS)
def test_an_edit_of_one_side_alone_is_taken_whole(base, edited):
    assert merged(base, edited, base) == edited
    assert merged(base, base, edited) == edited
    assert merged(base, edited, edited) == edited


@pytest.mark.parametrize(
    ("base", "theirs", "yours", "both"),
    [
        ("one two three", "ONE two three", "one two THREE", "ONE two THREE"),
        ("a\nb\nc\n", "a\nb\nb2\nc\n", "a0\na\nb\nc\n", "a0\na\nb\nb2\nc\n"),
        ("it goes first", "it stays first", "it runs first", "it stays runs first"),
        ("", "theirs", "yours", "theirs yours"),
        ("keep drop keep", "keep keep", "keep drop keep!", "keep keep!"),
    ],
)
def test_two_edits_go_together(base, theirs, yours, both):
    assert " ".join(merged(base, theirs, yours).split()) == " ".join(both.split())


def test_long_unchanged_stretches_are_counted_not_shown():
    before = "\n".join(f"line {number}" for number in range(100))
    found = folded(pieces(before, before.replace("line 50", "line fifty")))
    assert sum(piece for piece in found if isinstance(piece, int)) > 80
    assert any(getattr(piece, "kind", "") == "added" for piece in found)


def test_a_million_characters_are_compared_in_a_moment():
    before = "".join(f"line {number} of a long plan with words\n" for number in range(25_000))
    after = before.replace("line 100 ", "line one hundred ").replace("line 24000 ", "row 24000 ")
    started = time.monotonic()
    found = pieces(before, after)
    assert merged(before, after, before) == after
    assert time.monotonic() - started < 10
    assert len([piece for piece in found if piece.kind == "added"]) == 2


@pytest.mark.parametrize(("before", "after"), [("a " * 3_700, "b a " * 99), ("a\n" * 3_800, "b\na\n" * 99)])
def test_words_that_repeat_are_compared_in_a_moment_too(before, after):
    started = time.thread_time()
    found = pieces(before, after)
    assert time.thread_time() - started < 1
    assert "".join(piece.text for piece in found if piece.kind != "removed") == after
