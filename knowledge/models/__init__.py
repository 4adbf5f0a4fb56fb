"""What the user writes, by idea."""

from knowledge.models.authors import Author, Entry, Through
from knowledge.models.kinds import LISTS, PINNABLE, rows_of
from knowledge.models.notes import Note
from knowledge.models.origins import Source
from knowledge.models.pins import Pinnable, SessionPin
from knowledge.models.plans import Plan
from knowledge.models.search import SearchText, SearchWord
from knowledge.models.todos import Todo
from knowledge.models.written import Stale, Written

__all__ = [
    "LISTS",
    "PINNABLE",
    "Author",
    "Entry",
    "Note",
    "Pinnable",
    "Plan",
    "SearchText",
    "SearchWord",
    "SessionPin",
    "Source",
    "Stale",
    "Through",
    "Todo",
    "Written",
    "rows_of",
]
