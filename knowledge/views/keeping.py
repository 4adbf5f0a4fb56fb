"""Keeping a message: what was said in a conversation becomes a note or a plan that links back to it."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from knowledge.forms import KeepForm
from knowledge.models import Note, Plan, Source
from knowledge.models.notes import NOTE_LENGTH
from knowledge.views import PanelRequest, author
from openchamber.models import Project
from openchamber.sessions.views import client_of, session_of


@require_http_methods(["GET", "POST"])
def keep_message(request: PanelRequest, slug: str, session_id: str, message_id: str) -> HttpResponse:
    """Keep the message's text, or what was selected of it, as a note or a plan."""
    session = session_of(request, slug, session_id)
    assert session.project is not None
    if request.method == "POST":
        form = KeepForm(request.POST)
        if form.is_valid():
            return redirect(kept(request, session.project, session.pk, message_id, **form.cleaned_data))
    else:
        text = request.GET.get("text") or client_of(session).message(session.pk, message_id).own_text
        # What is too long for a note can only be a plan.
        kind = "plan" if len(text) > NOTE_LENGTH else request.GET.get("kind", "note")
        form = KeepForm(initial={"body": text, "kind": kind})
    context = {"form": form, "project": session.project, "session": session, "message_id": message_id, "section": ""}
    return render(request, "knowledge/keep.html", context, status=422 if form.errors else 200)


def kept(
    request: PanelRequest, project: Project, session: str, message: str, *, kind: str, body: str, pinned: bool
) -> Note | Plan:
    """The note or plan that was made of it."""
    write = Plan.write if kind == "plan" else Note.write
    origin = {"source": Source.MESSAGE, "session": session, "message": message}
    return write(project=project, body=body, pinned=pinned, by=author(request), **origin)
