"""Sending a todo to a session: what is to do becomes what is being written there."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.http import urlencode
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from knowledge.forms import SendForm
from knowledge.models import Todo
from knowledge.texts import shortened
from knowledge.views import PanelRequest, project_of
from openchamber.models import Project, Session
from openchamber.sessions import rows, servers
from openchamber.sessions.opencode import AgentServerError, client_for

RECENT = 20  # sessions to choose from


@require_http_methods(["GET", "POST"])
def send_todo(request: PanelRequest, slug: str, pk: int) -> HttpResponse:
    """Choose the session, or make one; its composer then holds the todo. Nothing is sent to the agent yet."""
    project = project_of(request, slug)
    todo = get_object_or_404(project.todos.live().select_related("project"), pk=pk)
    sessions = list(project.sessions.filter(parent="")[:RECENT])
    form = SendForm(request.POST or None, sessions=sessions, initial={"name": slugify(todo.title)[:40] or "todo"})
    if request.method == "POST" and form.is_valid():
        try:
            session = chosen_session(project, todo, **form.cleaned_data)
        except AgentServerError as error:
            form.add_error(None, _("No session was made, and the todo is unchanged: %(reason)s") % {"reason": error})
        else:
            page = f"{project.get_absolute_url()}sessions/{session.pk}/"
            return redirect(f"{page}?{urlencode({'text': todo.text})}")
    context = {"form": form, "todo": todo, "project": project, "section": "todos"}
    return render(request, "knowledge/send.html", context, status=502 if form.errors else 200)


def chosen_session(project: Project, todo: Todo, *, to: str, name: str) -> Session:
    """The session that was chosen, made now when it is a new one."""
    if to not in ("new", "worktree"):
        return get_object_or_404(project.sessions, pk=to)
    server = servers.current_server()
    directory = client_for(server).create_worktree(project.directory, name) if to == "worktree" else ""
    return rows.create_session(server, project, title=shortened(todo.title, 80), directory=directory)
