"""The agents, the Memory tab of one, and a project's memory."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.db.models import Count, Q
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from memory.access import check_speaks_to_all, visible_scopes
from memory.forms import AgentForm, SeenForm, SwitchesForm, SwitchForm
from memory.holders import below, gather, user_scope
from memory.listing import groups, newest_of
from memory.models import Agent, Entry, Scope, SeenMark, Switches
from memory.models.scopes import ScopeQuerySet
from memory.views import agent_of, author, scopes_for
from memory.views.pulse import beat
from openchamber.panel import PanelRequest
from openchamber.projects import access


def agents_of(request: PanelRequest) -> Any:
    """All agents, each with how many of the entries that the caller sees it has."""
    seen = visible_scopes(access.signed_in(request)).values("pk")
    live = Q(scopes__entries__deleted_at=None, scopes__in=seen)
    return Agent.objects.default_first().annotate(entry_count=Count("scopes__entries", filter=live))


def beside(request: PanelRequest) -> dict[str, Any]:
    """What every page of the agents shows beside its own: all of them, and how much waits to be looked at."""
    seen = visible_scopes(access.signed_in(request))
    return {"agents": agents_of(request), "unanswered": Entry.objects.filter(scope__in=seen).unanswered().count()}


def tab_context(request: PanelRequest, agent: Agent, scopes: ScopeQuerySet, **more: Any) -> dict[str, Any]:
    """What the list of an agent's memory shows."""
    query = request.GET.get("q", "")
    at = beat()  # before anything is read, so that no change is missed
    found = groups(scopes, request.user, query=query)
    return {
        "agent": agent,
        "groups": found,
        "q": query,
        "count": sum(group.count for group in found),
        "switches": Switches.current(),
        "now": timezone.now().isoformat(),
        "shown": ",".join(str(group.scope.pk) for group in found),
        "beat": at,
        **more,
    }


@require_http_methods(["GET", "POST"])
def agents(request: PanelRequest) -> HttpResponse:
    """The agents with memory of their own, and a form for one more (for staff)."""
    Agent.objects.default()
    form = AgentForm(request.POST if request.method == "POST" else None)
    if request.method == "POST":
        check_speaks_to_all(access.signed_in(request))
        if form.is_valid():
            agent = form.save()
            user_scope(agent)
            return redirect(agent)
    context = {**beside(request), "form": form, "adding": True}
    return render(request, "memory/agents.html", context, status=422 if form.errors else 200)


@require_GET
def agent_memory(request: PanelRequest, agent: str) -> HttpResponse:
    """What the agent keeps, by scope; `?q=` finds in it."""
    row = agent_of(agent)
    user_scope(row)
    context = tab_context(request, row, scopes_for(request, row), **beside(request))
    return render(request, f"memory/tab.html{'#entries' if request.htmx else ''}", context)


@require_GET
def project_memory(request: PanelRequest, slug: str) -> HttpResponse:
    """What agents keep about one project, and the default agent about the user."""
    project = access.signed_in(request).project(slug)
    user_scope(Agent.objects.default())
    scopes = Scope.objects.about(project).select_related("agent")
    context = tab_context(request, Agent.objects.default(), scopes, project=project, section="memory")
    part = "#entries" if request.htmx else ""
    return render(request, f"memory/project.html{part}", {**context, "below": below(project)})


@require_POST
def switch_memory(request: PanelRequest, agent: str) -> HttpResponse:
    """Switch one agent's memory to the wanted state (`on=on`, or off); for staff, since every project has it."""
    check_speaks_to_all(access.signed_in(request))
    row = agent_of(agent)
    form = SwitchForm(request.POST)
    form.is_valid()
    row.switch_memory(on=form.cleaned_data["on"])
    messages.success(request, _("Memory is on.") if row.memory_enabled else _("Memory is off. Everything is kept."))
    if not request.htmx:
        return redirect(row)
    return render(request, "memory/tab.html#switch", {"agent": row, "switches": Switches.current(), "focus": True})


@require_POST
def change_switches(request: PanelRequest) -> HttpResponse:
    """Set the installation's switches and limits (for staff)."""
    check_speaks_to_all(access.signed_in(request))
    form = SwitchesForm(request.POST, instance=Switches.current())
    if form.is_valid():
        form = SwitchesForm(instance=Switches.change(**form.cleaned_data))
        messages.success(request, _("Saved."))
        if not request.htmx:
            return redirect("openchamber:settings")
    return render(request, "memory/switches.html", {"form": form}, status=422 if form.errors else 200)


@require_POST
def see_scopes(request: PanelRequest, agent: str) -> HttpResponse:
    """Remember that the user saw these scopes as they were at that time."""
    form = SeenForm(request.POST)
    if not form.is_valid():
        return HttpResponse(status=422)
    row = agent_of(agent)
    visible = visible_scopes(access.signed_in(request)).filter(pk__in=form.cleaned_data["scopes"])
    until = min(form.cleaned_data["until"], timezone.now())
    SeenMark.see(request.user, list(visible.values_list("pk", flat=True)), until=until)
    return HttpResponse(status=204) if request.htmx else redirect(row)


@require_POST
def gather_scope(request: PanelRequest, slug: str, pk: int) -> HttpResponse:
    """Move what was kept about a directory below the project to the project itself."""
    project = access.signed_in(request).project(slug)
    scope = get_object_or_404(Scope.objects.filter(pk__in=[scope.pk for scope in below(project)]), pk=pk)
    moved, kept = gather(project, scope, by=author(request))
    text = ngettext("%(count)d entry was moved.", "%(count)d entries were moved.", moved) % {"count": moved}
    if kept:
        text += " " + _("%(count)d stayed: the project has entries of the same name, or no room for more.") % {
            "count": kept
        }
    messages.success(request, text)
    return redirect("memory:project-memory", slug)


@require_GET
def review(request: PanelRequest) -> HttpResponse:
    """What somebody should look at: flagged, awaiting approval, conflicting, and what is recent."""
    at = beat()
    scopes = visible_scopes(access.signed_in(request))
    entries = Entry.objects.live().filter(scope__in=scopes).select_related("scope__agent").newest_first()
    queues = {
        "flagged": entries.filter(flagged=True).exclude(conflicting=True).exclude(judgement=Entry.Judgement.THREAT),
        "awaiting": entries.filter(awaiting=True, flagged=False),
        "conflicting": entries.filter(conflicting=True),
        "recent": entries.told(),
    }
    show = request.GET.get("show", "")
    show = show if show in queues else next((name for name in queues if queues[name].exists()), "recent")
    counts = {name: rows.count() for name, rows in queues.items() if name != "recent"}
    rows, broken = newest_of(queues[show], scopes.select_related("agent"), most=50)
    context = {
        "rows": rows,
        "broken": broken,
        "show": show,
        "counts": counts,
        "reviewing": True,
        "beat": at,
        **beside(request),
    }
    return render(request, f"memory/review.html{'#queue' if request.htmx else ''}", context)
