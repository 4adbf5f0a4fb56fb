"""The pages of project knowledge, and what every one of them begins with."""

from __future__ import annotations

from django.http import HttpRequest

from knowledge.models import Author, Through
from openchamber.models import Project
from openchamber.panel import PanelRequest
from openchamber.projects import access
from openchamber.texts import is_key

__all__ = ["PanelRequest", "author", "number", "project_of"]


def project_of(request: HttpRequest, slug: str) -> Project:
    """The project that a page is about, if the caller may see it."""
    return access.signed_in(request).project(slug)


def author(request: PanelRequest, sitting: str = "") -> Author:
    """Who changes something on a page."""
    return Author(request.user, Through.PANEL, sitting)


def number(text: str | None, *, least: int = 1, most: int = 2**63 - 1) -> int:
    """A whole number from an address or a form, from `least` to `most`; `least` for what is none."""
    found = int(text) if text and is_key(text) else least
    return max(least, min(found, most))
