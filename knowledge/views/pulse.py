"""The pulse of an open page: whether anything of its project changed since it was drawn."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET
from django_htmx.http import trigger_client_event

from knowledge.models import LISTS
from knowledge.views import PanelRequest, project_of


@require_GET
def pulse(request: PanelRequest, slug: str) -> HttpResponse:
    """204 while nothing changed; else the sections' new counts, and an event for the lists that follow."""
    project = project_of(request, slug)
    if request.GET.get("revision") == str(project.revision):
        return HttpResponse(status=204)
    section = request.GET.get("section", "")
    context = {"project": project, "section": section if section in LISTS else ""}
    return trigger_client_event(render(request, "knowledge/pulse.html#changed", context), "knowledge-changed")
