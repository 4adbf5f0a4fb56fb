"""The rule of delivery over everything that real sessions go through, on an OpenCode without our plugin."""

from __future__ import annotations

from pathlib import Path

from tests.agent_server.chamber import Chamber, wait_for
from tests.agent_server.opencode_process import OpenCodeProcess
from tests.agent_server.scripted_model import Reply, ScriptedModel
from tests.agent_server.serve_process import ServeProcess

LONG = "Berths are named by four letters, never three. " * 12
OTHER = "Rows without a berth are refused, not guessed. " * 12


def test_an_edit_alone_travels_an_unpin_is_retracted_once_and_a_repin_travels_again(chamber: Chamber) -> None:
    first, _second = chamber.note(LONG), chamber.note(OTHER)
    session = chamber.session()
    chamber.send(session, "one")

    chamber.edit_note(first, "Berths have five letters now.")
    sent = chamber.send(session, "two")
    assert sent["context"]["kind"] == "delta"
    assert [item["change"] for item in sent["context"]["items"]] == ["changed"]
    said = chamber.last_asked(session).said
    assert "five letters" in said
    assert "refused, not guessed" not in said

    chamber.unpin_note(first)
    sent = chamber.send(session, "three")
    assert [(item["key"], item["change"]) for item in sent["context"]["items"]] == [
        (f"knowledge:note:{first}", "removed")
    ]
    assert f"knowledge:note:{first}" in chamber.last_asked(session).said
    assert chamber.send(session, "four")["context"]["kind"] == "none"

    chamber.pin_note(first)
    sent = chamber.send(session, "five")
    assert [item["change"] for item in sent["context"]["items"]] == ["added"]
    assert "five letters" in chamber.last_asked(session).said


def test_a_revert_past_the_carrier_makes_it_owed_and_an_unrevert_gives_it_back(chamber: Chamber) -> None:
    chamber.note(LONG)
    session = chamber.session()
    chamber.send(session, "one", context="none")
    chamber.send(session, "two")
    carrier = chamber.ours(session)["knowledge_context_carrier"]

    chamber.opencode.request("POST", f"/session/{session}/revert", {"messageID": carrier})
    wait_for(lambda: chamber.context(session)["owed"], what="the note being owed")
    chamber.opencode.request("POST", f"/session/{session}/unrevert")
    wait_for(lambda: not chamber.context(session)["owed"], what="the note being held again")
    chamber.opencode.request("POST", f"/session/{session}/revert", {"messageID": carrier})
    wait_for(lambda: chamber.context(session)["owed"], what="the note being owed")

    assert chamber.send(session, "three")["context"]["kind"] == "full"
    assert len(chamber.blocks(session)) == 1


def test_a_second_step_back_in_a_terminal_makes_owed_what_it_takes_with_it(chamber: Chamber) -> None:
    chamber.send(session := chamber.session(), "zero")
    chamber.note(LONG)
    carrier = chamber.send(session, "one")["message_id"]
    last = chamber.send(session, "two")["message_id"]
    for message, due in ((last, False), (carrier, True)):
        chamber.opencode.request("POST", f"/session/{session}/revert", {"messageID": message})
        wait_for(lambda due=due: bool(chamber.context(session)["owed"]) is due, what="the step back being noticed")
    assert chamber.send(session, "three")["context"]["kind"] == "full"


def test_a_pin_that_a_fork_left_behind_is_named(chamber: Chamber) -> None:
    chamber.send(session := chamber.session(), "Kept words")
    chamber.send(session, "Lost words")
    said = [m["info"]["id"] for m in chamber.opencode.messages(session) if m["info"]["role"] == "user"]
    for message in said:
        chamber.api("PUT", f"/sessions/{session}/pinned-messages/{message}")
    fork = chamber.opencode.request("POST", f"/session/{session}/fork", {"messageID": said[1]})["id"]
    [failed] = chamber.context(fork)["failed"]
    assert (failed["kind"], failed["reason"]) == ("message", "no such message")
    page = chamber.page(f"/projects/{chamber.slug}/sessions/{fork}/status/")
    assert "no such message" in page
    assert f'id="unpin-{said[1]}"' in page


def test_a_deleted_carrier_is_told_again(chamber: Chamber) -> None:
    chamber.note(LONG)
    session = chamber.session()
    chamber.send(session, "one")
    carrier = chamber.ours(session)["knowledge_context_carrier"]

    chamber.opencode.request("DELETE", f"/session/{session}/message/{carrier}")

    wait_for(lambda: chamber.context(session)["owed"], what="the note being owed")
    assert chamber.send(session, "two")["context"]["kind"] == "full"


