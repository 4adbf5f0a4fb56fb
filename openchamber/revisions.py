"""Revisions over HTTP: a thing's revision is its ETag, and an edit names the one it saw by If-Match."""

from __future__ import annotations

from django.http import HttpRequest


def etag(revision: str | int) -> str:
    """The `ETag` header for a revision: `"4f1c"`."""
    return f'"{revision}"'


def seen_revision(request: HttpRequest, current: str) -> str:
    """The revision that the caller edits, by `If-Match`: `current`, or another, which is stale; "" where any will do.

    Any of the listed tags may be the current one. A weak tag counts as the strong one: proxies that compress
    weaken it, the content is the same.
    """
    value = request.headers.get("If-Match", "").strip()
    if value in ("", "*"):
        return ""
    tags = [tag.strip().removeprefix("W/").strip('"') for tag in value.split(",")]
    return current if current in tags else value
