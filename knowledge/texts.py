"""Rules for what users type: how a text is stored, what is refused, and its title. Pure."""

from __future__ import annotations

import hashlib
import html
import re
import unicodedata

from django.core.validators import BaseValidator
from django.utils.translation import gettext, ngettext_lazy

from openchamber.texts import validate_characters as validate_characters
from openchamber.texts import validate_not_blank as validate_not_blank

TITLE_LENGTH = 200  # characters

FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+|$)(.*)")
UNDERLINE = re.compile(r" {0,3}(=+|-{2,})[ \t]*$")
# What a line may begin with without it being part of its words: quotes, lists, tasks, headings.
LEAD = re.compile(r"(?:\s|>|[-*+](?=\s)|\d{1,9}[.)](?=\s)|\[[ xX]\](?=\s)|#{1,6}(?=\s|$))+")
LINK = re.compile(r"!?\[([^\[\]]*)\](?:\([^()\s]*(?:\s+\"[^\"]*\")?\)|\[[^\[\]]*\])")
TAG = re.compile(r"</?[A-Za-z][^<>]*>|<!--.*?-->")
EMPHASIS = re.compile(r"(\*{1,3}|~~|(?<!\w)_{1,3})(?=\S)(.+?)(?<=\S)\1(?!(?<=_)\w)")
# Not the two joiners: emoji and some scripts need them.
NOT_SHOWN = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]+")


class AtMost(BaseValidator):
    """A text may have so many characters. Says both numbers, grouped, because people count in thousands."""

    code = "max_length"
    message = ngettext_lazy(
        "This has %(show_value)s characters; at most %(limit_value)s character fits. Nothing was saved or cut.",
        "This has %(show_value)s characters; at most %(limit_value)s characters fit. Nothing was saved or cut.",
        "limit_value",
    )

    def compare(self, a: int, b: int) -> bool:
        """Whether the length `a` is refused by the limit `b`."""
        return a > b

    def clean(self, x: str) -> int:
        """The length that is compared."""
        return len(x)


def normal_lines(text: str) -> str:
    """The text with every line end as one newline, as browsers, files and agents disagree about them."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def revision_of(text: str) -> str:
    """16 hex of the hash of a text: the same that a delivered item's revision is."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:16]


def text_warnings(text: str) -> list[str]:
    """What a reader would not see and an agent would: sentences for whoever wrote the text."""
    hidden = sum(map(len, NOT_SHOWN.findall(text.replace("\n", "").replace("\t", ""))))
    if not hidden:
        return []
    sentence = gettext("There are %(count)d characters in it that are not shown; an agent reads them all the same.")
    return [sentence % {"count": hidden}]


def plain_line(line: str) -> str:
    """One line of Markdown as the words that a reader sees, at most `TITLE_LENGTH` characters."""
    words = LEAD.sub("", line, count=1) if LEAD.match(line) else line
    words = LINK.sub(r"\1", TAG.sub("", words))
    words = EMPHASIS.sub(r"\2", EMPHASIS.sub(r"\2", words)).replace("`", "")
    return shortened(" ".join(NOT_SHOWN.sub(" ", html.unescape(words)).split()))


def shortened(line: str, length: int = TITLE_LENGTH) -> str:
    """The line, cut at a word where it is longer than `length` characters and marked with an ellipsis.

    Never between a character and the marks that belong to it.
    """
    if len(line) <= length:
        return line
    cut = line[: length - 1]
    space = cut.rfind(" ", length // 2)
    end = space if space > 0 else len(cut)
    while end > 1 and joins(line[end - 1], line[end]):
        end -= 1
    return line[:end].rstrip() + "…"


def joins(before: str, after: str) -> bool:
    """Whether two characters may be parts of one that a reader sees."""
    joiner = "\u200d"
    return (
        unicodedata.combining(after) != 0
        or unicodedata.category(after) in {"Mn", "Me", "Mc", "Sk"}
        or joiner in (before, after)
        or (is_flag(before) and is_flag(after))
    )


def is_flag(character: str) -> bool:
    """Whether it is one half of a flag."""
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def first_line(text: str) -> str:
    """The title of a note: its first line that has words, without Markdown; "" when none has."""
    for line in text[:20_000].splitlines():
        if not FENCE.match(line) and (words := plain_line(line)) and any(map(str.isalnum, words)):
            return words
    return shortened(" ".join(NOT_SHOWN.sub(" ", text[:1000]).split()))


def first_heading(text: str) -> str:
    """The title of a plan: its first heading, else its first line, else ""."""
    return own_heading(text) or first_line(text)


def own_heading(text: str) -> str:
    """The first heading outside code; "" when there is none."""
    fence = previous = ""
    for line in text.splitlines():
        marks = FENCE.match(line)
        if marks and (not fence or (marks[1].startswith(fence) and not line[marks.end() :].strip())):
            fence = "" if fence else marks[1]
        elif not fence and (title := heading(line, previous)):
            return title
        previous = "" if fence else line
    return ""


def heading(line: str, previous: str) -> str:
    """What `line` is the heading of: itself (`# x`) or, as an underline, the line before; "" for neither."""
    if marks := HEADING.match(line):
        return plain_line(re.sub(r"(?:^|[ \t]+)#+[ \t]*$", "", marks[2]))
    if UNDERLINE.match(line) and previous.strip() and not LEAD.match(previous.lstrip()):
        return plain_line(previous)
    return ""
