"""Tools that the plugin offers: what the server says when the instance starts, its last answer when it is down."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.agent_server.chamber import Chamber, plugin
from tests.agent_server.opencode_process import OpenCodeProcess, free_port
from tests.agent_server.scripted_model import Reply, ScriptedModel
from tests.agent_server.serve_process import Installation, ServeProcess

NAME = "openchamber_knowledge"


def test_the_agent_searches_and_reads_what_the_user_wrote(
    install: Callable[..., Installation],
    start_serve: Callable[..., ServeProcess],
    start_opencode: Callable[..., OpenCodeProcess],
    model: ScriptedModel,
    git_directory: Path,
    tmp_path: Path,
) -> None:
    port = free_port()
    opencode = start_opencode(plugins=[plugin(port, cache=str(tmp_path / "tools"))])
    chamber = Chamber(start_serve(install(opencode=opencode), port=port), opencode, model, git_directory)
    note = chamber.note("Berths are named by four letters.", pinned=False)
    session = chamber.session()
    call = Reply(tool_calls=((NAME, {"action": "search", "query": "berths"}),))
    model.when(call, said="Look it up", last_role="user")

    chamber.send(session, "Look it up")

    tools = {tool["function"]["name"]: tool["function"] for tool in model.asked(session=session)[0].body["tools"]}
    assert "query" in tools[NAME]["parameters"]["properties"]
    assert tools[NAME]["parameters"]["required"] == ["action"]
    answers = [text for role, text in chamber.last_asked(session).conversation if role == "tool"]
    assert "four letters" in answers[0]
    assert str(note) in answers[0]

    chamber.serve.stop()
    opencode.restart()
    fresh = opencode.create_session(git_directory)
    opencode.prompt(fresh, "the server is down")
    assert NAME in chamber.last_asked(fresh).tools
    model.when(call, said="Now", last_role="user")
    opencode.prompt(fresh, "Now")
    last: Any = chamber.last_asked(fresh).conversation[-1]
    assert last[0] == "tool"
