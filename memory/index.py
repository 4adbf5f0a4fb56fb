"""The index: one line per entry, the only part of memory that a session is handed. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence

from django.conf import settings
from django.utils.translation import gettext_noop

from memory.models import Entry
from openchamber.sessions.context import INDEX_SHARE, Item
from openchamber.sessions.writing import MORE_SIZE, index_line, size

TOOL = "openchamber_memory"
# Told in English; the panel translates what stands before the brackets, which are for agents.
GROUPS = {
    "user": gettext_noop("About the user") + f" (titles only; read one with {TOOL} before relying on it)",
    "workspace": gettext_noop("About this project") + f" (titles only; read one with {TOOL} first)",
}


def call_that_searches() -> str:
    """How an agent finds what its index has no room for."""
    return f"{TOOL} {json.dumps({'action': 'search', 'query': '<words>'}, separators=(',', ':'))}"


def item(entry: Entry) -> Item:
    """An entry as one thing that a session holds: its title and type."""
    line = f"{entry.title} ({entry.type})"
    return Item(
        key=entry.key,
        kind="index",
        title=entry.title,
        text=line,
        group=GROUPS[entry.scope.kind],
        at=entry.updated_at,
        reads=call_that_searches(),
        url=entry.get_absolute_url(),
    )


def left_out(entries: Sequence[Entry]) -> int:
    """How many of a scope's entries, the newest first, a block of the usual size has no line for."""
    room = settings.CONTEXT_BUDGET * INDEX_SHARE / 2 - MORE_SIZE
    for count, entry in enumerate(entries):
        room -= size(index_line(item(entry)))
        if room < 0:
            return len(entries) - count
    return 0
