"""`serve` from the inside: web, watcher and the agent server beside them, started and stopped as one."""

from __future__ import annotations

import logging
import signal
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import uvicorn
from django.db import connections

from openchamber.models import AgentServer
from openchamber.sessions import assembly, delivery, following, program, restore, servers
from openchamber.sessions.events import Watchers
from openchamber.sessions.opencode import AgentServerError

logger = logging.getLogger(__name__)

HOST, PORT = "127.0.0.1", 8790  # where nobody says anything else
FINISH_SECONDS = 1  # for what was claimed
STOP_SECONDS = 2.5  # for the agent server that we started
# Clients close idle connections after some seconds; we later than they, or they would write into one that just closed.
KEEP_ALIVE_SECONDS = 75
GRACEFUL_SECONDS = 1  # an open event stream would otherwise hold the stop for ever


def address(host: str, port: int) -> str:
    """Where a person on this machine reaches what listens there."""
    here = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 (compared, not bound)
    return f"http://[{here}]:{port}" if ":" in here else f"http://{here}:{port}"


class Web(uvicorn.Server):
    """uvicorn, except that being told to stop is no failure: it exits 0."""

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Handle the signals ourselves; uvicorn's own would raise them again after the stop."""
        handled = (signal.SIGINT, signal.SIGTERM)
        before = {number: signal.signal(number, self._told_to_stop) for number in handled}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _told_to_stop(self, number: int, frame: FrameType | None) -> None:
        following.ending.set()
        self.handle_exit(number, frame)


def web(host: str, port: int) -> Web:
    """The web server, not yet running."""
    config = uvicorn.Config(
        "openchamber.asgi:application",
        host=host,
        port=port,
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=GRACEFUL_SECONDS,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        server_header=False,
    )
    return Web(config)


class Beside:
    """What runs beside the web server: the agent server, if we start it, and the watchers."""

    def __init__(self, panel_url: str, *, opencode: bool, demo: bool = False, say: Any) -> None:
        self.panel_url = panel_url
        self.opencode = opencode
        self.demo = demo
        self.say = say
        self.watchers = Watchers()
        self.child: servers.Child | None = None
        self._starting = threading.Thread(target=self._start, name="agent server", daemon=True)

    def start(self) -> None:
        """Begin in the background: the panel is there at once, an agent server takes seconds."""
        self._starting.start()

    def _start(self) -> None:
        try:
            if self.opencode:
                self._agent_server()
        except (AgentServerError, OSError, ValueError) as error:
            self.say(str(error))
        finally:
            connections.close_all()
        self.watchers.start()

    def _agent_server(self) -> None:
        # Two that start one each would take it from each other: they share the store and the row.
        server = servers.started_elsewhere()
        if server is None and not self.demo:  # the demo's model is known to an OpenCode of our own alone
            server = servers.find()
        if server is None:
            server = self._child()
        if server is None:
            return
        self.say(f"OpenCode {server.version} at {server.url}")
        for other in AgentServer.objects.usable().exclude(pk=server.pk).filter(source=AgentServer.Source.STARTED):
            other.switch_off()

    def _child(self) -> AgentServer | None:
        path = program.installed()
        if path is None:
            self.say(
                f"OpenCode is not installed: {program.way_to_install()}, and start again. The panel works without."
            )
            return None
        self.child = servers.Child(path, self.panel_url, demo=self.demo)
        server = self.child.start()
        self.say(
            f"OpenCode was started. Your terminal joins it with:\n"
            f"  OPENCODE_SERVER_PASSWORD={self.child.password} {program.called()} attach {server.url}"
        )
        return server

    def stop(self) -> None:
        """Finish what was claimed, which needs the agent server; then stop the one that we started."""
        self._stop_all(self.watchers.stop, restore.finish, delivery.finish, assembly.finish, within=FINISH_SECONDS)
        if self.child is not None:
            self._stop_all(self.child.stop, within=STOP_SECONDS)

    @staticmethod
    def _stop_all(*works: Callable[[], None], within: float) -> None:
        threads = [threading.Thread(target=_closing, args=(work,), daemon=True) for work in works]
        for thread in threads:
            thread.start()
        deadline = time.monotonic() + within
        for thread in threads:
            thread.join(max(0, deadline - time.monotonic()))


def _closing(work: Callable[[], None]) -> None:
    try:
        work()
    finally:
        connections.close_all()
