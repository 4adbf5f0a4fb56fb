"""Pages of what may be very long: they end earlier than a program could want to read at once."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

from django.db.models import QuerySet
from django.db.models.functions import Length

from openchamber.paging import Paging, page

PAGE_CHARACTERS = 4_000_000


def fitting_page(rows: QuerySet[Any], paging: Paging, *, by: list[str], text: str) -> dict[str, Any]:
    """The page with as many rows as their texts, in the field `text`, leave room for; at least one."""
    sized = page(rows.annotate(characters=Length(text)).defer(text), paging, by=by)["results"]
    fitting = sum(total <= PAGE_CHARACTERS for total in accumulate(row.characters for row in sized))
    return page(rows, Paging(limit=max(fitting, 1), cursor=paging.cursor), by=by)
