"""What compaction makes necessary: tell again, once per compaction, what it took away.

Two ways lead here: the agent's plugin, inside its loop (`claims`), and the event stream, for whatever
the plugin did not do. What is told is the rule's answer; where nothing is owed, only the cursor moves.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from django.db import connections
from django.dispatch import receiver

from openchamber.models import AgentServer, Delivery, Session
from openchamber.sessions import delivery as deliveries
from openchamber.sessions import mirror, pinned
from openchamber.sessions.assembly import Assembly, assemble
from openchamber.sessions.delivery import block_part, claim, restraint
from openchamber.sessions.message_ids import message_id as new_message_id
from openchamber.sessions.opencode import (
    SEND_SECONDS,
    AgentServerError,
    Message,
    Missing,
    NotConnected,
    OpenCode,
    Refused,
    client_for,
)
from openchamber.sessions.rows import session_row
from openchamber.signals import session_compacted

logger = logging.getLogger(__name__)

ATTEMPTS = 4
FIRST_PAUSE, LONGEST_PAUSE = 0.05, 1  # seconds between two looks at somebody's open claim


class InOrder:
    """A small pool that does the work of different sessions side by side, that of one session in order."""

    def __init__(self, workers: int = 4) -> None:
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="restore")
        self._lock = threading.Lock()
        self._waiting: dict[str, deque[Callable[[], object]]] = {}
        self._ending = False

    def submit(self, session_id: str, work: Callable[[], object]) -> None:
        """Do `work` after whatever was submitted for this session before."""
        with self._lock:
            queue = self._waiting.setdefault(session_id, deque())
            queue.append(work)
            if len(queue) == 1:
                self._start(session_id)

    def _start(self, session_id: str) -> None:
        if not self._ending:
            self._pool.submit(self._work, session_id).add_done_callback(_log_failure)

    def _work(self, session_id: str) -> None:
        """Do the first work in a session's queue; whatever becomes of it, the next one follows."""
        queue = self._waiting[session_id]
        try:
            queue[0]()
        finally:
            connections.close_all()
            with self._lock:
                queue.popleft()
                if queue:
                    self._start(session_id)
                else:
                    del self._waiting[session_id]

    def finish(self) -> None:
        """Finish what runs, forget what waits: the next send or the next start covers it."""
        with self._lock:
            self._ending = True
        self._pool.shutdown(wait=True, cancel_futures=True)


def _log_failure(done: Future[None]) -> None:
    if not done.cancelled() and (error := done.exception()) is not None:
        logger.error("a restore failed; the next message covers what it owed", exc_info=error)


_pool = InOrder()
finish = _pool.finish


@receiver(session_compacted)
def restore_soon(server: AgentServer, session_id: str, **_rest: object) -> None:
    """Hand a compaction to the pool; never the reading thread's work."""
    _pool.submit(session_id, lambda: restore(server, session_id))


def restore(server: AgentServer, session_id: str) -> Delivery | None:
    """Tell the session what its latest compaction took away, unless that was done already.

    Replayed events, the plugin's hook and other watchers meet in one unique row per compaction.
    Raises `AgentServerError` when the agent server fails for good; then the next send covers it.
    """
    client = client_for(server)
    for attempt in range(ATTEMPTS):
        try:
            return _restore_once(client, server, session_id)
        except AgentServerError:
            if attempt == ATTEMPTS - 1:
                raise
            time.sleep(0.5 * 2**attempt)
    return None


def _restore_once(client: OpenCode, server: AgentServer, session_id: str) -> Delivery | None:
    known = Session.objects.filter(pk=session_id).select_related("server").first()
    if known is not None and not _wait_until_settled(known):
        return None
    told = known.deliveries.last_sequence() if known else 0
    info, conversation, last = client.compacted(session_id)
    if info.parent:
        return None  # a child's prompt was its whole context; the plugin serves those
    session = session_row(server, info)
    summary = conversation.compaction()
    if summary is None or _restored(session, summary.id):
        return None
    pinned.refresh(session, client)
    agent = last.agent if last else ""
    assembly = assemble(session, agent, conversation=conversation, read_at=told, terms=restraint(session))
    if assembly.outdated:
        raise AgentServerError("the session was told something while its conversation was read")
    if assembly.block is None:
        move_cursor(client, session, summary.id)
        return None
    return _tell(client, assembly, summary.id, last)


def _restored(session: Session, compaction: str) -> bool:
    """Whether this compaction was dealt with, by anybody."""
    session.refresh_from_db(fields=["restored_compaction"])
    if session.restored_compaction == compaction:
        return True
    told = session.deliveries.filter(compaction=compaction).exclude(state=Delivery.State.RELEASED)
    return told.exists()


def _wait_until_settled(session: Session) -> bool:
    """Wait for an open claim (the hook may hold it) until its time-out, then settle it. False: it never was."""
    deadline, pause = time.monotonic() + 2 * SEND_SECONDS, FIRST_PAUSE
    while not deliveries.settle_open(session):
        if time.monotonic() > deadline:
            return False
        time.sleep(pause)
        pause = min(2 * pause, LONGEST_PAUSE)
    return True


def _tell(client: OpenCode, assembly: Assembly, compaction: str, last: Message | None) -> Delivery | None:
    """One message of its own, never answered by itself: a running loop takes it at its next step, an idle
    session keeps it for its next prompt. Agent, model and variant are those of the last ordinary turn."""
    message = new_message_id()
    cause = Delivery.Cause.RESTORE
    delivery = claim(assembly, cause=cause, carrier=message, seconds=SEND_SECONDS, compaction=compaction)
    if delivery is None or assembly.block is None:
        return None
    try:
        client.prompt(
            delivery.session_id,
            message=message,
            parts=[block_part(assembly.block.text, delivery.metadata())],
            agent=last.agent if last else "",
            model=last.model if last else "",
            variant=last.variant if last else "",
            no_reply=True,
        )
    except (NotConnected, Refused, Missing):
        delivery.release()  # it certainly never arrived; after any other failure it is looked for before a second try
        raise
    delivery.sent()
    deliveries.confirm_by_reading(delivery, client)
    return delivery


def move_cursor(client: OpenCode, session: Session, compaction: str) -> None:
    """Nothing was owed after this compaction: remember that it was looked at."""
    Session.objects.filter(pk=session.pk).update(restored_compaction=compaction)
    mirror.write(client, session, lambda _info: {mirror.CURSOR: compaction})
