"""The todos page: a checklist that is arranged, ticked off and cleared."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from django_htmx.http import trigger_client_event

from knowledge.forms import TodoEdit, TodoForm
from knowledge.models import Stale, Todo
from knowledge.models.todos import clear_done, take_back, undo_clearing
from knowledge.views import PanelRequest, author, moments, number, project_of
from knowledge.views.conflicts import conflict
from openchamber.models import Project

PAGE = 30  # todos
DONE_SHOWN = 20


def listed(request: PanelRequest, project: Project, *, focus: str = "") -> dict[str, Any]:
    """What the page shows: the first open todos with where each can go, and the last done ones."""
    at = project.todos.live().filter(pk=number(request.GET.get("at"))).first() if "at" in request.GET else None
    all_done = request.GET.get("done") == "all" or bool(at and at.done)
    before = project.todos.open().filter(position__lte=at.position).count() if at else 0
    shown = PAGE * max(number(request.GET.get("pages"), most=40), -(-before // PAGE))
    rows = list(project.todos.open().select_related("project")[: shown + 2])
    done = project.todos.done().select_related("project")[: None if all_done else DONE_SHOWN]
    return {
        "project": project,
        "section": "todos",
        "open": with_neighbours(rows)[:shown],
        "done": done,
        "counts": project.todos.counts(),
        "rest": rows[shown].pk if len(rows) > shown else None,
        "more": shown // PAGE + 1 if len(rows) > shown else None,
        "all_done": all_done,
        "focus": focus,
    }


def with_neighbours(rows: list[Todo]) -> list[dict[str, Any]]:
    """Each todo with those before which it stands when it is moved up or down; "" is the end."""
    keys = [str(row.pk) for row in rows]
    return [
        {
            "todo": row,
            "up": keys[place - 1] if place else None,
            "down": (keys[place + 2] if place + 2 < len(keys) else "") if place + 1 < len(keys) else None,
        }
        for place, row in enumerate(rows)
    ]


def todo_of(request: PanelRequest, slug: str, pk: int) -> Todo:
    """The live todo that an act is about."""
    return get_object_or_404(project_of(request, slug).todos.live().select_related("project"), pk=pk)


def todo_list(request: PanelRequest, project: Project, *, focus: str = "", status: int = 200) -> HttpResponse:
    """The list as it is now: for htmx alone, with the focus where the act left it, else by its page."""
    if not request.htmx:
        return redirect("knowledge:todos", project.slug)
    context = listed(request, project, focus=focus)
    return render(request, "knowledge/todos.html#todos", context, status=status)


@require_GET
def todos(request: PanelRequest, slug: str) -> HttpResponse:
    """A project's todos in their order, and what is done below them."""
    context = {**listed(request, project_of(request, slug)), "form": TodoForm()}
    return render(request, f"knowledge/todos.html{'#todos' if request.htmx else ''}", context)


@require_POST
def write_todo(request: PanelRequest, slug: str) -> HttpResponse:
    """Add a todo at the end of the list."""
    project = project_of(request, slug)
    form = TodoForm(request.POST)
    if not form.is_valid():
        context = {**listed(request, project), "form": form}
        return render(request, f"knowledge/todos.html{'#todo-writer' if request.htmx else ''}", context, status=422)
    todo = Todo.write(project=project, by=author(request), **form.cleaned_data)
    if not request.htmx:
        return redirect(todo)
    return render(request, "knowledge/todos.html#todo-written", {**listed(request, project), "form": TodoForm()})


@require_POST
def mark_todo(request: PanelRequest, slug: str, pk: int) -> HttpResponse:
    """Say whether it is done (`done=on`)."""
    todo = todo_of(request, slug, pk)
    after = todo.project.todos.open().filter(position__gte=todo.position).exclude(pk=pk).first()
    todo.edit(done=bool(request.POST.get("done")), by=author(request))
    # A todo that is done leaves the open ones: the focus goes to the one that takes its place.
    focus = after.row_id + "-done" if todo.done and after else todo.row_id + "-done"
    return todo_list(request, todo.project, focus=focus)


@require_POST
def move_todo(request: PanelRequest, slug: str, pk: int) -> HttpResponse:
    """Put it right before another one (`before=<id>`), or at the end (`before=`)."""
    todo = todo_of(request, slug, pk)
    key = request.POST.get("before", "")
    before = todo_of(request, slug, number(key)) if key else None
    if before != todo:
        todo.move(before=before)
    place = todo.project.todos.open().filter(position__lte=todo.position).count()
    messages.success(request, _("Moved to position %(place)d.") % {"place": place})
    return todo_list(request, todo.project, focus=f"{todo.row_id}-{request.GET.get('by', 'down')}")


@require_http_methods(["GET", "POST"])
def edit_todo(request: PanelRequest, slug: str, pk: int) -> HttpResponse:
    """Edit a todo's text in its place."""
    rows = project_of(request, slug).todos.select_related("project")
    todo = get_object_or_404(rows if request.method == "POST" else rows.live(), pk=pk)
    form = TodoEdit(request.POST or None, initial={"text": todo.text, "seen": todo.revision})
    if request.method == "POST" and form.is_valid():
        text, seen = form.cleaned_data["text"], form.cleaned_data["seen"]
        try:
            todo.edit(text=text, seen=seen, by=author(request))
        except Stale as stale:
            return conflict(request, stale, yours=text, seen=seen)
        return todo_list(request, todo.project, focus=f"{todo.row_id}-edit")
    part = "#todo-edit" if request.htmx else ""
    context = {"form": form, "todo": todo, "project": todo.project, "section": "todos"}
    return render(request, f"knowledge/todo_form.html{part}", context, status=422 if form.errors else 200)


@require_POST
def clear_todos(request: PanelRequest, slug: str) -> HttpResponse:
    """Put everything that is done into the bin; the toast offers to take it all back."""
    project = project_of(request, slug)
    count, at = clear_done(project, by=author(request))
    text = ngettext("%(count)d done todo was deleted.", "%(count)d done todos were deleted.", count) % {"count": count}
    undo = f"{reverse('knowledge:undo-clearing', args=[slug])}?at={moments.told(at)}"
    messages.success(request, text, extra_tags=undo if count else "")
    return todo_list(request, project, focus="todo-writer-text")


@require_POST
def undo_todo_clearing(request: PanelRequest, slug: str) -> HttpResponse:
    """Take back what was cleared at one moment (`?at=`)."""
    project = project_of(request, slug)
    count = undo_clearing(project, moments.heard(request.GET.get("at", "")), by=author(request))
    messages.success(request, ngettext("%(count)d is back.", "%(count)d are back.", count) % {"count": count})
    return list_changed(request, slug)


@require_POST
def take_todos_back(request: PanelRequest, slug: str) -> HttpResponse:
    """Put into the bin what a plan's task items were made into at one moment (`?at=`)."""
    project = project_of(request, slug)
    count = take_back(project, moments.heard(request.GET.get("at", "")), by=author(request))
    text = ngettext("%(count)d todo was deleted.", "%(count)d todos were deleted.", count)
    messages.success(request, text % {"count": count})
    return list_changed(request, slug)


def list_changed(request: PanelRequest, slug: str) -> HttpResponse:
    """The todos page; with htmx, word for whatever page is open."""
    if not request.htmx:
        return redirect("knowledge:todos", slug)
    return trigger_client_event(HttpResponse(status=204), "knowledge-changed")
