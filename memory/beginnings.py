"""Beginnings: a session's first act makes the scope that its agent keeps things in."""

from __future__ import annotations

from typing import Any

from django.dispatch import receiver

from memory.models import Agent, Switches
from memory.wanted import holder_in
from openchamber.models import Session
from openchamber.signals import session_started


@receiver(session_started)
def make_scopes(session: Session, **_more: Any) -> None:
    """Make the default agent's scopes for the session's directory, unless memory is off or the directory temporary."""
    if not Switches.current().enabled:
        return
    agent = Agent.objects.default()
    if agent.memory_enabled:
        holder = holder_in(session.project, session, agent)
        for kind in holder.keys:
            holder.scope(kind)
