"""What we build on, checked against the real server: a new version that behaves differently fails here first."""

from __future__ import annotations

import json
import secrets
import time
from pathlib import Path
from typing import Any

import httpx2

from tests.agent_server.opencode_process import COMPACTS_AT, ROOT, OpenCodeProcess
from tests.agent_server.scripted_model import Reply, ScriptedModel


def own_id() -> str:
    """A message id of our own form: a literal prefix, so that our plugin can leave our messages alone."""
    return "msg_openchamber_" + secrets.token_hex(10)


def synthetic(text: str, **openchamber: Any) -> dict[str, Any]:
    """A part as we send it: synthetic, with our metadata."""
    return {"type": "text", "text": text, "synthetic": True, "metadata": {"openchamber": openchamber}}


def texts(messages: list[dict[str, Any]]) -> list[str]:
    """The text parts of messages, each message's joined."""
    return ["".join(part["text"] for part in message["parts"] if part["type"] == "text") for message in messages]


def answers_to(opencode: OpenCodeProcess, session: str, message_id: str) -> list[str]:
    """The texts of the answers that name `message_id` as their parent."""
    messages = [m for m in opencode.messages(session) if m["info"].get("parentID") == message_id]
    return texts(messages)


def test_the_server_is_the_pinned_version_and_asks_for_its_password(opencode: OpenCodeProcess) -> None:
    pinned = json.loads((ROOT / "package.json").read_text())["devDependencies"]["opencode-ai"]
    assert opencode.request("GET", "/global/health") == {"healthy": True, "version": pinned}
    assert httpx2.get(f"{opencode.url}/global/health", trust_env=False).status_code == 401


def test_an_unknown_path_answers_200_and_is_no_json(opencode: OpenCodeProcess) -> None:
    response = opencode.client.get("/no/such/path")
    assert not response.headers.get("content-type", "").startswith("application/json")


def test_a_metadata_patch_replaces_the_whole_object(opencode: OpenCodeProcess, git_directory: Path) -> None:
    session = opencode.create_session(git_directory, metadata={"openchamber": {"a": 1}, "other": {"b": 2}})
    assert opencode.session(session)["metadata"] == {"openchamber": {"a": 1}, "other": {"b": 2}}
    answer = opencode.request("PATCH", f"/session/{session}", {"metadata": {"openchamber": {"c": 3}}})
    assert answer["metadata"] == opencode.session(session)["metadata"] == {"openchamber": {"c": 3}}


def test_our_own_message_id_is_used_as_given_and_a_repeat_appends(
    opencode: OpenCodeProcess, git_directory: Path
) -> None:
    session, message_id = opencode.create_session(git_directory), own_id()
    opencode.prompt(session, "once", messageID=message_id, noReply=True)
    opencode.prompt(session, "twice", messageID=message_id, noReply=True)
    messages = opencode.messages(session)
    assert [message["info"]["id"] for message in messages] == [message_id]
    assert texts(messages) == ["oncetwice"]


def test_prompts_with_our_own_ids_are_each_answered_once_and_stay_in_order(
    opencode: OpenCodeProcess, model: ScriptedModel, git_directory: Path
) -> None:
    session = opencode.create_session(git_directory)
    sent = []
    for number in range(3):
        sent += [own_id()]
        opencode.prompt(session, f"ours {number}", messageID=sent[-1])
        opencode.prompt(session, f"native {number}")
    assert [answers_to(opencode, session, message_id) for message_id in sent] == [
        [f"echo: ours {number}"] for number in range(3)
    ]
    said = [text for text in texts(opencode.messages(session)) if not text.startswith("echo")]
    assert said == ["ours 0", "native 0", "ours 1", "native 1", "ours 2", "native 2"]
    assert len(model.asked(session=session)) == 6


def test_a_prompt_with_our_id_joins_a_busy_session_and_is_answered(
    opencode: OpenCodeProcess, model: ScriptedModel, git_directory: Path
) -> None:
    session, first, second = opencode.create_session(git_directory), own_id(), own_id()
    model.when(Reply("slow answer", hold="slow"), said="first", session=session)
    opencode.prompt(session, "first", messageID=first, wait=False)
    model.wait_asked(session=session)
    opencode.prompt(session, "second", messageID=second, wait=False)
    model.release("slow")
    model.wait_asked(2, session=session)
    opencode.wait_idle(session)
    assert answers_to(opencode, session, first) == ["slow answer"]
    assert answers_to(opencode, session, second) == ["echo: second"]


