"""What an agent may do with project knowledge: search it and read it. It never writes.

The texts are for a model: plain, in English whatever language people read, each with what to call to read on.
What the user wrote is handed over as it is, under a line that says whose it is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from knowledge.models import PINNABLE
from knowledge.search import knowledge_hits
from openchamber.errors import Invalid, NotFound
from openchamber.models import PinnedMessage, Project, Session
from openchamber.projects.resolve import resolve
from openchamber.search import Hit, with_passages
from openchamber.search.snippets import excerpt
from openchamber.sessions.carriers import message_hash
from openchamber.texts import is_key

NAME = "openchamber_knowledge"
CHUNK = 20_000  # characters of one answer
KINDS = ("note", "todo", "plan")

DESCRIPTION = (
    "Search and read what the user wrote down for this project: notes, plans and todos, and the messages they pinned."
    " Use it when a text you were told was cut, or when you need what the user decided earlier. Read-only."
)
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "action": {
            "type": "string",
            "enum": ["search", "read"],
            "description": "search by words, or read one by its id",
        },
        "query": {"type": "string", "description": "search: any words; a phrase in double quotes"},
        "kind": {
            "type": "string",
            "enum": ["note", "plan", "todo", "message"],
            "description": "read: what the id belongs to; search: only this kind",
        },
        "id": {"type": "string", "description": "read: the id, as a search or a told text gives it"},
        "from": {"type": "integer", "description": "read: from which character on; 0 at first"},
        "limit": {"type": "integer", "description": "search: how many at most; 10 unless told"},
    },
    "required": ["action"],
}


@dataclass(frozen=True, slots=True)
class Answer:
    """What the model reads, and the same for programs."""

    text: str
    data: Mapping[str, Any] = field(default_factory=dict)


def is_offered(directory: str, agent: str) -> bool:
    """Whether an agent in this directory may have the tool: only where there is a project is there anything to read."""
    return resolve(directory).project is not None


def call_that_reads(kind: str, key: int | str, start: int = 0) -> str:
    """The tool call that reads a note or plan, as it stands in a cut text."""
    arguments = {"action": "read", "kind": kind, "id": str(key), **({"from": start} if start else {})}
    return f"{NAME} {json.dumps(arguments, separators=(',', ':'))}"


def knowledge_search(project: Project, query: str, *, kind: str = "", limit: int = 10) -> Answer:
    """The notes, plans and todos of `project` that match, the best first, at most 50."""
    if not query.strip():
        raise Invalid("Say what to search for: `query` is empty.")
    if kind not in ("", *KINDS):
        raise Invalid("Only notes, plans and todos are searched.")
    projects = Project.objects.filter(pk=project.pk)
    hits = with_passages(knowledge_hits(projects=projects, query=query, kind=kind, limit=max(1, min(limit, 50))))
    results = [
        {"kind": hit.kind, "id": hit.id, "title": hit.title, "snippet": excerpt(hit.passage, hit.wishes)}
        for hit in hits
    ]
    lines = [f"- {hit['kind']} {hit['id']} “{hit['title']}”: {hit['snippet']}" for hit in results]
    heading = f"{len(results)} found in what the user wrote:"
    return Answer("\n".join([heading, *lines]) if results else "Nothing matches.", {"results": results})


def shown(hit: Hit) -> dict[str, str]:
    """A hit for programs."""
    return {"kind": hit.kind, "id": hit.id, "title": hit.title, "snippet": excerpt(hit.passage, hit.wishes)}


def knowledge_read(
    project: Project | None, kind: str, key: str, *, start: int = 0, session: Session | None = None
) -> Answer:
    """One note, plan, todo or pinned message, from character `start` on; at most `CHUNK` characters at once."""
    title, text = pinned_message(session, key) if kind == "message" else written(project, kind, key)
    start = max(0, min(start, len(text)))
    end = min(len(text), start + CHUNK)
    heading = f"The user's {kind} “{title}”, characters {start} to {end} of {len(text)}:"
    rest = [f"[read on with {call_that_reads(kind, key, end)}]"] if end < len(text) else []
    data = {"title": title, "from": start, "next": end if rest else None, "total": len(text)}
    return Answer("\n".join([heading, text[start:end], *rest]), data)


def written(project: Project | None, kind: str, key: str) -> tuple[str, str]:
    """Title and text of a live note, plan or todo of the project; the id may come with its prefix."""
    if kind not in KINDS:
        raise Invalid("`kind` is note, plan, todo or message.")
    key = key.removeprefix(f"knowledge:{kind}:")
    rows: Any = (
        {"todo": project.todos, **{name: getattr(project, f"{name}s") for name in PINNABLE}}[kind] if project else None
    )
    row = rows.live().filter(pk=key).first() if rows and is_key(key) else None
    if row is None:
        raise NotFound(f"There is no {kind} with the id {key} in this project.")
    return row.title, row.typed


def pinned_message(session: Session | None, key: str) -> tuple[str, str]:
    """Role and text of a message that is pinned in `session`, by its id or the hash in its key."""
    key = key.removeprefix("session:message:")
    pinned = list(PinnedMessage.objects.filter(session=session)) if session else []
    for message in pinned:
        if key in (message.message_id, message_hash(message.role, message.text)):
            return message.role, message.text
    raise NotFound(f"No message with the id {key} is pinned in this session.")
