"""Agents and models: which there are to choose from, and whether one that is named is among them.

The agent server takes any name, and then does nothing. What it has changes with its configuration only, while every
page and every send asks: so it is remembered for a while.
"""

from __future__ import annotations

import logging
import time
from typing import Any, Literal

from django.utils.translation import gettext as _

from openchamber.errors import Invalid
from openchamber.sessions.catalogue import AgentInfo, ModelInfo
from openchamber.sessions.opencode import AgentServerError, OpenCode

logger = logging.getLogger(__name__)

KNOWN_SECONDS = 30

Kind = Literal["agents", "agent_names", "models"]  # as the client's methods are called

_known: dict[tuple[str, str, Kind], tuple[float, Any]] = {}


def offered(client: OpenCode, directory: str) -> tuple[list[AgentInfo], list[ModelInfo]]:
    """The agents and models to choose from; both empty while they cannot be asked for."""
    try:
        return _remembered(client, directory, "agents"), _remembered(client, directory, "models")
    except AgentServerError:
        return [], []


def check(client: OpenCode, directory: str, *, agent: str, model: str) -> None:
    """Refuse (`Invalid`) an agent or model that the agent server does not have; "" is whatever it chooses.

    Where it cannot be asked nothing is refused: the send itself will say what is wrong.
    """
    try:
        unknown_agent = bool(agent) and not _has(client, directory, "agent_names", agent)
        unknown_model = bool(model) and not _has(client, directory, "models", model)
    except AgentServerError as error:
        logger.info("agent and model were not checked: %s", error)
        return
    fields = {"agent": [_("OpenCode has no agent of this name.")]} if unknown_agent else {}
    fields |= {"model": [_("OpenCode has no such model. Write it as provider/model.")]} if unknown_model else {}
    if fields:
        raise Invalid(fields=fields)


def forget() -> None:
    """The agent server was set up anew: ask it again."""
    _known.clear()


def _has(client: OpenCode, directory: str, kind: Kind, name: str) -> bool:
    """Whether the agent server has it. Asked anew for what was not there a moment ago, so a new one is seen."""
    for anew in (False, True):
        found = _remembered(client, directory, kind, anew=anew)
        if name in ({model.id for model in found} if kind == "models" else found):
            return True
    return False


def _remembered(client: OpenCode, directory: str, kind: Kind, *, anew: bool = False) -> Any:
    key = (client.url, directory, kind)
    at, found = _known.get(key, (0.0, None))
    if anew or found is None or time.monotonic() - at > KNOWN_SECONDS:
        found = getattr(client, kind)(directory)
        _known[key] = (time.monotonic(), found)
    return found
