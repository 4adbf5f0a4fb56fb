"""Rules for what an entry holds: how it is stored, what is refused, its name and its hash. Pure."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Collection

from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from memory.threats.fold import in_flag, is_invisible

TITLE_LENGTH, DESCRIPTION_LENGTH, BODY_LENGTH, NAME_LENGTH = 120, 500, 20_000, 60  # characters
KEY_LENGTH = 2 * TITLE_LENGTH
# An index is a file of that name, and Windows has no file of these.
RESERVED = {
    "memory",
    "con",
    "prn",
    "aux",
    "nul",
    *(f"{port}{number}" for port in ("com", "lpt") for number in range(10)),
}
# Marks that stand on or beside a letter.
MARKS = {"Mn", "Mc"}


def plain(text: str) -> str:
    """A text with one kind of line end and without what no database holds."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "")
    return text.encode("utf-8", "replace").decode() if _has_half(text) else text


def _has_half(text: str) -> bool:
    """Whether half of a surrogate pair is in it."""
    return not text.isascii() and any("\ud800" <= letter <= "\udfff" for letter in text)


def one_line(text: str) -> str:
    """A title or description: one line without spaces round it."""
    return " ".join(plain(text).split())


def is_seen(character: str) -> bool:
    """Whether a reader sees something of it, or may: of a sign newer than Python's tables nobody knows."""
    return not is_invisible(character) or unicodedata.category(character) == "Cn"


def legible(text: str) -> str:
    """A short text without its invisible characters, but for those that make one flag of another."""
    return "".join(letter for place, letter in enumerate(text) if is_seen(letter) or in_flag(text, place))


def folded(text: str) -> str:
    """A text whose case and form do not count. Composed again at the end: folding takes letters such as ΐ apart."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFKC", text).casefold())


def title_key(title: str) -> str:
    """What two titles that are the same to a reader have in common: neither case, form, spaces nor what nobody sees
    count."""
    key = " ".join(folded(legible(plain(title))).split())
    if len(key) <= KEY_LENGTH:
        return key
    # One letter can unfold to eighteen. What is left out counts too: else two titles would be one.
    return f"{key[: KEY_LENGTH - 17]} {revision_of(key)}"


def name_from(title: str) -> str:
    """A file name for a title: its words in small letters with hyphens between them; "entry" where it has none."""
    name = ""
    for word in words(folded("".join(filter(is_seen, title)))):
        longer = f"{name}-{word}" if name else word[:NAME_LENGTH]
        if len(longer) > NAME_LENGTH:
            break
        name = longer
    return "entry" if not name else f"{name}-entry" if name in RESERVED else name


def words(text: str) -> list[str]:
    """The words of a text: letters and digits, and the marks on them, without which Hindi or Tamil falls apart."""
    found = ""
    for letter in text:
        is_mark = found[-1:].strip() and is_seen(letter) and unicodedata.category(letter) in MARKS
        found += letter if letter.isalnum() or is_mark else " "
    return found.split()


def numbered(name: str, number: int) -> str:
    """The name with a number behind it, short enough."""
    return f"{name[: NAME_LENGTH - 4].rstrip('-')}-{number}"


def free_name(title: str, taken: Collection[str]) -> str:
    """A name from the title that is none of those taken."""
    name = free = name_from(title)
    number = 2
    while free in taken:
        free, number = numbered(name, number), number + 1
    return free


def content_hash(title: str, description: str, body: str) -> str:
    """What stands for the content that a scan and a verdict are about."""
    parts = "\x00".join((title, description, body))
    return hashlib.sha256(parts.encode("utf-8", "surrogatepass")).hexdigest()


def revision_of(*parts: str) -> str:
    """16 hex for a state of an entry."""
    return hashlib.sha256("\x00".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


class AtMost:
    """A text may have so many characters. Says both numbers, so that an agent knows how much to leave out."""

    message = ngettext_lazy(
        "This has %(size)s characters; at most %(most)s character fits. Nothing was saved or cut.",
        "This has %(size)s characters; at most %(most)s characters fit. Nothing was saved or cut.",
        "most",
    )

    def __init__(self, most: int) -> None:
        self.most = most

    def __call__(self, text: str) -> None:
        if len(text) > self.most:
            raise ValidationError(self.message, code="max_length", params={"size": len(text), "most": self.most})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AtMost) and other.most == self.most

    def __hash__(self) -> int:
        return hash(self.most)

    def deconstruct(self) -> tuple[str, list[int], dict[str, int]]:
        """How a migration writes it."""
        return "memory.texts.AtMost", [self.most], {}


def validate_name(name: str) -> None:
    """Refuse what is no file name in kebab-case."""
    if not name or name != "-".join(words(name)) or name != folded(name) or name in RESERVED:
        raise ValidationError(
            _("“%(name)s” is no name: small letters and digits with single hyphens between them."),
            code="name",
            params={"name": name},
        )


def validate_not_blank(text: str) -> None:
    """Refuse a text in which there is nothing to read."""
    if not any(is_seen(letter) and not letter.isspace() for letter in text):
        raise ValidationError(_("This is empty. Say what is to be remembered."), code="nothing")
