"""A crossing between OpenChamber and OpenCode, where a test can hold, cut and count what passes.

Crashes must happen at a given moment: before a prompt arrives, after it was stored, while an event
stream is open. The product has no switches for that; the road it travels has.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx2

from tests.agent_server.opencode_process import OpenCodeProcess

HELD_AT_MOST = 60  # seconds
HOP_BY_HOP = {"connection", "transfer-encoding", "content-length", "content-encoding", "keep-alive"}


@dataclass
class Ambush:
    """Requests that fit wait here, before they reach the server or before their answer comes back."""

    fits: Callable[[str, str], bool]  # method, path
    after: bool = False  # whether the server gets to see the request
    times: int | None = None
    waiting: int = 0
    dropped: bool = False
    opened: threading.Event = field(default_factory=threading.Event)
    changed: threading.Condition = field(default_factory=threading.Condition)

    def hold(self) -> bool:
        """Wait; whether the request may go on."""
        with self.changed:
            self.waiting += 1
            self.changed.notify_all()
        self.opened.wait(HELD_AT_MOST)
        return not self.dropped

    def wait_for(self, count: int, *, within: float = 30) -> None:
        """Wait until `count` requests are held here."""
        with self.changed:
            assert self.changed.wait_for(lambda: self.waiting >= count, within), f"{self.waiting} of {count} came"

    def release(self) -> None:
        """Let them go on, and all that come later."""
        self.opened.set()

    def drop(self) -> None:
        """Close their connections without an answer; later ones go on."""
        self.dropped = True
        self.opened.set()


class Crossing:
    """A server at `url` that passes everything on to an OpenCode; used from any thread, started by `with`."""

    def __init__(self, opencode: OpenCodeProcess) -> None:
        # No connection is used twice: one that OpenCode closes just then would look like a cut of the test's.
        fresh = httpx2.Limits(max_keepalive_connections=0)
        self.target = httpx2.Client(base_url=opencode.url, timeout=None, trust_env=False, limits=fresh)
        self.password = opencode.password
        self.seen: list[tuple[str, str]] = []
        self.moments: dict[
            tuple[str, str], float
        ] = {}  # when the answer to each last passed; events as ("EVENT", type)
        self.closed = False  # nothing passes: the agent server seems gone
        self._ambushes: list[Ambush] = []
        self._streams: list[httpx2.Response] = []
        crossing = self

        class Handler(_Handler):
            road = crossing

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Crossing:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_error: object) -> None:
        for ambush in self._ambushes:
            ambush.drop()
        self.cut_streams()
        self._server.shutdown()
        self._server.server_close()
        self.target.close()

    def ambush(self, method: str, ending: str, *, after: bool = False, times: int | None = None) -> Ambush:
        """Hold requests of this method whose path ends so."""
        laid = Ambush(lambda verb, path: verb == method and path.endswith(ending), after, times)
        self._ambushes.append(laid)
        return laid

    def ambush_for(self, method: str, path: str, *, after: bool) -> Ambush | None:
        """The ambush that a request runs into."""
        for laid in self._ambushes:
            if laid.after == after and not laid.opened.is_set() and laid.fits(method, path):
                if laid.times is not None and laid.waiting >= laid.times:
                    continue
                return laid
        return None

    def cut_streams(self) -> None:
        """Break every event stream."""
        while self._streams:
            with suppress(Exception):
                self._streams.pop().close()

    def last(self, method: str, ending: str) -> float:
        """When the newest such request was answered, on the clock of `time.perf_counter`."""
        return max(at for (verb, path), at in list(self.moments.items()) if verb == method and path.endswith(ending))

    def count(self, method: str, ending: str = "") -> int:
        """How many requests passed."""
        return sum(verb == method and path.endswith(ending) for verb, path in list(self.seen))


class _Handler(BaseHTTPRequestHandler):
    road: Crossing
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""

    def _pass(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = self.path.partition("?")[0]
        self.road.seen.append((self.command, path))
        if self.road.closed or not self._held(path, after=False):
            self.close_connection = True
            return
        headers = {name: value for name, value in self.headers.items() if name.lower() not in ("host", "connection")}
        with (
            suppress(httpx2.HTTPError, OSError),
            self.road.target.stream(self.command, self.path, content=body, headers=headers) as response,
        ):
            if path.endswith("/event"):
                self._stream(response)
            else:
                answer = response.read()
                self.road.moments[self.command, path] = time.perf_counter()
                if self._held(path, after=True):
                    self._answer(response, answer)
                else:
                    self.close_connection = True
            return
        self.close_connection = True

    def _held(self, path: str, *, after: bool) -> bool:
        laid = self.road.ambush_for(self.command, path, after=after)
        return laid is None or laid.hold()

    def _answer(self, response: httpx2.Response, body: bytes) -> None:
        self.send_response(response.status_code)
        for name, value in response.headers.items():
            if name.lower() not in HOP_BY_HOP:
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, response: httpx2.Response) -> None:
        self.close_connection = True
        self.road._streams.append(response)
        self.send_response(response.status_code)
        self.send_header("Content-Type", response.headers.get("content-type", ""))
        self.send_header("Connection", "close")
        self.end_headers()
        with suppress(Exception):  # cut by the test, or by either side
            for chunk in response.iter_raw():
                if b'"session.compacted"' in chunk:
                    self.road.moments["EVENT", "session.compacted"] = time.perf_counter()
                self.wfile.write(chunk)
                self.wfile.flush()
        with suppress(OSError):
            self.connection.shutdown(2)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _pass
