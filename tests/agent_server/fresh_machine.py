"""A fresh machine: OpenCode is installed and nothing is set up. What people see there first is the demo."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import httpx2

from tests.agent_server.chamber import wait_for
from tests.agent_server.opencode_process import BINARY
from tests.agent_server.serve_process import ServeProcess

JOINS = re.compile(r"OPENCODE_SERVER_PASSWORD=(\S+) \S*opencode attach (\S+)")
# What a fresh machine has: OpenCode, no configuration, no account, nobody to download from.
FRESH = {
    "PATH": f"{BINARY.parent}{os.pathsep}{os.environ['PATH']}",
    "npm_config_registry": "http://127.0.0.1:9/",
    "HTTP_PROXY": "http://127.0.0.1:9/",
    "HTTPS_PROXY": "http://127.0.0.1:9/",
    "NO_PROXY": "127.0.0.1,localhost",
}


class Talk:
    """A session on a `serve` that started its OpenCode itself, and what the model there answered."""

    def __init__(self, serve: ServeProcess, directory: Path) -> None:
        self.serve, self.request = serve, serve.request
        password, url = serve.output.wait_for(JOINS, within=60).groups()
        self.opencode = httpx2.Client(base_url=url, auth=("opencode", password), timeout=60, trust_env=False)
        project = self.request("POST", "/projects", {"directory": str(directory)})
        self.project, self.slug = project["id"], project["slug"]
        self.session = ""

    def close(self) -> None:
        """Let go of OpenCode."""
        self.opencode.close()

    def begin(self) -> None:
        """Make the session."""
        self.session = self.request("POST", f"/projects/{self.project}/sessions", {"title": "A talk"})["id"]

    def note(self, body: str) -> Any:
        """A pinned note of the project; its id."""
        note = self.request("POST", f"/projects/{self.project}/notes", {"body": body})["id"]
        self.request("PUT", f"/projects/{self.project}/pins/note/{note}")
        return note

    def messages(self) -> list[Any]:
        """All messages of the session as OpenCode has them."""
        return list(self.opencode.get(f"/session/{self.session}/message").json())

    def answer_to(self, text: str) -> str:
        """What the model answers to `text`, once it has finished."""
        sent = self.request("POST", f"/sessions/{self.session}/messages", {"text": text}, status=202)["message_id"]

        def answered() -> str:
            for message in self.messages():
                info = message["info"]
                assert not info.get("error"), info["error"]
                if info.get("parentID") == sent and info["time"].get("completed"):
                    return words(message)
            return ""

        answer = wait_for(answered, within=60, what=f"an answer to {text!r}")
        wait_for(self.settled, what="every delivery being settled")
        return answer

    def settled(self) -> bool:
        """Whether no delivery is open."""
        deliveries = self.request("GET", f"/sessions/{self.session}/context")["deliveries"]
        return all(delivery["state"] in ("confirmed", "released") for delivery in deliveries)

    def restored(self) -> bool:
        """Whether a compaction was followed by a restore."""
        deliveries = self.request("GET", f"/sessions/{self.session}/context")["deliveries"]
        return any(delivery["cause"] == "restore" for delivery in deliveries) and self.settled()


def words(message: Any) -> str:
    """The text of one of OpenCode's messages."""
    return "\n".join(part["text"] for part in message["parts"] if part["type"] == "text")
