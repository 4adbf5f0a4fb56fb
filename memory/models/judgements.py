"""Judgements: who said that a content is safe or a threat. Nothing here is ever changed: it is the audit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from memory.models.entries import Entry
from memory.threats import visible

if TYPE_CHECKING:
    from django.contrib.auth.models import User


class Judgement(models.Model):
    """A user's word about one content; it holds for exactly that content, wherever it stands."""

    content_hash = models.CharField(max_length=64, db_index=True, editable=False)
    verdict = models.CharField(_("verdict"), max_length=6, choices=Entry.Judgement.choices, blank=True)
    entry = models.ForeignKey(Entry, models.SET_NULL, null=True, related_name="judgements", verbose_name=_("entry"))
    title = models.CharField(_("title then"), max_length=400)
    matches = models.JSONField(_("matches"), default=list)
    scanner = models.CharField(_("scanner"), max_length=16)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+", verbose_name=_("by"))
    at = models.DateTimeField(_("at"), auto_now_add=True)

    class Meta:
        ordering = ["-at", "-pk"]
        verbose_name = _("judgement")
        verbose_name_plural = _("judgements")

    def __str__(self) -> str:
        return f"{self.get_verdict_display()}: {visible(self.title)}"

    @classmethod
    def record(cls, entry: Entry, verdict: str, *, by: User | None) -> None:
        """Keep what `by` said about the entry's content."""
        cls.objects.create(
            content_hash=entry.content_hash,
            verdict=verdict,
            entry=entry,
            title=entry.title,
            matches=entry.matches,
            scanner=entry.scanned_with,
            by=by,
        )

    @classmethod
    def of(cls, content_hash: str) -> str:
        """The last word about a content; "" when nobody said one."""
        return cls.objects.filter(content_hash=content_hash).values_list("verdict", flat=True).first() or ""
