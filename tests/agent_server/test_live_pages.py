"""The stream that a conversation's page follows: names only, and no hindrance when the server stops."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx2
import pytest

from tests.agent_server.chamber import Chamber
from tests.agent_server.opencode_process import OpenCodeProcess
from tests.agent_server.scripted_model import Reply, ScriptedModel
from tests.agent_server.serve_process import ServeProcess


@pytest.fixture
def chamber(serve: ServeProcess, opencode: OpenCodeProcess, model: ScriptedModel, git_directory: Path) -> Chamber:
    """A project on an OpenChamber."""
    return Chamber(serve, opencode, model, git_directory)


@pytest.fixture
def browser(serve: ServeProcess) -> Iterator[httpx2.Client]:
    """Somebody who signed in with the link."""
    client = serve.signed_in()
    yield client
    client.close()


def page_of(chamber: Chamber, session: str) -> str:
    """The path of a session's page."""
    return f"/projects/{chamber.api('GET', f'/projects/{chamber.project}')['slug']}/sessions/{session}/"


def test_a_stream_carries_names_and_nothing_else(
    chamber: Chamber, browser: httpx2.Client, model: ScriptedModel, serve: ServeProcess
) -> None:
    session = chamber.session()
    path = page_of(chamber, session)
    lines: list[str] = []
    heard = threading.Event()

    def listen() -> None:
        with suppress(httpx2.HTTPError), browser.stream("GET", f"{path}events") as response:  # until the server stops
            assert response.headers["content-type"].startswith("text/event-stream")
            for line in response.iter_lines():
                lines.append(line)
                heard.set()

    listener = threading.Thread(target=listen)
    listener.start()
    assert heard.wait(10)
    model.when(Reply(text="secret words " * 30, pieces=60, pause=0.02), said="Talk")
    started = time.monotonic()
    chamber.send(session, "Talk")
    seconds = time.monotonic() - started
    told = [line for line in lines if line.startswith("event:")]
    assert told
    assert set(told) == {"event: conversation-changed"}
    assert len(told) <= 4 * seconds + 4, "more than four looks a second"
    assert not any("secret" in line for line in lines)
    serve.stop()
    listener.join()


def test_an_open_stream_does_not_hold_the_stop(chamber: Chamber, browser: httpx2.Client, serve: ServeProcess) -> None:
    path = page_of(chamber, chamber.session())
    with browser.stream("GET", f"{path}events") as response:
        lines = response.iter_lines()
        assert next(lines) == ": listening"
        serve.stop()  # insists on status 0 within five seconds
