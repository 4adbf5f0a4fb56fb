"""Crashes and cuts at every moment of a delivery: the next message carries everything, and nothing is told twice.

The rounds of one test crash together: as many sessions, one SIGKILL. `make soak` runs many more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.agent_server.chamber import TAG, Chamber, wait_for
from tests.agent_server.crossing import Ambush, Crossing
from tests.agent_server.opencode_process import OpenCodeProcess, free_port
from tests.agent_server.scripted_model import ScriptedModel
from tests.agent_server.serve_process import Installation, ServeProcess

pytestmark = pytest.mark.soak

NOTE = "Berths are named by four letters, never three."
AT_ONCE = 20
MIRRORS = 4  # as many write mirrors side by side
RESTORES = 4  # as many restore side by side
SEND_SECONDS = 12


@pytest.fixture
def crossing(opencode: OpenCodeProcess) -> Iterator[Crossing]:
    """The road between us and OpenCode."""
    with Crossing(opencode) as road:
        yield road


@pytest.fixture
def chamber(
    install: Callable[..., Installation],
    start_serve: Callable[..., ServeProcess],
    opencode: OpenCodeProcess,
    crossing: Crossing,
    model: ScriptedModel,
    git_directory: Path,
) -> Chamber:
    """A project on an OpenChamber that reaches its OpenCode over the crossing."""
    environment = {"OPENCHAMBER_OPENCODE_URL": crossing.url, "OPENCHAMBER_OPENCODE_PASSWORD": opencode.password}
    serve = start_serve(install(environment=environment), "--opencode-url", crossing.url)
    found = Chamber(serve, opencode, model, git_directory)
    wait_for(lambda: crossing.count("GET", "/global/event"), what="the watcher listening")
    return found


def batches(rounds: range, at_once: int = AT_ONCE) -> list[int]:
    """The rounds in batches that crash together."""
    whole, rest = divmod(len(rounds), at_once)
    return [at_once] * whole + ([rest] if rest else [])


def send_all(chamber: Chamber, sessions: list[str], text: str) -> list[Any]:
    """Send to every session at once; the answers, or the errors of those that had none."""

    def send(session: str) -> Any:
        try:
            return chamber.api("POST", f"/sessions/{session}/messages", {"text": text})
        except (httpx2.HTTPError, AssertionError) as error:
            return error

    with ThreadPoolExecutor(len(sessions)) as pool:
        return list(pool.map(send, sessions))


def crash(chamber: Chamber, sessions: list[str], ambush: Ambush, act: Callable[[], Any]) -> None:
    """Do `act`; when all sessions wait in the ambush, kill the server and cut what waits; start it again."""
    with ThreadPoolExecutor(1) as pool:
        acting = pool.submit(act)
        try:
            ambush.wait_for(len(sessions))
        except AssertionError as error:
            ambush.drop()
            raise AssertionError(f"{error}; what was done: {acting.result()}\n{chamber.serve.output.text}") from error
        chamber.serve.kill()
        ambush.drop()
        acting.result()
    again = ServeProcess(chamber.serve.installation, "--opencode-url", chamber.serve.arguments[-1], port=free_port())
    chamber.serve = again.start()
    chamber.api = chamber.serve.request


def told_once(chamber: Chamber, session: str) -> None:
    """Exactly one message that the model sees carries the block."""
    carriers = [
        message
        for message in chamber.opencode.messages(session)
        if any(part.get("metadata", {}).get("openchamber") and TAG in part["text"] for part in message["parts"])
    ]
    assert len(carriers) == 1, [message["info"]["id"] for message in carriers]
    assert chamber.last_asked(session).holds(NOTE)


@pytest.fixture
def stopping(chamber: Chamber) -> Iterator[None]:
    """Stops the server that a crash left in the place of the first."""
    yield
    chamber.serve.stop()


def settled(chamber: Chamber, session: str) -> None:
    """The dead sender's claim was taken over, after its time-out at the latest."""
    chamber.opencode.wait_idle(session)
    states = ("confirmed", "released")
    wait_for(
        lambda: all(delivery["state"] in states for delivery in chamber.context(session)["deliveries"]),
        within=3 * SEND_SECONDS,
        what="the dead sender's claim being settled",
    )


