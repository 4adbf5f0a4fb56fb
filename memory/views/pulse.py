"""The pulse of an open page: whether agents changed anything of their memory since it was drawn."""

from __future__ import annotations

from django.db.models import Subquery, Sum
from django.db.models.functions import Coalesce
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET
from django_htmx.http import trigger_client_event

from memory.models import Scope, Switches
from openchamber.panel import PanelRequest


def beat() -> str:
    """What stands for everything that pages of memory show: the sum of counters that only rise, in one query."""
    switches = Switches.objects.order_by().values("revision")[:1]
    total = Coalesce(Sum("revision"), 0) + Coalesce(Subquery(switches), 0)
    return str(Scope.objects.aggregate(total=total)["total"])


@require_GET
def pulse(request: PanelRequest) -> HttpResponse:
    """204 while nothing changed; else the next question, and an event for the lists that follow."""
    now = beat()
    if request.GET.get("beat") == now:
        return HttpResponse(status=204)
    return trigger_client_event(render(request, "memory/pulse.html", {"beat": now}), "memory-changed")
