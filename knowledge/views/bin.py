"""The bin: what was deleted, and the way back."""

from __future__ import annotations

from typing import Any

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from knowledge.models import LISTS, rows_of
from knowledge.views import PanelRequest, project_of
from openchamber.models import Project

PAGE = 50  # rows


def binned(project: Project) -> list[tuple[str, int, Any]]:
    """(list name, id, when) of everything in the bin, the newest first: small, whatever the texts are."""
    found: list[tuple[str, int, Any]] = []
    for name in LISTS:
        rows = rows_of(name).binned().filter(project=project)
        found += [(name, pk, at) for pk, at in rows.values_list("pk", "deleted_at")]
    return sorted(found, key=lambda row: row[2], reverse=True)


@require_GET
def deleted_items(request: PanelRequest, slug: str) -> HttpResponse:
    """A project's bin, the newest first."""
    project = project_of(request, slug)
    page = Paginator(binned(project), PAGE).get_page(request.GET.get("page"))
    rows = {
        (name, row.pk): row
        for name in LISTS
        for row in rows_of(name).filter(pk__in=[pk for kind, pk, _at in page if kind == name]).select_related("project")
    }
    context = {
        "project": project,
        "section": "bin",
        "page": page,
        "items": [rows[name, pk] for name, pk, _at in page if (name, pk) in rows],
    }
    return render(request, f"knowledge/bin.html{'#bin' if request.htmx else ''}", context)
