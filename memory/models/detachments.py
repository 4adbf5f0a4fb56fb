"""Detachments: what one session is not told, whatever its agent's memory says."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from memory.models.entries import Entry


class Detachment(models.Model):
    """A person took one entry out of one session."""

    # The agent's id, not a foreign key: a session may choose before we have a row for it.
    session = models.CharField(_("session"), max_length=200, db_index=True)
    entry = models.ForeignKey(Entry, models.CASCADE, related_name="detachments", verbose_name=_("entry"))

    class Meta:
        verbose_name = _("detachment")
        verbose_name_plural = _("detachments")
        constraints = [models.UniqueConstraint(fields=["session", "entry"], name="one_detachment")]

    def __str__(self) -> str:
        return f"{self.session}: {self.entry}"

    @classmethod
    def choose(cls, session: str, entry: Entry, *, attached: bool) -> None:
        """Let `session` be told of the entry, or no more."""
        if attached:
            cls.objects.filter(session=session, entry=entry).delete()
        else:
            Detachment.objects.bulk_create([Detachment(session=session, entry=entry)], ignore_conflicts=True)
        entry.scope.touch()
