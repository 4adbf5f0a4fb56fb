"""Agent and model by name, checked before a send: the agent server takes any, and then does nothing."""

from __future__ import annotations

import hashlib
import logging

from django.core.cache import cache
from django.utils.translation import gettext as _

from openchamber.errors import Invalid
from openchamber.sessions.opencode import AgentServerError, OpenCode

logger = logging.getLogger(__name__)


KNOWN_SECONDS = 60  # an agent or model that was there is believed to be there for so long


def check(client: OpenCode, directory: str, *, agent: str, model: str) -> None:
    """Refuse (`Invalid`) an agent or model that the agent server does not have; "" is whatever it chooses.

    Where it cannot be asked nothing is refused: the send itself will say what is wrong.
    """
    try:
        unknown_agent = bool(agent) and not _has(client, directory, "agent", agent)
        unknown_model = bool(model) and not _has(client, directory, "model", model)
    except AgentServerError as error:
        logger.info("agent and model were not checked: %s", error)
        return
    fields = {"agent": [_("OpenCode has no agent of this name.")]} if unknown_agent else {}
    fields |= {"model": [_("OpenCode has no such model. Write it as provider/model.")]} if unknown_model else {}
    if fields:
        raise Invalid(fields=fields)


def _has(client: OpenCode, directory: str, kind: str, name: str) -> bool:
    """Whether the agent server has it. Asked for every name that was not there a moment ago, so a new one is seen."""
    key = "has:" + hashlib.sha256("\0".join((client.url, directory, kind, name)).encode()).hexdigest()
    if cache.get(key):
        return True
    known = client.agent_names(directory) if kind == "agent" else {found.id for found in client.models(directory)}
    if name in known:
        cache.set(key, True, KNOWN_SECONDS)
    return name in known
