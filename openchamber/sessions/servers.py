"""Which agent server to use, and how one is found or started."""

from __future__ import annotations

import json
import logging
import os
import secrets
import subprocess
import threading
from pathlib import Path
from typing import ClassVar
from urllib.parse import urlsplit

from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext as _

from openchamber.demo import provider as demonstration
from openchamber.models import AgentServer, ApiToken
from openchamber.models.leases import holder
from openchamber.projects.access import owner
from openchamber.sessions import program
from openchamber.sessions.opencode import AgentServerError, OpenCode, Unreachable

logger = logging.getLogger(__name__)

DEFAULT_URL = "http://127.0.0.1:4096"
PLUGIN = Path(__file__).resolve().parent.parent / "clients" / "opencode" / "plugin.js"
START_SECONDS = 60
STOP_SECONDS = 2


def current_server() -> AgentServer:
    """The agent server that new sessions are made on; raises `Unreachable` when there is none."""
    server = AgentServer.objects.usable().first()
    if server is None:
        raise Unreachable(
            _("No agent server is known. Install OpenCode (%s) and start again, or add a running one in Settings.")
            % program.way_to_install()
        )
    return server


def use(url: str, password: str, source: str) -> AgentServer:
    """The row of the agent server at `url`, with its version; raises `AgentServerError` when it does not answer."""
    version = OpenCode(url, password).health()
    server, _new = AgentServer.objects.update_or_create(
        url=url.rstrip("/"),
        defaults={
            "password": password,
            "source": source,
            "version": version,
            "enabled": True,
            "used_at": timezone.now(),
        },
    )
    return server


def started_elsewhere() -> AgentServer | None:
    """The OpenCode that another running `serve` of this installation has started, if it answers."""
    row = AgentServer.objects.usable().filter(source=AgentServer.Source.STARTED).first()
    if row is None or not row.owned:
        return None
    try:
        return use(row.url, row.password, AgentServer.Source.STARTED)
    except AgentServerError as error:
        logger.debug("the OpenCode that was started at %s: %s", row.url, error)
        return None


def find() -> AgentServer | None:
    """A running agent server: the one that the environment names, else one that another `serve` has started,
    else one at OpenCode's usual address, where the started one may be too, with a password of its own.
    """
    if settings.OPENCODE_URL:
        return use(settings.OPENCODE_URL, settings.OPENCODE_PASSWORD, AgentServer.Source.ENVIRONMENT)
    started = started_elsewhere()
    if started is not None:
        return started
    try:
        return use(DEFAULT_URL, settings.OPENCODE_PASSWORD, AgentServer.Source.FOUND)
    except AgentServerError as error:
        logger.debug("no agent server at %s: %s", DEFAULT_URL, error)
        return None


def child_configuration(url: str, token: str, *, demo: bool = False) -> str:
    """`OPENCODE_CONFIG_CONTENT` for a child: what the user put there, our plugin beside it and, if wanted, the demo.

    Raises `ValueError` when the user's is not a JSON object with a list of plugins.
    """
    given = os.environ.get("OPENCODE_CONFIG_CONTENT", "").strip()
    configuration = json.loads(given) if given else {}
    plugins = configuration.get("plugin", []) if isinstance(configuration, dict) else None
    if not isinstance(plugins, list):
        raise ValueError("OPENCODE_CONFIG_CONTENT must be a JSON object whose `plugin`, if there, is a list.")
    ours = [PLUGIN.as_uri(), {"url": url, "token": token, "cache": str(settings.DATA_DIR / "opencode-tools")}]
    ours_too = {**configuration, "plugin": [*plugins, ours]}
    return json.dumps(demonstration.added_to(ours_too, url) if demo else ours_too)


class Child:
    """An OpenCode that `serve` starts for itself: own password, our plugin, stopped with us.

    `demo` gives it the offline model; it can be started again with one, at the same address.
    """

    running: ClassVar[Child | None] = None  # the one of this process, once it listened

    def __init__(self, path: str, panel_url: str, *, demo: bool = False) -> None:
        self.path = path
        self.panel_url = panel_url
        self.demo = demo
        self.password = secrets.token_urlsafe(24)
        self.port = 0  # any
        self._changing = threading.Lock()
        self.process: subprocess.Popen[str] | None = None
        self._token: ApiToken | None = None

    def start(self) -> AgentServer:
        """Start it and wait for the line that says it listens: a request before that would hang for ever."""
        self._token, secret = ApiToken.make(
            name=_("plugin of the started OpenCode"), user=owner(), scope=ApiToken.Scope.AGENT
        )
        environment = {
            **os.environ,
            **(demonstration.ENVIRONMENT if self.demo else {}),
            "OPENCODE_SERVER_PASSWORD": self.password,
            "OPENCODE_CONFIG_CONTENT": child_configuration(self.panel_url, secret, demo=self.demo),
            # With any plugin the first request waits for an npm install; without retries that is a second.
            "npm_config_fetch_retries": "0",
        }
        self.process = subprocess.Popen(  # noqa: S603 (the program that the user installed)
            [self.path, "serve", "--hostname", "127.0.0.1", "--port", str(self.port)],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,  # Ctrl-C is ours to pass on, in order
        )
        url = self._listening()
        self.port = urlsplit(url).port or 0
        Child.running = self
        return self._row(url)

    def add_demo(self) -> None:
        """Start it again with the demo's model: it reads its configuration when it starts. Waits until it listens.

        What it was doing is lost, so this is for an OpenCode that has no usable model and does nothing.
        """
        with self._changing:
            if not self.demo:
                self.stop()
                self.demo = True
                self.start()

    def _listening(self) -> str:
        assert self.process is not None
        assert self.process.stdout is not None
        late = threading.Timer(START_SECONDS, self.process.kill)
        late.start()
        try:
            for line in self.process.stdout:
                if "listening on" in line:
                    threading.Thread(target=self.process.stdout.read, daemon=True).start()  # keeps its pipe empty
                    return line.rpartition(" ")[2].strip()
        finally:
            late.cancel()
        raise Unreachable(_("OpenCode was started and ended at once. Run `%s serve` to see why.") % program.called())

    def _row(self, url: str) -> AgentServer:
        """The sessions that an earlier child served are in the same store, so the row is the same, elsewhere."""
        row = AgentServer.objects.filter(source=AgentServer.Source.STARTED).first()
        if row is not None and (row.url, row.password) != (url, self.password):
            row.moved(url=url, password=self.password)
        server = use(url, self.password, AgentServer.Source.STARTED)
        server.belongs_to(holder())
        return server

    def stop(self) -> None:
        """Stop it: a term, a wait, then for good."""
        if self._token is not None:
            self._token.revoke()
        if self.process is None or self.process.poll() is not None:
            return
        self.process.terminate()
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
