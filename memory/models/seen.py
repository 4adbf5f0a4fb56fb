"""Seen marks: up to when a user has looked at a scope. They decide what is new to whom, on every device."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from memory.models.scopes import Scope

if TYPE_CHECKING:
    from django.contrib.auth.models import User


class SeenMark(models.Model):
    """A user saw a scope as it was then, and has perhaps folded it up."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    scope = models.ForeignKey(Scope, models.CASCADE, related_name="seen_marks")
    seen_at = models.DateTimeField(_("seen"))

    class Meta:
        verbose_name = _("seen mark")
        verbose_name_plural = _("seen marks")
        constraints = [models.UniqueConstraint(fields=["user", "scope"], name="one_mark_per_user_and_scope")]

    def __str__(self) -> str:
        return f"{self.user} {self.scope} {self.seen_at}"

    @classmethod
    def see(cls, user: User, scopes: list[int], *, until: datetime) -> None:
        """Remember that `user` saw these scopes as they were at `until`; a mark never moves back."""
        marks = [SeenMark(user=user, scope_id=scope, seen_at=until) for scope in scopes]
        SeenMark.objects.bulk_create(marks, ignore_conflicts=True)
        cls.objects.filter(user=user, scope__in=scopes, seen_at__lt=until).update(seen_at=until)

    @classmethod
    def of(cls, user: User) -> dict[int, datetime]:
        """When `user` last saw each scope."""
        return dict(cls.objects.filter(user=user).values_list("scope", "seen_at"))
