"""The agent's tool: it searches and reads what the user wrote, where it works, and nothing else."""

from __future__ import annotations

import json

import pytest
from django.utils import timezone

from knowledge.tool import CHUNK, call_that_reads
from knowledge.wanted import note_item, plan_item
from openchamber.models import ApiToken, PinnedMessage, Project, Session
from openchamber.sessions.carriers import message_hash


@pytest.fixture
def tool(client, owner, project):
    """The tool, called in the project's directory by an agent's token."""
    _token, secret = ApiToken.make(name="agent", user=owner, scope=ApiToken.Scope.AGENT)

    def call(**arguments):
        body = json.dumps({"directory": project.directory, **arguments})
        headers = {"Authorization": f"Bearer {secret}"}
        return client.post("/api/knowledge/tool", body, content_type="application/json", headers=headers)

    return call


def test_a_search_names_what_to_read(tool, write_note, write_plan, write_todo):
    note, plan = write_note("The berth is H4."), write_plan("# Berths\n\nEvery berth.")
    write_todo("Paint the berth")
    answer = tool(action="search", query="berth").json()
    assert f"- note {note.pk} “The berth is H4.”" in answer["text"]
    assert {(hit["kind"], hit["id"]) for hit in answer["results"]} >= {("note", str(note.pk)), ("plan", str(plan.pk))}
    assert "<mark>" not in answer["text"]
    assert [hit["kind"] for hit in tool(action="search", query="berth", kind="todo").json()["results"]] == ["todo"]
    assert "Nothing matches" in tool(action="search", query="zzz").json()["text"]


def test_the_call_that_a_cut_text_names_reads_it(tool, write_note, write_plan):
    for item in (note_item(write_note("A note.")), plan_item(write_plan("# A plan"))):
        name, _space, arguments = item.reads.partition(" ")
        assert name == "openchamber_knowledge"
        assert item.text in tool(**json.loads(arguments)).json()["text"]


def test_a_long_plan_is_read_piece_by_piece(tool, write_plan):
    body = "".join(f"line {number}\n" for number in range(6000))
    plan = write_plan(body)
    read, start = "", 0
    while start is not None:
        answer = tool(action="read", kind="plan", id=str(plan.pk), **{"from": start}).json()
        piece = answer["text"].split("\n", 1)[1]
        if answer["next"]:
            piece, _newline, hint = piece.rpartition("\n")
            assert call_that_reads("plan", plan.pk, answer["next"]) in hint
        read, start = read + piece, answer["next"]
    assert read == body
    assert answer["total"] == len(body) > 2 * CHUNK


def test_a_pinned_message_of_the_session_is_read_by_id_and_by_hash(tool, project):
    session = Session.objects.create(id="ses_1", project=project)
    PinnedMessage.objects.create(
        session=session, message_id="msg_1", role="user", text="Remember this.", written_at=timezone.now()
    )
    for key in (
        "msg_1",
        message_hash("user", "Remember this."),
        f"session:message:{message_hash('user', 'Remember this.')}",
    ):
        assert "Remember this." in tool(action="read", kind="message", id=key, session="ses_1").json()["text"]
    assert tool(action="read", kind="message", id="msg_1", session="ses_2").status_code == 404
    assert tool(action="read", kind="message", id="msg_1").status_code == 404


def test_what_is_deleted_or_belongs_elsewhere_is_not_read(tool, write_note, by, tmp_path):
    other = Project.objects.create(name="Other", slug="other", directory=str(tmp_path / "other"))
    foreign, deleted = write_note("foreign", project=other), write_note("deleted")
    deleted.bin(by=by)
    for note in (foreign, deleted):
        assert tool(action="read", kind="note", id=str(note.pk)).status_code == 404
        assert tool(action="search", query=note.title).json()["results"] == []


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        ({"action": "write"}, 422),
        ({}, 422),
        ({"action": "search"}, 422),
        ({"action": "search", "query": " "}, 422),
        ({"action": "read", "kind": "note"}, 404),
        ({"action": "read", "kind": "note", "id": "x"}, 404),
        ({"action": "read", "kind": "", "id": "1"}, 422),
        ({"action": "read", "kind": "song", "id": "1"}, 422),
        ({"action": "search", "query": "x", "directory": "/nowhere"}, 404),
        ({"action": "search", "query": "x", "directory": ""}, 404),
        ({"action": "search", "query": "\x00"}, 200),
    ],
)
def test_a_wrong_call_is_told_what_is_wrong(tool, arguments, status):
    answer = tool(**arguments)
    assert answer.status_code == status
    if status >= 400:
        assert answer.json()["error"]["message"]


def test_a_token_of_another_project_reads_nothing_here(client, owner, project, write_note, tmp_path):
    write_note("secret")
    other = Project.objects.create(name="Other", slug="other", directory=str(tmp_path / "other"))
    _token, secret = ApiToken.make(name="bound", user=owner, scope=ApiToken.Scope.AGENT, projects=[other])
    answer = client.post(
        "/api/knowledge/tool",
        json.dumps({"directory": project.directory, "action": "search", "query": "secret"}),
        content_type="application/json",
        headers={"Authorization": f"Bearer {secret}"},
    )
    assert answer.status_code == 404


def test_the_plugin_is_offered_the_tool_where_there_is_a_project(api, project):
    tools = api("GET", f"/context/tools?directory={project.directory}").json()["tools"]
    (offered,) = [tool for tool in tools if tool["name"] == "openchamber_knowledge"]
    assert offered["path"] == "/api/knowledge/tool"
    assert set(offered["schema"]["properties"]) == {"action", "query", "kind", "id", "from", "limit"}
    tools = api("GET", "/context/tools?directory=/nowhere").json()["tools"]
    assert "openchamber_knowledge" not in [tool["name"] for tool in tools]
