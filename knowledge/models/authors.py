"""Who changed something and through what: one half of every history entry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import models
from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django_stubs_ext import StrOrPromise


class Through(models.TextChoices):
    """The ways by which a change can come."""

    PANEL = "panel", _("panel")
    API = "api", _("API")
    FILE = "file", _("file")
    IMPORT = "import", _("import")
    ADMIN = "admin", _("admin")


@dataclass(frozen=True, slots=True)
class Author:
    """Who writes, through what, and in which sitting.

    A sitting is one stretch of typing in one open editor, named by a random token that the
    editor was given ("" for a change that stands for itself).
    """

    user: User | None
    through: Through
    sitting: str = ""


class Entry(models.Model):
    """What a history entry has beyond the fields of its row and simple_history's own."""

    through = models.CharField(_("through"), max_length=8, choices=Through.choices, default=Through.PANEL)
    sitting = models.CharField(max_length=32, blank=True, default="")

    history_type: str
    history_change_reason: str | None

    class Meta:
        abstract = True

    @property
    def change(self) -> str:
        """What happened: the reason that was given, else created or changed."""
        return self.history_change_reason or {"+": "created", "~": "changed"}[self.history_type]

    @property
    def change_words(self) -> StrOrPromise:
        """The same in the reader's language."""
        return CHANGES.get(self.change, self.change)


# What may have happened to something, as it stands in history entries.
CHANGES = {
    "created": _("created"),
    "changed": _("changed"),
    "deleted": _("moved to the bin"),
    "undeleted": _("taken out of the bin"),
    "restored": _("restored from an earlier entry"),
    "imported": _("imported"),
}
