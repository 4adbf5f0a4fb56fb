"""The watcher: an agent server's event stream, turned into signals. Missing an event costs nothing but time.

Only a few events matter: a compaction, a message taken away, a revert, a message of our own that was
stored, another client's request for a full block. All others cost no request and no query.
"""

from __future__ import annotations

import logging
import random
import threading
import time
from collections import OrderedDict
from datetime import datetime, timedelta

from django.db import close_old_connections, connections
from django.utils import timezone

from openchamber.models import AgentServer, Delivery, Lease, Session
from openchamber.models.leases import holder
from openchamber.sessions import delivery as deliveries
from openchamber.sessions import mirror
from openchamber.sessions.message_ids import is_ours
from openchamber.sessions.opencode import AgentServerError, Event, OpenCode, SessionInfo, client_for
from openchamber.signals import session_compacted

logger = logging.getLogger(__name__)

LEASE_SECONDS = 30
LONGEST_PAUSE = 30
CATCH_UP_LIMIT = 200
LOOK_BACK = timedelta(minutes=1)
REMEMBERED = 5000
ROUND_SECONDS = 3  # between two looks after the watchers


class Watcher:
    """Follows one agent server until it is told to stop. Any number may run; a lease picks the one that acts."""

    def __init__(self, server: AgentServer) -> None:
        self.server = server
        self.client = client_for(server)
        self.name = f"watch:{server.pk}"
        self.holder = ""
        self.stopping = threading.Event()
        self._away = False
        self._reverted: dict[str, str] = {}  # session: the first message that is taken back
        self._confirmed: OrderedDict[str, None] = OrderedDict()

    def run(self) -> None:
        """Listen, and after every end of the stream listen again, after growing pauses with jitter."""
        self.holder = holder()
        pause = 0.25
        while not self.stopping.is_set():
            if Lease.take(self.name, seconds=LEASE_SECONDS, by=self.holder):
                started = time.monotonic()
                self._follow()
                pause = 0.25 if time.monotonic() - started > LONGEST_PAUSE else min(pause * 2, LONGEST_PAUSE)
            else:
                pause = 2.0
            connections.close_all()
            self.stopping.wait(pause * random.uniform(0.5, 1))  # noqa: S311 (spreads reconnects, guards nothing)
        Lease.give_back(self.name, by=self.holder)
        connections.close_all()

    def _follow(self) -> None:
        try:
            with self.client.events() as events:
                for event in events:
                    self.see(event)
                    if self.stopping.is_set():
                        break
        except AgentServerError as error:
            # Once for each absence: the attempts go on.
            logger.log(logging.DEBUG if self._away else logging.INFO, "not listening to %s: %s", self.server.url, error)
            self._away = True
        finally:
            close_old_connections()
            self.server.disconnected(by=self.holder)

    def see(self, event: Event) -> None:
        """Act on one event."""
        act = _ACTS.get(event.type)
        if act is not None:
            act(self, event)

    def _connected(self, _event: Event) -> None:
        before = AgentServer.objects.values_list("heard_at", flat=True).get(pk=self.server.pk)
        self.server.connected(by=self.holder)
        self._away = False
        logger.info("listening to %s", self.server.url)
        self.server.has_models({model.id: model.context for model in self.client.models() if model.context})
        catch_up(self.server, self.client, since=before)

    def _heartbeat(self, _event: Event) -> None:
        if not self.server.heard(by=self.holder) or not Lease.take(self.name, seconds=LEASE_SECONDS, by=self.holder):
            raise AgentServerError("another watcher has taken over")

    def _compacted(self, event: Event) -> None:
        Session.objects.filter(pk=event.session).update(disturbed_at=timezone.now())
        session_compacted.send_robust(
            sender=Watcher, server=self.server, session_id=event.session, directory=event.directory
        )

    def _removed(self, event: Event) -> None:
        Session.objects.filter(pk=event.session).update(disturbed_at=timezone.now())

    def _session_updated(self, event: Event) -> None:
        """A revert or its undoing, or another client's explicit "" in the mirror, changes what is held."""
        info = SessionInfo.read(event.properties["info"])
        if info.reverted_from != self._reverted.get(info.id, ""):
            self._reverted[info.id] = info.reverted_from
            Session.objects.filter(pk=info.id).update(disturbed_at=timezone.now())
        if info.mirror.get(mirror.DELIVERED) == "":
            Session.objects.filter(pk=info.id).update(disturbed_at=timezone.now())

    def _message_updated(self, event: Event) -> None:
        """A message of our own was stored: its delivery is confirmed."""
        message = str(event.properties["info"].get("id", ""))
        if not is_ours(message) or message in self._confirmed:
            return
        self._confirmed[message] = None
        if len(self._confirmed) > REMEMBERED:
            self._confirmed.popitem(last=False)
        for delivery in Delivery.objects.open().filter(carrier=message, session=event.session):
            if deliveries.confirm(delivery):
                deliveries.mirror_soon(delivery, self.client)


_ACTS = {
    "server.connected": Watcher._connected,
    "server.heartbeat": Watcher._heartbeat,
    "session.compacted": Watcher._compacted,
    "session.updated": Watcher._session_updated,
    "message.removed": Watcher._removed,
    "message.updated": Watcher._message_updated,
}


def catch_up(server: AgentServer, client: OpenCode, *, since: datetime | None) -> None:
    """After a gap: compare with their cursors only the sessions that changed since the last event, a bounded number.

    And those that changed shortly before: their restores may have died, half done, with the process that heard it.
    What this leaves out is covered by those sessions' next send, since the rule owes it all.
    """
    since = since - LOOK_BACK if since else None
    known = set(Session.objects.filter(server=server).values_list("pk", flat=True))
    for info in client.all_sessions(limit=CATCH_UP_LIMIT):
        if since is not None and info.updated is not None and info.updated < since:
            break
        if not info.parent and info.id in known:
            session_compacted.send_robust(sender=Watcher, server=server, session_id=info.id, directory=info.directory)


class Watchers:
    """One watcher thread for each agent server that is switched on; looks for new ones every few seconds."""

    def __init__(self) -> None:
        self._running: dict[int, tuple[Watcher, threading.Thread]] = {}
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._supervise, name="watchers", daemon=True)

    def start(self) -> None:
        """Begin, in threads of their own."""
        self._thread.start()

    def _supervise(self) -> None:
        while not self._stopping.is_set():
            try:
                self._look_after()
            except Exception:  # one bad row must not end the care for all others
                logger.exception("the watchers were not looked after; trying again")
            connections.close_all()
            self._stopping.wait(ROUND_SECONDS)

    def _look_after(self) -> None:
        for server in AgentServer.objects.usable():
            if server.pk not in self._running or not self._running[server.pk][1].is_alive():
                watcher = Watcher(server)
                thread = threading.Thread(target=watcher.run, name=watcher.name, daemon=True)
                self._running[server.pk] = watcher, thread
                thread.start()
        if self._running:
            deliveries.sweep()

    def stop(self, seconds: float = 3) -> None:
        """Stop all. A thread may be waiting for its stream's next frame, so what it would write is written here."""
        self._stopping.set()
        self._thread.join(seconds)
        for watcher, _thread in self._running.values():
            watcher.stopping.set()
            watcher.server.disconnected(by=watcher.holder)
            Lease.give_back(watcher.name, by=watcher.holder)
