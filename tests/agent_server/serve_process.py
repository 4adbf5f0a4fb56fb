"""The product as people run it: `manage.py serve` and its sister commands, on a data directory of their own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2

from tests.agent_server.opencode_process import ROOT, OpenCodeProcess, Output, free_port

TOKEN = "oc_token-of-the-tests"
LINK = re.compile(r"(http://\S+/login/[\w-]+)")


class Installation:
    """One data directory with the environment to run commands on it. Several processes may share one."""

    def __init__(
        self, directory: Path, *, opencode: OpenCodeProcess | None = None, environment: dict[str, str] | None = None
    ) -> None:
        self.directory, self.opencode = directory, opencode
        directory.mkdir(parents=True, exist_ok=True)
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(directory / "home"),
            "LANG": "C.UTF-8",
            "PYTHONUNBUFFERED": "1",
            "OPENCHAMBER_DATA_DIR": str(directory / "data"),
            "OPENCHAMBER_TOKEN": TOKEN,
            "OPENCHAMBER_CONTEXT_TIMEOUT": "10",  # seconds; a busy machine must not fail a test
            **self._agent_server(),
            **(environment or {}),
        }

    def manage(self, *arguments: str, timeout: float = 60, text: str | None = None) -> subprocess.CompletedProcess[str]:
        """Run a command to its end, with `text` as its standard input; the caller looks at `returncode`."""
        return subprocess.run(
            [sys.executable, str(ROOT / "manage.py"), *arguments],
            cwd=ROOT,
            env=self.environment,
            input=text if text is not None else "",
            capture_output=True,
            text=True,
            timeout=timeout,
        )

    def _agent_server(self) -> dict[str, str]:
        if self.opencode is None:
            return {}
        return {
            "OPENCHAMBER_OPENCODE_URL": self.opencode.url,
            "OPENCHAMBER_OPENCODE_PASSWORD": self.opencode.password,
        }


class ManagedProcess:
    """A command that runs until it is stopped: `watch`, or through ServeProcess `serve`."""

    stops_within = 5  # seconds; the contract's promise

    def __init__(self, installation: Installation, *arguments: str) -> None:
        self.installation, self.arguments = installation, arguments
        self.process: subprocess.Popen[str] | None = None
        self.output = Output()

    def start(self) -> ManagedProcess:
        """Start it; says nothing of whether it is ready."""
        self.process = subprocess.Popen(
            [sys.executable, str(ROOT / "manage.py"), *self.arguments],
            cwd=ROOT,
            env=self.installation.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,  # so that `kill` also reaches what it started
        )
        self.output = Output(self.process)
        return self

    def stop(self) -> None:
        """Ask it to end, and insist that it does so properly: exit status 0 within five seconds."""
        if self.process is None:
            return
        process, self.process = self.process, None
        process.terminate()
        try:
            status = process.wait(self.stops_within)
        except subprocess.TimeoutExpired:
            _kill_group(process)
            raise AssertionError(f"still running {self.stops_within} s after SIGTERM:\n{self.output.text}") from None
        finally:
            self.output.close()
        assert status == 0, f"ended with {status}:\n{self.output.text}"

    @property
    def running(self) -> bool:
        """Whether it has neither ended nor been stopped."""
        return self.process is not None and self.process.poll() is None

    def kill(self) -> None:
        """End it, and what it started, as a crash of the machine would."""
        if self.process is not None:
            process, self.process = self.process, None
            _kill_group(process)
            self.output.close()


class ServeProcess(ManagedProcess):
    """`manage.py serve`, ready: `url`, the sign-in `link` it printed, and `api` with a token."""

    def __init__(self, installation: Installation, *arguments: str, port: int | None = None) -> None:
        self.port = port or free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.link = ""
        self.token = TOKEN
        alone = () if installation.opencode else ("--no-opencode",)
        given = () if any(argument in arguments for argument in ("--opencode-url", "--demo")) else alone
        super().__init__(installation, "serve", "--port", str(self.port), *given, *arguments)
        headers = {"Authorization": f"Bearer {TOKEN}"}
        self.api = httpx2.Client(base_url=f"{self.url}/api", headers=headers, timeout=30, trust_env=False)

    def start(self, *, within: float = 60) -> ServeProcess:
        """Start it and wait until it answers; AssertionError with its output when it does not."""
        super().start()
        try:
            self.link = self.output.wait_for(LINK, within=within)[1]
            assert urlsplit(self.link).port == self.port
            self.wait_ready(within=within)
        except AssertionError:
            self.kill()
            raise
        return self

    def signed_in(self) -> httpx2.Client:
        """A browser without scripts, as the owner: by the link that `serve` printed, which works once. Close it."""
        browser = httpx2.Client(base_url=self.url, follow_redirects=True, timeout=30, trust_env=False)
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', browser.get(self.link).text)
        assert token is not None
        browser.post(self.link, data={"csrfmiddlewaretoken": token[1]}, headers={"Referer": self.link})
        return browser

    def stop(self) -> None:
        """As ManagedProcess.stop; closes our connections first, as they would have to be waited for."""
        self.api.close()
        super().stop()

    def kill(self) -> None:
        """As ManagedProcess.kill."""
        self.api.close()
        super().kill()

    def wait_ready(self, *, within: float) -> None:
        """Wait until `/api/health` answers 200, and the agent server that was given is reached."""
        deadline = time.monotonic() + within
        while True:
            assert self.running, f"it ended:\n{self.output.text}"
            assert time.monotonic() < deadline, f"not ready after {within} s:\n{self.output.text}"
            try:
                if self._ready(self.api.get("/health", timeout=5)):
                    return
            except httpx2.TransportError:
                pass  # it does not listen yet
            time.sleep(0.1)

    def _ready(self, response: httpx2.Response) -> bool:
        if response.status_code != 200 or self.installation.opencode is None:
            return response.status_code == 200
        return bool((response.json().get("agent_server") or {}).get("reachable"))

    def request(self, method: str, path: str, body: Any = None, *, status: int | None = None, **query: Any) -> Any:
        """One API call below `/api`; its JSON (None when empty). AssertionError unless it answers `status` (or 2xx)."""
        response = self.api.request(method, path, json=body, params=query or None)
        fine = response.status_code == status if status else response.is_success
        assert fine, f"{method} {path}: {response.status_code} {response.text[:1000]}"
        return response.json() if response.content else None


def _kill_group(process: subprocess.Popen[str]) -> None:
    os.killpg(process.pid, signal.SIGKILL)
    process.wait(10)
