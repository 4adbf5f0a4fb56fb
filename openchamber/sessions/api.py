"""The API for sessions: messages, what rides with them, pinned messages."""

from __future__ import annotations

from typing import Any, Literal

from django.utils.translation import gettext as _
from ninja import Field, Query, Router, Schema
from ninja.responses import Status as Respond

from openchamber.bodies import Body
from openchamber.errors import Conflict, NotFound
from openchamber.models import Delivery, PinnedMessage, Session
from openchamber.paging import Page, Paging, page, page_of
from openchamber.projects.access import ApiRequest
from openchamber.sessions import choices, delivery, ids, pinned, rows
from openchamber.sessions import status as work_status
from openchamber.sessions.assembly import CHARACTERS_PER_TOKEN
from openchamber.sessions.delivery import Prompt, Sent
from openchamber.sessions.opencode import OpenCode, SessionInfo, client_for
from openchamber.sessions.servers import current_server
from openchamber.texts import Line, Said, Text

router = Router(tags=["sessions"])


class SessionIn(Body):
    """A new session."""

    title: Line = Field("", max_length=200)
    agent: Line = Field("", max_length=200)
    model: Line = Field("", max_length=300, description="provider/model")


class SessionOut(Schema):
    """A session of a project."""

    id: str
    title: str
    directory: str
    parent: str = ""
    created_at: Any = None
    updated_at: Any = None


class MessageIn(Body):
    """A message to send."""

    text: Said = Field(min_length=1, max_length=1_000_000)
    agent: Line = Field("", max_length=200)
    model: Line = Field("", max_length=300)
    variant: Line = Field("", max_length=200)
    message_id: str = Field("", pattern=rf"^({ids.MESSAGE})?$")
    context: Literal["", "none"] = ""


class LineOut(Schema):
    """One thing that a block told."""

    key: str
    title: str
    change: str


class ContextOut(Schema):
    """What rode with a message."""

    kind: Literal["full", "delta", "none"]
    signature: str = ""
    characters: int = 0
    items: list[LineOut] = []
    error: str | None = None


class SentOut(Schema):
    """A message that the agent server took."""

    message_id: str
    context: ContextOut


class PinnedOut(Schema):
    """A pinned message."""

    id: str
    role: str
    created_at: Any
    text: str
    missing: bool


def session_of(request: ApiRequest, session_id: str) -> Session:
    """The session, if it is one that the caller may see."""
    found = rows.find_session(session_id)
    if found is None or not request.auth.sees(found.project):
        raise NotFound(_("There is no such session, or it is not yours."))
    return found


def client_of(session: Session) -> OpenCode:
    """The client of the session's agent server."""
    if session.server is None:
        raise Conflict(_("No agent server is known for this session."))
    return client_for(session.server)


def session_out(info: SessionInfo) -> dict[str, Any]:
    """A session as the API shows it."""
    return {
        "id": info.id,
        "title": info.title,
        "directory": info.directory,
        "parent": info.parent,
        "created_at": info.created,
        "updated_at": info.updated,
    }


@router.get("/projects/{p}/sessions", response=Page[SessionOut])
def sessions(request: ApiRequest, p: str, paging: Query[Paging]) -> dict[str, Any]:
    """The sessions of a project, the one that changed last first."""
    project = request.auth.project(p)
    found = client_for(current_server()).sessions(project.directory, limit=1000)
    return page_of([session_out(info) for info in found], paging)


@router.post("/projects/{p}/sessions", response={201: SessionOut})
def create_session(request: ApiRequest, p: str, body: SessionIn) -> Respond[dict[str, Any]]:
    """Make a session in the project's directory."""
    project = request.auth.project(p)
    server = current_server()
    choices.check(client_for(server), project.directory, agent=body.agent, model=body.model)
    session = rows.create_session(server, project, title=body.title, agent=body.agent, model=body.model)
    return Respond(201, session_out(client_for(server).session(session.pk)))


@router.post("/sessions/{s}/messages", response={202: SentOut})
def send_message(request: ApiRequest, s: str, body: MessageIn) -> Respond[dict[str, Any]]:
    """Send a message with everything that the session is owed. The same `message_id` twice sends once."""
    prompt = Prompt(
        text=body.text,
        agent=body.agent,
        model=body.model,
        variant=body.variant,
        message_id=body.message_id,
        with_context=body.context != "none",
    )
    session = session_of(request, s)
    if body.agent or body.model:
        choices.check(client_of(session), session.directory, agent=body.agent, model=body.model)
    return Respond(202, sent_out(delivery.send_message(session, prompt)))


