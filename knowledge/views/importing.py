"""Files become plans, task items become todos, and todos a plan."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST
from django_htmx.http import trigger_client_event

from knowledge import checklists
from knowledge.files import import_plan
from knowledge.models import Author, Plan, Through
from knowledge.models.plans import PLAN_LENGTH
from knowledge.texts import shortened
from knowledge.views import PanelRequest, author, moments, project_of
from openchamber.models import Project
from openchamber.panel import tell_refused

MOST_BYTES = 4 * PLAN_LENGTH  # what a plan can take as UTF-8, or as UTF-16 or UTF-32


@require_POST
def import_plans(request: PanelRequest, slug: str) -> HttpResponse:
    """A plan from each file; a file that is refused is named with its reason and leaves the others alone."""
    project = project_of(request, slug)
    by = Author(request.user, Through.FILE)
    files = request.FILES.getlist("files")
    done = [plan for file in files if (plan := imported(request, project, file, by))]
    if done:
        words = ngettext("%(count)d plan was imported.", "%(count)d plans were imported.", len(done))
        messages.success(request, words % {"count": len(done)})
    if not files:
        messages.error(request, _("Choose a file first."))
    if not request.htmx:
        return redirect("knowledge:plans", slug)
    return trigger_client_event(HttpResponse(status=204), "knowledge-changed")


def imported(request: PanelRequest, project: Project, file: UploadedFile, by: Author) -> Plan | None:  # type: ignore[type-arg]
    """The plan from one file; None when it was refused, which the person is told."""
    name = file.name or ""
    try:
        if (file.size or 0) > MOST_BYTES:
            raise ValidationError(_("It is larger than a plan can be."))
        return import_plan(project, name, file.read(), by=by)
    except ValidationError as error:
        messages.error(request, f"{name}: {' '.join(error.messages)}")
        return None


@require_POST
def plan_to_todos(request: PanelRequest, slug: str, pk: int) -> HttpResponse:
    """A todo from each item of the plan's task lists that there is no live todo for yet; Undo takes all back."""
    plan = get_object_or_404(project_of(request, slug).plans.live().select_related("project"), pk=pk)
    found, at = checklists.take_from(plan, by=author(request))
    count = sum(one.what == "new" for one in found)
    text = ngettext("%(count)d todo was added.", "%(count)d todos were added.", count) % {"count": count}
    undo = f"{reverse('knowledge:take-todos-back', args=[slug])}?at={moments.told(at)}"
    messages.success(request, text, extra_tags=undo if count else "")
    sentence = _("“%(title)s” was not added. %(reason)s")
    refused = [{"title": shortened(one.where, 40), "reason": one.reason} for one in found if one.what == "refused"]
    tell_refused(request, [sentence % one for one in refused])
    return redirect("knowledge:todos", slug)


@require_POST
def todo_to_plan(request: PanelRequest, slug: str, pk: int) -> HttpResponse:
    """A plan that begins with the todo: its first line as the heading, the whole as a task item."""
    todo = get_object_or_404(project_of(request, slug).todos.live().select_related("project"), pk=pk)
    body = checklists.item_text(todo)
    plan = Plan.write(project=todo.project, title=todo.title, body=body, by=author(request))
    return redirect(plan)
