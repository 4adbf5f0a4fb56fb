"""The API's doors for plugins and hooks."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from uuid import UUID

from ninja import Field, Router, Schema
from ninja.responses import Status as Respond

from openchamber.clients import tools
from openchamber.errors import NotFound
from openchamber.models import Delivery
from openchamber.projects.access import ApiRequest
from openchamber.sessions import claims
from openchamber.sessions.carriers import Carrier, Conversation, Message
from openchamber.sessions.opencode import pinned_named

router = Router(tags=["context"])

# Every client has ids of its own; ours goes into a path of the agent server's, so nothing in it may lead elsewhere.
ClientsId = Annotated[str, Field(max_length=200, pattern=r"^[A-Za-z0-9_-]*$")]


class CompactionIn(Schema):
    """A user message's compaction part."""

    tail_start: str = ""


class MessageIn(Schema):
    """One message as the client read it."""

    id: str
    role: str
    created: int | float = 0
    parent: str = ""
    hash: str = ""
    carrier: dict[str, Any] | None = None
    compaction: CompactionIn | None = None
    summary: bool = False
    done: bool = True
    error: Any = Field(None, description="what made an answer fail; `stopped` where a person did")

    def message(self) -> Message:
        """The same for the rule of delivery."""
        return Message(
            id=self.id,
            role=self.role,
            created=int(self.created),
            hash=self.hash,
            parent=self.parent,
            carrier=Carrier.read(self.carrier),
            compaction=self.compaction is not None,
            tail_start=self.compaction.tail_start if self.compaction else "",
            summary=self.summary,
            done=self.done,
            error=bool(self.error),
            unseen=bool(self.error) and self.error != "stopped",
        )


class ConversationIn(Schema):
    """What the client read of the session, in list order."""

    messages: list[MessageIn]
    reverted_from: str = ""
    # Both are read from metadata that any program can write, so they may be anything; nobody's mistake there
    # may keep a block from its message.
    pinned: Any = Field([], description="[{id, role, createdAt, text?}]; without `text` the message is gone")
    mirror: Any = Field({}, description="the session's `metadata.openchamber`")

    def conversation(self) -> Conversation:
        """The same for the rule of delivery."""
        return Conversation(
            messages=tuple(message.message() for message in self.messages),
            reverted_from=self.reverted_from,
            pinned=tuple(pinned_named(self.pinned)),
            mirror=self.mirror if isinstance(self.mirror, dict) else {},
        )


class ClaimIn(Schema):
    """A hook asks what to add to a message."""

    client: Literal["opencode", "claude-code", "codex"]
    session: str = Field(min_length=1, max_length=200)
    directory: str = Field(max_length=4096)
    event: Literal["prompt", "startup", "resume", "clear", "compact", "subagent"]
    agent: str = ""
    model: str = ""
    variant: str = ""
    parent: str = ""
    message_id: ClientsId = ""
    conversation: ConversationIn | None = None
    sequence: int | None = Field(None, ge=0)  # as it was answered when the conversation was wanted
    limit: int = Field(0, ge=0)
    deadline_ms: int = Field(claims.DEADLINE_MS, ge=1, le=10_000)


class ConfirmIn(Schema):
    """A hook says what became of its claim."""

    delivery: UUID
    message_id: ClientsId = ""
    accepted: bool


@router.post("/context/claim", response=dict[str, Any])
def claim(request: ApiRequest, body: ClaimIn) -> dict[str, Any]:
    """What to add to this message; `{"delivery": null, "text": ""}` when that is nothing."""
    fields = body.model_dump(exclude={"conversation"})
    conversation = body.conversation.conversation() if body.conversation else None
    return claims.answer(claims.Ask(**fields, conversation=conversation), sees=request.auth.sees).body()


@router.post("/context/confirm", response={204: None})
def confirm(request: ApiRequest, body: ConfirmIn) -> Respond[None]:
    """Whether the block arrived."""
    delivery = Delivery.objects.select_related("session__server", "session__project").filter(pk=body.delivery).first()
    if delivery is None or not request.auth.sees(delivery.session.project):
        raise NotFound
    claims.settle_claim(delivery, accepted=body.accepted, message_id=body.message_id)
    return Respond(204, None)


@router.get("/context/tools", response=dict[str, Any])
def offered_tools(request: ApiRequest, directory: str = "", agent: str = "") -> dict[str, Any]:
    """The tools that the plugin may offer now."""
    found = tools.offered(directory, agent)
    return {
        "tools": [
            {"name": tool.name, "description": tool.description, "schema": tool.schema, "path": tool.path}
            for tool in found
        ]
    }
