"""Agent and model by name: refused where the agent server has none, believed for a while where it has."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import Any

import pytest

from openchamber.errors import Invalid
from openchamber.sessions import choices
from openchamber.sessions.opencode import Unreachable


class Server:
    """What an agent server says of its agents and models, and how often it was asked."""

    url = "http://agent"

    def __init__(self) -> None:
        self.agents, self.models_known, self.asked = {"build"}, ["local/small"], Counter[str]()
        self.away = False

    def agent_names(self, _directory: str) -> set[str]:
        self.ask("agents")
        return set(self.agents)

    def models(self, _directory: str) -> list[Any]:
        self.ask("models")
        return [SimpleNamespace(id=name) for name in self.models_known]

    def ask(self, what: str) -> None:
        if self.away:
            raise Unreachable("away")
        self.asked[what] += 1


@pytest.fixture
def server() -> Server:
    choices.forget()
    return Server()


def check(server: Server, agent: str = "", model: str = "", directory: str = "/shop") -> None:
    choices.check(server, directory, agent=agent, model=model)  # type: ignore[arg-type]


def test_what_is_there_is_asked_for_once(server: Server) -> None:
    for _time in range(3):
        check(server, "build", "local/small")
    assert server.asked == {"agents": 1, "models": 1}
    check(server, "build", directory="/elsewhere")
    assert server.asked["agents"] == 2


def test_what_is_not_there_is_refused_and_asked_for_again(server: Server) -> None:
    with pytest.raises(Invalid) as refused:
        check(server, "biuld", "local/smal")
    assert set(refused.value.fields) == {"agent", "model"}
    server.agents.add("biuld")
    check(server, "biuld")


def test_nothing_named_asks_nothing_and_a_server_that_is_away_refuses_nothing(server: Server) -> None:
    check(server)
    assert not server.asked
    server.away = True
    check(server, "anything", "at/all")
