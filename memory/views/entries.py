"""One entry: reading it, judging it, deleting and moving it, and its history."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST
from django_htmx.http import trigger_client_event

from memory.differences import pieces
from memory.forms import MoveForm, ReadForm, VerdictForm
from memory.models import Entry, Judgement, Stale, Taken
from memory.rendering import body_html, shown_characters
from memory.threats import visible
from memory.views import author, entry_of, scopes_for
from memory.views.tab import beside, tab_context
from openchamber.panel import PanelRequest
from openchamber.texts import is_key

PAGE = 30  # entries of a history


def drawer_context(request: PanelRequest, entry: Entry) -> dict[str, Any]:
    """What an open entry shows."""
    scopes = scopes_for(request, entry.scope.agent)
    return {
        "entry": entry,
        "agent": entry.scope.agent,
        "body": body_html(entry),
        "characters": shown_characters(entry),
        "changes": entry.history.count(),
        "move_form": MoveForm(scopes, initial={"scope": entry.scope_id, "seen": entry.revision}),
        "judged": Judgement.objects.filter(content_hash=entry.content_hash).select_related("by").first(),
    }


@require_GET
def entry(request: PanelRequest, agent: str, pk: int) -> HttpResponse:
    """The entry in a drawer beside the list it stands on."""
    found = entry_of(request, agent, pk)
    context = drawer_context(request, found)
    if request.htmx:
        return render(request, "memory/entry.html#drawer", context)
    tab = tab_context(request, found.scope.agent, scopes_for(request, found.scope.agent), **beside(request))
    return render(request, "memory/entry.html", {**tab, **context})


def answer(request: PanelRequest, found: Entry) -> HttpResponse:
    """The entry as it is now: for htmx its drawer, with word to the list; else its page."""
    if not request.htmx:
        return redirect(found)
    return trigger_client_event(
        render(request, "memory/entry.html#drawer", drawer_context(request, found)), "memory-changed"
    )


def refused(request: PanelRequest, found: Entry, error: Exception) -> HttpResponse:
    """The sentence of a refusal, beside the entry as it stands, or the list where it was deleted."""
    messages.error(request, str(error))
    stored = entry_of(request, found.scope.agent.slug, found.pk, live=False)
    if not request.htmx:
        return redirect(stored if stored.deleted_at is None else stored.scope.agent)
    gone = stored.deleted_at is not None
    part, context = (
        ("memory/closed.html", {}) if gone else ("memory/entry.html#drawer", drawer_context(request, stored))
    )
    return trigger_client_event(render(request, part, context, status=409), "memory-changed")


def acted(request: PanelRequest, found: Entry, form: ReadForm, act: Callable[[], None]) -> HttpResponse | None:
    """Do it unless another text stands than the one that was read; the refusal, or None when it was done."""
    if not form.is_valid():
        return HttpResponse(status=422)
    try:
        if form.cleaned_data["seen"] not in ("", found.revision):
            raise Stale(found)
        act()
    except (Stale, Taken) as error:
        return refused(request, found, error)
    return None


@require_POST
def judge_entry(request: PanelRequest, agent: str, pk: int) -> HttpResponse:
    """Say that exactly this content is safe, or a threat, or leave it to the scanner (`verdict=`)."""
    found = entry_of(request, agent, pk)
    form = VerdictForm(request.POST)
    by = author(request)
    refusal = acted(
        request, found, form, lambda: found.judge(form.cleaned_data["verdict"], by=request.user, through=by)
    )
    if refusal is not None:
        return refusal
    told = (
        _("It waits for approval; then agents may be told of it.")
        if found.awaiting
        else _("Agents may be told of it now.")
    )
    messages.success(request, _("Withheld from now on.") if found.flagged else told)
    return answer(request, found)


@require_POST
def approve_entry(request: PanelRequest, agent: str, pk: int) -> HttpResponse:
    """Let sessions be told of an entry that waited for it, as it was read."""
    found = entry_of(request, agent, pk)
    refusal = acted(request, found, ReadForm(request.POST), partial(found.approve, by=author(request)))
    if refusal is not None:
        return refusal
    withheld = _("Approved. It stays withheld until it is judged safe.")
    messages.success(request, withheld if found.flagged else _("Approved: sessions are told of it from now on."))
    return answer(request, found)


@require_POST
def settle_entry(request: PanelRequest, agent: str, pk: int) -> HttpResponse:
    """Say that a conflict was looked at."""
    found = entry_of(request, agent, pk)
    refusal = acted(request, found, ReadForm(request.POST), partial(found.settle, by=author(request)))
    return answer(request, found) if refusal is None else refusal


@require_POST
def delete_entry(request: PanelRequest, agent: str, pk: int) -> HttpResponse:
    """Delete it; the toast offers Undo."""
    found = entry_of(request, agent, pk, live=False)
    refusal = acted(request, found, ReadForm(request.POST), partial(found.bin, by=author(request)))
    if refusal is not None:
        return refusal
    undo = reverse("memory:undelete-entry", args=[agent, pk])
    messages.success(request, _("“%(title)s” was deleted.") % {"title": visible(found.title)}, extra_tags=undo)
    if not request.htmx:
        return redirect(found.scope.agent)
    return trigger_client_event(render(request, "memory/closed.html"), "memory-changed")


@require_POST
def undelete_entry(request: PanelRequest, agent: str, pk: int) -> HttpResponse:
    """Bring it back as it was."""
    found = entry_of(request, agent, pk, live=False)
    try:
        found.undelete(by=author(request))
    except (Stale, Taken) as error:
        messages.error(request, str(error))
    else:
        messages.success(request, _("“%(title)s” is back.") % {"title": visible(found.title)})
    if not request.htmx:
        return redirect(found.scope.agent)
    return trigger_client_event(HttpResponse(status=204), "memory-changed")


@require_POST
def move_entry(request: PanelRequest, agent: str, pk: int) -> HttpResponse:
    """Let it stand in another scope of its agent."""
    found = entry_of(request, agent, pk)
    form = MoveForm(scopes_for(request, found.scope.agent), request.POST)
    refusal = acted(request, found, form, lambda: found.move(form.cleaned_data["scope"], by=author(request)))
    if refusal is not None:
        return refusal
    messages.success(request, _("Moved to %(scope)s.") % {"scope": found.scope.label})
    return answer(request, found)


@require_GET
def entry_history(request: PanelRequest, agent: str, pk: int) -> HttpResponse:
    """Who changed it when and how; `?at=` chooses a version: what changed in it, or since (`against=now`)."""
    found = entry_of(request, agent, pk, live=False)
    versions = found.history.select_related("history_user")
    at = request.GET.get("at", "")
    version = versions.filter(pk=at).first() if is_key(at) else versions.first()
    if version is None:
        raise Http404
    against = request.GET.get("against", "")
    context = {
        "entry": found,
        "agent": found.scope.agent,
        **beside(request),
        "page": Paginator(versions, PAGE).get_page(request.GET.get("page")),
        "version": version,
        "against": against,
        "pieces": compared(found, version, against),
    }
    return render(request, f"memory/history.html{'#history' if request.htmx else ''}", context)


def compared(found: Entry, version: Any, against: str) -> Any:
    """What changed in a version, or since it."""
    if against == "now":
        return pieces(whole(version), whole(found))
    earlier = found.history.filter(history_id__lt=version.history_id).first()
    return pieces(whole(earlier) if earlier else "", whole(version))


def whole(version: Any) -> str:
    """Everything that a version says, as one text."""
    return "\n".join(filter(None, [version.title, version.description, "", version.body]))


@require_POST
def restore_version(request: PanelRequest, agent: str, pk: int, version: int) -> HttpResponse:
    """Let an earlier text stand again; what stood until now stays in the history."""
    found = entry_of(request, agent, pk)
    earlier = found.history.filter(pk=version).first()
    if earlier is None:
        raise Http404
    text = {name: getattr(earlier, name) for name in ("title", "description", "body", "type")}
    try:
        found.edit(by=author(request), seen=request.POST.get("seen", ""), reason="restored", **text)
    except (Stale, Taken) as error:
        messages.error(request, str(error))
    else:
        messages.success(request, _("The earlier text stands again."))
    return redirect("memory:entry-history", agent, pk)
