"""What OpenCode sends, as plain data: the reading half of `opencode`, which is the only one to import it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from openchamber.sessions.carriers import Carrier, Pinned, message_hash
from openchamber.sessions.carriers import Message as Trace
from openchamber.sessions.ids import is_message
from openchamber.texts import storable

NAMESPACE = "openchamber"
PINNED_KEY = "context_obligatory_messages"
STOPPED = ("Aborted", "MessageAbortedError")  # the error of an answer that somebody stopped; the model still sees it


def moment(milliseconds: object) -> datetime | None:
    """A time on the wire (ms) as a datetime; None when there is none."""
    if not isinstance(milliseconds, int | float) or not milliseconds:
        return None
    return datetime.fromtimestamp(milliseconds / 1000, tz=UTC)


def split_model(model: str) -> tuple[str, str]:
    """`provider/model` as the two names; the model's own name may have slashes."""
    provider, _slash, name = model.partition("/")
    return provider, name


def model_name(value: object) -> str:
    """`provider/model` of any of the three places that name a model, each in its own spelling."""
    if not isinstance(value, dict):
        return ""
    name = value.get("modelID") or value.get("id") or ""
    provider = value.get("providerID") or ""
    return f"{provider}/{name}" if provider and name else ""


def _error_text(value: object) -> str:
    """What an `error` object says, or "" when there is none."""
    if not isinstance(value, dict):
        return ""
    data = value.get("data")
    text = data.get("message") if isinstance(data, dict) else None
    return str(text or value.get("message") or value.get("name") or "error")


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a message; fields that its type does not have are empty."""

    id: str
    type: str
    text: str = ""
    synthetic: bool = False
    ignored: bool = False
    metadata: Mapping[str, Any] = field(default_factory=dict)
    tool: str = ""
    status: str = ""
    title: str = ""
    input: Mapping[str, Any] = field(default_factory=dict)
    output: str = ""
    error: str = ""
    mime: str = ""
    filename: str = ""
    url: str = ""
    tail_start: str = ""
    auto: bool = False
    name: str = ""

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> Part:
        """One part off the wire."""
        raw = row.get("state")
        state: Mapping[str, Any] = raw if isinstance(raw, dict) else {}
        metadata = row.get("metadata")
        return cls(
            id=str(row.get("id", "")),
            type=str(row.get("type", "")),
            text=str(row.get("text") or ""),
            synthetic=row.get("synthetic") is True,
            ignored=row.get("ignored") is True,
            metadata=metadata if isinstance(metadata, dict) else {},
            tool=str(row.get("tool") or ""),
            status=str(state.get("status") or ""),
            title=str(state.get("title") or ""),
            input=state["input"] if isinstance(state.get("input"), dict) else {},
            output=str(state.get("output") or ""),
            error=str(state.get("error") or ""),
            mime=str(row.get("mime") or ""),
            filename=str(row.get("filename") or ""),
            url=str(row.get("url") or ""),
            tail_start=str(row.get("tail_start_id") or ""),
            auto=row.get("auto") is True,
            name=str(row.get("name") or ""),
        )

    @property
    def attached(self) -> dict[str, object] | None:
        """A file, or a sub-agent that was called by name, as it was sent; None for any other part."""
        fields = {"file": ("mime", "filename", "url"), "agent": ("name",)}.get(self.type, ())
        return {"type": self.type, **{name: getattr(self, name) for name in fields}} if fields else None

    @property
    def own(self) -> bool:
        """Whether this is text that the person or the agent wrote, and not something that rode along."""
        return self.type == "text" and not self.synthetic and not self.ignored


@dataclass(frozen=True, slots=True)
class Message:
    """One message with its parts. `summary` is true only for a compaction's summary."""

    id: str
    session: str
    role: str
    created: datetime
    parts: Sequence[Part]
    completed: datetime | None = None
    parent: str = ""
    agent: str = ""
    model: str = ""
    variant: str = ""
    summary: bool = False
    error: str = ""
    finish: str = ""

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> Message:
        """One `{info, parts}` off the wire."""
        info = row["info"]
        times = info.get("time") or {}
        model = info.get("model")
        variant = info.get("variant") or (model.get("variant") if isinstance(model, dict) else "")
        return cls(
            id=info["id"],
            session=str(info.get("sessionID", "")),
            role=info["role"],
            created=moment(times.get("created")) or datetime.fromtimestamp(0, tz=UTC),
            completed=moment(times.get("completed")),
            parts=[Part.read(part) for part in row.get("parts", [])],
            parent=str(info.get("parentID") or ""),
            agent=str(info.get("agent") or info.get("mode") or ""),
            model=model_name(model) or model_name(info),
            variant=str(variant or ""),
            # On a user message `summary` is an object with diffs, on a compaction's summary it is true.
            summary=info["role"] == "assistant" and info.get("summary") is True,
            error=_error_text(info.get("error")),
            finish=str(info.get("finish") or ""),
        )

    @property
    def own_text(self) -> str:
        """What the person or the agent wrote, without anything that rode along."""
        return "\n\n".join(part.text for part in self.parts if part.own)

    @property
    def stopped(self) -> bool:
        """Whether it ended because the person wanted it to."""
        return self.error in STOPPED

    @property
    def compaction(self) -> Part | None:
        """The part that asks for a compaction, if this message does."""
        return next((part for part in self.parts if part.type == "compaction"), None)

    @property
    def carrier(self) -> Carrier | None:
        """What this message carries of ours."""
        found = (Carrier.read(part.metadata.get(NAMESPACE)) for part in self.parts if part.metadata)
        return next((carrier for carrier in found if carrier is not None), None)

    @property
    def ordinary(self) -> bool:
        """Whether a person or an agent said this: no compaction, no summary, nothing that only rides."""
        return not self.summary and self.compaction is None and any(part.own for part in self.parts)

    def trace(self) -> Trace:
        """The few facts that the rule of delivery needs."""
        compaction = self.compaction
        text = self.own_text
        return Trace(
            id=self.id,
            role=self.role,
            created=round(self.created.timestamp() * 1000),
            hash=message_hash(self.role, text) if text else "",
            parent=self.parent,
            carrier=self.carrier,
            compaction=compaction is not None,
            tail_start=compaction.tail_start if compaction else "",
            summary=self.summary,
            done=self.completed is not None,
            error=bool(self.error),
            unseen=bool(self.error) and not self.stopped,
        )


