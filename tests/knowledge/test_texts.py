"""Titles and other rules for what users type."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.texts import TITLE_LENGTH, first_heading, first_line, shortened


@pytest.mark.parametrize(
    ("body", "title"),
    [
        ("No deploys on Friday.\nNever.", "No deploys on Friday."),
        ("\n\n  **No** deploys _on_ `Friday`", "No deploys on Friday"),
        ("# Heading #\ntext", "Heading #"),
        ("- [ ] do it", "do it"),
        ("1. first\n2. second", "first"),
        ("> quoted *text*", "quoted text"),
        ("See [the page](https://example.org/a_b_c) now", "See the page now"),
        ("![shot](a.png) of it", "shot of it"),
        ("<b>bold</b> <!-- gone -->move", "bold move"),
        ("```python\nprint()\n```", "print()"),
        ("---\nrule", "rule"),
        ("snake_case_name and 2 * 3 * 4", "snake_case_name and 2 * 3 * 4"),
        ("a\u202eb\u200bc", "a b c"),
        ("🧑‍🚀", "🧑‍🚀"),
        ("C++ & C#", "C++ & C#"),
        ("a &lt;tag&gt;", "a <tag>"),
        ("**", "**"),
    ],
)
def test_the_title_of_a_note_is_its_first_line_as_a_reader_sees_it(body, title):
    assert first_line(body) == title


@pytest.mark.parametrize(
    ("body", "title"),
    [
        ("# Winter timetable\n\ntext", "Winter timetable"),
        ("intro\n\n## Second level ##\n", "Second level"),
        ("```\n# not a heading\n```\n# A heading", "A heading"),
        ("~~~~\n~~~\n# no\n~~~~\n# yes", "yes"),
        ("Underlined\n=====\n", "Underlined"),
        ("just text\nmore", "just text"),
        ("#hashtag\n", "#hashtag"),
        ("# *Marked* `up`", "Marked up"),
        ("#\n# Real", "Real"),
        ("- item\n---\n# After", "After"),
        ("", ""),
    ],
)
def test_the_title_of_a_plan_is_its_first_heading(body, title):
    assert first_heading(body) == title


@given(st.text())
def test_a_title_is_one_short_line_whatever_the_text_is(text):
    for title in (first_line(text), first_heading(text)):
        assert len(title) <= TITLE_LENGTH
        assert len(title.splitlines()) <= 1
        assert title == title.strip()


@given(st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=100))
def test_a_heading_of_plain_words_is_the_title(words):
    assert first_heading(f"# {words}\n\ntext") == words


@given(st.text(alphabet="a 🧑‍🚀é\u0301👍🏽🇺🇦", min_size=1, max_size=60), st.integers(2, 30))
def test_shortening_never_leaves_half_of_what_is_one_character(line, length):
    cut = shortened(line, length)
    assert len(cut) <= max(length, 1)
    cut.encode()
