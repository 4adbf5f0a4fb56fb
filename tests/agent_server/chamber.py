"""What the flow tests say in one line: an OpenChamber, its OpenCode, and what the model was told."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import httpx2

from tests.agent_server.opencode_process import OpenCodeProcess
from tests.agent_server.scripted_model import Request, ScriptedModel
from tests.agent_server.serve_process import TOKEN, ServeProcess

PLUGIN = Path(__file__).resolve().parents[2] / "openchamber" / "clients" / "opencode" / "plugin.js"
TAG = "<openchamber-context"
Found = TypeVar("Found")


def plugin(port: int, **options: Any) -> list[Any]:
    """Our plugin as OpenCode's configuration names it, for an OpenChamber on `port`; patient, as machines are slow."""
    return [PLUGIN.as_uri(), {"url": f"http://127.0.0.1:{port}", "token": TOKEN, "patience": 5000, **options}]


def wait_for(look: Callable[[], Found], *, within: float = 15, what: str = "it") -> Found:
    """What `look` finds as soon as it is true; AssertionError after `within` seconds.

    It looks ever less often: two servers that answer twenty times a second have no time for what is waited for.
    """
    deadline, pause = time.monotonic() + within, 0.03
    while not (found := look()):
        assert time.monotonic() < deadline, f"{what} did not happen within {within} s"
        time.sleep(pause)
        pause = min(pause * 1.4, 0.5)
    return found


class Chamber:
    """A project in a directory, on a running OpenChamber, with short names for what tests do all the time."""

    def __init__(self, serve: ServeProcess, opencode: OpenCodeProcess, model: ScriptedModel, directory: Path) -> None:
        self.serve, self.opencode, self.model, self.directory = serve, opencode, model, directory
        self.api = serve.request
        project = self.api("POST", "/projects", {"directory": str(directory)})
        self.project, self.slug = project["id"], project["slug"]

    def note(self, body: str, *, pinned: bool = True) -> Any:
        """A note of the project, pinned unless told otherwise; its id."""
        note = self.api("POST", f"/projects/{self.project}/notes", {"body": body})
        if pinned:
            self.pin_note(note["id"])
        return note["id"]

    def edit_note(self, note: Any, body: str) -> None:
        """Write the note anew."""
        self.api("PATCH", f"/projects/{self.project}/notes/{note}", {"body": body})

    def pin_note(self, note: Any) -> None:
        """Pin a note for the whole project."""
        self.api("PUT", f"/projects/{self.project}/pins/note/{note}")

    def unpin_note(self, note: Any) -> None:
        """Take the pin off."""
        self.api("DELETE", f"/projects/{self.project}/pins/note/{note}")

    def session(self, title: str = "A flow") -> str:
        """A session made by us."""
        return str(self.api("POST", f"/projects/{self.project}/sessions", {"title": title})["id"])

    def send(self, session: str, text: str, **more: Any) -> Any:
        """Send through us and wait for the answer's end; the API's answer."""
        sent = self.api("POST", f"/sessions/{session}/messages", {"text": text, **more}, status=202)
        wait_for(lambda: self.model.saw(text, session=session), what=f"the model being asked {text!r}")
        self.opencode.wait_idle(session)
        self.settled(session)
        return sent

    def settled(self, session: str) -> None:
        """Wait until no delivery of the session is open."""
        wait_for(
            lambda: all(d["state"] in ("confirmed", "released") for d in self.context(session)["deliveries"]),
            what="every delivery being settled",
        )

    def context(self, session: str) -> Any:
        """Work status."""
        return self.api("GET", f"/sessions/{session}/context")

    def deliveries(self, session: str, cause: str | None = None) -> list[Any]:
        """The confirmed deliveries, newest first."""
        found = self.context(session)["deliveries"]
        return [d for d in found if d["state"] == "confirmed" and cause in (None, d["cause"])]

    def restores(self, session: str) -> list[Any]:
        """The messages of OpenCode's that carry a restore of ours."""
        carriers = {d["carrier"] for d in self.deliveries(session, "restore")}
        return [m for m in self.opencode.messages(session) if m["info"]["id"] in carriers]

    def ours(self, session: str) -> dict[str, Any]:
        """`metadata.openchamber` of the session."""
        return dict(self.opencode.session(session).get("metadata", {}).get("openchamber", {}))

    def last_asked(self, session: str) -> Request:
        """The last request that the model had for this session's talk."""
        return self.model.asked(session=session)[-1]

    def blocks(self, session: str) -> list[str]:
        """Every user message of the model's last request that holds a block of ours; the model may have echoed one."""
        return [text for role, text in self.last_asked(session).conversation if role == "user" and TAG in text]

    def page(self, path: str) -> str:
        """A page of the panel as the owner sees it, without scripts."""
        link = self.serve.installation.manage("login", "--port", str(self.serve.port)).stdout.strip()
        with httpx2.Client(base_url=self.serve.url, trust_env=False, follow_redirects=True, timeout=30) as browser:
            token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', browser.get(link).text)
            assert token
            headers = {"Referer": link, "Origin": self.serve.url}
            browser.post(link, data={"csrfmiddlewaretoken": token[1]}, headers=headers)
            response = browser.get(path)
        assert response.status_code == 200, response.text[:500]
        return response.text
