"""What rides with every message, and what single sessions chose about one note or plan."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from knowledge.models import Pinnable, SessionPin
from knowledge.riding import riding
from knowledge.views import PanelRequest, project_of
from knowledge.views.items import item_of
from openchamber.models import Session

SESSIONS = 50
CHOICES = {"follow": None, "with": True, "without": False}


@require_GET
def project_riding(request: PanelRequest, slug: str) -> HttpResponse:
    """All that the project pinned, its size against the budget, and how many sessions hold it."""
    project = project_of(request, slug)
    context = {"project": project, "section": "", "riding": riding(project)}
    return render(request, f"knowledge/riding.html{'#riding' if request.htmx else ''}", context)


@require_GET
def item_sessions(request: PanelRequest, slug: str, kind: str, pk: int) -> HttpResponse:
    """The project's sessions with what each chose about one note or plan."""
    item = pinnable(request, slug, kind, pk)
    chosen = dict(item.choices.values_list("session", "attached"))
    sessions = [row(session, chosen) for session in item.project.sessions.filter(parent="")[:SESSIONS]]
    context = {"project": item.project, "section": item.list_name, "item": item, "rows": sessions}
    return render(request, "knowledge/item_sessions.html", context)


def row(session: Session, chosen: dict[str, bool]) -> dict[str, Any]:
    """A session with its choice, by the word that the form sends."""
    attached = chosen.get(session.pk)
    return {"session": session, "choice": next(word for word, wish in CHOICES.items() if wish is attached)}


@require_POST
def choose_session(request: PanelRequest, slug: str, kind: str, pk: int, session_id: str) -> HttpResponse:
    """Let one session ride with it, without it, or as the project says (`choice=with|without|follow`)."""
    item = pinnable(request, slug, kind, pk)
    session = item.project.sessions.filter(pk=session_id).first()
    wish = request.POST.get("choice", "")
    if session is None or wish not in CHOICES:
        raise Http404
    SessionPin.choose(session.pk, item, attached=CHOICES[wish])
    if not request.htmx:
        return redirect("knowledge:item-sessions", slug, kind, pk)
    context = {"project": item.project, "item": item, "row": {"session": session, "choice": wish}}
    return render(request, "knowledge/item_sessions.html#session", context)


def pinnable(request: PanelRequest, slug: str, kind: str, pk: int) -> Any:
    """The note or plan; 404 for what cannot ride."""
    item = item_of(request, slug, kind, pk)
    if not isinstance(item, Pinnable):
        raise Http404
    return item
