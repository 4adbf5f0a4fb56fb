"""The settings page: language, API tokens, agent servers, and the rows that the installed apps add."""

from __future__ import annotations

import logging
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from openchamber.languages import language_form
from openchamber.models import AgentServer, ApiToken
from openchamber.projects import access
from openchamber.projects.forms import ServerForm, TokenForm
from openchamber.sessions import servers
from openchamber.sessions.opencode import AgentServerError
from openchamber.signals import settings_rows

log = logging.getLogger(__name__)


@require_GET
def settings_page(request: HttpRequest) -> HttpResponse:
    """Everything that can be set."""
    return show(request)


def show(request: HttpRequest, *, part: str = "", status: int = 200, **more: Any) -> HttpResponse:
    """The page or one of its partials; `more` is a form with errors or the secret of a new token."""
    caller = access.signed_in(request)
    context = {
        "tokens": ApiToken.objects.of(caller.user).live().select_related("user").prefetch_related("projects"),
        "token_form": TokenForm(caller),
        "servers": AgentServer.objects.usable(),
        "server_form": ServerForm(),
        "rows": rows(request),
        "language_form": language_form(request),
        **more,
    }
    return render(request, f"openchamber/settings.html{part if is_htmx(request) else ''}", context, status=status)


def is_htmx(request: HttpRequest) -> bool:
    """Whether only a part of the page is wanted."""
    return bool(request.htmx)  # type: ignore[attr-defined]


def rows(request: HttpRequest) -> list[SafeString]:
    """What the installed apps add; one that raises is logged and left out."""
    rendered: list[SafeString] = []
    for receiver, answer in settings_rows.send_robust(None, request=request):
        if isinstance(answer, Exception):
            log.error("%s has no settings rows", receiver, exc_info=answer)
            continue
        rendered += [render_to_string(template, context, request) for template, context in answer]
    return rendered


@require_POST
@never_cache
def create_token(request: HttpRequest) -> HttpResponse:
    """Make a token. Its secret is in this answer alone, so this one act answers with the page and not a redirect."""
    caller = access.signed_in(request)
    form = TokenForm(caller, request.POST)
    if not form.is_valid():
        return show(request, part="#tokens", status=422, token_form=form)
    token, secret = ApiToken.make(user=caller.user, **form.cleaned_data)
    return show(request, part="#tokens", new_token=token, secret=secret)


@require_POST
def revoke_token(request: HttpRequest, pk: int) -> HttpResponse:
    """Refuse a token from now on."""
    token = get_object_or_404(ApiToken.objects.of(access.signed_in(request).user), pk=pk)
    token.revoke()
    messages.success(request, _("The token “%(name)s” was revoked.") % {"name": token.name})
    return show(request, part="#tokens") if is_htmx(request) else redirect("openchamber:settings")


@require_POST
def add_server(request: HttpRequest) -> HttpResponse:
    """Remember a running agent server; one that does not answer is refused, so that a slip of the pen shows now.

    For staff: it is everybody's, and this machine calls what is written there.
    """
    access.signed_in(request).check_staff()
    form = ServerForm(request.POST)
    if form.is_valid():
        try:
            servers.use(**form.cleaned_data, source=AgentServer.Source.SETTINGS)
        except AgentServerError as error:
            form.add_error("url", str(error))
    if form.errors:
        return show(request, part="#servers", status=422, server_form=form)
    messages.success(request, _("%(url)s is used from now on.") % form.cleaned_data)
    return show(request, part="#servers") if is_htmx(request) else redirect("openchamber:settings")


@require_POST
def remove_server(request: HttpRequest, pk: int) -> HttpResponse:
    """Use an agent server no more; its sessions stay listed and it can be added again. For staff."""
    access.signed_in(request).check_staff()
    server = get_object_or_404(AgentServer.objects.usable(), pk=pk)
    server.switch_off()
    messages.success(request, _("%(url)s is used no more.") % {"url": server.url})
    return show(request, part="#servers") if is_htmx(request) else redirect("openchamber:settings")
