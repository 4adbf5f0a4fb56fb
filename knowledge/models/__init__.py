"""What the user writes, by idea."""

from knowledge.models.authors import Author, Entry, Through
from knowledge.models.kinds import LISTS, PINNABLE, rows_of
from knowledge.models.notes import Note
from knowledge.models.pins import Pinnable, SessionPin
from knowledge.models.written import Stale, Written

__all__ = [
    "LISTS",
    "PINNABLE",
    "Author",
    "Entry",
    "Note",
    "Pinnable",
    "SessionPin",
    "Stale",
    "Through",
    "Written",
    "rows_of",
]