@dataclass(frozen=True, slots=True)
class Page:
    """Messages, oldest first, and the cursor of the page before them ("" at the beginning)."""

    messages: list[Message]
    next: str


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """One session as the agent server tells it."""

    id: str
    title: str
    directory: str
    parent: str
    created: datetime | None
    updated: datetime | None
    archived: datetime | None
    metadata: Mapping[str, Any]
    agent: str
    model: str
    variant: str
    reverted_from: str

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> SessionInfo:
        """One session off the wire."""
        times = row.get("time") or {}
        metadata = row.get("metadata")
        revert = row.get("revert")
        model = row.get("model")
        return cls(
            id=row["id"],
            title=storable(str(row.get("title") or "")),
            directory=str(row.get("directory") or ""),
            parent=str(row.get("parentID") or ""),
            created=moment(times.get("created")),
            updated=moment(times.get("updated")),
            archived=moment(times.get("archived")),
            metadata=metadata if isinstance(metadata, dict) else {},
            agent=str(row.get("agent") or ""),
            model=model_name(model),
            variant=str((model.get("variant") if isinstance(model, dict) else "") or ""),
            reverted_from=str(revert.get("messageID") or "") if isinstance(revert, dict) else "",
        )

    @property
    def mirror(self) -> Mapping[str, Any]:
        """`metadata.openchamber`: ours and other programs' keys."""
        value = self.metadata.get(NAMESPACE)
        return value if isinstance(value, dict) else {}

    def pinned(self) -> Iterator[Pinned]:
        """The pinned messages that the metadata names."""
        return pinned_named(self.mirror.get(PINNED_KEY))


def pinned_named(rows: object) -> Iterator[Pinned]:
    """The pinned messages that a list names; entries of another shape are somebody's mistake and skipped."""
    for row in rows if isinstance(rows, list) else []:
        if not isinstance(row, dict) or row.get("role") not in ("user", "assistant"):
            continue
        created, text = row.get("createdAt"), row.get("text")
        if is_message(str(row.get("id"))):
            at = int(created) if isinstance(created, int | float) else 0
            yield Pinned(str(row["id"]), row["role"], at, storable(text) if isinstance(text, str) else None)


@dataclass(frozen=True, slots=True)
class Event:
    """One event: `directory` is "" for the stream's own frames."""

    type: str
    directory: str
    properties: Mapping[str, Any]

    @classmethod
    def read(cls, frame: Mapping[str, Any]) -> Event | None:
        """One frame of the global stream; None for the second copy that durable events come with."""
        payload = frame.get("payload") or {}
        if payload.get("type") == "sync":
            return None
        return cls(str(payload.get("type", "")), str(frame.get("directory") or ""), payload.get("properties") or {})

    @property
    def session(self) -> str:
        """The session that the event is about, or ""."""
        info = self.properties.get("info")
        nested = info.get("sessionID") or info.get("id") if isinstance(info, dict) else ""
        return str(self.properties.get("sessionID") or nested or "")
