"""The rows of the session runtime, by idea."""

from openchamber.models.access import ApiToken, SignInLink
from openchamber.models.deliveries import Delivery
from openchamber.models.leases import Lease
from openchamber.models.projects import Project
from openchamber.models.sessions import AgentServer, PinnedMessage, Session

__all__ = ["AgentServer", "ApiToken", "Delivery", "Lease", "PinnedMessage", "Project", "Session", "SignInLink"]
