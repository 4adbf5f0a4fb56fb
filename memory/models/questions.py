"""Questions about entries, and what an edit can be refused for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext as _

from memory.threats import SCANNER_VERSION

if TYPE_CHECKING:
    from memory.models.entries import Entry


class Stale(Exception):
    """The entry was changed or deleted after the edit began; `current` is what stands now."""

    def __init__(self, current: Entry) -> None:
        super().__init__(_("This was changed in the meantime. Nothing was overwritten: read it again."))
        self.current = current


class Taken(Exception):
    """Another live entry of the scope has the name or title."""

    def __init__(self, title: str) -> None:
        super().__init__(_("There is another entry called “%(title)s” here.") % {"title": title})


class EntryQuerySet(models.QuerySet["Entry"]):
    """Questions about entries."""

    def live(self) -> Self:
        """Those that were not deleted."""
        return self.filter(deleted_at=None)

    def told(self) -> Self:
        """Those that an agent may be told of: live, not flagged, not waiting for approval."""
        return self.live().filter(flagged=False, awaiting=False)

    def unjudged(self) -> Self:
        """Those that an earlier version of the scanner looked at."""
        return self.live().exclude(scanned_with=SCANNER_VERSION)

    def with_content(self, content_hash: str) -> Self:
        """Those that say exactly this, wherever they stand."""
        return self.filter(content_hash=content_hash).select_related("scope__agent")

    def to_review(self) -> Self:
        """Those that somebody should look at."""
        return self.live().filter(Q(flagged=True) | Q(awaiting=True) | Q(conflicting=True))

    def unanswered(self) -> Self:
        """Those of them that nobody said anything about yet."""
        return self.to_review().exclude(flagged=True, conflicting=False, judgement=self.model.Judgement.THREAT)

    def newest_first(self) -> Self:
        """By last change."""
        return self.order_by("-updated_at", "-pk")
