"""A pinned note reaches the real agent, and comes back after compaction. The proof is what the model was told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.agent_server.chamber import TAG, Chamber, wait_for
from tests.agent_server.scripted_model import Reply, ScriptedModel

NOTE = "Berths are named by four letters, never three."


def test_a_pinned_note_rides_before_the_first_message_and_not_on_the_second(chamber: Chamber) -> None:
    chamber.note(NOTE)
    chamber.note("Nobody pinned this.", pinned=False)
    session = chamber.session()

    sent = chamber.send(session, "Hello there")

    assert sent["context"]["kind"] == "full"
    said = chamber.last_asked(session).said
    assert NOTE in said
    assert said.index(NOTE) < said.index("Hello there")
    chamber.send(session, "And again")
    assert NOTE not in chamber.last_asked(session).said
    assert not chamber.model.saw("Nobody pinned this.")


def test_send_new_from_the_command_line_carries_the_note(chamber: Chamber, model: ScriptedModel) -> None:
    chamber.note(NOTE)

    done = chamber.serve.installation.manage("send", "--new", "--directory", str(chamber.directory), "From a script")

    assert done.returncode == 0, done.stderr
    asked = model.wait_asked(1)[0]
    assert asked.said.index(NOTE) < asked.said.index("From a script")


def pinned_conversation(chamber: Chamber, session: str) -> None:
    """Two turns; the first user message and the first answer are pinned, in the wrong order."""
    chamber.model.when("The answer to keep.", said="The question to keep")
    chamber.send(session, "The question to keep")
    chamber.send(session, "Something else")
    user, answer = chamber.opencode.messages(session)[:2]
    chamber.api("PUT", f"/sessions/{session}/pinned-messages/{answer['info']['id']}", status=204)
    chamber.api("PUT", f"/sessions/{session}/pinned-messages/{user['info']['id']}", status=204)


def check_restored(chamber: Chamber, session: str, foreign: dict[str, Any]) -> None:
    """One restore: note and pinned messages in time order, none of our earlier text, cursor and signature written."""
    [restore] = chamber.restores(session)
    text = restore["parts"][0]["text"]
    assert text.count(TAG) == 1
    assert text.index("The question to keep") < text.index("The answer to keep.") < text.index(NOTE)
    ours = chamber.ours(session)
    summary = next(m for m in reversed(chamber.opencode.messages(session)) if m["info"].get("summary") is True)
    assert ours["context_obligatory_last_compaction_message_id"] == summary["info"]["id"]
    assert ours["knowledge_context_delivered"] == restore["parts"][0]["metadata"]["openchamber"]["signature"]
    assert ours["knowledge_context_carrier"] == restore["info"]["id"]
    assert [pin["role"] for pin in ours["context_obligatory_messages"]] == ["user", "assistant"]
    assert ours["somebody_elses"] == foreign["openchamber"]["somebody_elses"]
    assert chamber.opencode.session(session)["metadata"]["other"] == foreign["other"]


FOREIGN = {"openchamber": {"somebody_elses": {"deep": [1, None, "ü"]}}, "other": {"kept": True}}


def foreign_metadata(chamber: Chamber, session: str) -> dict[str, Any]:
    """What another client wrote into the session before we did."""
    chamber.opencode.request("PATCH", f"/session/{session}", {"metadata": FOREIGN})
    return FOREIGN


def test_a_manual_compaction_of_an_idle_session_restores_without_a_turn_of_its_own(chamber: Chamber) -> None:
    chamber.note(NOTE)
    session = chamber.session()
    foreign = foreign_metadata(chamber, session)
    pinned_conversation(chamber, session)
    before = chamber.model.number

    chamber.opencode.compact(session)

    wait_for(lambda: chamber.restores(session), what="the restore")
    wait_for(lambda: "context_obligatory_last_compaction_message_id" in chamber.ours(session), what="the cursor")
    assert chamber.model.asked(session=session, after=before) == []
    check_restored(chamber, session, foreign)
    chamber.send(session, "Go on")
    conversation = [text for _role, text in chamber.last_asked(session).conversation]
    assert sum(NOTE in text for text in conversation) == 1
    assert "What did we do so far?" in conversation[0]


def compacted_automatically(chamber: Chamber, session: str) -> int:
    """Say something whose answer overflows the context; the number of requests before."""
    before = chamber.model.number
    chamber.model.when(Reply("Much done.", prompt_tokens=195_000), said="Fill the context", times=1)
    chamber.api("POST", f"/sessions/{session}/messages", {"text": "Fill the context"}, status=202)
    wait_for(lambda: chamber.model.asked(kind="compaction", after=before), what="the compaction")
    wait_for(lambda: chamber.restores(session), what="the restore")
    chamber.opencode.wait_idle(session)
    wait_for(lambda: "context_obligatory_last_compaction_message_id" in chamber.ours(session), what="the cursor")
    return before


def calls_after_compaction(chamber: Chamber, session: str, before: int) -> list[Any]:
    """The talk's requests after the summary request."""
    [summary, *_] = chamber.model.asked(kind="compaction", after=before)
    return chamber.model.asked(session=session, after=summary.number)


def test_an_automatic_compaction_without_the_plugin_restores_by_a_later_call(chamber: Chamber) -> None:
    chamber.note(NOTE)
    session = chamber.session()
    foreign = foreign_metadata(chamber, session)
    pinned_conversation(chamber, session)

    before = compacted_automatically(chamber, session)

    check_restored(chamber, session, foreign)
    chamber.send(session, "Go on")
    assert calls_after_compaction(chamber, session, before)[-1].holds(NOTE)


def test_an_automatic_compaction_with_the_plugin_is_restored_in_the_first_call_after_it(plugged: Chamber) -> None:
    plugged.note(NOTE)
    session = plugged.session()
    foreign = foreign_metadata(plugged, session)
    pinned_conversation(plugged, session)

    before = compacted_automatically(plugged, session)

    check_restored(plugged, session, foreign)
    first = calls_after_compaction(plugged, session, before)[0]
    assert first.holds(NOTE)
    assert first.holds("The question to keep")
    assert first.holds("The answer to keep.")


def test_the_same_event_three_times_and_two_watchers_restore_once(
    chamber: Chamber, start_process: Callable[..., Any]
) -> None:
    chamber.note(NOTE)
    session = chamber.session()
    chamber.send(session, "Hello there")
    watcher = start_process(chamber.serve.installation, "watch")
    assert watcher.process is not None

    chamber.opencode.compact(session)
    wait_for(lambda: chamber.restores(session), what="the restore")
    for _time in range(3):
        done = chamber.serve.installation.manage("shell", "-c", REPLAY.format(session=session))
        assert done.returncode == 0, done.stderr

    assert len(chamber.restores(session)) == 1
    carried = [m for m in chamber.opencode.messages(session) if any("metadata" in part for part in m["parts"])]
    assert len(carried) == 2  # the first message and the restore


REPLAY = """
from openchamber.models import AgentServer
from openchamber.sessions import restore
from openchamber.signals import session_compacted
session_compacted.send(sender=None, server=AgentServer.objects.get(), session_id="{session}", directory="")
restore.finish()
"""
