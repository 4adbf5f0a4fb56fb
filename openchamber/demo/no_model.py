"""Whether the agent server has a model to answer with, and what can be done where it has none."""

from __future__ import annotations

from dataclasses import dataclass

from openchamber.models import AgentServer
from openchamber.sessions import choices
from openchamber.sessions.opencode import client_for
from openchamber.sessions.servers import Child


@dataclass(frozen=True, slots=True)
class NoModel:
    """Nobody set up a model. `public`: there are OpenCode's own, which need the network; `demo` says what
    stands between here and the demo: nothing (`startable`), that it runs but the user's configuration
    leaves it out (`left_out`), or that this OpenCode is not ours to start again (`foreign`)."""

    server: AgentServer
    public: bool
    demo: str


def no_model(server: AgentServer, directory: str) -> NoModel | None:
    """What is missing in `directory`; None where there is a model, or where it cannot be asked for."""
    agents, models = choices.offered(client_for(server), directory)
    if not agents or not all(model.public for model in models):
        return None
    return NoModel(server, public=bool(models), demo=_demo(server))


def _demo(server: AgentServer) -> str:
    child = Child.running
    if child is None or server.source != AgentServer.Source.STARTED:
        return "foreign"
    return "left_out" if child.demo else "startable"
