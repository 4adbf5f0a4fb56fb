"""The agent server's stream, followed while somebody looks at a conversation: what is new, and words as they come.

One thread for each agent server and process, started by the first page that asks and ended some
time after the last. It keeps what the agent server itself does not store before a part is
complete: the text of the parts that are being written. Nothing here is needed to be right;
without it pages look again every few seconds.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from openchamber.models import AgentServer
from openchamber.sessions.opencode import AgentServerError, Event, client_for
from openchamber.sessions.wire import Message
from openchamber.texts import storable

logger = logging.getLogger(__name__)

# Set when the process is told to stop: streams to open pages end by themselves, and hold nothing up.
ending = threading.Event()
IDLE_SECONDS = 60
PAUSE_SECONDS = 2
# Texts of parts whose end was never seen must not pile up.
MOST_TEXTS = 500
ASKING = {"permission.asked", "permission.replied", "question.asked", "question.replied", "question.rejected"}

Wake = Callable[[], None]


class Follower:
    """Follows one agent server. Any thread may call it."""

    def __init__(self, server: AgentServer) -> None:
        self.server = server
        self._lock = threading.Lock()
        self._listeners: dict[str, list[Wake]] = {}
        self._texts: dict[str, str] = {}
        self._needed_at = time.monotonic()
        self._thread: threading.Thread | None = None

    def needed(self) -> None:
        """Somebody looks: begin to follow, or go on."""
        with self._lock:
            self._needed_at = time.monotonic()
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name=f"follow {self.server.url}", daemon=True)
                self._thread.start()

    def listen(self, session: str, wake: Wake) -> Callable[[], None]:
        """Call `wake` (from the follower's thread) whenever something in `session` is new; answers how to end that."""
        with self._lock:
            self._listeners.setdefault(session, []).append(wake)

        def leave() -> None:
            with self._lock:
                rest = [other for other in self._listeners.get(session, []) if other is not wake]
                self._listeners[session] = rest
                if not rest:
                    del self._listeners[session]

        return leave

    def with_words(self, messages: Sequence[Message]) -> list[Message]:
        """The messages, with the words that were written since their parts were last stored."""
        with self._lock:
            # A character may have come in two halves, and of the newest one half.
            texts = {part: storable(text) for part, text in self._texts.items()}
        return [_with_words(message, texts) for message in messages] if texts else list(messages)

    def _run(self) -> None:
        client = client_for(self.server)
        while self._wanted():
            try:
                with client.events() as events:
                    for event in events:
                        self.see(event)
                        if not self._wanted():
                            break
            except AgentServerError as error:
                logger.debug("not following %s: %s", self.server.url, error)
                time.sleep(PAUSE_SECONDS)
            with self._lock:
                self._texts.clear()  # what was missed meanwhile would leave holes in them

    def _wanted(self) -> bool:
        with self._lock:
            return bool(self._listeners) or time.monotonic() - self._needed_at < IDLE_SECONDS

    def see(self, event: Event) -> None:
        """Remember the words of one event, and wake who listens to its session."""
        if event.type == "message.part.delta":
            self._add(str(event.properties.get("partID", "")), str(event.properties.get("delta", "")))
        elif event.type == "message.part.updated":
            self._stored(event)
        self._wake(event)

    def _add(self, part: str, delta: str) -> None:
        with self._lock:
            # Only a part whose beginning was seen: a text without its start would mislead.
            if part in self._texts:
                self._texts[part] += delta

    def _stored(self, event: Event) -> None:
        part = event.properties.get("part") or {}
        complete = (part.get("time") or {}).get("end") is not None
        with self._lock:
            if part.get("type") not in ("text", "reasoning") or complete:
                self._texts.pop(str(part.get("id", "")), None)
            elif len(self._texts) < MOST_TEXTS:
                self._texts.setdefault(str(part.get("id", "")), str(part.get("text") or ""))

    def _wake(self, event: Event) -> None:
        with self._lock:
            # A sub-agent's question shows on its parent's page, and the event does not say whose it is.
            everybody = event.type in ASKING
            sessions = list(self._listeners) if everybody else [event.session]
            wakes = [wake for session in sessions for wake in self._listeners.get(session, [])]
        for wake in wakes:
            wake()


def _with_words(message: Message, texts: dict[str, str]) -> Message:
    if not any(part.id in texts for part in message.parts):
        return message
    parts = [
        replace(part, text=texts[part.id]) if len(texts.get(part.id, "")) > len(part.text) else part
        for part in message.parts
    ]
    return replace(message, parts=parts)


class Followers:
    """The followers of this process, by agent server."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._followers: dict[tuple[int, str], Follower] = {}

    def of(self, server: AgentServer) -> Follower:
        """The follower of this agent server, following."""
        key = (server.pk, server.url)
        with self._lock:
            follower = self._followers.get(key)
            if follower is None or follower.server.password != server.password:
                follower = self._followers[key] = Follower(server)
        follower.needed()
        return follower


followers = Followers()
