"""The list of a project's sessions, and the page of one."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST
from django_htmx.http import HttpResponseClientRedirect

from openchamber.models import AgentServer, Project, Session
from openchamber.panel import PanelRequest
from openchamber.sessions import choices, listing, reading, riding, rows, servers
from openchamber.sessions import status as work_status
from openchamber.sessions.forms import MessageForm, SessionForm
from openchamber.sessions.opencode import AgentServerError, client_for
from openchamber.sessions.views import client_of, messages_url, project_of, session_of


def url_of(session: Session) -> str:
    """The session's page."""
    assert session.project is not None
    return reverse("openchamber:session", args=[session.project.slug, session.pk])


# The list ---------------------------------------------------------------------------------


@require_GET
def sessions(request: PanelRequest, slug: str) -> HttpResponse:
    """The project's sessions, and the form for a new one."""
    return session_list(request, project_of(request, slug), SessionForm())


def session_list(
    request: PanelRequest, project: Project, form: SessionForm, *, status: int = 200, problem: str = ""
) -> HttpResponse:
    """The page, or the list alone, around a form that may have errors."""
    part = "#sessions" if request.htmx and request.method == "GET" else ""
    context = {**listed(request, project), "project": project, "form": form, "current": request.GET.get("at", "")}
    if part and context["list_seen"] == request.GET.get("seen"):
        return HttpResponse(status=204)
    context["problem"] = problem or context["problem"]
    return render(request, f"openchamber/session_list.html{part}", context, status=status)


def listed(request: PanelRequest, project: Project) -> dict[str, Any]:
    """What the list of sessions shows; `problem` says why there is none."""
    search = request.GET.get("find", "").strip()
    archived = bool(request.GET.get("archived"))
    context: dict[str, Any] = {"find": search, "archived": archived, "problem": "", "list_seen": ""}
    server = AgentServer.objects.usable().first()
    if server is None:
        return {**context, "listed": [], "server": None}
    try:
        found = listing.sessions(client_for(server), project, search=search, archived=archived)
    except AgentServerError as error:
        return {**context, "listed": [], "server": server, "problem": str(error)}
    return {**context, "listed": found, "server": server, "list_seen": listing.revision(found), "most": listing.SHOWN}


@require_POST
def create_session(request: PanelRequest, slug: str) -> HttpResponse:
    """Make a session in the project's directory and go to it."""
    project = project_of(request, slug)
    form = SessionForm(request.POST)
    if not form.is_valid():
        return session_list(request, project, form, status=422)
    try:
        session = rows.create_session(servers.current_server(), project, title=form.cleaned_data["title"])
    except AgentServerError as error:
        if request.htmx:
            raise
        return session_list(request, project, form, status=502, problem=str(error))
    url = url_of(session)
    return HttpResponseClientRedirect(url) if request.htmx else redirect(url)


@require_POST
def look_again(request: PanelRequest) -> HttpResponse:
    """Look for an agent server that was started meanwhile."""
    try:
        found = servers.find()
    except AgentServerError as error:
        messages.error(request, str(error))
        return redirect("openchamber:projects")
    if found is None:
        messages.warning(request, _("No OpenCode answers at %(url)s yet.") % {"url": servers.DEFAULT_URL})
    return redirect("openchamber:projects")


# The page of one --------------------------------------------------------------------------


@require_GET
def session(request: PanelRequest, slug: str, session_id: str) -> HttpResponse:
    """The conversation, what one writes to it, and what rides with it."""
    return session_page(request, session_of(request, slug, session_id))


def session_page(
    request: PanelRequest, session: Session, form: MessageForm | None = None, *, status: int = 200
) -> HttpResponse:
    """The whole page, around a composer that may have errors. It also stands while the agent server does not."""
    assert session.project is not None
    asked = ask(session)
    around = listed(request, session.project)
    read = conversation(session, asked)
    context = {
        **around,
        **read,
        **composer(session, read["look"], form),
        **work(session, read["look"]),
    }
    context |= {"project": session.project, "session": session, "current": session.pk}
    context["messages_url"] = messages_url(session)
    context["reached"] = session.reached
    if form is None and "text" in request.GET:  # what was sent here to be said, a todo for instance
        context["composer"].initial["text"] = request.GET["text"]
    return render(request, "openchamber/session.html", context, status=status)


def ask(session: Session) -> reading.Asked | None:
    """Let the agent server begin with the conversation; None where there is none to ask."""
    try:
        return reading.ask(session, client_of(session))
    except AgentServerError:
        return None  # `conversation` says why


def conversation(session: Session, asked: reading.Asked | None = None) -> dict[str, Any]:
    """The thread, or why it cannot be read."""
    try:
        found = reading.look(session, client_of(session), asked=asked)
        return {"look": found, "seen": reading.revision(session, found), "unread": ""}
    except AgentServerError as error:
        return {"look": None, "unread": str(error)}


def composer(session: Session, look: reading.Look | None, form: MessageForm | None = None) -> dict[str, Any]:
    """The composer, with the agents and models to choose from; those of the last turn are chosen."""
    agents, models = choices.offered(client_of(session), session.directory)
    chosen = {"agent": look.info.agent, "model": look.info.model} if look else {}
    form = form or MessageForm(initial=chosen)
    return {"composer": form, "agents": agents, "models": models}


def work(session: Session, look: reading.Look | None = None) -> dict[str, Any]:
    """Work status, or why it cannot be reckoned."""
    try:
        found = work_status.status(session, look.info.agent if look else "")
    except AgentServerError as error:
        return {"riding": None, "unreckoned": str(error)}
    groups = riding.groups(found)
    return {"riding": found, "groups": groups, "bars": riding.bars(groups, found.budget), "unreckoned": ""}


@require_GET
def status(request: PanelRequest, slug: str, session_id: str) -> HttpResponse:
    """Work status by itself."""
    session = session_of(request, slug, session_id)
    part = "#work-status" if request.htmx else ""
    context = {**work(session, conversation(session)["look"]), "project": session.project, "session": session}
    return render(request, f"openchamber/work_status.html{part}", context)


@require_GET
def told(request: PanelRequest, slug: str, session_id: str, pk: UUID) -> HttpResponse:
    """The exact text of one delivery."""
    session = session_of(request, slug, session_id)
    found = session.deliveries.filter(pk=pk).first()
    if found is None:
        messages.info(request, _("That delivery is not in the ledger."))
        return redirect(url_of(session))
    context = {"delivery": found, "project": session.project, "session": session}
    return render(request, "openchamber/told.html", context)
