"""The history of a note, todo or plan: who changed what, when and through what, and the way back."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from knowledge import diff
from knowledge.models import Stale, Written
from knowledge.views import PanelRequest, author
from knowledge.views.conflicts import conflict
from knowledge.views.items import item_of

PAGE = 30  # entries


@require_GET
def item_history(request: PanelRequest, slug: str, kind: str, pk: int) -> HttpResponse:
    """The entries, the newest first, and one of them (`?entry=`) against the one before it, or what stands now."""
    item = item_of(request, slug, kind, pk, live=False)
    entries = item.history.select_related("history_user").defer(item.text_field)
    context = {
        "item": item,
        "project": item.project,
        "section": item.list_name,
        "page": Paginator(entries, PAGE).get_page(request.GET.get("page")),
        **compared(item, request.GET.get("entry", ""), request.GET.get("against", "")),
    }
    return render(request, f"knowledge/history.html{'#history' if request.htmx else ''}", context)


def compared(item: Written, key: str, against: str) -> dict[str, Any]:
    """The chosen entry (else the newest) and what changed in it, or since it where `against` is "now"."""
    entry = item.entry(key) if key else item.history.select_related("history_user").first()
    if entry is None:
        raise Http404
    earlier = item.history.filter(history_id__lt=entry.pk).values_list(item.text_field, flat=True).first()
    text = getattr(entry, item.text_field)
    before, after = (text, item.typed) if against == "now" else (earlier or "", text)
    return {"entry": entry, "pieces": diff.folded(diff.pieces(before, after)), "against": against, "text": text}


@require_POST
def restore_entry(request: PanelRequest, slug: str, kind: str, pk: int, entry: int) -> HttpResponse:
    """Store again what an entry holds; what stood until now stays in the history."""
    item = item_of(request, slug, kind, pk)
    earlier = item.entry(str(entry))
    if earlier is None:
        raise Http404
    seen = request.POST.get("seen", "")
    try:
        item.restore(entry=earlier, seen=seen, by=author(request))
    except Stale as stale:
        return conflict(request, stale, yours=getattr(earlier, item.text_field), seen=seen)
    messages.success(request, _("The earlier text stands again. What stood until now is in the history."))
    return redirect("knowledge:item-history", slug, kind, pk)
