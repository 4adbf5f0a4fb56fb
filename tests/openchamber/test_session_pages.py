"""The sessions' pages and acts, on a real OpenCode: plain, with htmx, and refused."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connections
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from openchamber.models import AgentServer, PinnedMessage, Project, Session
from openchamber.models.leases import holder
from openchamber.sessions import delivery, listing, reading, rows
from openchamber.sessions.delivery import Prompt
from openchamber.sessions.opencode import OpenCode, Unreachable, client_for
from tests.agent_server.chamber import wait_for
from tests.agent_server.opencode_process import OpenCodeProcess, free_port
from tests.agent_server.scripted_model import Reply, ScriptedModel

# A picture of one point.
DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def server(opencode: OpenCodeProcess) -> AgentServer:
    """The shared OpenCode as the agent server in use."""
    return AgentServer.objects.create(url=opencode.url, password=opencode.password)


@pytest.fixture
def session(server: AgentServer, project: Project) -> Iterator[Session]:
    """A session of the project."""
    yield rows.create_session(server, project, title="Tides")
    delivery_is_quiet()


def delivery_is_quiet() -> None:
    """Let confirmations that were begun end before the database is emptied."""
    delivery._confirmers.submit(lambda: None).result(10)


@pytest.fixture
def unreachable(project: Project) -> Session:
    """A session whose agent server is gone."""
    gone = AgentServer.objects.create(url=f"http://127.0.0.1:{free_port()}")
    return Session.objects.create(id="ses_gone", server=gone, project=project, directory=project.directory)


def url(name: str, session: Session, *more: str) -> str:
    """The address of a page or act of a session."""
    assert session.project is not None
    return reverse(f"openchamber:{name}", args=[session.project.slug, session.pk, *more])


def talk(session: Session, opencode: OpenCodeProcess, *texts: str) -> list[dict[str, Any]]:
    """Say each text and wait for its answer; all messages."""
    for text in texts:
        opencode.prompt(session.pk, text)
    opencode.wait_idle(session.pk)
    return opencode.messages(session.pk)


def body(response: Any) -> str:
    """The text of an answer."""
    return str(response.content.decode())


# The list ---------------------------------------------------------------------------------


def test_the_list_shows_sessions_by_their_last_message(
    panel: Client, server: AgentServer, project: Project, opencode: OpenCodeProcess
) -> None:
    first = rows.create_session(server, project, title="First made")
    rows.create_session(server, project, title="Second made")
    talk(first, opencode, "Said later")
    opencode.request("PATCH", f"/session/{first.pk}", {"metadata": {"other": 1}})

    page = body(panel.get(reverse("openchamber:sessions", args=[project.slug])))

    assert page.index("First made") < page.index("Second made")


def test_the_list_folds_children_under_their_parent(
    panel: Client, session: Session, opencode: OpenCodeProcess, directory: Path
) -> None:
    opencode.create_session(directory, title="Sub-agent at work", parentID=session.pk)
    page = body(panel.get(reverse("openchamber:sessions", args=[session.project.slug])))
    assert re.search(r'id="children-ses_\w+"', page)
    assert "1 sub-agent" in page


def test_neither_sub_agents_nor_the_archive_push_a_session_out_of_the_list(
    panel: Client, server: AgentServer, project: Project, opencode: OpenCodeProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "SHOWN", 3)
    for title in ("Put away", "At the desk"):
        top = rows.create_session(server, project, title=title)
        for number in range(4):
            opencode.create_session(Path(project.directory), title=f"{title}: sub-agent {number}", parentID=top.pk)
        if title == "Put away":
            client_for(server).archive(top.pk, archived=True)
    address = reverse("openchamber:sessions", args=[project.slug])
    page, archive = body(panel.get(address)), body(panel.get(address, {"archived": "1"}))
    assert page.count("At the desk: sub-agent") == archive.count("Put away: sub-agent") == 4
    assert "4 sub-agents" in page
    assert "Put away" not in page
    assert "At the desk" not in archive
    assert "Only the newest" not in page
    for number in range(3):
        rows.create_session(server, project, title=f"Later {number}")
    page = body(panel.get(address))
    assert "At the desk" not in page
    assert "Only the newest 3 are shown" in page
    assert "At the desk" in body(panel.get(address, {"find": "desk"}))
    assert "Put away" in body(panel.get(address, {"archived": "1"}))


def test_the_list_is_searched_by_title(panel: Client, server: AgentServer, project: Project) -> None:
    rows.create_session(server, project, title="About tides")
    rows.create_session(server, project, title="About berths")
    page = body(panel.get(reverse("openchamber:sessions", args=[project.slug]), {"find": "tides"}))
    assert "About tides" in page
    assert "About berths" not in page


def test_the_list_says_what_is_owed_where_the_rows_can_tell(
    panel: Client, server: AgentServer, project: Project, opencode: OpenCodeProcess
) -> None:
    listed = reverse("openchamber:sessions", args=[project.slug])
    server.connected(by=holder())
    session = rows.create_session(server, project, title="Tides")
    assert "1 owed" not in body(panel.get(listed))
    address = reverse("knowledge:write-note", args=[project.slug])
    panel.post(address, {"body": "Berths have four letters.", "pinned": "on"})
    assert "1 owed" in body(panel.get(listed))
    panel.post(url("send-message", session), {"text": "Hello", "agent": "build"})
    wait_for(lambda: session.deliveries.confirmed().exists(), what="the delivery")
    opencode.wait_idle(session.pk)
    assert "1 owed" not in body(panel.get(listed))
    delivery_is_quiet()


def test_the_list_says_when_there_is_no_agent_server(panel: Client, project: Project) -> None:
    page = panel.get(reverse("openchamber:sessions", args=[project.slug]))
    assert page.status_code == 200
    assert "<code>make install</code>" in body(page)


def test_an_agent_server_that_is_gone_is_no_fault_of_ours_to_log(
    panel: Client, unreachable: Session, caplog: pytest.LogCaptureFixture
) -> None:
    assert panel.get(url("session-live", unreachable)).status_code == 502
    assert not [record for record in caplog.records if record.name == "django.request"]


def test_the_list_says_when_the_agent_server_is_gone(panel: Client, unreachable: Session) -> None:
    page = panel.get(reverse("openchamber:sessions", args=[unreachable.project.slug]))
    assert page.status_code == 200
    assert "No agent server can be reached" in body(page)


def test_the_list_asks_as_often_for_twenty_sessions_as_for_two(
    panel: Client, server: AgentServer, project: Project, count_queries: Callable[[Callable[[], Any]], int]
) -> None:
    address = reverse("openchamber:sessions", args=[project.slug])
    for number in range(2):
        rows.create_session(server, project, title=f"Session {number}")
    panel.get(address)
    few = count_queries(lambda: panel.get(address))
    for number in range(2, 20):
        rows.create_session(server, project, title=f"Session {number}")
    assert count_queries(lambda: panel.get(address)) == few


def test_an_unchanged_list_is_not_sent_again(htmx: Client, session: Session) -> None:
    address = reverse("openchamber:sessions", args=[session.project.slug])
    seen = re.search(r"seen=(\w+)", body(htmx.get(address)))
    assert seen is not None
    assert htmx.get(address, {"seen": seen[1]}).status_code == 204


def test_a_session_is_made_with_its_title(panel: Client, server: AgentServer, project: Project) -> None:
    answer = panel.post(reverse("openchamber:create-session", args=[project.slug]), {"title": "Winter feed"})
    made = Session.objects.get()
    assert answer.status_code == 302
    assert answer["Location"] == url("session", made)
    assert made.title == "Winter feed"


def test_making_a_session_with_htmx_goes_to_it(htmx: Client, server: AgentServer, project: Project) -> None:
    answer = htmx.post(reverse("openchamber:create-session", args=[project.slug]), {"title": ""})
    assert answer["HX-Redirect"] == url("session", Session.objects.get())


def test_a_session_cannot_be_made_without_an_agent_server(panel: Client, htmx: Client, project: Project) -> None:
    address = reverse("openchamber:create-session", args=[project.slug])
    assert panel.post(address, {"title": "x"}).status_code == 502
    assert htmx.post(address, {"title": "x"}).status_code == 502
    assert not Session.objects.exists()


@pytest.mark.parametrize("name", ["a%2Fb", "per%20cent", "100% sure", "two words", "#1?x=y&z"])
def test_a_session_is_made_in_the_directory_itself_whatever_it_is_called(
    panel: Client, server: AgentServer, directory: Path, opencode: OpenCodeProcess, name: str
) -> None:
    odd = directory / name
    odd.mkdir()
    project = Project.objects.create(name="Odd", slug="odd", directory=str(odd))
    session = rows.create_session(server, project, title="Tides")
    assert opencode.session(session.pk)["directory"] == session.directory == str(odd)
    assert "Tides" in body(panel.get(reverse("openchamber:sessions", args=["odd"])))


def test_a_title_that_is_too_long_is_refused(panel: Client, server: AgentServer, project: Project) -> None:
    answer = panel.post(reverse("openchamber:create-session", args=[project.slug]), {"title": "x" * 201})
    assert answer.status_code == 422


# The page ---------------------------------------------------------------------------------


def test_a_stranger_sees_no_session(session: Session, sign_in: Callable[..., Client], stranger: Any) -> None:
    assert sign_in(stranger).get(url("session", session)).status_code == 404
    assert sign_in(stranger).post(url("send-message", session), {"text": "x"}).status_code == 404


def test_a_session_is_where_the_agent_server_says_whatever_a_hook_said(
    server: AgentServer, project: Project, opencode: OpenCodeProcess, stranger: Any, sign_in: Any, tmp_path: Path
) -> None:
    mine = Project.objects.create(name="Mine", slug="mine", directory=str(tmp_path / "mine"))
    mine.members.add(stranger)
    victim = opencode.create_session(Path(project.directory), title="Secret tides")
    rows.client_session("opencode", victim, mine.directory)
    address = reverse("openchamber:session", args=["mine", victim])
    assert sign_in(stranger).get(address).status_code == 404
    assert Session.objects.get(pk=victim).project == project


def test_a_session_is_found_only_in_its_own_project(panel: Client, session: Session, tmp_path: Path) -> None:
    other = Project.objects.create(name="Other", slug="other", directory=str(tmp_path))
    assert panel.get(reverse("openchamber:session", args=[other.slug, session.pk])).status_code == 404


def test_the_page_shows_what_was_said_as_markdown(
    panel: Client, session: Session, opencode: OpenCodeProcess, model: ScriptedModel
) -> None:
    model.when("An **important** answer <script>alert(1)</script>", said="Question")
    talk(session, opencode, "Question with `code`")
    page = body(panel.get(url("session", session)))
    assert "Question with <code>code</code>" in page
    assert "An <strong>important</strong> answer &lt;script&gt;" in page


def test_hidden_parts_are_counted_and_shown_exactly(panel: Client, session: Session, opencode: OpenCodeProcess) -> None:
    hidden = {"type": "text", "text": "Rode <along>", "synthetic": True}
    opencode.prompt(session.pk, hidden, "Said aloud")
    page = body(panel.get(url("session", session)))
    assert "1 hidden part" in page
    assert "Rode &lt;along&gt;" in page
    assert page.index("1 hidden part") < page.index("Said aloud")


def test_a_message_that_takes_something_back_says_so(
    panel: Client, session: Session, opencode: OpenCodeProcess
) -> None:
    carried = {"delivery": "d1", "signature": "", "items": {}, "cut": [], "removed": ["knowledge:note:1"]}
    hidden = {"type": "text", "text": "Gone", "synthetic": True, "metadata": {"openchamber": carried}}
    opencode.prompt(session.pk, hidden, "Said aloud")
    page = body(panel.get(url("session", session)))
    assert "1 hidden part · took back 1 item" in page
    assert "told 0 items" not in page


def test_tool_calls_are_folded_with_their_state(
    panel: Client, session: Session, opencode: OpenCodeProcess, model: ScriptedModel
) -> None:
    model.when(Reply(tool_calls=(("bash", {"command": "echo hi", "description": "x"}),)), said="Run", last_role="user")
    talk(session, opencode, "Run it")
    page = body(panel.get(url("session", session)))
    assert '<b>Run</b> <span class="path title">echo hi</span>' in page
    assert "done</span></summary>" in page


def test_a_long_output_is_cut_and_comes_whole_when_asked(
    panel: Client, htmx: Client, session: Session, opencode: OpenCodeProcess, model: ScriptedModel
) -> None:
    command = "for i in $(seq 1 900); do echo line-$i; done"
    model.when(Reply(tool_calls=(("bash", {"command": command, "description": "x"}),)), said="Run", last_role="user")
    messages = talk(session, opencode, "Run it")
    page = body(panel.get(url("session", session)))
    assert "line-1\n" in page
    assert "line-900" not in page
    message = next(m for m in messages if any(p["type"] == "tool" for p in m["parts"]))
    part = next(p["id"] for p in message["parts"] if p["type"] == "tool")
    address = url("message", session, message["info"]["id"])
    assert "line-900" in body(htmx.get(address, {"part": part}))
    assert "line-900" in body(panel.get(address))
    assert htmx.get(address, {"part": "prt_none"}).status_code == 404


def test_half_a_character_breaks_neither_page_nor_delivery_nor_pin(
    panel: Client, session: Session, opencode: OpenCodeProcess, project: Project
) -> None:
    theirs = b'{"metadata": {"theirs": "\\ud83d", "openchamber": {"more": "\\udc00\\u0000"}}}'
    said = b'{"agent": "build", "parts": [{"type": "text", "text": "half \\ud83d of it"}]}'
    kind = {"content-type": "application/json"}
    opencode.client.patch(f"/session/{session.pk}", content=theirs, headers=kind)
    opencode.client.post(f"/session/{session.pk}/message", content=said, headers=kind)
    assert "half \ufffd of it" in body(panel.get(url("session", session)))
    message = opencode.messages(session.pk)[0]["info"]["id"]
    assert panel.post(url("pin-message", session, message), {"pinned": "on"}).status_code == 302
    assert session.pinned_messages.get().text == "half \ufffd of it"
    panel.post(reverse("knowledge:write-note", args=[project.slug]), {"body": "Told all the same.", "pinned": "on"})
    sent = delivery.send_message(session, Prompt("Hello"), wait=True)
    assert sent.delivery is not None
    metadata = opencode.session(session.pk)["metadata"]
    assert (metadata["theirs"], metadata["openchamber"]["more"]) == ("\ud83d", "\udc00\0")
    assert metadata["openchamber"]["knowledge_context_carrier"] == sent.message_id


def test_a_model_error_is_shown_where_it_happened(
    panel: Client, session: Session, opencode: OpenCodeProcess, model: ScriptedModel
) -> None:
    model.when(Reply(status=400, text="the provider is unwell"), said="Question")
    talk(session, opencode, "Question")
    page = body(panel.get(url("session", session)))
    assert "the provider is unwell" in page
    assert "Send it again" in page


def test_long_histories_begin_at_the_newest_page(
    panel: Client, htmx: Client, session: Session, opencode: OpenCodeProcess
) -> None:
    for number in range(reading.PAGE + 5):
        opencode.prompt(session.pk, f"Message {number:03}.", noReply=True)
    page = body(panel.get(url("session", session)))
    assert "Message 054." in page
    assert "Message 004." not in page
    link = re.search(r'id="earlier-link" href="([^"]+)"', page)
    assert link is not None
    assert "Message 004." in body(panel.get(link[1]))
    fragment = body(htmx.get(link[1]))
    assert fragment.lstrip().startswith("<li")
    assert "earlier-link" not in fragment


def test_the_page_asks_as_often_for_many_messages_as_for_few(
    panel: Client, session: Session, opencode: OpenCodeProcess, count_queries: Callable[[Callable[[], Any]], int]
) -> None:
    for number in range(2):
        opencode.prompt(session.pk, f"Message {number}.", noReply=True)
    panel.get(url("session", session))
    few = count_queries(lambda: panel.get(url("session", session)))
    for number in range(18):
        opencode.prompt(session.pk, f"More {number}.", noReply=True)
    assert count_queries(lambda: panel.get(url("session", session))) == few


def test_the_page_stands_while_the_agent_server_does_not(panel: Client, unreachable: Session) -> None:
    page = panel.get(url("session", unreachable))
    assert page.status_code == 200
    assert "No agent server can be reached" in body(page)


def test_a_compaction_is_a_seam_with_its_summary(
    panel: Client, session: Session, opencode: OpenCodeProcess, model: ScriptedModel
) -> None:
    model.when("They spoke of *berths*.", kind="compaction")
    talk(session, opencode, "Hello")
    opencode.compact(session.pk)
    page = body(panel.get(url("session", session)))
    assert "Compacted: a summary replaced everything above" in page
    assert "They spoke of <em>berths</em>." in page


# Sending ----------------------------------------------------------------------------------


def test_a_sent_message_is_said(panel: Client, session: Session, opencode: OpenCodeProcess) -> None:
    answer = panel.post(url("send-message", session), {"text": "Hello", "agent": "build"})
    assert answer.status_code == 302
    assert answer["Location"] == url("session", session) + "#newest"
    # A message is there a moment before its parts.
    stored = wait_for(lambda: [m for m in opencode.messages(session.pk) if m["parts"]], what="the message being stored")
    assert stored[0]["parts"][-1]["text"] == "Hello"


def test_sending_with_htmx_answers_an_empty_composer_and_tells_the_page(htmx: Client, session: Session) -> None:
    answer = htmx.post(url("send-message", session), {"text": "Hello"})
    assert answer.status_code == 200
    assert answer["HX-Trigger"] == "conversation-changed" or "conversation-changed" in answer["HX-Trigger"]
    assert 'id="composer"' in body(answer)
    assert "Hello</textarea>" not in body(answer)


@pytest.mark.parametrize("text", ["", "  \n "])
def test_an_empty_message_is_refused(panel: Client, htmx: Client, session: Session, text: str) -> None:
    for client in (panel, htmx):
        answer = client.post(url("send-message", session), {"text": text})
        assert answer.status_code == 422
        assert "Write something first." in body(answer)


def test_what_was_typed_comes_back_when_the_agent_server_is_gone(
    panel: Client, htmx: Client, unreachable: Session
) -> None:
    for client in (panel, htmx):
        answer = client.post(url("send-message", unreachable), {"text": "Do not lose <this>"})
        assert answer.status_code == 502
        assert "Do not lose &lt;this&gt;</textarea>" in body(answer)
        assert "stays owed" in body(answer)


def test_the_same_text_again_is_the_same_message_and_another_text_is_not(htmx: Client, unreachable: Session) -> None:
    def attempt(text: str, before: str = "") -> str:
        answer = htmx.post(url("send-message", unreachable), {"text": text, "attempt": before})
        found = re.search(r'name="attempt" value="([^"]+)"', body(answer))
        assert found is not None
        return found[1]

    first = attempt("Hello")
    assert attempt("Hello", first) == first
    assert attempt("Hello again", first).split(":")[0] != first.split(":")[0]
    assert attempt("Hello", "msg_somebody_elses:0000") != "msg_somebody_elses:0000"


def test_a_message_whose_answer_got_lost_is_sent_once_however_often_it_is_tried(
    panel: Client, htmx: Client, session: Session, opencode: OpenCodeProcess
) -> None:
    def composer_of(page: Any) -> str:
        found = re.search(r'name="attempt" value="([^"]+)"', body(page))
        assert found is not None
        return found[1]

    composer = composer_of(panel.get(url("session", session)))
    for client in (htmx, panel, htmx):
        answer = client.post(url("send-message", session), {"text": "Hello", "attempt": composer})
        assert answer.status_code in (200, 302)
    htmx.post(url("send-message", session), {"text": "Hello, all", "attempt": composer})
    answer = htmx.post(url("send-message", session), {"text": "Bye", "attempt": composer_of(answer)})
    htmx.post(url("send-message", session), {"text": "Bye", "attempt": composer_of(answer)})
    opencode.wait_idle(session.pk)
    said = [m["parts"][-1]["text"] for m in opencode.messages(session.pk) if m["info"]["role"] == "user"]
    assert said == ["Hello", "Hello, all", "Bye", "Bye"]


@pytest.mark.parametrize("field", ["agent", "model"])
def test_what_the_agent_server_does_not_have_is_refused_with_the_text(
    panel: Client, htmx: Client, session: Session, opencode: OpenCodeProcess, field: str
) -> None:
    for client in (panel, htmx):
        answer = client.post(url("send-message", session), {"text": "Do not lose this", field: "nope/nope"})
        assert answer.status_code == 422
        assert "Do not lose this</textarea>" in body(answer)
        assert "OpenCode has no" in body(answer)
    assert opencode.messages(session.pk) == []


def test_a_message_can_go_without_context(
    panel: Client, session: Session, opencode: OpenCodeProcess, model: ScriptedModel
) -> None:
    first = talk(session, opencode, "Keep this")[0]["info"]["id"]
    panel.post(url("pin-message", session, first), {"pinned": "on"})
    opencode.compact(session.pk)
    session.disturb()
    panel.post(url("send-message", session), {"text": "Bare", "bare": "on"})
    opencode.wait_idle(session.pk)
    assert "Keep this" not in model.asked()[-1].said


# Pins -------------------------------------------------------------------------------------


def test_a_message_is_pinned_and_unpinned(panel: Client, session: Session, opencode: OpenCodeProcess) -> None:
    messages = talk(session, opencode, "Keep this")
    for message in (messages[0], messages[-1]):
        address = url("pin-message", session, message["info"]["id"])
        assert panel.post(address, {"pinned": "on"}).status_code == 302
        assert PinnedMessage.objects.filter(message_id=message["info"]["id"]).exists()
    assert body(panel.get(url("session", session))).count('aria-pressed="true"') == 2
    panel.post(url("pin-message", session, messages[0]["info"]["id"]), {"pinned": ""})
    assert PinnedMessage.objects.get().role == "assistant"


def test_pinning_with_htmx_answers_the_button_and_tells_work_status(
    htmx: Client, session: Session, opencode: OpenCodeProcess
) -> None:
    message = talk(session, opencode, "Keep this")[0]["info"]["id"]
    answer = htmx.post(url("pin-message", session, message), {"pinned": "on"})
    assert 'aria-pressed="true"' in body(answer)
    assert "riding-changed" in answer["HX-Trigger"]
    again = htmx.post(url("pin-message", session, message), {"pinned": "on"})
    assert 'aria-pressed="true"' in body(again)
    assert PinnedMessage.objects.count() == 1


def test_an_unknown_message_cannot_be_pinned(panel: Client, htmx: Client, session: Session) -> None:
    for client in (panel, htmx):
        assert client.post(url("pin-message", session, "msg_none"), {"pinned": "on"}).status_code == 404
    assert not PinnedMessage.objects.exists()


def test_a_pin_is_offered_where_a_watcher_or_the_plugin_keeps_its_promise(
    panel: Client, session: Session, server: AgentServer, opencode: OpenCodeProcess
) -> None:
    talk(session, opencode, "Keep this")

    def offered() -> bool:
        return "Cannot be pinned" not in body(panel.get(url("session", session)))

    assert not offered()
    hook = {"cause": "hook", "state": "confirmed", "expires_at": timezone.now()}
    rode = session.deliveries.create(sequence=1, settled_at=timezone.now(), **hook)
    assert offered()
    rode.settled_at = timezone.now() - timedelta(days=2)
    rode.save()
    assert not offered()
    server.connected(by=holder())
    assert offered()


def test_work_status_names_what_rides_and_what_was_told(
    panel: Client, htmx: Client, session: Session, opencode: OpenCodeProcess
) -> None:
    message = talk(session, opencode, "Keep this")[0]["info"]["id"]
    panel.post(url("pin-message", session, message), {"pinned": "on"})
    opencode.compact(session.pk)
    session.disturb()
    status = body(htmx.get(url("session-status", session)))
    assert "Keep this" in status
    assert 'data-state="owed"' in status
    assert "&lt;openchamber-context" in status
    panel.post(url("send-message", session), {"text": "Go on"})
    told = wait_for(lambda: session.deliveries.confirmed().first(), what="the delivery")
    assert 'data-state="held"' in body(panel.get(url("session-status", session)))
    assert "&lt;openchamber-context" in body(panel.get(url("told", session, str(told.pk))))


def test_a_note_is_detached_in_one_session_and_attached_again(panel: Client, htmx: Client, session: Session) -> None:
    address = reverse("knowledge:write-note", args=[session.project.slug])
    panel.post(address, {"body": "Berths have four letters.", "pinned": "on"})
    status = body(htmx.get(url("session-status", session)))
    key = re.search(r'name="key" value="(knowledge:note:\d+)"', status)
    assert key is not None
    answer = htmx.post(url("choose-item", session), {"key": key[1], "attached": ""})
    assert answer.status_code == 204
    assert "riding-changed" in answer["HX-Trigger"]
    assert "detached here" in body(htmx.get(url("session-status", session)))
    assert panel.post(url("choose-item", session), {"key": key[1], "attached": "on"}).status_code == 302
    assert "detached here" not in body(htmx.get(url("session-status", session)))


@pytest.mark.parametrize("key", ["", "knowledge:note:999", "knowledge:note:x", "session:message:1", "nobody:1"])
def test_what_does_not_ride_cannot_be_chosen(panel: Client, htmx: Client, session: Session, key: str) -> None:
    for client in (panel, htmx):
        assert client.post(url("choose-item", session), {"key": key, "attached": ""}).status_code == 404


def test_work_status_says_when_it_cannot_be_reckoned(htmx: Client, unreachable: Session) -> None:
    assert "Nothing is lost" in body(htmx.get(url("session-status", unreachable)))


# Live -------------------------------------------------------------------------------------


def live_address(page: str) -> str:
    """Where the page asks for news."""
    found = re.search(r'id="live" hx-get="([^"]+)"', page)
    assert found is not None
    return found[1].replace("&amp;", "&")


def test_nothing_new_is_204(panel: Client, htmx: Client, session: Session, opencode: OpenCodeProcess) -> None:
    talk(session, opencode, "Hello")
    address = live_address(body(panel.get(url("session", session))))
    assert htmx.get(address).status_code == 204


def test_an_answer_that_came_meanwhile_is_told(
    panel: Client, htmx: Client, session: Session, opencode: OpenCodeProcess
) -> None:
    talk(session, opencode, "Hello")
    address = live_address(body(panel.get(url("session", session))))
    talk(session, opencode, "And another")
    news = htmx.get(address)
    assert news.status_code == 200
    assert "And another" in body(news)
    assert 'hx-target="#settled"' in body(news)
    assert htmx.get(live_address(body(news))).status_code == 204


def test_a_thread_whose_turn_is_gone_is_drawn_anew(panel: Client, htmx: Client, session: Session) -> None:
    address = live_address(body(panel.get(url("session", session))))
    news = htmx.get(re.sub(r"turn=[^&]*&seen=[^&]*", "turn=msg_gone&seen=", address))
    assert news["HX-Retarget"] == "#thread"
    assert all(f'hx-target="#{part}"' in body(news) for part in ("session-state", "strip", "stop"))


# Acts -------------------------------------------------------------------------------------


def test_a_session_is_renamed(panel: Client, htmx: Client, session: Session, opencode: OpenCodeProcess) -> None:
    assert "Tides" in body(panel.get(url("rename-session", session)))
    assert panel.post(url("rename-session", session), {"title": "Berths"}).status_code == 302
    assert opencode.session(session.pk)["title"] == "Berths"
    answer = htmx.post(url("rename-session", session), {"title": "Quays"})
    assert answer["HX-Redirect"] == url("session", session)
    assert panel.post(url("rename-session", session), {"title": ""}).status_code == 422


def test_a_fork_is_a_session_of_its_own(panel: Client, session: Session, opencode: OpenCodeProcess) -> None:
    talk(session, opencode, "Hello")
    answer = panel.post(url("fork-session", session), {"before": ""})
    copy = Session.objects.exclude(pk=session.pk).get()
    assert answer["Location"] == url("session", copy)
    assert len(opencode.messages(copy.pk)) == len(opencode.messages(session.pk))


def test_a_turn_is_taken_back_and_brought_back(
    panel: Client, htmx: Client, session: Session, opencode: OpenCodeProcess
) -> None:
    message = talk(session, opencode, "Hello")[0]["info"]["id"]
    assert htmx.post(url("revert-session", session), {"message": message}).status_code == 204
    page = body(panel.get(url("session", session)))
    assert "data-reverted" in page
    assert "Bring it back" in page
    assert panel.post(url("unrevert-session", session)).status_code == 302
    assert "data-reverted" not in body(panel.get(url("session", session)))


def test_a_session_is_archived_and_comes_back(panel: Client, htmx: Client, session: Session) -> None:
    listed = reverse("openchamber:sessions", args=[session.project.slug])
    assert panel.post(url("archive-session", session), {"archived": "on"})["Location"] == listed
    assert f'id="session-{session.pk}"' not in body(panel.get(listed))
    archive = body(panel.get(listed, {"archived": 1}))
    assert f'id="session-{session.pk}"' in archive
    assert "Archived sessions</h1>" in archive
    assert 'id="session-form"' not in archive
    assert htmx.post(url("archive-session", session))["HX-Redirect"] == url("session", session)
    assert f'id="session-{session.pk}"' in body(panel.get(listed))


def test_a_running_turn_is_stopped(
    panel: Client, session: Session, opencode: OpenCodeProcess, model: ScriptedModel
) -> None:
    model.when(Reply(text="a b c", hold="gate"), said="Slowly")
    opencode.prompt(session.pk, "Slowly", wait=False)
    model.wait_asked(1)
    assert panel.post(url("stop-session", session)).status_code == 302
    opencode.wait_idle(session.pk)


def test_a_failed_turn_is_tried_again(
    htmx: Client, session: Session, opencode: OpenCodeProcess, model: ScriptedModel
) -> None:
    model.when(Reply(status=400, text="unwell"), said="Question", times=1)
    talk(session, opencode, "Question")
    assert htmx.post(url("retry-session", session)).status_code == 204
    wait_for(lambda: any("echo: Question" in str(m["parts"]) for m in opencode.messages(session.pk)), what="an answer")
    said = [m for m in opencode.messages(session.pk) if m["info"]["role"] == "user"]
    assert len(said) == 1


def test_two_who_try_again_at_once_send_once(
    htmx: Client, session: Session, opencode: OpenCodeProcess, model: ScriptedModel
) -> None:
    model.when(Reply(status=400, text="unwell"), said="Question", times=1)
    talk(session, opencode, "Question")
    with ThreadPoolExecutor(3) as pool:
        tries = [pool.submit(closing, lambda: htmx.post(url("retry-session", session)).status_code) for _n in range(3)]
    assert [done.result() for done in tries].count(204) == 1
    wait_for(lambda: "echo: Question" in str(opencode.messages(session.pk)), what="an answer")
    assert len([m for m in opencode.messages(session.pk) if m["info"]["role"] == "user"]) == 1


def closing(work: Callable[[], Any]) -> Any:
    """Work in a thread of its own, which leaves no connection behind."""
    try:
        return work()
    finally:
        connections.close_all()


def test_a_try_that_fails_leaves_the_message_where_it_was(
    htmx: Client, session: Session, opencode: OpenCodeProcess, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    model.when(Reply(status=400, text="unwell"), said="Question", times=1)
    talk(session, opencode, "Question")

    def broken(*_given: Any, **_more: Any) -> None:
        raise Unreachable("broke off")

    with monkeypatch.context() as patch:
        patch.setattr(OpenCode, "prompt", broken)
        assert htmx.post(url("retry-session", session)).status_code == 502
    assert "revert" not in opencode.session(session.pk)
    assert htmx.post(url("retry-session", session)).status_code == 204
    wait_for(lambda: "echo: Question" in str(opencode.messages(session.pk)), what="an answer")


def test_what_was_attached_is_sent_again_with_its_words(
    htmx: Client, session: Session, opencode: OpenCodeProcess, model: ScriptedModel
) -> None:
    model.when(Reply(status=400, text="unwell"), times=1)
    picture = {"type": "file", "mime": "image/png", "filename": "tide.png", "url": f"data:image/png;base64,{DOT}"}
    opencode.prompt(session.pk, "Look", picture)
    opencode.wait_idle(session.pk)
    assert htmx.post(url("retry-session", session)).status_code == 204
    wait_for(lambda: "echo: Look" in str(opencode.messages(session.pk)), what="an answer")
    [said] = [m for m in opencode.messages(session.pk) if m["info"]["role"] == "user"]
    assert [(part["type"], part.get("filename")) for part in said["parts"]] == [("text", None), ("file", "tide.png")]


def test_a_compaction_that_failed_is_no_success(
    panel: Client, htmx: Client, session: Session, opencode: OpenCodeProcess, model: ScriptedModel
) -> None:
    talk(session, opencode, "Hello")
    model.when(Reply(status=400, text="no summary today"), kind="compaction", times=2)
    refused = htmx.post(url("compact-session", session))
    assert refused.status_code == 502
    assert "no summary today" in refused["HX-Trigger"]
    assert panel.post(url("compact-session", session)).status_code == 502


def test_a_prompt_that_a_failed_compaction_ate_is_offered_again(
    panel: Client, htmx: Client, session: Session, opencode: OpenCodeProcess, model: ScriptedModel
) -> None:
    talk(session, opencode, "Hello")
    model.when(Reply(status=400, text="no summary today"), kind="compaction", times=1)
    opencode.compact(session.pk)
    opencode.wait_idle(session.pk)
    assert "no summary today" in body(panel.get(url("session", session)))
    opencode.prompt(session.pk, "Eaten?")
    opencode.wait_idle(session.pk)
    assert "Send it again" in body(panel.get(url("session", session)))
    assert htmx.post(url("retry-session", session)).status_code == 204
    wait_for(lambda: "echo: Eaten?" in str(opencode.messages(session.pk)), what="an answer")


def test_an_answered_turn_is_not_tried_again(
    panel: Client, htmx: Client, session: Session, opencode: OpenCodeProcess
) -> None:
    talk(session, opencode, "Question")
    for client in (panel, htmx):
        assert client.post(url("retry-session", session)).status_code == 422


def test_a_session_is_compacted(panel: Client, htmx: Client, session: Session, opencode: OpenCodeProcess) -> None:
    assert panel.post(url("compact-session", session)).status_code == 409
    talk(session, opencode, "Hello")
    assert htmx.post(url("compact-session", session)).status_code == 204
    assert any(m["info"].get("summary") is True for m in opencode.messages(session.pk))


@pytest.mark.parametrize("name", ["stop-session", "unrevert-session", "compact-session"])
def test_acts_say_when_the_agent_server_is_gone(panel: Client, htmx: Client, unreachable: Session, name: str) -> None:
    assert panel.post(url(name, unreachable)).status_code == 502
    refused = htmx.post(url(name, unreachable))
    assert refused.status_code == 502
    assert "No agent server can be reached" in refused["HX-Trigger"]


def test_acts_are_never_done_by_a_link(panel: Client, session: Session) -> None:
    for name in ("compact-session", "stop-session", "fork-session", "archive-session", "send-message"):
        assert panel.get(url(name, session)).status_code == 405


# Asked ------------------------------------------------------------------------------------


def test_a_question_is_loud_and_answered(
    panel: Client, htmx: Client, session: Session, opencode: OpenCodeProcess, model: ScriptedModel
) -> None:
    options = [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}]
    asked = {"questions": [{"question": "Which colour?", "header": "Colour", "options": options}]}
    model.when(Reply(tool_calls=(("question", asked),)), said="Ask me", last_role="user")
    opencode.prompt(session.pk, "Ask me", wait=False)
    address = url("session", session)
    page = wait_for(lambda: text if "Which colour?" in (text := body(panel.get(address))) else "", what="the question")
    strip = page.partition('id="strip"')[2].partition("</div>")[0]
    assert "Which colour?" in strip
    assert "<span>writing</span>" not in page
    listed = body(panel.get(reverse("openchamber:sessions", args=[session.project.slug])))
    assert "waiting for you" in listed
    found = re.search(r'id="ask-(que_\w+)"', page)
    assert found is not None
    answer = url("answer-question", session, found[1])
    assert htmx.post(answer).status_code == 422
    assert htmx.post(answer, {"answer-0": "Blue"}).status_code == 204
    opencode.wait_idle(session.pk)
    assert model.saw("Blue")
    assert panel.post(answer, {"answer-0": "Blue"}).status_code == 422


def test_a_permission_is_asked_for_and_given(
    panel: Client, htmx: Client, start_opencode: Callable[..., OpenCodeProcess], model: ScriptedModel, project: Project
) -> None:
    opencode = start_opencode(config={"permission": {"bash": "ask"}})
    server = AgentServer.objects.create(url=opencode.url, password=opencode.password)
    session = rows.create_session(server, project, title="Careful")
    model.when(Reply(tool_calls=(("bash", {"command": "echo hi", "description": "x"}),)), said="Run", last_role="user")
    delivery.send_message(session, Prompt("Run it"))
    address = url("session", session)
    page = wait_for(lambda: text if "Allow once" in (text := body(panel.get(address))) else "", what="the permission")
    found = re.search(r'id="ask-(per_\w+)"', page)
    assert found is not None
    assert "echo hi" in page
    reply = url("answer-permission", session, found[1])
    assert panel.post(reply, {"reply": "perhaps"}).status_code == 422
    assert htmx.post(reply, {"reply": "once"}).status_code == 204
    opencode.wait_idle(session.pk)
    states = [part.get("state", {}) for message in opencode.messages(session.pk) for part in message["parts"]]
    assert any(state.get("status") == "completed" for state in states)
    delivery_is_quiet()