def test_a_fork_holds_what_it_copied_and_is_owed_what_the_cut_left_out(chamber: Chamber) -> None:
    chamber.note(LONG)
    session = chamber.session()
    chamber.send(session, "one", context="none")
    chamber.send(session, "two")
    chamber.send(session, "three")
    whole = str(chamber.opencode.request("POST", f"/session/{session}/fork", {})["id"])
    carrier = chamber.ours(session)["knowledge_context_carrier"]
    cut = str(chamber.opencode.request("POST", f"/session/{session}/fork", {"messageID": carrier})["id"])

    assert chamber.send(whole, "in the whole fork")["context"]["kind"] == "none"
    assert chamber.send(cut, "in the cut fork")["context"]["kind"] == "full"
    assert len(chamber.blocks(cut)) == 1


def test_a_pinned_message_of_a_fork_is_found_under_its_new_id_and_restored_there(chamber: Chamber) -> None:
    session = chamber.session()
    chamber.send(session, "Keep these words")
    chamber.send(session, "and more")
    message = chamber.opencode.messages(session)[0]["info"]["id"]
    chamber.api("PUT", f"/sessions/{session}/pinned-messages/{message}", status=204)
    fork = str(chamber.opencode.request("POST", f"/session/{session}/fork", {})["id"])

    assert not chamber.context(fork)["owed"]  # the copy itself is there
    [pin] = chamber.ours(fork)["context_obligatory_messages"]
    assert pin["id"] == chamber.opencode.messages(fork)[0]["info"]["id"] != message
    chamber.opencode.compact(fork)
    wait_for(lambda: chamber.restores(fork), what="the restore in the fork")
    assert "Keep these words" in chamber.restores(fork)[0]["parts"][0]["text"]
    assert not chamber.restores(session)


def test_another_clients_empty_signature_asks_for_a_full_block_and_any_other_value_is_ignored(chamber: Chamber) -> None:
    chamber.note(LONG)
    session = chamber.session()
    chamber.send(session, "one")

    def mirror(value: str) -> None:
        metadata = chamber.opencode.session(session)["metadata"]
        metadata["openchamber"]["knowledge_context_delivered"] = value
        chamber.opencode.request("PATCH", f"/session/{session}", {"metadata": metadata})

    mirror("somebody-elses-signature")
    assert chamber.send(session, "two")["context"]["kind"] == "none"
    mirror("")
    wait_for(lambda: chamber.context(session)["preview"], what="the full block being due")
    assert chamber.send(session, "three")["context"]["kind"] == "full"
    assert chamber.send(session, "four")["context"]["kind"] == "none"


def test_the_same_message_id_twice_sends_once(chamber: Chamber) -> None:
    chamber.note(LONG)
    session = chamber.session()
    body = {"text": "only once", "message_id": "msg_of_a_script_1"}
    first = chamber.api("POST", f"/sessions/{session}/messages", body, status=202)
    second = chamber.api("POST", f"/sessions/{session}/messages", body, status=202)
    chamber.opencode.wait_idle(session)

    assert first["message_id"] == second["message_id"] == "msg_of_a_script_1"
    [message] = [m for m in chamber.opencode.messages(session) if m["info"]["role"] == "user"]
    assert [part["text"] for part in message["parts"] if not part.get("synthetic")] == ["only once"]
    assert len([part for part in message["parts"] if part.get("synthetic")]) == 1


UNSTORED = """
from openchamber.models import Session
from openchamber.sessions.delivery import Prompt, send_message
send_message(Session.objects.get(pk="{session}"), Prompt(text="to nobody", agent="no-such-agent"), wait=True)
"""


def test_a_message_that_was_taken_but_never_stored_leaves_its_block_owed(chamber: Chamber) -> None:
    """OpenCode takes a message for an agent that it does not have, and drops it."""
    chamber.note(LONG)
    session = chamber.session()
    done = chamber.serve.installation.manage("shell", "-c", UNSTORED.format(session=session))
    assert done.returncode == 0, done.stderr

    assert chamber.context(session)["deliveries"][0]["state"] == "released"
    assert chamber.context(session)["owed"]
    assert chamber.send(session, "to build")["context"]["kind"] == "full"


def test_an_unknown_agent_or_model_is_refused_before_anything_is_sent(chamber: Chamber) -> None:
    session = chamber.session()
    body = {"text": "to nobody", "agent": "no-such-agent", "model": "no/such"}
    refused = chamber.api("POST", f"/sessions/{session}/messages", body, status=422)
    assert set(refused["error"]["fields"]) == {"agent", "model"}
    known = {"text": "to build", "agent": "build", "model": "scripted/scripted"}
    chamber.api("POST", f"/sessions/{session}/messages", known, status=202)


def test_a_message_id_is_not_used_for_other_words(chamber: Chamber) -> None:
    session = chamber.session()
    chamber.send(session, "the first words", message_id="msg_used_1")
    body = {"text": "other words", "message_id": "msg_used_1"}
    assert chamber.api("POST", f"/sessions/{session}/messages", body, status=409)["error"]["code"] == "conflict"


