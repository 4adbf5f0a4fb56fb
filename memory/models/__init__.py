"""What agents keep, by idea."""

from memory.models.agents import Agent
from memory.models.authors import Author, Through
from memory.models.detachments import Detachment
from memory.models.entries import Entry
from memory.models.judgements import Judgement
from memory.models.questions import Stale, Taken
from memory.models.room import NoRoom, Room
from memory.models.scopes import Scope
from memory.models.seen import SeenMark
from memory.models.switches import Switches

__all__ = [
    "Agent",
    "Author",
    "Detachment",
    "Entry",
    "Judgement",
    "NoRoom",
    "Room",
    "Scope",
    "SeenMark",
    "Stale",
    "Switches",
    "Taken",
    "Through",
]
