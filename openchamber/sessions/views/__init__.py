"""The pages of sessions, and what every one of them begins with."""

from __future__ import annotations

from django.urls import reverse
from django.utils.translation import gettext as _

from openchamber.errors import Conflict, NotFound
from openchamber.models import Project, Session
from openchamber.panel import PanelRequest
from openchamber.projects import access
from openchamber.sessions import ids, rows
from openchamber.sessions.opencode import OpenCode, client_for


def project_of(request: PanelRequest, slug: str) -> Project:
    """The project that a page is about, if the caller may see it."""
    return access.signed_in(request).project(slug)


def session_of(request: PanelRequest, slug: str, session_id: str) -> Session:
    """The session that a page is about: one of a project that the caller may see."""
    project = project_of(request, slug)
    session = rows.find_session(session_id)
    if session is None or session.project_id != project.pk:
        raise NotFound(_("There is no such session in this project."))
    return session


def message_named(key: str) -> str:
    """The id of a message that a form names; what no message can be called is not asked about."""
    if not ids.is_message(key):
        raise NotFound(_("There is no such message in this session."))
    return key


def messages_url(session: Session) -> str:
    """Where the session's messages are; each one's page is below it."""
    assert session.project is not None
    return reverse("openchamber:messages", args=[session.project.slug, session.pk])


def client_of(session: Session) -> OpenCode:
    """The client of the session's agent server."""
    if session.server is None:
        raise Conflict(_("No agent server can be asked about this session."))
    return client_for(session.server)
