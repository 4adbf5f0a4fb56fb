"""The index: one line per entry, the only part of memory that a session is handed."""

from __future__ import annotations

import json
from collections.abc import Sequence

from django.conf import settings
from django.utils.translation import gettext_noop

from memory.models import Entry, Scope
from memory.reading import Line
from openchamber.sessions.context import INDEX_SHARE, Item
from openchamber.sessions.writing import MORE_SIZE, index_line, size

TOOL = "openchamber_memory"
# Agents read them in English; people, without what stands in brackets, in their own language.
USER, WORKSPACE = gettext_noop("About the user"), gettext_noop("About this project")
GROUPS = {
    "user": f"{USER} (titles only; read one with {TOOL} before relying on it)",
    "workspace": f"{WORKSPACE} (titles only; read one with {TOOL} first)",
}
SEARCH = f"{TOOL} {json.dumps({'action': 'search', 'query': '<words>'}, separators=(',', ':'))}"


def text_of(entry: Entry | Line) -> str:
    """What a session is told of an entry."""
    return f"{entry.title} ({entry.type})"


def items(scope: Scope, entries: Sequence[Entry | Line]) -> list[Item]:
    """The entries of a scope as things that a session holds. `scope.agent` must be loaded."""
    source, group, page = scope.source, GROUPS[scope.kind], scope.agent.get_absolute_url()
    return [
        Item(
            key=f"{source}:{entry.pk}",
            kind="index",
            title=entry.title,
            text=text_of(entry),
            group=group,
            at=entry.updated_at,
            reads=SEARCH,
            url=f"{page}{entry.pk}/",
        )
        for entry in entries
    ]


def sizes(scope: Scope, entries: Sequence[Entry | Line]) -> list[int]:
    """What each entry's line takes."""
    return [size(index_line(item)) for item in items(scope, entries)]


def left_out(scope: Scope, entries: Sequence[Entry | Line]) -> int:
    """How many of a scope's entries, the newest first, a block of the usual size has no line for."""
    room = settings.CONTEXT_BUDGET * INDEX_SHARE / 2 - MORE_SIZE
    # No line is longer than a title, its type and its key.
    if len(entries) * 240 < room:
        return 0
    for count, taken in enumerate(sizes(scope, entries)):
        room -= taken
        if room < 0:
            return len(entries) - count
    return 0
