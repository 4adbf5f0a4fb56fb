"""A language model that answers from a script, and remembers word for word what it was asked.

It speaks just enough of the chat completions protocol for a real OpenCode server to work with it on a machine
without a network. A test says what to answer (`model.when(...)`) and reads what the model was told
(`model.asked(...)`, `model.saw(...)`): that record is the proof that a context really arrived.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Literal, Self

Kind = Literal["chat", "title", "compaction"]

# How the hidden agents of OpenCode 1.18 introduce themselves in their system prompt; everything else is the talk.
OPENINGS: dict[Kind, str] = {
    "title": "You are a title generator",
    "compaction": "You are a context summarization agent",
}
DEFAULT_ANSWERS: dict[Kind, str] = {
    "chat": "echo: {said}",
    "title": "A scripted title",
    "compaction": "Scripted summary {number}",
}
HELD_AT_MOST = 60  # seconds; a gate that a failed test left shut must not hang the next one


def text_of(message: dict[str, Any]) -> str:
    """The plain text of one chat message: a string, or the text parts of a list, a line each."""
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content)


@dataclass(frozen=True)
class Reply:
    """What the model answers. In `text`, `{said}` is the last user message and `{number}` the request's number."""

    text: str = ""
    tool_calls: tuple[tuple[str, dict[str, Any]], ...] = ()
    reasoning: str = ""
    prompt_tokens: int | None = None  # None: about four characters a token, as a real provider would count
    completion_tokens: int | None = None
    hold: str = ""  # the name of a gate: after the first piece the stream waits until `release(hold)`
    delay: float = 0  # seconds before the first byte
    pause: float = 0  # seconds between pieces
    pieces: int = 3
    status: int = 200  # anything else: no completion, an error with `text` as its message
    broken: bool = False  # the connection ends in mid-stream
    fails: bool = False  # after its text an error comes in the stream


@dataclass
class Rule:
    """One line of the script: all conditions that are given must hold."""

    reply: Reply
    kind: Kind | None = "chat"  # None: whatever asks. Helper requests quote the talk, so the talk is the default
    session: str | None = None
    said: str | None = None  # in the last user message
    anywhere: str | None = None  # in any message, system prompt included
    last_role: str | None = None
    offers: str | None = None  # a tool of this name is on offer
    times: int | None = None  # how often it may still answer

    def fits(self, request: Request) -> bool:
        """Whether this rule answers `request`."""
        return (
            self.times != 0
            and self.kind in (None, request.kind)
            and self.session in (None, request.session)
            and (self.said is None or self.said in request.said)
            and (self.anywhere is None or request.holds(self.anywhere))
            and self.last_role in (None, request.messages[-1]["role"])
            and (self.offers is None or self.offers in request.tools)
        )


@dataclass
class Request:
    """One request as it arrived: its number (from 1), the OpenCode session that it was made for, and its body."""

    number: int
    body: dict[str, Any]
    session: str | None
    at: float = field(default_factory=time.time)
    done_at: float | None = None

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The chat messages, the system prompt first."""
        return list(self.body["messages"])

    @property
    def kind(self) -> Kind:
        """Which of OpenCode's agents asks."""
        for kind, opening in OPENINGS.items():
            if opening in self.system:
                return kind
        return "chat"

    @property
    def system(self) -> str:
        """The system prompt, all messages of it."""
        return "\n".join(text_of(message) for message in self.messages if message["role"] == "system")

    @property
    def conversation(self) -> list[tuple[str, str]]:
        """(role, text) of every message but the system prompt, in order."""
        return [(message["role"], text_of(message)) for message in self.messages if message["role"] != "system"]

    @property
    def said(self) -> str:
        """The text of the last user message."""
        return next((text for role, text in reversed(self.conversation) if role == "user"), "")

    @property
    def tools(self) -> list[str]:
        """The names of the tools on offer."""
        return [tool["function"]["name"] for tool in self.body.get("tools") or []]

    def holds(self, text: str) -> bool:
        """Whether `text` stands in any message, system prompt included."""
        return any(text in text_of(message) for message in self.messages)


