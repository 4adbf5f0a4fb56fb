"""Agent and model by name, checked before a send: the agent server takes any, and then does nothing."""

from __future__ import annotations

import logging

from django.utils.translation import gettext as _

from openchamber.errors import Invalid
from openchamber.sessions.opencode import AgentServerError, OpenCode

logger = logging.getLogger(__name__)


def check(client: OpenCode, directory: str, *, agent: str, model: str) -> None:
    """Refuse (`Invalid`) an agent or model that the agent server does not have; "" is whatever it chooses.

    Where it cannot be asked nothing is refused: the send itself will say what is wrong.
    """
    try:
        unknown_agent = bool(agent) and agent not in client.agent_names(directory)
        unknown_model = bool(model) and model not in {known.id for known in client.models(directory)}
    except AgentServerError as error:
        logger.info("agent and model were not checked: %s", error)
        return
    fields = {"agent": [_("OpenCode has no agent of this name.")]} if unknown_agent else {}
    fields |= {"model": [_("OpenCode has no such model. Write it as provider/model.")]} if unknown_model else {}
    if fields:
        raise Invalid(fields=fields)
