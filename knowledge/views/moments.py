"""Moments in addresses: what was done together at one of them is taken back together."""

from __future__ import annotations

from datetime import UTC, datetime

from django.http import Http404
from django.utils.dateparse import parse_datetime


def told(at: datetime) -> str:
    """The moment as an address names it."""
    return at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def heard(text: str) -> datetime:
    """The moment that an address names, in a zone in which databases have it."""
    try:
        at = parse_datetime(text)
        if at is not None and at.tzinfo is not None:
            return at.astimezone(UTC)
    except (ValueError, OverflowError):  # no day of any calendar, or none of this one once it is turned to UTC
        pass
    raise Http404