def test_a_synthetic_part_listed_first_reaches_the_model_first_and_keeps_its_metadata(
    opencode: OpenCodeProcess, model: ScriptedModel, git_directory: Path
) -> None:
    session = opencode.create_session(git_directory)
    opencode.prompt(session, synthetic("WHAT YOU MUST KNOW", signature="abc"), "my question")
    assert model.asked(session=session)[-1].conversation == [("user", "WHAT YOU MUST KNOW\nmy question")]
    parts = opencode.messages(session)[0]["parts"]
    assert [part["text"] for part in parts] == ["WHAT YOU MUST KNOW", "my question"]
    assert parts[0]["synthetic"] is True
    assert parts[0]["metadata"] == {"openchamber": {"signature": "abc"}}
    assert not model.saw("signature", session=session)


def test_a_message_without_reply_is_stored_and_rides_with_the_next_prompt(
    opencode: OpenCodeProcess, model: ScriptedModel, git_directory: Path
) -> None:
    session, silent = opencode.create_session(git_directory), own_id()
    opencode.prompt(session, synthetic("BACKGROUND"), messageID=silent, noReply=True)
    assert model.asked(session=session) == []
    opencode.prompt(session, "go on")
    assert model.asked(session=session)[-1].conversation == [("user", "BACKGROUND"), ("user", "go on")]
    assert answers_to(opencode, session, silent) == []


def test_after_a_manual_compaction_a_message_without_reply_stands_behind_the_summary(
    opencode: OpenCodeProcess, model: ScriptedModel, git_directory: Path
) -> None:
    session = opencode.create_session(git_directory)
    opencode.prompt(session, "before", messageID=own_id())
    model.when("THE SUMMARY", kind="compaction", session=session)
    opencode.compact(session)
    opencode.prompt(session, synthetic("RESTORED"), messageID=own_id(), noReply=True)
    opencode.wait_idle(session)
    mark = model.number
    opencode.prompt(session, "after", messageID=own_id())
    (request,) = model.asked(session=session, after=mark)
    assert [text for _, text in request.conversation][1:] == ["THE SUMMARY", "RESTORED", "after"]


def test_a_full_context_compacts_by_itself_and_goes_on_at_once(
    opencode: OpenCodeProcess, model: ScriptedModel, git_directory: Path
) -> None:
    session = opencode.create_session(git_directory)
    model.when(Reply("long answer", prompt_tokens=COMPACTS_AT), said="fill it", session=session, times=1)
    opencode.prompt(session, "fill it", messageID=own_id())
    opencode.wait_idle(session)
    assert [request.kind for request in model.asked(kind=None, session=session)] == ["chat", "compaction", "chat"]
    messages = opencode.messages(session)
    summary = next(message for message in messages if message["info"].get("summary") is True)
    parent = next(message for message in messages if message["info"]["id"] == summary["info"]["parentID"])
    assert [part["type"] for part in parent["parts"]] == ["compaction"]
    assert summary["info"]["time"]["completed"]


def test_a_failed_summary_carries_an_error_and_is_no_compaction(
    opencode: OpenCodeProcess, model: ScriptedModel, git_directory: Path
) -> None:
    session = opencode.create_session(git_directory)
    opencode.prompt(session, "before")
    model.when(Reply("no", status=400), kind="compaction", session=session)
    opencode.compact(session)
    summary = opencode.messages(session)[-1]["info"]
    assert summary["summary"] is True
    assert summary["error"]["name"] == "APIError"


def test_an_unknown_agent_is_accepted_and_stores_nothing(opencode: OpenCodeProcess, git_directory: Path) -> None:
    session = opencode.create_session(git_directory)
    opencode.prompt(session, "hello", agent="nobody", messageID=own_id(), wait=False)  # 204: no proof of anything
    time.sleep(0.5)
    assert opencode.messages(session) == []


def test_a_fork_copies_metadata_and_part_metadata_and_renumbers_messages(
    opencode: OpenCodeProcess, git_directory: Path
) -> None:
    session = opencode.create_session(git_directory, metadata={"openchamber": {"a": 1}})
    opencode.prompt(session, synthetic("BLOCK", delivery="d1"), "hello", messageID=own_id())
    fork = opencode.request("POST", f"/session/{session}/fork", {})["id"]
    ours, copied = opencode.messages(session)[0], opencode.messages(fork)[0]
    assert opencode.session(fork)["metadata"] == {"openchamber": {"a": 1}}
    assert copied["info"]["id"] != ours["info"]["id"]
    assert copied["info"]["time"]["created"] == ours["info"]["time"]["created"]
    assert copied["parts"][0]["metadata"] == {"openchamber": {"delivery": "d1"}}


def test_it_comes_back_on_the_same_port_with_everything_it_knew(
    start_opencode: Any, model: ScriptedModel, git_directory: Path
) -> None:
    opencode = start_opencode()
    session = opencode.create_session(git_directory, metadata={"openchamber": {"a": 1}})
    opencode.prompt(session, "remember", messageID=own_id())
    opencode.kill()
    opencode.start()
    assert texts(opencode.messages(session)) == ["remember", "echo: remember"]
    assert opencode.session(session)["metadata"] == {"openchamber": {"a": 1}}
