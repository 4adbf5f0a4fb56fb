"""Earlier stores: `memory.json` files of another system, read into scopes. Their texts are scanned like any other."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from memory import texts
from memory.models import Author, Entry, Scope, Switches, Taken, Through
from memory.models.room import check_room
from memory.models.scopes import lock_scopes
from memory.threats import visible
from openchamber.texts import as_line

MOST_BYTES = 64 * 1024 * 1024
TYPES = {choice for choice, _label in Entry.Type.choices}


class EarlierError(Exception):
    """The file is no such store; the sentence says why."""


@dataclass(frozen=True, slots=True)
class Kept:
    """An entry of an earlier store."""

    title: str
    body: str
    type: str
    session: str
    created_at: datetime | None
    updated_at: datetime | None


def read_store(path: Path) -> Iterator[Kept | str]:
    """The entries of a `memory.json`: `{"entries": [...]}`, or a bare list; of what is none, what it is called."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise EarlierError(_("%(path)s is too large to be a store of memories.") % {"path": path})
        stored = json.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError as error:
        raise EarlierError(_("There is no %s.") % path) from error
    except (OSError, ValueError, RecursionError) as error:
        raise EarlierError(_("%(path)s cannot be read as JSON.") % {"path": path}) from error
    entries = stored.get("entries") if isinstance(stored, dict) else stored
    if not isinstance(entries, list):
        raise EarlierError(_("%(path)s has no list of entries.") % {"path": path})
    yield from (kept_of(number, one) for number, one in enumerate(entries, 1))


def kept_of(number: int, one: Any) -> Kept | str:
    """One entry; without a title and a body, what tells it from the others of the file."""
    if not isinstance(one, dict):
        return f"{number}: {one}"
    title, body, kind, session = (text_of(one.get(name)) for name in ("title", "body", "type", "sessionId"))
    if not title.strip() or not body.strip():
        return f"{number}: {title.strip() or one.get('id') or one.get('title') or body}"
    times = [time_of(one.get(name)) for name in ("createdAt", "updatedAt")]
    return Kept(title, body, kind if kind in TYPES else "fact", session[:200], *times)


def text_of(value: Any) -> str:
    """A text of the earlier system, "" for what is none."""
    return value if isinstance(value, str) else ""


def time_of(milliseconds: Any) -> datetime | None:
    """A time of the earlier system, which counts milliseconds; none that is still to come: such an entry would be the
    newest for ever."""
    if not isinstance(milliseconds, int | float) or isinstance(milliseconds, bool):
        return None
    try:
        time = datetime.fromtimestamp(milliseconds / 1000, tz=UTC)
        return time if time <= timezone.now() else None
    except (ValueError, OverflowError, OSError):
        return None


@dataclass(slots=True)
class Outcome:
    """How many entries were `added`, `flagged`, `known` already or `refused`, and why each of the last was."""

    counts: Counter[str] = field(default_factory=Counter)
    refusals: list[str] = field(default_factory=list)

    def refuse(self, name: str, why: str) -> None:
        """Count what is not taken in, and say it in a terminal, character by character."""
        self.counts["refused"] += 1
        self.refusals.append(visible(f"{texts.one_line(name)[: texts.TITLE_LENGTH]}: {why}"))


def take_in(scope: Scope, kept: Iterable[Kept | str]) -> Outcome:
    """Store them. Twice is once; nothing is cut and nothing replaced: what does not fit is refused by its title."""
    outcome = Outcome()
    for one in kept:
        if isinstance(one, str):
            outcome.refuse(one, _("This is no entry: it has no title or no body."))
            continue
        try:
            outcome.counts[take_one(scope, one)] += 1
        except (ValidationError, Taken) as error:
            outcome.refuse(one.title, " ".join(getattr(error, "messages", None) or [str(error)]))
    return outcome


@transaction.atomic
def take_one(scope: Scope, one: Kept) -> str:
    """Store one: what became of it. A title that is another entry's raises Taken, a full scope NoRoom."""
    lock_scopes(scope.pk)
    by = Author(Through.IMPORT, session=texts.one_line(as_line(one.session)), client="openchamber")
    title = texts.one_line(one.title)
    wanted = texts.content_hash(title, "", texts.plain(one.body))
    if scope.entries.live().filter(content_hash=wanted).exists():
        return "known"
    held = Switches.current().holds(scope.kind)
    entry = Entry.write(scope=scope, by=by, awaiting=held, title=title, body=one.body, type=one.type)
    check_room(scope, withheld=entry.withheld, besides=entry)
    entry.date(created_at=one.created_at, updated_at=one.updated_at)
    return "flagged" if entry.flagged else "awaiting" if entry.awaiting else "added"
