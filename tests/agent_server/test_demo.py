"""The demo shows the main job on a machine without an account and without a network."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.agent_server.chamber import wait_for
from tests.agent_server.opencode_process import BINARY
from tests.agent_server.serve_process import Installation, ServeProcess

pytestmark = pytest.mark.real

JOINS = re.compile(r"OPENCODE_SERVER_PASSWORD=(\S+) opencode attach (\S+)")
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
        self.serve, self.api = serve, serve.request
        password, url = serve.output.wait_for(JOINS, within=60).groups()
        self.opencode = httpx2.Client(base_url=url, auth=("opencode", password), timeout=60, trust_env=False)
        self.project = self.api("POST", "/projects", {"directory": str(directory)})["id"]
        self.session = ""

    def begin(self) -> None:
        self.session = self.api("POST", f"/projects/{self.project}/sessions", {"title": "A talk"})["id"]

    def note(self, body: str) -> Any:
        note = self.api("POST", f"/projects/{self.project}/notes", {"body": body})["id"]
        self.api("PUT", f"/projects/{self.project}/pins/note/{note}")
        return note

    def messages(self) -> list[Any]:
        return list(self.opencode.get(f"/session/{self.session}/message").json())

    def answer_to(self, text: str) -> str:
        """What the model answers to `text`, once it has finished."""
        sent = self.api("POST", f"/sessions/{self.session}/messages", {"text": text}, status=202)["message_id"]

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
        deliveries = self.api("GET", f"/sessions/{self.session}/context")["deliveries"]
        return all(delivery["state"] in ("confirmed", "released") for delivery in deliveries)

    def restored(self) -> bool:
        deliveries = self.api("GET", f"/sessions/{self.session}/context")["deliveries"]
        return any(delivery["cause"] == "restore" for delivery in deliveries) and self.settled()


@pytest.fixture
def begin_talk(
    install: Callable[..., Installation], start_serve: Callable[..., ServeProcess], git_directory: Path
) -> Iterator[Callable[..., Talk]]:
    """Start `serve` on a fresh machine (with `environment` besides) and make a project there."""
    with ExitStack() as stack:

        def begin(*arguments: str, **environment: str) -> Talk:
            serve = start_serve(install(environment={**FRESH, **environment}), *arguments)
            talk = Talk(serve, git_directory)
            stack.callback(talk.opencode.close)
            return talk

        yield begin


def words(message: Any) -> str:
    return "\n".join(part["text"] for part in message["parts"] if part["type"] == "text")


@contextmanager
def signed_in(serve: ServeProcess) -> Iterator[httpx2.Client]:
    """A browser without JavaScript, signed in by the printed link."""
    with httpx2.Client(base_url=serve.url, trust_env=False, follow_redirects=True, timeout=90) as person:
        person.get(serve.link)
        post(person, serve.link)
        yield person


def post(person: httpx2.Client, url: str, **fields: str) -> httpx2.Response:
    form = {"csrfmiddlewaretoken": person.cookies["openchamber_csrf"], **fields}
    return person.post(url, data=form, headers={"Referer": str(person.base_url)})


def test_the_demo_reads_out_what_rides_what_changed_and_what_compaction_lost_and_regained(
    begin_talk: Callable[..., Talk],
) -> None:
    talk = begin_talk("--demo")
    note = talk.note("Berths are named by four letters.")
    talk.begin()

    first = talk.answer_to("Hello there")
    assert "no language model" in first
    assert "new: note `Berths are named by four letters.`" in first
    assert "`Hello there`" in first

    second = talk.answer_to("And again")
    assert "With this message OpenChamber told me nothing" in second
    assert "- note `Berths are named by four letters.`" in second

    talk.api("PATCH", f"/projects/{talk.project}/notes/{note}", {"body": "Berths are named by five letters."})
    third = talk.answer_to("Anything new?")
    assert "changed: note `Berths are named by five letters.`" in third

    talk.api("POST", f"/sessions/{talk.session}/compact", status=204)
    wait_for(talk.restored, within=60, what="the restore")
    summary = next(message for message in talk.messages() if message["info"].get("summary") is True)
    assert "Summary by OpenChamber’s demo" in words(summary)
    assert "letters" not in words(summary)

    fourth = talk.answer_to("Do you remember?")
    assert "since the conversation was compacted" in fourth
    assert "new: note `Berths are named by five letters.`" in fourth

    talk.api("DELETE", f"/projects/{talk.project}/pins/note/{note}")
    fifth = talk.answer_to("And now?")
    assert "no longer applies: note `Berths are named by five letters.`" in fifth

    examined = json.loads(talk.serve.installation.manage("doctor", "--json").stdout)
    found = {finding["topic"]: finding["level"] for finding in examined["findings"]}
    assert (found["Agent server"], found["Plugin of OpenCode"], found["Watcher"]) == ("ok", "ok", "ok")
    assert examined["healthy"]


def test_without_a_model_the_panel_says_so_and_starts_the_demo_with_one_click(
    begin_talk: Callable[..., Talk],
) -> None:
    talk = begin_talk("--opencode-url", "", OPENCODE_CONFIG_CONTENT='{"username": "somebody"}')
    talk.note("Berths are named by four letters.")
    project = talk.api("GET", f"/projects/{talk.project}")["slug"]
    with signed_in(talk.serve) as person:
        listed = f"/projects/{project}/sessions/"
        assert 'id="start-demo"' in person.get(listed).text

        after = post(person, "/demo/", next=listed)

        assert after.url.path == listed
        assert "The demo is ready" in after.text
        assert 'id="no-model"' not in after.text
    assert talk.opencode.get("/config").json()["username"] == "somebody"
    talk.begin()
    assert "`Berths are named by four letters.`" in talk.answer_to("Hello there")
