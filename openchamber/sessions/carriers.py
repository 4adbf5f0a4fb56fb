"""Which carriers are live, and what they hold together: the conversation's half of the rule. Pure.

A carrier is live when the model still sees it: it exists, is not reverted, and stands, by list
position, at or after the latest effective compaction.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

MESSAGE_SOURCE = "session:message:"


def message_hash(role: str, text: str) -> str:
    """16 hex that stand for a message wherever it is copied: a fork renumbers ids, an overflow's copy is later."""
    return hashlib.sha256(f"{role}\n{text}".encode()).hexdigest()[:16]


def _strings(value: object) -> frozenset[str]:
    return frozenset(map(str, value)) if isinstance(value, list) else frozenset()


@dataclass(frozen=True, slots=True)
class Carrier:
    """What a part's metadata says that it carries: the same object that `Delivery.metadata` writes."""

    delivery: str
    signature: str
    items: Mapping[str, str]
    cut: frozenset[str] = frozenset()
    removed: frozenset[str] = frozenset()

    @classmethod
    def read(cls, value: object) -> Carrier | None:
        """The carrier in `metadata.openchamber` of a part, or None when it is not one of ours.

        Other programs can write there, so every field is looked at before it is believed.
        """
        if not isinstance(value, dict) or not isinstance(value.get("items"), dict):
            return None
        items = {str(key): str(revision) for key, revision in value["items"].items()}
        return cls(
            delivery=str(value.get("delivery", "")),
            signature=str(value.get("signature", "")),
            items=items,
            cut=_strings(value.get("cut")),
            removed=_strings(value.get("removed")),
        )


@dataclass(frozen=True, slots=True)
class Message:
    """The few facts of one message that the rule needs; the shape of `conversation` in the contract.

    `created` is in milliseconds. `compaction` is true on the user message that asks for one;
    `tail_start` is the first message that it keeps, "" when it keeps none. `summary` is true on
    the assistant message that answers it, `done` when that is complete. `unseen` is an answer that broke
    off with an error: people see what there is of it, the model never does.
    """

    id: str
    role: str
    created: int
    hash: str = ""
    parent: str = ""
    carrier: Carrier | None = None
    compaction: bool = False
    tail_start: str = ""
    summary: bool = False
    done: bool = True
    error: bool = False
    unseen: bool = False

    @property
    def speaks(self) -> bool:
        """Whether the model hears it as what was said."""
        return bool(self.hash) and not self.summary and not self.unseen


@dataclass(frozen=True, slots=True)
class Pinned:
    """A pinned message as a session's metadata names it, with its own text where it could be read."""

    id: str
    role: str
    created: int
    text: str | None = None

    @property
    def key(self) -> str:
        """The context item's key; only a pinned message whose text is known has one."""
        return MESSAGE_SOURCE + message_hash(self.role, self.text or "")


@dataclass(frozen=True, slots=True)
class Conversation:
    """A session as its messages tell it, in list order, at least back to where the newest compaction's tail starts."""

    messages: tuple[Message, ...]
    reverted_from: str = ""
    pinned: tuple[Pinned, ...] = ()
    mirror: Mapping[str, Any] = field(default_factory=dict)

    def standing(self) -> tuple[Message, ...]:
        """The messages that are not reverted."""
        for place, message in enumerate(self.messages):
            if message.id == self.reverted_from:
                return self.messages[:place]
        return self.messages

    def compaction(self) -> Message | None:
        """The summary of the latest effective compaction."""
        standing = self.standing()
        asked = {message.id for message in standing if message.compaction}
        for message in reversed(standing):
            if message.summary and message.done and not message.error and message.parent in asked:
                return message
        return None

    def live(self) -> tuple[Message, ...]:
        """The messages that the model still sees."""
        standing = self.standing()
        summary = self.compaction()
        if summary is None:
            return standing
        request = next(message for message in standing if message.id == summary.parent)
        first = request.tail_start or request.id
        for place, message in enumerate(standing):
            if message.id == first:
                return standing[place:]
        # The tail starts before what was read, or its first message was removed: the request itself is there.
        return standing[standing.index(request) :]


@dataclass(frozen=True, slots=True)
class Carried:
    """What a session holds. `told` came in blocks; `spoken` are pinned messages that are still in the
    conversation by themselves, under the keys that they would have. `since` names each key's message."""

    told: Mapping[str, str] = field(default_factory=dict)
    cut: frozenset[str] = frozenset()
    spoken: frozenset[str] = frozenset()
    since: Mapping[str, str] = field(default_factory=dict)

    def holds(self, key: str, revision: str) -> bool:
        """Whether the session holds this revision of `key`."""
        return key in self.spoken or self.told.get(key) == revision

    def after(self, carrier: Carrier, message: str) -> Carried:
        """What is held once `carrier` has arrived on `message`."""
        told = {key: revision for key, revision in self.told.items() if key not in carrier.removed}
        since = {key: where for key, where in self.since.items() if key not in carrier.removed}
        return Carried(
            told={**told, **carrier.items},
            cut=(self.cut - carrier.removed - frozenset(carrier.items)) | carrier.cut,
            spoken=self.spoken,
            since={**since, **dict.fromkeys(carrier.items, message)},
        )

    def stored(self) -> dict[str, Any]:
        """The JSON that a session's row keeps."""
        return {
            "told": dict(self.told),
            "cut": sorted(self.cut),
            "spoken": sorted(self.spoken),
            "since": dict(self.since),
        }

    @classmethod
    def load(cls, stored: Mapping[str, Any]) -> Carried:
        """The other way round."""
        return cls(
            told=stored.get("told", {}),
            cut=frozenset(stored.get("cut", ())),
            spoken=frozenset(stored.get("spoken", ())),
            since=stored.get("since", {}),
        )


def _carriers(messages: Collection[Message]) -> Iterator[tuple[Message, Carrier]]:
    for message in messages:
        if message.carrier is not None:
            yield message, message.carrier


def fold(conversation: Conversation, pinned: Collection[str] = ()) -> Carried:
    """What the conversation's live carriers hold, in list order; `pinned` are the keys of pinned messages.

    While it is pinned, a live message with the same role and text is itself a carrier of that item.
    """
    live = conversation.live()
    held = Carried()
    for message, carrier in _carriers(live):
        held = held.after(carrier, message.id)
    speakers = {MESSAGE_SOURCE + message.hash: message.id for message in live if message.speaks}
    spoken = frozenset(pinned) & frozenset(speakers)
    return Carried(
        told=held.told,
        cut=held.cut,
        spoken=spoken,
        since={**{key: speakers[key] for key in spoken}, **held.since},
    )
