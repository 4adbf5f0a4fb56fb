"""Lists of the API: pages by key, so that what is added meanwhile neither repeats nor hides a row."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Generic, TypeVar

from django.core import signing
from django.db.models import Model, Q, QuerySet
from django.utils.translation import gettext as _
from ninja import Field, Schema

from openchamber.errors import Malformed

T = TypeVar("T")
Row = TypeVar("Row", bound=Model)
MOST = 200


class Paging(Schema):
    """The query of a list; declare it as `paging: Query[Paging]`."""

    limit: int = Field(50, ge=1, description="How many at most; never more than 200.")
    cursor: str = Field("", description="`next` of the page before.")

    @property
    def size(self) -> int:
        """How many rows the page may hold."""
        return min(self.limit, MOST)


class Page(Schema, Generic[T]):
    """One page: the answer of every list."""

    results: list[T]
    next: str | None = Field(None, description="The cursor of the next page; null on the last one.")


def page(rows: QuerySet[Row], paging: Paging, *, by: Sequence[str]) -> dict[str, Any]:
    """The page of `rows` after the cursor, ordered by the fields `by` ("-created_at", "-pk").

    The fields must never be null and together tell any two rows apart.
    """
    if paging.cursor:
        rows = rows.filter(_after(by, _read_cursor(paging.cursor, by)))
    found = list(rows.order_by(*by)[: paging.size + 1])
    results = found[: paging.size]
    more = len(found) > paging.size
    return {"results": results, "next": _cursor(results[-1], by) if more else None}


def page_of(found: Sequence[T], paging: Paging) -> dict[str, Any]:
    """The page of a list that is in memory or ranked: its cursor is a position."""
    start = _read_cursor(paging.cursor, ["#"])[0] if paging.cursor else 0
    end = start + paging.size
    more = end < len(found)
    return {"results": found[start:end], "next": _sign([end], ["#"]) if more else None}


def _after(by: Sequence[str], values: Sequence[Any]) -> Q:
    """Rows that come later than `values`: behind in the first field, or equal in it and behind in the rest."""
    condition = Q()
    equal = Q()
    for field, value in zip(by, values, strict=True):
        name = field.removeprefix("-")
        side = "lt" if field.startswith("-") else "gt"
        condition |= equal & Q(**{f"{name}__{side}": value})
        equal &= Q(**{name: value})
    return condition


def _cursor(row: Model, by: Sequence[str]) -> str:
    values = [getattr(row, field.removeprefix("-")) for field in by]
    return _sign([value.isoformat() if isinstance(value, datetime) else value for value in values], by)


def _sign(values: list[Any], by: Sequence[str]) -> str:
    return signing.dumps(values, salt=f"page:{','.join(by)}", compress=True)


def _read_cursor(cursor: str, by: Sequence[str]) -> list[Any]:
    # Signed, because a forged value would reach the database with a type that it does not expect.
    try:
        values: list[Any] = signing.loads(cursor, salt=f"page:{','.join(by)}")
    except signing.BadSignature as error:
        raise Malformed(_("This cursor is not one of this list. Begin without one.")) from error
    return values
