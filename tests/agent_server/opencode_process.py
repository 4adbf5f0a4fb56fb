"""A real OpenCode server, as pinned in package.json, in a home of its own and with a scripted model."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import httpx2

ROOT = Path(__file__).resolve().parent.parent.parent
BINARY = ROOT / "node_modules" / ".bin" / "opencode"
MODEL = {"providerID": "scripted", "modelID": "scripted"}
CONTEXT_LIMIT, OUTPUT_LIMIT = 200_000, 8_000
# An answer whose tokens reach this is followed by an automatic compaction.
COMPACTS_AT = CONTEXT_LIMIT - OUTPUT_LIMIT
STARTED = re.compile(r"listening on (http://\S+)")


def free_port() -> int:
    """A port of the loopback address that nobody listens on right now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def git_project(directory: Path) -> Path:
    """Make `directory` a git repository with one commit of its own, so that it is a project of its own."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "README.md").write_text(f"{directory}\n")  # two repositories must not share a root commit
    identity = ["-c", "user.name=Test", "-c", "user.email=test@example.org"]
    for command in (["init", "-q", "-b", "main"], ["add", "."], [*identity, "commit", "-q", "-m", "Begin"]):
        subprocess.run(["git", *command], cwd=directory, check=True, capture_output=True)
    return directory


class Output:
    """What a process prints on stdout, read as it comes, so that the pipe never fills and tests can wait for a line."""

    def __init__(self, process: subprocess.Popen[str] | None = None) -> None:
        self._lines: list[str] = []
        self._changed = threading.Condition()
        self._ended = process is None
        self._stream = process.stdout if process else None
        if self._stream is not None:
            self._thread = threading.Thread(target=self._read, args=(self._stream,), daemon=True)
            self._thread.start()

    @property
    def text(self) -> str:
        """Everything so far."""
        with self._changed:
            return "".join(self._lines)

    def wait_for(self, pattern: re.Pattern[str], *, within: float) -> re.Match[str]:
        """The first match of `pattern`; AssertionError after `within` seconds, or when the process has ended."""
        with self._changed:
            self._changed.wait_for(lambda: self._ended or pattern.search("".join(self._lines)), within)
            match = pattern.search("".join(self._lines))
        assert match, f"no {pattern.pattern!r} within {within} s; printed:\n{self.text[-4000:]}"
        return match

    def close(self) -> None:
        """Read what is left and close the pipe; the process has ended."""
        if self._stream is not None:
            self._thread.join(5)
            self._stream.close()

    def _read(self, stream: IO[str]) -> None:
        for line in stream:
            with self._changed:
                self._lines.append(line)
                self._changed.notify_all()
        with self._changed:
            self._ended = True
            self._changed.notify_all()


class OpenCodeProcess:
    """One server: `start`, `stop`, `kill`, `restart` (same port, same home), and a plain client for tests.

    The client is deliberately not the product's own: what the product says of the server is checked against it.
    """

    def __init__(
        self,
        *,
        home: Path,
        model_url: str,
        password: str = "opencode-test-password",
        plugins: list[Any] | None = None,
        config: dict[str, Any] | None = None,
        environment: dict[str, str] | None = None,
    ) -> None:
        self.home, self.password, self.port = home, password, free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.config = {**_config(model_url), **({"plugin": plugins} if plugins else {}), **(config or {})}
        self.environment = environment or {}
        self.process: subprocess.Popen[str] | None = None
        self.output = Output()
        self.client = httpx2.Client(base_url=self.url, auth=("opencode", password), timeout=60, trust_env=False)

    # ------------------------------------------------------------------ process

    def start(self) -> OpenCodeProcess:
        """Start it and wait for its "listening" line: a request that comes before that line hangs for ever."""
        project = self.home / "start"
        project.mkdir(parents=True, exist_ok=True)
        (self.home / "opencode.json").write_text(json.dumps(self.config))
        (self.home / "models.json").write_text("{}")
        with (self.home / "stderr.log").open("a") as log:
            self.process = subprocess.Popen(
                [BINARY, "serve", "--port", str(self.port), "--hostname", "127.0.0.1"],
                cwd=project,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                start_new_session=True,
            )
        self.output = Output(self.process)
        try:
            self.output.wait_for(STARTED, within=60)
        except AssertionError:
            self.kill()
            raise
        return self

    def stop(self) -> None:
        """End it as `serve` would: SIGTERM, and SIGKILL when that is not enough."""
        if self.process is None:
            return
        self.process.terminate()
        with suppress(subprocess.TimeoutExpired):  # a request that came too early holds it
            self.process.wait(10)
        self.kill()

    def kill(self) -> None:
        """End it, and whatever it started, at once."""
        if self.process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(10)
            self.process = None
            self.output.close()

    def close(self) -> None:
        """Stop it for good."""
        self.client.close()
        self.stop()

    def restart(self) -> OpenCodeProcess:
        """Stop it and start it again on the same port with the same home."""
        self.stop()
        return self.start()

    def _environment(self) -> dict[str, str]:
        """Nothing of the machine's own configuration, nothing that looks for the network."""
        directories = {
            f"XDG_{name.upper()}_HOME": str(self.home / name) for name in ("data", "config", "state", "cache")
        }
        switches = ("AUTOUPDATE", "SHARE", "MODELS_FETCH", "LSP_DOWNLOAD", "EMBEDDED_WEB_UI")
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            **directories,
            **{f"OPENCODE_DISABLE_{name}": "1" for name in switches},
            "OPENCODE_CONFIG": str(self.home / "opencode.json"),
            # For every directory it would read its catalogue of some thousand models, which takes two seconds.
            "OPENCODE_MODELS_PATH": str(self.home / "models.json"),
            "OPENCODE_EXPERIMENTAL_DISABLE_FILEWATCHER": "1",
            "OPENCODE_SERVER_PASSWORD": self.password,
            "npm_config_registry": "http://127.0.0.1:9/",  # nobody: plugins wait for an install that may as well fail
            "npm_config_fetch_retries": "0",  # else the first request waits a minute for a package it can do without
            **self.environment,
        }

    # ------------------------------------------------------------------ client

    def request(self, method: str, path: str, body: Any = None, **query: Any) -> Any:
        """One call; the JSON of its answer (None when empty). Raises on an error status."""
        response = self.client.request(method, path, json=body, params=query or None)
        response.raise_for_status()
        return response.json() if response.content else None

    def create_session(self, directory: Path, *, title: str = "A test", **fields: Any) -> str:
        """A new session in `directory`; its id. Titled, so that no title request is made."""
        return str(self.request("POST", "/session", {"title": title, **fields}, directory=str(directory))["id"])

    def prompt(self, session: str, *parts: str | dict[str, Any], wait: bool = True, **fields: Any) -> Any:
        """Send a message of text parts; the answer (`{"info", "parts"}`), or None at once when not to `wait`."""
        body = {
            "agent": "build",
            "model": MODEL,
            "parts": [{"type": "text", "text": part} if isinstance(part, str) else part for part in parts],
            **fields,
        }
        return self.request("POST", f"/session/{session}/{'message' if wait else 'prompt_async'}", body)

    def compact(self, session: str) -> None:
        """Compact an idle session by hand."""
        self.request("POST", f"/session/{session}/summarize", {**MODEL, "auto": False})

    def messages(self, session: str) -> list[dict[str, Any]]:
        """Every message of the session in the server's order: `{"info", "parts"}`."""
        return self.request("GET", f"/session/{session}/message") or []

    def session(self, session: str) -> dict[str, Any]:
        """The session itself, with its metadata."""
        return dict(self.request("GET", f"/session/{session}"))

    def busy(self, session: str) -> bool:
        """Whether the session's loop runs."""
        directory = self.session(session)["directory"]
        return session in self.request("GET", "/session/status", directory=directory)

    def wait_idle(self, session: str, *, within: float = 30) -> None:
        """Wait until the session's loop has ended; AssertionError after `within` seconds."""
        deadline, pause = time.monotonic() + within, 0.03
        while self.busy(session):
            assert time.monotonic() < deadline, f"{session} is still busy after {within} s"
            time.sleep(pause)
            pause = min(pause * 1.3, 0.25)


def _config(model_url: str) -> dict[str, Any]:
    """The server's configuration: one provider, so that a mistake can never fall back to a model on the network."""
    limits = {"context": CONTEXT_LIMIT, "output": OUTPUT_LIMIT}
    return {
        "$schema": "https://opencode.ai/config.json",
        "autoupdate": False,
        "share": "disabled",
        "snapshot": False,  # of the project's files, before every turn: what is tested here changes none
        "model": "scripted/scripted",
        "small_model": "scripted/scripted",
        "enabled_providers": ["scripted"],
        "provider": {
            "scripted": {
                "npm": "@ai-sdk/openai-compatible",
                "name": "Scripted",
                "options": {"baseURL": model_url, "apiKey": "none"},
                "models": {"scripted": {"name": "Scripted", "tool_call": True, "limit": limits}},
            }
        },
        "permission": {"*": "allow"},
    }
