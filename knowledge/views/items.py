"""What notes, todos and plans do the same way: pins and the bin."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST
from django_htmx.http import trigger_client_event

from knowledge.models import Pinnable, Written, rows_of
from knowledge.riding import titles_cut
from knowledge.texts import shortened
from knowledge.views import PanelRequest, author, project_of


def item_of(request: PanelRequest, slug: str, kind: str, pk: int, *, live: bool = True) -> Written:
    """The note, todo or plan that an act is about."""
    rows = rows_of(kind).filter(project=project_of(request, slug)).select_related("project")
    item: Written = get_object_or_404(rows.live() if live else rows, pk=pk)
    return item


@require_POST
def pin_item(request: PanelRequest, slug: str, kind: str, pk: int) -> HttpResponse:
    """Let it ride with every message of the project (`pinned=on`), or no more."""
    item = item_of(request, slug, kind, pk)
    if not isinstance(item, Pinnable):
        raise Http404
    if request.POST.get("pinned"):
        item.pin()
        warn_of_cuts(request, item)
    else:
        item.unpin()
    if not request.htmx:
        return redirect(item)
    return render(request, "knowledge/pin.html", {"project": item.project, "item": item})


def warn_of_cuts(request: PanelRequest, item: Pinnable) -> None:
    """Say at once what will not fit into a message any more."""
    if titles := titles_cut(item):
        named = ", ".join(f"“{shortened(title, 40)}”" for title in titles[:3])
        more = ngettext(" and %(count)d more", " and %(count)d more", len(titles) - 3) % {"count": len(titles) - 3}
        told = {"titles": named + (more if len(titles) > 3 else "")}
        messages.warning(request, _("More is pinned than one message carries. Cut will be: %(titles)s.") % told)


@require_POST
def delete_item(request: PanelRequest, slug: str, kind: str, pk: int) -> HttpResponse:
    """Put it into the bin; the toast offers to take it out again."""
    item = item_of(request, slug, kind, pk, live=False)
    item.bin(by=author(request))
    undo = reverse("knowledge:undelete-item", args=[slug, kind, pk])
    messages.success(request, _("“%(title)s” was deleted.") % {"title": shortened(item.title, 40)}, extra_tags=undo)
    return HttpResponse() if request.htmx else redirect(item.list_url())


@require_POST
def undelete_item(request: PanelRequest, slug: str, kind: str, pk: int) -> HttpResponse:
    """Take it out of the bin: it stands in its old place again."""
    item = item_of(request, slug, kind, pk, live=False)
    item.undelete(by=author(request))
    messages.success(request, _("“%(title)s” is back.") % {"title": shortened(item.title, 60)})
    if not request.htmx:
        return redirect(item)
    return trigger_client_event(HttpResponse(status=204), "knowledge-changed")