def crash_while_sending(chamber: Chamber, crossing: Crossing, count: int, *, after: bool) -> None:
    """Kill the server while it hands over the first message of each session; then send a second one."""
    sessions = [chamber.session() for _number in range(count)]
    ambush = crossing.ambush("POST", "/prompt_async", after=after)
    crash(chamber, sessions, ambush, lambda: send_all(chamber, sessions, "first"))
    for session in sessions:
        settled(chamber, session)
    for answer in send_all(chamber, sessions, "second"):
        assert not isinstance(answer, Exception), answer
    for session in sessions:
        wait_for(lambda session=session: chamber.model.saw("second", session=session), what="the second message")
        chamber.opencode.wait_idle(session)
        chamber.settled(session)
        told_once(chamber, session)


@pytest.mark.usefixtures("stopping")
def test_killed_before_the_send(chamber: Chamber, crossing: Crossing, rounds: range) -> None:
    chamber.note(NOTE)
    for count in batches(rounds):
        crash_while_sending(chamber, crossing, count, after=False)


@pytest.mark.usefixtures("stopping")
def test_killed_between_send_and_confirm(chamber: Chamber, crossing: Crossing, rounds: range) -> None:
    chamber.note(NOTE)
    for count in batches(rounds):
        crash_while_sending(chamber, crossing, count, after=True)


@pytest.mark.usefixtures("stopping")
def test_killed_between_confirm_and_mirror(chamber: Chamber, crossing: Crossing, rounds: range) -> None:
    chamber.note(NOTE)
    for count in batches(rounds, MIRRORS):
        sessions = [chamber.session() for _number in range(count)]
        ambush = crossing.ambush("PATCH", "", times=count)
        crash(chamber, sessions, ambush, lambda sessions=sessions: send_all(chamber, sessions, "first"))
        for session in sessions:
            chamber.opencode.wait_idle(session)
            assert "knowledge_context_delivered" not in chamber.ours(session)
            assert chamber.send(session, "second")["context"]["kind"] == "none"
            told_once(chamber, session)


def compact_all(chamber: Chamber, sessions: list[str]) -> None:
    """Compact every session, side by side."""
    with ThreadPoolExecutor(len(sessions)) as pool:
        list(pool.map(chamber.opencode.compact, sessions))


def restored_once(chamber: Chamber, session: str) -> None:
    """One restore after the compaction, and nothing more on the next message."""
    wait_for(lambda: chamber.restores(session), within=3 * SEND_SECONDS, what="the restore")
    assert chamber.send(session, "go on")["context"]["kind"] == "none"
    assert len(chamber.restores(session)) == 1
    assert len(chamber.blocks(session)) == 1


@pytest.mark.usefixtures("stopping")
@pytest.mark.parametrize("after", [False, True], ids=["before the restore", "before its confirmation"])
def test_killed_while_restoring(chamber: Chamber, crossing: Crossing, rounds: range, after: bool) -> None:
    chamber.note(NOTE)
    for count in batches(rounds, RESTORES):
        sessions = [chamber.session() for _number in range(count)]
        for session in sessions:
            chamber.send(session, "first")
        ambush = crossing.ambush("POST", "/prompt_async", after=after, times=count)
        crash(chamber, sessions, ambush, lambda sessions=sessions: compact_all(chamber, sessions))
        for session in sessions:
            restored_once(chamber, session)


def test_a_stream_that_is_cut_during_the_compaction_is_caught_up(chamber: Chamber, crossing: Crossing) -> None:
    chamber.note(NOTE)
    session = chamber.session()
    chamber.send(session, "first")
    crossing.closed = True
    crossing.cut_streams()
    chamber.opencode.compact(session)
    crossing.closed = False
    restored_once(chamber, session)


def taken(chamber: Chamber, session: str, body: dict[str, str]) -> bool:
    """Whether a try was taken; one that comes too soon after a broken one is asked to wait."""
    answer = chamber.serve.api.post(f"/sessions/{session}/messages", json=body)
    assert answer.status_code in (202, 409), answer.text
    return answer.status_code == 202


def test_an_agent_server_that_is_gone_leaves_the_words_and_the_block_owed(chamber: Chamber, crossing: Crossing) -> None:
    chamber.note(NOTE)
    session = chamber.session()
    body = {"text": "try again later", "message_id": "msg_again_and_again"}
    crossing.closed = True
    refused = chamber.api("POST", f"/sessions/{session}/messages", body, status=502)
    assert refused["error"]["code"] == "agent_server_unreachable"
    crossing.closed = False

    wait_for(lambda: taken(chamber, session, body), what="the second try being taken")
    settled(chamber, session)
    chamber.send(session, "and on")
    told_once(chamber, session)
    said = [p["text"] for m in chamber.opencode.messages(session) for p in m["parts"] if p.get("text") == body["text"]]
    assert len(said) == 1
