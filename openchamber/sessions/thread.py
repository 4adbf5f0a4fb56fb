"""A conversation as people read it: from the agent server's messages to rows of a page. Pure."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from openchamber.sessions.carriers import Carrier
from openchamber.sessions.wire import Message, Part

Kind = Literal["said", "continued", "compaction", "restored", "told", "hidden"]
# What a page shows of a tool's output or a hidden text before it is asked for the rest.
EXCERPT = 1500  # characters

# OpenCode's own tools by what a person would call them, and which argument says what they work on.
TOOLS = {
    "read": (gettext_lazy("Read"), "filePath"),
    "write": (gettext_lazy("Write"), "filePath"),
    "edit": (gettext_lazy("Edit"), "filePath"),
    "multiedit": (gettext_lazy("Edit"), "filePath"),
    "patch": (gettext_lazy("Edit"), "filePath"),
    "list": (gettext_lazy("List"), "path"),
    "glob": (gettext_lazy("Find"), "pattern"),
    "grep": (gettext_lazy("Search"), "pattern"),
    "bash": (gettext_lazy("Run"), "command"),
    "task": (gettext_lazy("Sub-agent"), "description"),
    "webfetch": (gettext_lazy("Fetch"), "url"),
    "websearch": (gettext_lazy("Search the web"), "query"),
    "todowrite": (gettext_lazy("Todos"), ""),
    "todoread": (gettext_lazy("Todos"), ""),
    "question": (gettext_lazy("Question"), ""),
}


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A long text, as much of it as a page shows at first; `part` names where the rest is."""

    text: str
    part: str

    @property
    def start(self) -> str:
        """What is shown at first."""
        return self.text[:EXCERPT]

    @property
    def whole(self) -> bool:
        """Whether that is all."""
        return len(self.text) <= EXCERPT


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool call."""

    id: str
    name: str
    subject: str
    state: Literal["working", "held", "failed"]
    outcome: str
    command: str
    output: Excerpt
    error: str

    @classmethod
    def of(cls, part: Part) -> Tool:
        """The call that a tool part tells of."""
        name, argument = TOOLS.get(part.tool, (part.tool.replace("_", " "), ""))
        subject = str(part.input.get(argument) or part.title or "") if argument else part.title
        state: Literal["working", "held", "failed"] = "working"
        if part.status in ("completed", "error"):
            state = "held" if part.status == "completed" else "failed"
        command = str(part.input.get("command") or "").strip()
        outcomes = {"working": _("running"), "held": _("done"), "failed": _("failed")}
        first_line = subject.strip().split("\n", 1)[0][:200]
        output = Excerpt(part.output, part.id)
        # A command that the summary shows whole need not be said twice.
        more = command if command != first_line else ""
        return cls(part.id, str(name), first_line, state, outcomes[state], more, output, part.error)


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of one message: a `text`, a `thought`, `tools` that ran one after another, or a `file`."""

    kind: Literal["text", "thought", "tools", "file"]
    id: str
    text: str = ""
    tools: Sequence[Tool] = ()
    mime: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One message on the page. `continued` is an assistant's next step without words of its own."""

    message: Message
    kind: Kind
    pieces: Sequence[Piece]
    hidden: Sequence[Excerpt]
    carrier: Carrier | None
    pinned: bool = False
    reverted: bool = False

    @property
    def id(self) -> str:
        """The message's id."""
        return self.message.id

    @property
    def digest(self) -> str:
        """What changes whenever the row would look different."""
        return hashlib.sha256(repr((self.message, self.kind, self.pinned, self.reverted)).encode()).hexdigest()

    @property
    def speaker(self) -> str:
        """Who said it."""
        return _("You") if self.message.role == "user" else self.message.agent or _("Agent")

    @property
    def writing(self) -> bool:
        """Whether the agent is still at it."""
        return self.message.role == "assistant" and self.message.completed is None and not self.message.error

    @property
    def stopped(self) -> bool:
        """Whether it ended because the person wanted it to."""
        return self.message.stopped

    @property
    def pinnable(self) -> bool:
        """Whether it has words of its own that can be pinned."""
        return self.kind == "said" and not self.writing and bool(self.message.own_text.strip())

    @property
    def told(self) -> int:
        """How many things a restoring message told."""
        return len(self.carrier.items) if self.carrier else 0

    @property
    def taken(self) -> int:
        """How many things it took back."""
        return len(self.carrier.removed) if self.carrier else 0

    @property
    def told_words(self) -> list[str]:
        """What those were, each kind in words."""
        kinds = Counter(kind_told(key) for key in self.carrier.items) if self.carrier else Counter[str]()
        words = {
            "message": ngettext("%d pinned message", "%d pinned messages", kinds["message"]),
            "note": ngettext("%d note", "%d notes", kinds["note"]),
            "plan": ngettext("%d plan", "%d plans", kinds["plan"]),
            "": ngettext("%d more", "%d more", kinds[""]),
        }
        return [word % kinds[kind] for kind, word in words.items() if kinds[kind]]

    @property
    def summary(self) -> str:
        """The text of a compaction's summary."""
        return self.message.own_text


