"""What the agent server offers and asks: agents, models, permissions, questions; the rest of `wire`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from openchamber.sessions.wire import model_name

# With this key OpenCode asks its own service where the user has no account there.
PUBLIC_KEY = "public"


@dataclass(frozen=True, slots=True)
class AgentInfo:
    """An agent that a person may choose."""

    name: str
    description: str
    model: str

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> AgentInfo:
        """One agent off the wire."""
        return cls(str(row["name"]), str(row.get("description") or ""), model_name(row.get("model")))


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """A model that can be used: `provider/model`, its name and its context in tokens (0: unknown).

    `public`: OpenCode brings it along for those who set up none. It answers over the network, without an account.
    """

    id: str
    name: str
    context: int
    default: bool = False
    public: bool = False

    @classmethod
    def read_all(cls, answer: Mapping[str, Any], configured: str = "") -> list[ModelInfo]:
        """The models of all providers: the configured one first, then each provider's default, public ones last."""
        defaults = answer.get("default") or {}
        found = []
        for provider in answer.get("providers", []):
            public = (provider.get("options") or {}).get("apiKey") == PUBLIC_KEY
            for name, model in (provider.get("models") or {}).items():
                limit = model.get("limit") or {}
                title = f"{model.get('name') or name}"
                default = defaults.get(provider["id"]) == name
                found.append(cls(f"{provider['id']}/{name}", title, int(limit.get("context") or 0), default, public))
        return sorted(found, key=lambda model: (model.id != configured, model.public, not model.default))


@dataclass(frozen=True, slots=True)
class Permission:
    """A permission request that waits for an answer."""

    id: str
    session: str
    permission: str
    patterns: Sequence[str]
    always: Sequence[str]
    metadata: Mapping[str, Any]

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> Permission:
        """One request off the wire."""
        return cls(
            id=row["id"],
            session=row["sessionID"],
            permission=str(row.get("permission") or ""),
            patterns=[str(pattern) for pattern in row.get("patterns") or []],
            always=[str(pattern) for pattern in row.get("always") or []],
            metadata=row.get("metadata") or {},
        )


@dataclass(frozen=True, slots=True)
class Question:
    """A question that waits: each of its parts has `question`, `header`, `options` (label, description), `multiple`."""

    id: str
    session: str
    questions: Sequence[Mapping[str, Any]]

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> Question:
        """One request off the wire."""
        return cls(row["id"], row["sessionID"], row.get("questions") or [])
