"""Refusals of pages and of the API: an entry that cannot be read is said to be so."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.utils.translation import gettext as _

from memory.reading import BROKEN, log_broken
from openchamber.errors import Unavailable


def unavailable() -> Unavailable:
    """What is said of entries that cannot be read: never that there are none."""
    return Unavailable(_("These entries cannot be read right now. Nothing is lost."), code="scope_unavailable")


@contextmanager
def readable() -> Iterator[None]:
    """Read entries in here; 503 where the store cannot, by its fault or a row's."""
    try:
        yield
    except BROKEN as broken:
        log_broken("An entry", broken)
        raise unavailable() from None  # what the database says quotes the row
