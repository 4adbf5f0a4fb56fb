"""What is written of an entry: which fields a save, a scan, a verdict and an edit set, how, and its history."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from memory import texts
from memory.models.questions import Taken
from openchamber.history import versions_of

if TYPE_CHECKING:
    from memory.models.authors import Author
    from memory.models.entries import Entry

# What is written by whoever saves an entry.
TEXTS = {"title", "description", "body", "type"}
# What a scan writes, and what a verdict does.
SCANNED = ["content_hash", "scanned_with", "matches"]
VERDICT = ["judgement", "flagged", "conflicting"]
# What an edit may write.
EDITED = [
    "title",
    "title_key",
    "description",
    "body",
    "type",
    "name",
    "revision",
    "updated_at",
]


def stored(fields: dict[str, str]) -> dict[str, Any]:
    """The fields as they are stored: lines of one line, one kind of line end."""
    lines = {"title", "description", "name", "type"}
    return {name: (texts.one_line if name in lines else texts.plain)(value) for name, value in fields.items()}


@contextmanager
def unlike_others(entry: Entry) -> Iterator[None]:
    """All or nothing of what is written within; `Taken` where another live entry has the name or a told one the title,
    which the database itself refuses."""
    try:
        with transaction.atomic():
            yield
    except IntegrityError as error:
        others = type(entry).objects.live().filter(scope=entry.scope_id).exclude(pk=entry.pk)
        if others.filter(name=entry.name).exists():
            raise Taken(entry.name) from error
        if not entry.flagged and others.filter(title_key=entry.title_key, flagged=False).exists():
            raise Taken(entry.title) from error
        raise


def record(entry: Entry, kind: str, *, by: Author, reason: str = "") -> None:
    """Add to its history what the entry is now; `kind` is "+" for a new one, "~" for a changed one."""
    versions = versions_of(type(entry))
    versions.objects.create(
        history_type=kind,
        history_date=timezone.now(),
        history_user=by.user,
        history_change_reason=reason or None,
        through=by.through,
        session=by.session,
        agent_name=by.agent,
        client=by.client,
        **{field.attname: getattr(entry, field.attname) for field in versions.tracked_fields},
    )
