"""A save that came too late: both texts side by side, and every way on."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render

from knowledge import diff
from knowledge.models import Stale
from knowledge.views import PanelRequest


def conflict(request: PanelRequest, stale: Stale, *, yours: str, seen: str) -> HttpResponse:
    """What stands now beside what was typed, each against the text that both began with, if we still have it."""
    item = stale.current
    base = item.text_at(seen)
    context = {
        "item": item,
        "project": item.project,
        "yours": yours,
        "stored": diff.folded(diff.pieces(base if base is not None else item.typed, item.typed)),
        "typed": diff.folded(diff.pieces(base if base is not None else item.typed, yours)),
        "merged": diff.merged(base, item.typed, yours) if base is not None else yours,
        "newest": item.history.select_related("history_user").first(),
        "base": base,
    }
    part = "#conflict" if request.htmx else ""
    return render(request, f"knowledge/conflict.html{part}", context, status=409)
