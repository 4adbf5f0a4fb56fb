"""What an agent may do with its memory: list, read, save, delete and search. Plain functions.

The texts are for a model, in English whatever language people read. What is flagged or waits for
approval comes back from none of them, and a scope that cannot be read is reported as such by each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memory import texts
from memory.finding import matching
from memory.holders import Holder
from memory.models import Author, Entry, Scope, Stale, Switches
from memory.reading import Line, Reading, read
from openchamber.errors import Conflict, Invalid, NotFound, Unavailable
from openchamber.search.snippets import excerpt
from openchamber.search.terms import wishes

FOUND = 10  # entries that a search tells of
WHERE = {"user": "about the user", "workspace": "about this project"}


@dataclass(frozen=True, slots=True)
class Answer:
    """What the model reads, and the same for programs."""

    text: str
    data: Mapping[str, Any] = field(default_factory=dict)


def shown(entry: Entry, *, body: bool = False) -> dict[str, Any]:
    """An entry for programs."""
    names = ("name", "title", "description", "type", "revision")
    told = {"id": str(entry.pk), "scope": entry.scope.kind, **{name: getattr(entry, name) for name in names}}
    return {**told, "updated_at": entry.updated_at, **({"body": entry.body} if body else {})}


def line(entry: Entry | Line) -> str:
    """An entry as one line."""
    more = f": {entry.description}" if entry.description else ""
    return f"- [{entry.pk}] {entry.title} ({entry.type}, {entry.name}){more}"


def readings(holder: Holder, scope: str = "") -> list[Reading]:
    """The scopes that a call is about, as they can be read."""
    found = holder.scopes()
    return [read(kind, found.get(kind)) for kind in holder.keys if scope in ("", kind)]


def failures(read: Sequence[Reading]) -> list[str]:
    """A sentence for each scope that cannot be read."""
    return [
        f"What you know {WHERE[reading.kind]} cannot be read right now. It is not empty: do not save it again."
        for reading in read
        if reading.failed
    ]


def memory_list(holder: Holder, scope: str = "") -> Answer:
    """The titles, the newest first."""
    read = readings(holder, scope)
    switches = Switches.current()
    lines: list[str] = []
    for reading in read:
        if not reading.failed:
            counted = f"{len(reading.told)} entries {WHERE[reading.kind]} (at most {switches.limit(reading.kind)} fit):"
            lines += [counted, *map(line, reading.told)]
    if scope == "workspace" and not read:
        lines = [no_workspace(holder)]
    return Answer("\n".join([*lines, *failures(read)]), {"entries": told(read), "unavailable": unavailable(read)})


def told(read: Sequence[Reading]) -> list[dict[str, Any]]:
    """What can be told of some scopes, for programs."""
    return [shown(entry) for reading in read for entry in reading.told]


def unavailable(read: Sequence[Reading]) -> list[str]:
    """The kinds of the scopes that cannot be read."""
    return [reading.kind for reading in read if reading.failed]


def memory_read(holder: Holder, scope: str = "", *, id: str = "", name: str = "", title: str = "") -> Answer:
    """One entry, by id, name or title; without a scope the workspace's wins over the user's."""
    entry = entry_called(readings(holder, scope)[::-1], id=id, name=name, title=title)
    head = [f"{entry.title} ({entry.type}, {WHERE[entry.scope.kind]})", entry.description]
    facts = f"[id {entry.pk}, name {entry.name}, revision {entry.revision}, changed {entry.updated_at:%Y-%m-%d}]"
    text = "\n".join([*filter(None, head), facts, "", entry.body])
    return Answer(text, {"entry": shown(entry, body=True)})


def entry_called(read: Sequence[Reading], *, id: str = "", name: str = "", title: str = "") -> Entry:
    """The first entry that may be told of with this id, else this name, else this title. What was given decides: the
    title "11" is never the entry with the id 11."""
    id, name, title = (texts.one_line(given) for given in (id, name, title))
    if not (id or name or title):
        raise Invalid("Say which entry: give its title, name or id.")
    key = texts.title_key(title)
    for entry in (entry for reading in read for entry in reading.told):
        if str(entry.pk) == id if id else entry.name == name if name else entry.title_key == key:
            return entry
    if failed := failures(read):
        raise Unavailable(" ".join(failed))
    kind = "id" if id else "name" if name else "title"
    raise NotFound(f"There is no entry of the {kind} “{id or name or title}”. List or search to see what there is.")


def memory_delete(
    holder: Holder, scope: str = "", *, by: Author, id: str = "", name: str = "", title: str = ""
) -> Answer:
    """Forget one entry. The user can bring it back."""
    entry = entry_called(readings(holder, scope)[::-1], id=id, name=name, title=title)
    try:
        entry.bin(by=by)
    except Stale as stale:
        if stale.current.deleted_at is None:
            raise Conflict(f"“{entry.title}” was changed just now. Nothing was deleted: read it again.") from stale
        raise NotFound(f"“{entry.title}” is gone: it was deleted just now.") from stale
    return Answer(f"Deleted “{entry.title}” {WHERE[entry.scope.kind]}.", {"entry": shown(entry)})


def memory_search(holder: Holder, query: str, scope: str = "") -> Answer:
    """The entries that match, the best first."""
    if not query.strip():
        raise Invalid("Say what to search for: `query` is empty.")
    read = readings(holder, scope)
    wanted = wishes(query)
    entries = [entry for reading in read for entry in reading.told]
    best = matching(entries, query)
    found = [entry for _score, entry in best[:FOUND]]
    lines = [f"{line(entry)}\n  {excerpt(entry.body, wanted)}" for entry in found]
    text = [f"{len(best)} of {len(entries)} entries match:", *lines] if found else ["Nothing matches."]
    data = {"entries": [shown(entry) for entry in found], "unavailable": unavailable(read)}
    return Answer("\n".join([*text, *failures(read)]), data)


def scope_for(holder: Holder, kind: str) -> Scope:
    """The scope that a save is meant for, made on demand."""
    if kind not in WHERE:
        raise Invalid("Say where it is true: `scope` is `user` (everywhere) or `workspace` (here).")
    scope = holder.scope(kind)
    if scope is None:
        raise Invalid(f"{no_workspace(holder)} Only `user` can be saved here.")
    return scope


def no_workspace(holder: Holder) -> str:
    """Why there is no workspace."""
    if holder.directory:
        return "This is a temporary directory: it has no memory of its own, and nothing is kept about it."
    return "No directory was given, so there is no workspace."
