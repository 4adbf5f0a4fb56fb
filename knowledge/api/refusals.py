"""What the rules of the models are over HTTP, and how an item is found."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from knowledge.models import Author, Stale, Through, Written
from openchamber import errors
from openchamber.projects.access import ApiRequest
from openchamber.revisions import seen_revision
from openchamber.texts import is_key

Row = TypeVar("Row", bound=Written)


def author(request: ApiRequest) -> Author:
    """Who changes something by this request."""
    return Author(request.auth.user, Through.API)


def found(rows: QuerySet[Row], key: str) -> Row:
    """The row with the id `key`; ids are opaque to callers, so one that cannot be is just not there."""
    row = rows.filter(pk=key).select_related("project").first() if is_key(key) else None
    if row is None:
        raise errors.NotFound(_("There is no such thing here, or it is in the bin."))
    return row


@transaction.atomic
def delete(request: ApiRequest, rows: QuerySet[Row], key: str, show: Callable[[Any], Any]) -> None:
    """Put the row with the id `key` into the bin; with `If-Match` only if that revision still stands."""
    found(rows, key).project.lock()  # nobody edits it between the look and the act
    row = found(rows, key)
    seen = seen_revision(request, row.revision)
    if seen and seen != row.revision:
        raise errors.Stale(current=show(row))
    row.bin(by=author(request))


@contextmanager
def refusals(show: Callable[[Any], Any]) -> Iterator[None]:
    """Answer a broken rule with 422 and a stale edit with 412 and what is stored, as `show` tells it."""
    try:
        yield
    except ValidationError as error:
        raise errors.Invalid(fields=error.message_dict) from error
    except Stale as error:
        raise errors.Stale(str(error), current=show(error.current)) from error
