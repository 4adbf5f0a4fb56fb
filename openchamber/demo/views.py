"""The demo with one click, where the agent server has no usable model."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST
from django_htmx.http import HttpResponseClientRefresh

from openchamber.errors import Conflict
from openchamber.panel import PanelRequest
from openchamber.projects import access
from openchamber.sessions import choices
from openchamber.sessions.servers import Child


@require_POST
def start_demo(request: PanelRequest) -> HttpResponse:
    """Give our OpenCode the demo's model, and go back to the page (`next`) where it was missed. For staff."""
    access.signed_in(request).check_staff()
    if Child.running is None:
        raise Conflict(_("OpenChamber did not start this OpenCode. Stop it, and start OpenChamber with --demo."))
    Child.running.add_demo()
    choices.forget()
    messages.success(request, _("The demo is ready. Pin a note and send a message: it reads out what it was told."))
    if request.htmx:
        return HttpResponseClientRefresh()
    page = request.POST.get("next", "")
    return redirect(page if url_has_allowed_host_and_scheme(page, None) else "openchamber:projects")
