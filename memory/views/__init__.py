"""The pages of agents' memory, and what every one of them begins with."""

from __future__ import annotations

from django.shortcuts import get_object_or_404

from memory.access import visible_scopes
from memory.models import Agent, Author, Entry, Through
from memory.models.scopes import ScopeQuerySet
from memory.reading import sound
from memory.refusals import readable
from openchamber.panel import PanelRequest
from openchamber.projects import access


def author(request: PanelRequest) -> Author:
    """Who changes something on a page."""
    return Author(Through.PANEL, request.user)


def agent_of(slug: str) -> Agent:
    """The agent that a page is about."""
    return Agent.objects.default() if slug == "default" else get_object_or_404(Agent, slug=slug)


def scopes_for(request: PanelRequest, agent: Agent) -> ScopeQuerySet:
    """The agent's scopes that the caller sees."""
    return visible_scopes(access.signed_in(request)).filter(agent=agent).select_related("agent")


def entry_of(request: PanelRequest, slug: str, pk: int, *, live: bool = True) -> Entry:
    """The entry that a page or an act is about, if the caller sees its scope."""
    rows = Entry.objects.filter(scope__in=scopes_for(request, agent_of(slug))).select_related("scope__agent")
    with readable():
        return sound(get_object_or_404(rows.live() if live else rows, pk=pk))
