"""The stretch of a text that shows why it was found, with the words that were searched for marked. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from openchamber.search.terms import Term, Wish, located

WIDTH = 180  # characters
# Headings, quotes, list marks, fences and rows of dashes begin a line; `**` and backticks stand at a word's edge.
MARKS = re.compile(
    r"^[ ]{0,3}(?:#{1,6}[ ]+|>[ ]?|[-*+][ ]+(?:\[[ xX]\][ ]+)?|(?:```|~~~)[^\n]*$|\|[ :|-]+\|[ ]*$)"
    r"|(?<!\w)(?:\*\*|`+)(?=\S)|(?<=\S)(?:\*\*|`+)(?!\w)",
    re.MULTILINE,
)
FAR = 1_200  # so far behind the first match better ones are looked for


def normal(text: str) -> str:
    """The text as it is shown in a snippet: in one line, in the form whose places `located` tells."""
    return " ".join(unicodedata.normalize("NFKC", text).split())


def plain(text: str) -> str:
    """The text without the marks of its Markdown that would only be noise in one line; those inside words stay."""
    return MARKS.sub("", text)


def matches(text: str, wishes: Sequence[Wish]) -> list[tuple[int, int]]:
    """Where in a normal text the wishes are met, in order; of a long one from the first match on, for a while."""
    by_first: dict[str, list[Wish]] = {}
    for wish in wishes:
        by_first.setdefault(wish.terms[0], []).append(wish)
    begun = tuple({wish.begun for wish in wishes if wish.begun and len(wish.terms) == 1})
    terms: list[Term] = []
    starts: list[tuple[int, list[Wish]]] = []
    for number, term in enumerate(located(text)):
        if starts and term.start > terms[starts[0][0]].start + FAR:
            break
        terms.append(term)
        if begun and (term.word.startswith(begun) or term.stem.startswith(begun)):
            starts.append((number, list(wishes)))
        elif term.stem in by_first:
            starts.append((number, by_first[term.stem]))
    return sorted({place for start, some in starts for wish in some if (place := met(terms, start, wish))})


def met(terms: Sequence[Term], start: int, wish: Wish) -> tuple[int, int] | None:
    """From where to where `wish` is met by the terms from number `start` on, if it is."""
    end = start + len(wish.terms) - 1
    if end >= len(terms) or any(terms[start + place].stem != term for place, term in enumerate(wish.terms[:-1])):
        return None
    last = terms[end]
    begun = bool(wish.begun) and (last.word.startswith(wish.begun) or last.stem.startswith(wish.begun))
    return (terms[start].start, last.end) if begun or last.stem == wish.terms[-1] else None


def snippet(text: str, wishes: Sequence[Wish], *, after: str = "") -> SafeString:
    """The best stretch of `text`, or of what follows if it begins with `after`, as HTML with `<mark>` alone as tag."""
    text = following(normal(plain(text)), normal(plain(after)))
    places = matches(text, wishes)
    return shown(text, places, *stretch(text, places))


def following(text: str, title: str) -> str:
    """What follows `title` in a text that begins with it; of a shortened title, how its last sentence goes on."""
    start = title.removesuffix("...")  # what `normal` makes of …
    rest = text.removeprefix(start)
    if not start or rest == text:
        return text
    if start != title:
        return f"…{rest}" if rest else ""
    return text if rest[:1].isalnum() else rest.lstrip(" :;,.")


def excerpt(text: str, wishes: Sequence[Wish]) -> str:
    """The same stretch as plain text, for a model to read."""
    text = normal(text)
    start, end = stretch(text, matches(text, wishes))
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"


def marked(text: str, wishes: Sequence[Wish]) -> SafeString:
    """All of a short text, in the same way."""
    text = normal(text)
    return shown(text, matches(text, wishes), 0, len(text))


def shown(text: str, places: Sequence[tuple[int, int]], start: int, end: int) -> SafeString:
    """The text from `start` to `end` with the places marked."""
    parts = ["…" if start else ""]
    here = start
    for first, last in joined(places):
        if first < here or last > end:
            continue
        parts += [escape(text[here:first]), "<mark>", escape(text[first:last]), "</mark>"]
        here = last
    parts += [escape(text[here:end]), "…" if end < len(text) else ""]
    return mark_safe("".join(parts))  # noqa: S308  every part is escaped or a literal


def stretch(text: str, places: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """From where to where `text` is shown: `WIDTH` characters with most of the places, ending between words."""
    if len(text) <= WIDTH:
        return 0, len(text)
    first = max(places, key=lambda place: near(place, places), default=(0, 0))
    start = max(0, min(first[0] - WIDTH // 4, len(text) - WIDTH))
    end = min(len(text), start + WIDTH)
    if start:
        start = text.find(" ", start, first[0]) + 1 or start
    if end < len(text):
        end = max(text.rfind(" ", start + WIDTH // 2, end), 0) or end
    return start, max(end, first[1])


def near(place: tuple[int, int], places: Sequence[tuple[int, int]]) -> int:
    """How many of the places would be shown together with this one."""
    return sum(place[0] <= other[0] < place[0] + WIDTH for other in places)


def joined(places: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Places that touch or overlap as one."""
    result: list[tuple[int, int]] = []
    for first, last in places:
        if result and first <= result[-1][1]:
            result[-1] = (result[-1][0], max(last, result[-1][1]))
        else:
            result.append((first, last))
    return result
