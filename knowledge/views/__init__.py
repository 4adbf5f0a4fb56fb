"""The pages of project knowledge, and what every one of them begins with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.http import HttpRequest

from knowledge.models import Author, Through
from openchamber.models import Project
from openchamber.projects import access

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django_htmx.middleware import HtmxDetails


class PanelRequest(HttpRequest):
    """A request of somebody who is signed in, perhaps for a fragment."""

    user: User
    htmx: HtmxDetails


def project_of(request: HttpRequest, slug: str) -> Project:
    """The project that a page is about, if the caller may see it."""
    return access.signed_in(request).project(slug)


def author(request: PanelRequest, sitting: str = "") -> Author:
    """Who changes something on a page."""
    return Author(request.user, Through.PANEL, sitting)


def number(text: str | None, *, most: int = 2**63 - 1) -> int:
    """A whole number from an address or a form: 1 for what is none, at most `most`."""
    found = int(text) if text and text.isascii() and text.isdigit() and len(text) < 19 else 1
    return max(1, min(found, most))
