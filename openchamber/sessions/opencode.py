"""The one module (with `wire`, its reading half) that knows the agent server's wire format: OpenCode 1.18.

Every call answers plain data or raises one `AgentServerError` with a sentence for a person.
Traps that this module keeps from the others: a metadata PATCH replaces the whole object, an
unknown path answers 200 with HTML, a 204 is no proof that anything was stored, `agent` is not
sticky, and a repeated message id appends parts to the first message.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import httpx2
from django.utils.translation import gettext as _

from openchamber.models import AgentServer
from openchamber.sessions import carriers
from openchamber.sessions.catalogue import AgentInfo, ModelInfo, Permission, Question
from openchamber.sessions.connection import (
    AgentServerError,
    Connection,
    Missing,
    NotConnected,
    Refused,
    Unreachable,
    named,
    speaking,
)
from openchamber.sessions.wire import Event, Message, Page, SessionInfo, pinned_named, split_model

STARTING = httpx2.Timeout(90, connect=2)
# How long a sender may take before its claim may be taken over: its own time-out, and a little.
SEND_SECONDS = 12
PAGE = 100
_readers = ThreadPoolExecutor(4, thread_name_prefix="read")


class OpenCode:
    """One agent server. Instances share a connection pool per address and may be used by any thread."""

    def __init__(self, url: str, password: str = "") -> None:
        self._wire = Connection(url, password)
        self.url = self._wire.url

    # Reading -------------------------------------------------------------------------

    def health(self) -> str:
        """The server's version. A short time-out: a request during its start-up hangs for ever."""
        answer = self._wire.json("GET", "/global/health", timeout=2)
        if not isinstance(answer, dict) or not answer.get("healthy"):
            raise Unreachable(_("%(url)s answers, but not as an OpenCode server does.") % {"url": self.url})
        return str(answer.get("version", ""))

    def session(self, session_id: str) -> SessionInfo:
        """One session, its metadata letter for letter: they are written back."""
        row = self._wire.body(self._wire.request("GET", f"/session/{named(session_id)}"), exact=True)
        return self._wire.read(SessionInfo.read, row)

    def sessions(self, directory: str, *, limit: int = 100, search: str = "", start: int = 0) -> list[SessionInfo]:
        """The sessions of exactly this directory, newest change first; `start` in ms leaves older ones out."""
        query: dict[str, Any] = {"directory": directory, "limit": limit}
        query |= {"search": search} if search else {}
        query |= {"start": start} if start else {}
        return [SessionInfo.read(row) for row in self._wire.json("GET", "/session", params=query)]

    def all_sessions(self, *, limit: int = 100) -> list[SessionInfo]:
        """The sessions of all directories, newest change first."""
        rows = self._wire.json("GET", "/experimental/session", params={"limit": limit})
        return [SessionInfo.read(row) for row in rows]

    def messages(self, session_id: str, *, limit: int = 50, before: str = "") -> Page:
        """The newest `limit` messages before the cursor, oldest first, with the cursor of the page before them."""
        query = {"limit": str(limit)} | ({"before": before} if before else {})
        response = self._wire.request("GET", f"/session/{named(session_id)}/message", params=query)
        rows = self._wire.body(response)
        found = self._wire.read(lambda answer: [Message.read(row) for row in answer], rows)
        return Page(found, response.headers.get("x-next-cursor", ""))

    def message(self, session_id: str, message: str) -> Message:
        """One message, also one that stands before a compaction."""
        row = self._wire.json("GET", f"/session/{named(session_id)}/message/{named(message)}")
        return self._wire.read(Message.read, row)

    def conversation(self, session_id: str, info: SessionInfo | None = None) -> carriers.Conversation:
        """What the rule of delivery needs of a session: read back to where the newest compaction's tail starts."""
        return self._read_back(info or self.session(session_id), self.messages(session_id, limit=PAGE))[0]

    def compacted(self, session_id: str) -> tuple[SessionInfo, carriers.Conversation, Message | None]:
        """The same with the session, and the newest user message of an ordinary turn: a restore goes on as that did.

        Both are asked for at once: right after a compaction every answer takes its time.
        """
        newest = _readers.submit(self.messages, session_id, limit=PAGE)
        info = self.session(session_id)
        conversation, messages = self._read_back(info, newest.result())
        return info, conversation, _last_turn(messages) or self.last_turn(session_id)

    def _read_back(self, info: SessionInfo, newest: Page) -> tuple[carriers.Conversation, list[Message]]:
        """What is known when the pages from `newest` back are read as far as the rule needs."""
        page, messages = newest, list(newest.messages)
        known = self._traced(messages, info)
        while page.next and not _reaches_back(known):
            page = self.messages(info.id, limit=PAGE, before=page.next)
            messages[:0] = page.messages
            known = self._traced(messages, info)
        return known, messages

    @staticmethod
    def _traced(messages: Sequence[Message], info: SessionInfo) -> carriers.Conversation:
        return carriers.Conversation(
            messages=tuple(message.trace() for message in messages),
            reverted_from=info.reverted_from,
            pinned=tuple(info.pinned()),
            mirror=info.mirror,
        )

    def pages(self, session_id: str) -> Iterator[list[Message]]:
        """All messages, page by page from the newest, each page oldest first."""
        before = ""
        while True:
            page = self.messages(session_id, limit=PAGE, before=before)
            yield page.messages
            if not page.next:
                return
            before = page.next

    def messages_at(self, session_id: str, role: str, created: int) -> list[Message]:
        """The messages of `role` from the moment `created` (ms): how a fork's copy of a message is found."""
        for messages in self.pages(session_id):
            moments = [round(message.created.timestamp() * 1000) for message in messages]
            if moments and moments[0] <= created:
                pairs = zip(messages, moments, strict=True)
                return [message for message, moment in pairs if (message.role, moment) == (role, created)]
        return []

    def last_turn(self, session_id: str) -> Message | None:
        """The newest user message of an ordinary turn: whose agent, model and variant the next one should have."""
        return next(filter(None, map(_last_turn, self.pages(session_id))), None)

    def agents(self, directory: str) -> list[AgentInfo]:
        """The agents that a person may choose from."""
        rows = self._wire.json("GET", "/agent", params={"directory": directory})
        return [AgentInfo.read(row) for row in rows if not row.get("hidden") and row.get("mode") != "subagent"]

    def agent_names(self, directory: str) -> set[str]:
        """The names of all agents, sub-agents and hidden ones too."""
        rows = self._wire.json("GET", "/agent", params={"directory": directory}, timeout=STARTING)
        return {str(row.get("name", "")) for row in rows}

    def models(self, directory: str = "") -> list[ModelInfo]:
        """The models that can be used, the configured one first; none, or only public ones: nothing was set up."""
        query = {"directory": directory} if directory else {}
        answer = self._wire.json("GET", "/config/providers", params=query, timeout=STARTING)
        configured = self._wire.json("GET", "/config", params=query).get("model")
        return ModelInfo.read_all(answer, str(configured or ""))

    def plugins(self) -> list[str]:
        """The plugins of its configuration, by address or package; their options, which hold keys, stay there."""
        rows = self._wire.json("GET", "/config").get("plugin") or []
        return [str(row[0] if isinstance(row, list) else row) for row in rows]

    def statuses(self, directory: str) -> dict[str, str]:
        """`busy` or `retry` of each session in this directory that is not idle."""
        rows = self._wire.json("GET", "/session/status", params={"directory": directory})
        return {session: str(status.get("type", "")) for session, status in rows.items()}

    def permissions(self, directory: str) -> list[Permission]:
        """The permission requests that wait for an answer."""
        return [Permission.read(row) for row in self._wire.json("GET", "/permission", params={"directory": directory})]

    def questions(self, directory: str) -> list[Question]:
        """The questions that wait for an answer."""
        return [Question.read(row) for row in self._wire.json("GET", "/question", params={"directory": directory})]

    def projects(self) -> list[str]:
        """The directories of the git projects that the server knows."""
        rows = self._wire.json("GET", "/project")
        return [row["worktree"] for row in rows if row.get("worktree") not in (None, "", "/")]

    # Doing ---------------------------------------------------------------------------

    def create_session(self, directory: str, *, title: str, agent: str = "", model: str = "") -> SessionInfo:
        """A new session in `directory`. It gets its title now: a title request would quote the first block."""
        body: dict[str, Any] = {"title": title} | ({"agent": agent} if agent else {})
        if model:
            provider, name = split_model(model)
            body["model"] = {"providerID": provider, "id": name}
        # The first request in a directory starts its instance there, with whatever its plugins wait for.
        row = self._wire.json("POST", "/session", params={"directory": directory}, json=body, timeout=STARTING)
        return SessionInfo.read(row)

    def create_worktree(self, directory: str, name: str) -> str:
        """A new git worktree of the repository in `directory`, on a branch of its own; where it lies."""
        row = self._wire.json(
            "POST", "/experimental/worktree", params={"directory": directory}, json={"name": name}, timeout=STARTING
        )
        return str(row["directory"])

    def prompt(
        self,
        session_id: str,
        *,
        message: str,
        parts: Sequence[Mapping[str, Any]],
        agent: str = "",
        model: str = "",
        variant: str = "",
        system: str = "",
        no_reply: bool = False,
    ) -> None:
        """Hand a message over. Returning says only that it was taken: read it back to know that it was stored."""
        body: dict[str, Any] = {"messageID": message, "parts": list(parts)}
        if model:
            provider, name = split_model(model)
            body["model"] = {"providerID": provider, "modelID": name}
        optional = {"agent": agent, "variant": variant, "system": system, "noReply": no_reply}
        body |= {key: value for key, value in optional.items() if value}
        self._wire.request("POST", f"/session/{named(session_id)}/prompt_async", json=body)

    def stored(self, session_id: str, message: str) -> bool:
        """Whether `message` can be read back by its id."""
        try:
            self.message(session_id, message)
        except Missing:
            return False
        return True

    def carries(self, session_id: str, message: str, delivery: str) -> bool:
        """Whether `message` can be read back with this delivery's block on it.

        The message alone proves nothing: its parts come after it, and a hook that was late let it go without.
        """
        try:
            carrier = self.message(session_id, message).carrier
        except Missing:
            return False
        return carrier is not None and carrier.delivery == delivery

    def write_metadata(self, session_id: str, metadata: Mapping[str, Any]) -> SessionInfo:
        """Replace a session's whole metadata: merging is the caller's part. Escaped, since others may keep there what
        no encoding can write."""
        body, kind = json.dumps({"metadata": metadata}), {"content-type": "application/json"}
        row = self._wire.json("PATCH", f"/session/{named(session_id)}", content=body, headers=kind)
        return SessionInfo.read(row)

    def rename(self, session_id: str, title: str) -> None:
        """Give a session another title."""
        self._wire.json("PATCH", f"/session/{named(session_id)}", json={"title": title})

    def archive(self, session_id: str, *, archived: bool) -> None:
        """Archive a session or bring it back; null would be ignored, 0 brings it back."""
        at = int(time.time() * 1000) if archived else 0
        self._wire.json("PATCH", f"/session/{named(session_id)}", json={"time": {"archived": at}})

    def summarize(self, session_id: str, model: str) -> None:
        """Compact an idle session; waits for the summary (true is also the answer to a failed one)."""
        provider, name = split_model(model)
        body = {"providerID": provider, "modelID": name, "auto": False}
        self._wire.json("POST", f"/session/{named(session_id)}/summarize", json=body, timeout=300)

    def abort(self, session_id: str) -> None:
        """Stop the running turn, if there is one."""
        self._wire.json("POST", f"/session/{named(session_id)}/abort")

    def fork(self, session_id: str, before: str = "") -> SessionInfo:
        """A copy of the session, up to (and without) the message `before`."""
        body = {"messageID": before} if before else {}
        return SessionInfo.read(self._wire.json("POST", f"/session/{named(session_id)}/fork", json=body))

    def revert(self, session_id: str, message: str) -> None:
        """Take back `message` and everything after it, until the next prompt for good."""
        self._wire.json("POST", f"/session/{named(session_id)}/revert", json={"messageID": message})

    def unrevert(self, session_id: str) -> None:
        """Undo a revert."""
        self._wire.json("POST", f"/session/{named(session_id)}/unrevert")

    def reply_permission(self, request: str, reply: str, directory: str) -> None:
        """Answer a permission request: once, always or reject."""
        self._wire.json(
            "POST", f"/permission/{named(request)}/reply", params={"directory": directory}, json={"reply": reply}
        )

    def reply_question(self, request: str, answers: Sequence[Sequence[str]], directory: str) -> None:
        """Answer a question: the chosen labels for each of its parts."""
        body = {"answers": [list(answer) for answer in answers]}
        self._wire.json("POST", f"/question/{named(request)}/reply", params={"directory": directory}, json=body)

    @contextmanager
    def events(self, *, silence: float = 25) -> Iterator[Iterator[Event]]:
        """The stream of all directories' events; raises `Unreachable` after `silence` seconds without a heartbeat."""
        timeout = httpx2.Timeout(silence, connect=2)
        with speaking(self.url), self._wire.http.stream("GET", "/global/event", timeout=timeout) as response:
            if response.status_code != 200 or "event-stream" not in response.headers.get("content-type", ""):
                response.read()
                raise self._wire.refusal(response)
            yield self._events(response)

    @staticmethod
    def _events(response: httpx2.Response) -> Iterator[Event]:
        for line in response.iter_lines():
            if line.startswith("data:"):
                event = Event.read(json.loads(line[5:]))
                if event is not None:
                    yield event


def client_for(server: AgentServer) -> OpenCode:
    """The client of one agent server's row."""
    return OpenCode(server.url, server.password)


def _last_turn(messages: Sequence[Message]) -> Message | None:
    return next((message for message in reversed(messages) if message.role == "user" and message.ordinary), None)


def _reaches_back(conversation: carriers.Conversation) -> bool:
    """Whether what was read begins at or before the place that the latest compaction keeps."""
    summary = conversation.compaction()
    if summary is None:
        return False
    request = next(message for message in conversation.messages if message.id == summary.parent)
    first = request.tail_start or request.id
    return any(message.id == first for message in conversation.messages)


__all__ = [
    "AgentInfo",
    "AgentServerError",
    "Event",
    "Message",
    "Missing",
    "ModelInfo",
    "NotConnected",
    "OpenCode",
    "Page",
    "Permission",
    "Question",
    "Refused",
    "SessionInfo",
    "Unreachable",
    "client_for",
    "pinned_named",
]
