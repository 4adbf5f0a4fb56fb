"""The notes page."""

from __future__ import annotations

import secrets
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from knowledge.forms import NoteEdit, NoteForm
from knowledge.models import Note, Stale
from knowledge.views import PanelRequest, author, project_of
from knowledge.views.conflicts import conflict
from openchamber.models import Project

PAGE = 20  # notes


def listed(request: PanelRequest, project: Project, form: NoteForm) -> dict[str, Any]:
    """What the page shows around a form: the notes that were asked for, page by page, and how many there are."""
    show = request.GET.get("show", "")
    rows = project.notes.shown(show).select_related("project")
    number = request.GET.get("page") or project.notes.page_of(request.GET.get("at", ""), size=PAGE)
    page = Paginator(rows, PAGE).get_page(number)
    return {
        "project": project,
        "section": "notes",
        "page": page,
        "show": show,
        "counts": project.notes.counts(),
        "form": form,
    }


@require_GET
def notes(request: PanelRequest, slug: str) -> HttpResponse:
    """A project's notes, the newest first."""
    part = "#notes" if request.htmx else ""
    return render(request, f"knowledge/notes.html{part}", listed(request, project_of(request, slug), NoteForm()))


@require_POST
def write_note(request: PanelRequest, slug: str) -> HttpResponse:
    """Add a note, pinned at once if that was asked for."""
    project = project_of(request, slug)
    form = NoteForm(request.POST)
    if not form.is_valid():
        part = "#note-writer" if request.htmx else ""
        return render(request, f"knowledge/notes.html{part}", listed(request, project, form), status=422)
    note = Note.write(project=project, by=author(request), **form.cleaned_data)
    if not request.htmx:
        return redirect(note)
    return render(request, "knowledge/notes.html#note-written", {**listed(request, project, NoteForm()), "note": note})


@require_GET
def note(request: PanelRequest, slug: str, pk: int) -> HttpResponse:
    """One note as a card; its address leads a browser to its place on the page."""
    project = project_of(request, slug)
    note = get_object_or_404(project.notes.live(), pk=pk)
    if not request.htmx:
        return redirect(note)
    return render(request, "knowledge/notes.html#note", {"note": note, "project": project, "focus": "edit"})


@require_http_methods(["GET", "POST"])
def edit_note(request: PanelRequest, slug: str, pk: int) -> HttpResponse:
    """Edit a note in its place. What was typed comes back whatever happens to it."""
    project = project_of(request, slug)
    # Also one that was put into the bin meanwhile: whoever typed must not lose the text.
    note = get_object_or_404(project.notes.all() if request.POST else project.notes.live(), pk=pk)
    form = NoteEdit(request.POST or None, initial=opened(note))
    if request.method == "POST" and form.is_valid():
        return save_note(request, project, note, form)
    part = "#note-edit" if request.htmx else ""
    context = {"form": form, "note": note, "project": project, "section": "notes"}
    return render(request, f"knowledge/note_form.html{part}", context, status=422 if form.errors else 200)


def opened(note: Note) -> dict[str, str]:
    """What an editor is opened with: the text, its revision, and a name for this sitting."""
    return {"body": note.body, "seen": note.revision, "sitting": secrets.token_hex(8)}


def save_note(request: PanelRequest, project: Project, note: Note, form: NoteEdit) -> HttpResponse:
    """Save the text, or show both where another one was saved meanwhile."""
    body, seen, sitting = (form.cleaned_data[name] for name in ("body", "seen", "sitting"))
    try:
        note.edit(body=body, seen=seen, by=author(request, sitting))
    except Stale as stale:
        return conflict(request, stale, yours=body, seen=seen)
    if not request.htmx:
        messages.success(request, _("Saved."))
        return redirect(note)
    return render(request, "knowledge/notes.html#note", {"note": note, "project": project, "focus": "edit"})