def test_a_message_id_is_not_used_in_two_sessions(chamber: Chamber) -> None:
    """OpenCode would add the words to the other session's message."""
    chamber.note(LONG)
    first, second, third = chamber.session(), chamber.session(), chamber.session()
    chamber.send(first, "said here", message_id="msg_used_2")
    ours = chamber.send(third, "told here")["message_id"]
    for message in ("msg_used_2", ours):
        body = {"text": "said there", "message_id": message}
        answer = chamber.api("POST", f"/sessions/{second}/messages", body, status=409)
        assert "another session" in answer["error"]["message"]
    for session in (first, third):
        assert "said there" not in str(chamber.opencode.messages(session))


def test_send_without_context_sends_the_words_alone(chamber: Chamber) -> None:
    chamber.note(LONG)
    session = chamber.session()
    assert chamber.send(session, "bare", context="none")["context"]["kind"] == "none"
    assert chamber.last_asked(session).said == "bare"
    assert chamber.send(session, "dressed")["context"]["kind"] == "full"


def test_what_compaction_keeps_is_neither_owed_nor_doubled(chamber: Chamber) -> None:
    """A large tail is kept by OpenCode: the carrier inside it is live, and nothing is restored."""
    session = chamber.session()
    for number in range(3):
        chamber.send(session, f"{number} " + "filler words " * 3_000)
    chamber.note(LONG)
    chamber.send(session, "the last turn before")

    chamber.opencode.compact(session)

    request = next(m for m in chamber.opencode.messages(session) if m["parts"][0]["type"] == "compaction")
    assert request["parts"][0].get("tail_start_id")
    wait_for(lambda: "context_obligatory_last_compaction_message_id" in chamber.ours(session), what="the cursor")
    assert not chamber.restores(session)
    chamber.send(session, "go on")
    assert len(chamber.blocks(session)) == 1


def test_without_any_watcher_the_next_message_carries_everything(
    serve: ServeProcess, opencode: OpenCodeProcess, model: ScriptedModel, git_directory: Path
) -> None:
    chamber = Chamber(serve, opencode, model, git_directory)
    chamber.note(LONG)
    session = chamber.session()
    chamber.send(session, "one")
    chamber.serve.stop()
    chamber.opencode.compact(session)
    before = model.number

    done = chamber.serve.installation.manage("send", "--session", session, "after the compaction")

    assert done.returncode == 0, done.stderr
    asked = model.wait_asked(1, session=session, after=before)[-1]
    assert "four letters" in asked.said
    assert len(chamber.blocks(session)) == 1


def test_a_failed_compaction_restores_nothing_and_what_it_swallowed_is_offered_again(
    chamber: Chamber, model: ScriptedModel
) -> None:
    """OpenCode makes up for a failed compaction with the next message, and then sees all old messages still."""
    chamber.note(LONG)
    session = chamber.session()
    chamber.send(session, "one")
    model.when(Reply("refused", status=400), kind="compaction", times=1)
    chamber.opencode.compact(session)
    chamber.opencode.wait_idle(session)
    assert not chamber.restores(session)

    chamber.api("POST", f"/sessions/{session}/messages", {"text": "swallowed"}, status=202)
    wait_for(lambda: len(model.asked(kind="compaction", session=session)) == 2, what="the compaction made up for")
    chamber.opencode.wait_idle(session)

    assert not model.saw("swallowed", session=session)
    assert not chamber.context(session)["owed"]
    page = f"/projects/{chamber.slug}/sessions/{session}/"
    assert "No answer came." in chamber.page(page)
    assert chamber.send(session, "said again")["context"]["kind"] == "none"
    assert len(chamber.blocks(session)) == 1
    assert "No answer came." not in chamber.page(page)


def test_two_hundred_long_pinned_messages_are_restored_within_the_budget_and_bring_no_second_compaction(
    chamber: Chamber, model: ScriptedModel
) -> None:
    session = chamber.session()
    for number in range(200):
        chamber.opencode.prompt(session, f"Message {number}. " + "Long words stand here. " * 100, noReply=True)
    chamber.send(session, "begin")
    pins = [
        {"id": message["info"]["id"], "createdAt": message["info"]["time"]["created"], "role": "user"}
        for message in chamber.opencode.messages(session)[:200]
    ]
    metadata = chamber.opencode.session(session).get("metadata", {})
    metadata.setdefault("openchamber", {})["context_obligatory_messages"] = pins
    chamber.opencode.request("PATCH", f"/session/{session}", {"metadata": metadata})
    before = model.number

    chamber.opencode.compact(session)

    wait_for(lambda: chamber.restores(session), within=60, what="the restore")
    [restore] = chamber.restores(session)
    assert len(restore["parts"][0]["text"]) <= 24_000
    assert len(restore["parts"][0]["metadata"]["openchamber"]["items"]) >= 100  # the others stand in the kept tail
    chamber.send(session, "go on")
    chamber.send(session, "and on")
    assert len(model.asked(kind="compaction", session=session, after=before)) == 1
    assert len(chamber.restores(session)) == 1
