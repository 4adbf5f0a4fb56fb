"""Revisions over HTTP: a thing's revision is its ETag, and an edit names the one it saw by If-Match."""

from __future__ import annotations

from django.http import HttpRequest


def etag(revision: str | int) -> str:
    """The `ETag` header for a revision: `"4f1c"`."""
    return f'"{revision}"'


def seen_revision(request: HttpRequest) -> str:
    """The revision that the caller edits, from `If-Match`; "" when it names none or takes any (`*`).

    A weak tag counts as the strong one: proxies that compress weaken it, the content is the same.
    """
    value = request.headers.get("If-Match", "").strip()
    if value == "*":
        return ""
    return value.partition(",")[0].strip().removeprefix("W/").strip('"')
