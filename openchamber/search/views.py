"""The search page: one box, one list."""

from __future__ import annotations

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET

from openchamber.panel import PanelRequest
from openchamber.projects import access
from openchamber.search import ask, with_passages

PAGE = 20  # hits
KINDS = {"note": _("Notes"), "todo": _("Todos"), "plan": _("Plans"), "memory": _("Memory")}


@require_GET
def search(request: PanelRequest, slug: str) -> HttpResponse:
    """What matches `?q=` in this project, or (`?all=on`) in every one."""
    caller = access.signed_in(request)
    project = caller.project(slug)
    query, kind = request.GET.get("q", ""), request.GET.get("kind", "")
    everywhere = bool(request.GET.get("all"))
    projects = caller.projects() if everywhere else caller.projects().filter(pk=project.pk)
    found = ask(projects, query)
    hits = ask(projects, query, kind=kind).hits if kind in KINDS else found.hits
    page = Paginator(hits, PAGE).get_page(request.GET.get("page"))
    context = {
        "project": project,
        "query": query,
        "kind": kind if kind in KINDS else "",
        "everywhere": everywhere,
        "found": found,
        "kinds": [(name, label, found.counts[name]) for name, label in KINDS.items() if found.counts[name]],
        "page": page,
        "hits": with_passages(list(page.object_list)),
    }
    return render(request, f"openchamber/search.html{'#hits' if request.htmx else ''}", context)
