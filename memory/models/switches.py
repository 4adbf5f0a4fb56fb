"""Switches: whether memory is on, and its limits. One row for the installation."""

from __future__ import annotations

from typing import Any

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

WITHIN = [MinValueValidator(1), MaxValueValidator(10_000)]


class Switches(models.Model):
    """What the installation's owner set for all agents."""

    enabled = models.BooleanField(
        _("agents have memory"),
        default=False,
        help_text=_("Off keeps everything that was stored; agents are told nothing of it and cannot reach it."),
    )
    hold_user_entries = models.BooleanField(
        _("hold what is new about the user"),
        default=False,
        help_text=_("New entries about the user are told to sessions only after you approved them."),
    )
    user_limit = models.PositiveIntegerField(_("entries about the user, at most"), default=60, validators=WITHIN)
    workspace_limit = models.PositiveIntegerField(_("entries about a project, at most"), default=200, validators=WITHIN)
    revision = models.PositiveIntegerField(default=0, editable=False)

    class Meta:
        verbose_name = _("switches")
        verbose_name_plural = _("switches")
        constraints = [models.CheckConstraint(condition=models.Q(pk=1), name="one_row_of_switches")]

    def __str__(self) -> str:
        return str(_("on") if self.enabled else _("off"))

    @classmethod
    def current(cls) -> Switches:
        """What is set; the defaults while nothing was."""
        return cls.objects.filter(pk=1).first() or cls(pk=1)

    @classmethod
    def change(cls, **fields: Any) -> Switches:
        """Set some of them."""
        cls.objects.get_or_create(pk=1, defaults={"revision": 1})
        cls.objects.filter(pk=1).update(**fields, revision=models.F("revision") + 1)
        return cls.current()

    def holds(self, kind: str) -> bool:
        """Whether what is new or changed in a scope of this kind waits for approval."""
        return kind == "user" and self.hold_user_entries

    @classmethod
    def held(cls, kind: str) -> bool:
        """The same as it is set just now; asks only where it can be so."""
        return kind == "user" and cls.current().holds(kind)

    def limit(self, kind: str) -> int:
        """How many entries a scope of this kind may hold."""
        return self.user_limit if kind == "user" else self.workspace_limit