class ScriptedModel:
    """The server: started by `with`, on a free port of the loopback address, used from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Condition()
        self._rules: list[Rule] = []
        self._requests: list[Request] = []
        self._gates: dict[str, threading.Event] = {}
        self._number = 0
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"model": self}))
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, name="scripted-model", daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.reset()
        self._server.shutdown()
        self._server.server_close()

    def when(self, reply: Reply | str, **conditions: Any) -> None:
        """Answer `reply` when `conditions` (the fields of Rule) hold. The newest rule is asked first."""
        with self._lock:
            self._rules.insert(0, Rule(Reply(text=reply) if isinstance(reply, str) else reply, **conditions))

    def release(self, gate: str) -> None:
        """Let the answers go on that are held at `gate`, and those that will come there."""
        self._gate(gate).set()

    def reset(self) -> None:
        """Forget script and record, and open every gate. Numbers go on counting."""
        with self._lock:
            for gate in self._gates.values():
                gate.set()
            self._rules, self._requests, self._gates = [], [], {}

    def asked(self, *, kind: Kind | None = "chat", session: str | None = None, after: int = 0) -> list[Request]:
        """The requests of this kind and session (None: of any) whose number is above `after`, oldest first."""
        with self._lock:
            return [
                request
                for request in self._requests
                if request.number > after and kind in (None, request.kind) and session in (None, request.session)
            ]

    def saw(self, text: str, *, kind: Kind | None = "chat", session: str | None = None, after: int = 0) -> bool:
        """Whether the model was told `text`; the arguments are those of `asked`."""
        return any(request.holds(text) for request in self.asked(kind=kind, session=session, after=after))

    def wait_asked(self, count: int = 1, *, within: float = 20, **which: Any) -> list[Request]:
        """Wait until `count` requests of `which` (the arguments of `asked`) came; AssertionError after `within` s."""
        with self._lock:
            came = self._lock.wait_for(lambda: len(self.asked(**which)) >= count, within)
        assert came, f"{len(self.asked(**which))} of {count} requests after {within} s: {which}"
        return self.asked(**which)

    @property
    def number(self) -> int:
        """The number of the newest request: a mark for `after`."""
        return self._number

    def _gate(self, name: str) -> threading.Event:
        with self._lock:
            return self._gates.setdefault(name, threading.Event())

    def _remember(self, body: dict[str, Any], session: str | None) -> tuple[Request, Reply]:
        """Record a request and choose its answer."""
        with self._lock:
            self._number += 1
            request = Request(self._number, body, session)
            self._requests.append(request)
            self._lock.notify_all()
            for rule in self._rules:
                if rule.fits(request):
                    rule.times = None if rule.times is None else rule.times - 1
                    return request, rule.reply
        return request, Reply(DEFAULT_ANSWERS[request.kind])

    def _wait_at(self, gate: str) -> None:
        if gate:
            self._gate(gate).wait(HELD_AT_MOST)


class _Handler(BaseHTTPRequestHandler):
    """One connection of OpenCode's."""

    model: ScriptedModel
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        """Keep quiet: the record is the log."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        request, reply = self.model._remember(body, self.headers.get("x-session-id"))
        time.sleep(reply.delay)
        with suppress(BrokenPipeError, ConnectionResetError):  # an aborted session hangs up
            if reply.status != 200:
                self._send_error(reply)
            else:
                self._send_stream(request, reply)
        request.done_at = time.time()

    def _send_error(self, reply: Reply) -> None:
        kind = "server_error" if reply.status >= 500 else "invalid_request_error"
        data = json.dumps({"error": {"message": reply.text or "scripted failure", "type": kind}}).encode()
        self.send_response(reply.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _send_stream(self, request: Request, reply: Reply) -> None:
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for chunk in self._chunks(request, reply):
            head = {"id": f"chatcmpl-{request.number}", "object": "chat.completion.chunk", "model": "scripted"}
            self._send_data(json.dumps({**head, "created": int(request.at), **chunk}))
        if not reply.broken:
            self._send_data("[DONE]")

    def _send_data(self, data: str) -> None:
        self.wfile.write(f"data: {data}\n\n".encode())
        self.wfile.flush()

    def _chunks(self, request: Request, reply: Reply) -> Iterator[dict[str, Any]]:
        """The pieces of a completion, in the order of the protocol, waiting where the reply says so."""
        text = reply.text.replace("{said}", request.said).replace("{number}", str(request.number))
        yield _delta({"role": "assistant", "content": ""})
        if reply.reasoning:
            yield _delta({"reasoning_content": reply.reasoning})
        pieces = _pieces(text, reply.pieces)
        for index, piece in enumerate(pieces):
            yield _delta({"content": piece})
            if index == 0:
                self.model._wait_at(reply.hold)
            if reply.broken:
                return
            time.sleep(reply.pause)
        if reply.fails:
            yield {"error": {"message": "scripted failure", "type": "invalid_request_error"}}
            return
        if not pieces:
            self.model._wait_at(reply.hold)
        for index, (name, arguments) in enumerate(reply.tool_calls):
            yield _delta({"tool_calls": [_tool_call(request, index, name, arguments)]})
        yield _delta({}, finish="tool_calls" if reply.tool_calls else "stop")
        # Without usage OpenCode counts no tokens at all, and never compacts by itself.
        yield {"choices": [], "usage": _usage(request, reply, text)}


def _delta(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def _pieces(text: str, count: int) -> list[str]:
    size = max(1, -(-len(text) // count))
    return [text[start : start + size] for start in range(0, len(text), size)]


def _tool_call(request: Request, index: int, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"index": index, "id": f"call_{request.number}_{index}", "type": "function", "function": function}


def _usage(request: Request, reply: Reply, text: str) -> dict[str, int]:
    told = reply.prompt_tokens
    told = len(json.dumps(request.messages)) // 4 if told is None else told
    answered = reply.completion_tokens
    answered = len(text) // 4 + 1 if answered is None else answered
    return {"prompt_tokens": told, "completion_tokens": answered, "total_tokens": told + answered}