def kind_told(key: str) -> str:
    """The kind of a told thing by its key (`knowledge:note:41`), "" of one that people do not write."""
    return next((kind for kind in ("message", "note", "plan") if f":{kind}:" in key), "")


def rows(messages: Sequence[Message], *, pinned: Collection[str] = (), reverted_from: str = "") -> list[Row]:
    """The messages as rows, oldest first. A compaction's request and its summary are one row."""
    asked = {message.id for message in messages if message.compaction is not None}
    answered = {message.parent for message in messages if message.summary}
    ids = [message.id for message in messages]
    first_reverted = ids.index(reverted_from) if reverted_from in ids else len(ids)
    found: list[Row] = []
    for place, message in enumerate(messages):
        if message.id in asked and message.id in answered:
            continue
        kind = _kind(message, found[-1] if found else None)
        found.append(_row(message, kind, message.id in pinned, place >= first_reverted))
    return found


def _row(message: Message, kind: Kind, pinned: bool, reverted: bool) -> Row:
    hidden = [Excerpt(part.text, part.id) for part in message.parts if part.type == "text" and part.synthetic]
    return Row(message, kind, list(_pieces(message)), hidden, message.carrier, pinned, reverted)


def _kind(message: Message, before: Row | None) -> Kind:
    if message.summary or message.compaction is not None:
        return "compaction"
    if message.role == "user":
        own = any(part.own or part.type == "file" for part in message.parts)
        if own or not message.parts:
            return "said"
        if message.carrier is None:
            return "hidden"
        return "restored" if before is not None and before.kind == "compaction" else "told"
    speaks = message.own_text.strip() or message.error or message.completed is None
    goes_on = before is not None and before.kind in ("said", "continued") and before.message.role == "assistant"
    return "continued" if goes_on and not speaks else "said"


def _pieces(message: Message) -> Iterator[Piece]:
    shown = (part for part in message.parts if part.own or part.type in ("reasoning", "tool", "file"))
    for kind, group in groupby(shown, key=lambda part: part.type):
        if kind == "tool":
            parts = list(group)
            yield Piece("tools", parts[0].id, tools=[Tool.of(part) for part in parts])
            continue
        yield from (piece for piece in map(_piece, group) if piece.text.strip())


def _piece(part: Part) -> Piece:
    if part.type == "file":
        return Piece("file", part.id, text=part.filename or part.mime or _("file"), mime=part.mime)
    return Piece("text" if part.type == "text" else "thought", part.id, text=part.text)


def live_from(shown: Sequence[Row]) -> int:
    """Where the running turn begins: everything before it stays as it is."""
    starts = (place for place in range(len(shown) - 1, -1, -1) if _begins_turn(shown[place]))
    return next(starts, 0)


def _begins_turn(row: Row) -> bool:
    return row.kind == "said" and row.message.role == "user"


def revision(messages: Iterable[Message], *more: object) -> str:
    """What changes whenever the page would: 16 hex over what can change in these messages, and `more`."""
    digest = hashlib.sha256(repr(more).encode())
    for message in messages:
        sizes = [(part.id, len(part.text), len(part.output), part.status, part.title) for part in message.parts]
        digest.update(repr((message.id, message.completed, message.error, sizes)).encode())
    return digest.hexdigest()[:16]
