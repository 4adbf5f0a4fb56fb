"""The plans page, and a plan's own page, where it is read and written."""

from __future__ import annotations

import secrets
from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from django_htmx.http import HttpResponseClientRedirect

from knowledge.forms import PlanEdit, PlanForm
from knowledge.models import Author, Plan, Stale
from knowledge.models.search import PASSAGE
from knowledge.views import PanelRequest, author, number, project_of
from knowledge.views.conflicts import conflict
from openchamber import markup
from openchamber.models import Project
from openchamber.search.snippets import matches
from openchamber.search.terms import wishes

PAGE = 25  # plans


def listed(request: PanelRequest, project: Project, form: PlanForm) -> dict[str, Any]:
    """What the list shows around a form."""
    rows = project.plans.shown().select_related("project")
    page = Paginator(rows, PAGE).get_page(request.GET.get("page"))
    return {"project": project, "section": "plans", "page": page, "form": form}


@require_GET
def plans(request: PanelRequest, slug: str) -> HttpResponse:
    """A project's plans, the newest first."""
    part = "#plans" if request.htmx else ""
    return render(request, f"knowledge/plans.html{part}", listed(request, project_of(request, slug), PlanForm()))


@require_POST
def write_plan(request: PanelRequest, slug: str) -> HttpResponse:
    """Begin a plan and go to its page."""
    project = project_of(request, slug)
    form = PlanForm(request.POST)
    plan = begun(form, project, author(request))
    if plan is None:
        part = "#plan-writer" if request.htmx else ""
        return render(request, f"knowledge/plans.html{part}", listed(request, project, form), status=422)
    url = plan.get_absolute_url()
    return HttpResponseClientRedirect(url) if request.htmx else redirect(url)


def begun(form: PlanForm, project: Project, by: Author) -> Plan | None:
    """The plan that a form describes; None when it is refused: title and text may each fit and not both together."""
    if not form.is_valid():
        return None
    try:
        return Plan.write(project=project, by=by, **form.cleaned_data)
    except ValidationError as error:
        form.add_error("body", error.messages)
        return None


@require_GET
def plan(request: PanelRequest, slug: str, pk: int) -> HttpResponse:
    """A plan: its text to write in, and its preview."""
    plan = get_object_or_404(project_of(request, slug).plans.live().select_related("project"), pk=pk)
    opened = {"body": plan.body, "seen": plan.revision, "sitting": secrets.token_hex(8)}
    # An open editor asks again when something of the project changed, and names the revision that it shows.
    if request.htmx and request.GET.get("seen") == plan.revision:
        return HttpResponse(status=204)
    part = "#plan-followed" if request.htmx else ""
    context = {**shown(plan, PlanEdit(initial=opened)), "found": found_in(plan, request)}
    return render(request, f"knowledge/plan.html{part}", context)


def found_in(plan: Plan, request: PanelRequest) -> tuple[int, int] | None:
    """What a hit of the search leads to (`?start=&q=`): from where to where in the text."""
    if "start" not in request.GET:
        return None
    start = number(request.GET["start"], least=0)
    places = matches(plan.body[start : start + PASSAGE], wishes(request.GET.get("q", "")))
    first, last = places[0] if places else (0, 0)
    return start + first, start + last


def shown(plan: Plan, form: PlanEdit) -> dict[str, Any]:
    """What the plan's page shows around a form."""
    preview = len(plan.body) <= markup.LIMIT
    return {"plan": plan, "project": plan.project, "section": "plans", "form": form, "preview": preview}


@require_http_methods(["POST"])
def edit_plan(request: PanelRequest, slug: str, pk: int) -> HttpResponse:
    """Save a plan's text, or show both where another one was saved meanwhile."""
    plan = get_object_or_404(project_of(request, slug).plans.select_related("project"), pk=pk)
    form = PlanEdit(request.POST)
    if not form.is_valid():
        part = "#plan-refused" if request.htmx else ""
        return render(request, f"knowledge/plan.html{part}", shown(plan, form), status=422)
    body, seen, sitting = (form.cleaned_data[name] for name in ("body", "seen", "sitting"))
    try:
        plan.edit(body=body, seen=seen, by=author(request, sitting))
    except Stale as stale:
        return conflict(request, stale, yours=body, seen=seen)
    if request.htmx:
        return render(request, "knowledge/plan.html#plan-saved", shown(plan, form))
    messages.success(request, _("Saved."))
    return redirect(plan)


@require_GET
def export_plan(request: PanelRequest, slug: str, pk: int) -> HttpResponse:
    """The plan as a Markdown file, byte for byte as it is stored."""
    plan = get_object_or_404(project_of(request, slug).plans.live(), pk=pk)
    headers = {"Content-Disposition": f'attachment; filename="{plan.file_name()}"'}
    return HttpResponse(plan.body, content_type="text/markdown; charset=utf-8", headers=headers)
