"""Our plugin inside the real OpenCode: every client's messages, sub-agents, and a server that is not there."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.agent_server.chamber import TAG, Chamber, plugin, wait_for
from tests.agent_server.opencode_process import OpenCodeProcess, free_port
from tests.agent_server.scripted_model import Reply, ScriptedModel
from tests.agent_server.serve_process import Installation, ServeProcess

NOTE = "Berths are named by four letters, never three."


@pytest.fixture
def mortal(
    install: Callable[..., Installation],
    start_serve: Callable[..., ServeProcess],
    start_opencode: Callable[..., OpenCodeProcess],
    model: ScriptedModel,
    git_directory: Path,
) -> Chamber:
    """A project on an OpenChamber of its own, which the test kills."""
    port = free_port()
    opencode = start_opencode(plugins=[plugin(port)])
    return Chamber(start_serve(install(opencode=opencode), port=port), opencode, model, git_directory)


def test_a_message_of_another_client_carries_what_is_owed_once_and_before_its_words(plugged: Chamber) -> None:
    plugged.note(NOTE)
    session = plugged.opencode.create_session(plugged.directory)

    plugged.opencode.prompt(session, "from a terminal")
    plugged.opencode.prompt(session, "and again")

    first, second = plugged.model.asked(session=session)
    assert first.said.index(NOTE) < first.said.index("from a terminal")
    assert second.said == "and again"
    plugged.settled(session)
    [delivery] = plugged.deliveries(session)
    wait_for(lambda: plugged.ours(session).get("knowledge_context_delivered") == delivery["signature"])
    assert plugged.ours(session)["knowledge_context_carrier"] == delivery["carrier"]


def test_a_message_of_ours_is_left_alone_by_the_plugin(plugged: Chamber) -> None:
    plugged.note(NOTE)
    session = plugged.session()
    plugged.send(session, "from the panel")
    assert plugged.last_asked(session).said.count(TAG) == 1
    assert len(plugged.deliveries(session)) == 1


def test_a_message_of_ours_without_context_goes_without_also_under_an_id_of_the_sender_s(plugged: Chamber) -> None:
    plugged.note(NOTE)
    session = plugged.session()
    plugged.send(session, "words alone", message_id="msg_of_a_script_2", context="none")
    assert TAG not in plugged.last_asked(session).said
    assert not plugged.deliveries(session)


def test_panel_and_terminal_in_turn_never_tell_twice(plugged: Chamber) -> None:
    note = plugged.note(NOTE)
    session = plugged.session()
    plugged.send(session, "panel one")
    plugged.opencode.prompt(session, "terminal one")
    plugged.edit_note(note, "Berths have five letters now.")
    plugged.opencode.prompt(session, "terminal two")
    plugged.settled(session)
    plugged.send(session, "panel two")
    blocks = plugged.blocks(session)
    assert len(blocks) == 2
    assert "five letters" in blocks[1]
    assert "terminal two" in blocks[1]


def test_a_compaction_before_a_terminals_message_is_made_good(plugged: Chamber) -> None:
    """A manual compaction: the event stream restores; the plugin then has nothing to add."""
    plugged.note(NOTE)
    session = plugged.opencode.create_session(plugged.directory)
    plugged.opencode.prompt(session, "one")
    plugged.settled(session)
    plugged.opencode.compact(session)
    wait_for(lambda: plugged.restores(session), what="the restore")
    plugged.opencode.prompt(session, "two")
    assert len(plugged.blocks(session)) == 1


def test_the_plugin_makes_good_a_compaction_that_no_watcher_saw(mortal: Chamber) -> None:
    mortal.note(NOTE)
    session = mortal.opencode.create_session(mortal.directory)
    mortal.opencode.prompt(session, "one")
    mortal.settled(session)
    mortal.serve.kill()
    mortal.opencode.compact(session)
    again = ServeProcess(mortal.serve.installation, port=mortal.serve.port).start()
    try:
        mortal.opencode.prompt(session, "two")
        assert len(mortal.blocks(session)) == 1
    finally:
        again.stop()


def test_a_sub_agents_session_gets_a_short_block(plugged: Chamber) -> None:
    plugged.note(NOTE)
    plugged.note("A long note. " * 1_500)
    session = plugged.session()
    task = {"description": "look", "prompt": "Look around for me", "subagent_type": "general"}
    plugged.model.when(Reply(tool_calls=(("task", task),)), said="Use a sub-agent", last_role="user", times=1)

    plugged.send(session, "Use a sub-agent")

    asked = next(request for request in plugged.model.asked() if "Look around for me" in request.said)
    assert asked.session != session
    assert NOTE in asked.said
    assert len(asked.said) < 7_000


def test_a_server_that_is_down_costs_a_message_nearly_nothing(mortal: Chamber) -> None:
    session = mortal.opencode.create_session(mortal.directory)
    mortal.opencode.prompt(session, "warm up")
    mortal.serve.kill()
    started = time.monotonic()
    mortal.opencode.prompt(session, "nobody listens", noReply=True)
    assert time.monotonic() - started < 2
    assert mortal.opencode.prompt(session, "still works")["info"]["role"] == "assistant"


def test_what_others_left_in_the_metadata_keeps_no_block_from_a_terminals_message(plugged: Chamber) -> None:
    plugged.note(NOTE)
    session = plugged.opencode.create_session(plugged.directory)
    odd = [None, "x", {"id": 1}, {"id": "msg_odd", "role": "system"}, {"id": "../x", "role": "user", "createdAt": []}]
    metadata = {"openchamber": {"context_obligatory_messages": odd}}
    plugged.opencode.request("PATCH", f"/session/{session}", {"metadata": metadata})
    plugged.opencode.prompt(session, "from a terminal")
    assert NOTE in plugged.last_asked(session).said


def test_a_pinned_answer_that_failed_is_told_since_the_model_does_not_see_it(plugged: Chamber) -> None:
    plugged.model.when(Reply("Ebb at nine.", fails=True), said="Ebb?", times=1)
    plugged.model.when(Reply("Flood at four. And then", hold="gate"), said="Flood?", times=1)
    session = plugged.session()
    for number, question in enumerate(("Ebb?", "Flood?"), 1):
        plugged.opencode.prompt(session, question, wait=False)
        plugged.model.wait_asked(number, session=session)
        time.sleep(1)  # until OpenCode has the first words; there is nothing to look at before the end
        plugged.opencode.request("POST", f"/session/{session}/abort")
        plugged.opencode.wait_idle(session)
        answer = plugged.opencode.messages(session)[-1]["info"]
        plugged.api("PUT", f"/sessions/{session}/pinned-messages/{answer['id']}", status=204)
    plugged.opencode.prompt(session, "from a terminal")
    [block] = plugged.blocks(session)
    assert "Ebb at nine." in block
    assert "Flood at" not in block
