"""What `doctor` finds, as a page."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from openchamber import doctor
from openchamber.projects import access


@require_GET
def health(request: HttpRequest) -> HttpResponse:
    """Every finding, the worst first. For staff: it shows paths and addresses of this machine."""
    access.signed_in(request).check_staff()
    order = ("fail", "warn", "ok")
    findings = sorted(doctor.examine(), key=lambda finding: order.index(finding.level))
    return render(request, "openchamber/health.html", {"findings": findings, "healthy": doctor.healthy(findings)})