def sent_out(sent: Sent) -> dict[str, Any]:
    """A send as the API shows it."""
    told = sent.delivery
    if told is None:
        return {"message_id": sent.message_id, "context": {"kind": "none", "error": sent.error or None}}
    context = {
        "kind": "full" if told.full else "delta",
        "signature": told.signature,
        "characters": len(told.text),
        "items": told.lines,
    }
    return {"message_id": sent.message_id, "context": context}


@router.post("/sessions/{s}/abort", response={204: None})
def abort(request: ApiRequest, s: str) -> Respond[None]:
    """Stop what runs."""
    client_of(session_of(request, s)).abort(s)
    return Respond(204, None)


@router.post("/sessions/{s}/compact", response={204: None})
def compact(request: ApiRequest, s: str) -> Respond[None]:
    """Compact an idle session with the model of its last turn."""
    rows.compact(session_of(request, s))
    return Respond(204, None)


class PermissionIn(Body):
    """An answer to a permission request."""

    reply: Literal["once", "always", "reject"]


@router.post("/sessions/{s}/permissions/{permission:permission}", response={204: None})
def reply_permission(request: ApiRequest, s: str, permission: str, body: PermissionIn) -> Respond[None]:
    """Answer a permission request."""
    session = session_of(request, s)
    client_of(session).reply_permission(permission, body.reply, session.directory)
    return Respond(204, None)


class AnswersIn(Body):
    """Answers to a question: the chosen labels of each of its parts."""

    answers: list[list[Text]]


@router.post("/sessions/{s}/questions/{question:question}", response={204: None})
def reply_question(request: ApiRequest, s: str, question: str, body: AnswersIn) -> Respond[None]:
    """Answer a question."""
    session = session_of(request, s)
    client_of(session).reply_question(question, body.answers, session.directory)
    return Respond(204, None)


@router.get("/sessions/{s}/context", response=dict[str, Any])
def context(request: ApiRequest, s: str, agent: str = "") -> dict[str, Any]:
    """What the session holds, what it is owed, and the next block."""
    found = work_status.status(session_of(request, s), agent)
    return {
        "signature": found.signature,
        "held": [entry_out(entry) for entry in found.held],
        "owed": [entry_out(entry) for entry in found.owed],
        "failed": [entry_out(entry) for entry in found.failed],
        "preview": found.preview,
        "characters": len(found.preview),
        "tokens_estimate": -(-len(found.preview) // CHARACTERS_PER_TOKEN),
        "deliveries": [delivery_out(told) for told in found.deliveries],
    }


def entry_out(entry: work_status.Entry) -> dict[str, Any]:
    """One entry as the API shows it."""
    fields = ("key", "kind", "title", "state", "characters", "tokens", "change", "cut", "since", "reason")
    return {name: getattr(entry, name) for name in fields}


def delivery_out(told: Delivery) -> dict[str, Any]:
    """One delivery as the API shows it."""
    fields = (
        "cause",
        "state",
        "carrier",
        "compaction",
        "agent",
        "full",
        "signature",
        "items",
        "cut",
        "removed",
        "text",
    )
    shown = {name: getattr(told, name) for name in (*fields, "claimed_at", "settled_at")}
    return {"id": str(told.pk), **shown}


@router.get("/sessions/{s}/pinned-messages", response=Page[PinnedOut])
def pinned_messages(request: ApiRequest, s: str, paging: Query[Paging]) -> dict[str, Any]:
    """The session's pinned messages, the newest first."""
    found = page(
        PinnedMessage.objects.filter(session=session_of(request, s)), paging, by=("-written_at", "-message_id")
    )
    return {"results": [pinned_out(row) for row in found["results"]], "next": found["next"]}


def pinned_out(row: PinnedMessage) -> dict[str, Any]:
    """A pinned message as the API shows it."""
    return {
        "id": row.message_id,
        "role": row.role,
        "created_at": row.written_at,
        "text": row.text,
        "missing": row.missing,
    }


@router.put("/sessions/{s}/pinned-messages/{message:message_id}", response={204: None})
def pin_message(request: ApiRequest, s: str, message_id: str) -> Respond[None]:
    """Pin a message: it survives compaction."""
    pinned.pin(session_of(request, s), message_id)
    return Respond(204, None)


@router.delete("/sessions/{s}/pinned-messages/{message:message_id}", response={204: None})
def unpin_message(request: ApiRequest, s: str, message_id: str) -> Respond[None]:
    """Take the pin off."""
    pinned.unpin(session_of(request, s), message_id)
    return Respond(204, None)
