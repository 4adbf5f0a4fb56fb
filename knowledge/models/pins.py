"""Pins: what rides with every message of a project, and what one session chose for itself."""

from __future__ import annotations

from typing import Any, Self, TypeVar

from django.db import models, transaction
from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Length
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from knowledge.models.written import Written, WrittenQuerySet, project_changed

Row = TypeVar("Row", bound="Pinnable")


class PinnableQuerySet(WrittenQuerySet[Row]):
    """Questions about what may ride."""

    def sized(self) -> Self:
        """With `characters`, the length of the text, and without the text itself."""
        text = self.model.text_field
        return self.annotate(characters=Length(text)).defer(text)

    def pinned(self) -> Self:
        """Those that ride with every message of their project."""
        return self.filter(pinned=True)

    def _chosen(self, session: str, *, attached: bool) -> Exists:
        """Whether `session` made this choice about a row."""
        choices = SessionPin.objects.filter(session=session, attached=attached)
        return Exists(choices.filter(**{str(self.model._meta.model_name): OuterRef("pk")}))

    def riding_in(self, session: str, *, parent: str = "") -> Self:
        """Those that ride in `session`: its own choice, else that of its parent, else what the project pinned."""
        riding: Any = Q(pinned=True)
        for chooser in filter(None, [parent, session]):
            with_it, without_it = self._chosen(chooser, attached=True), self._chosen(chooser, attached=False)
            riding = Q(with_it) | (riding & ~Q(without_it))
        return self.live().filter(riding)

    def detached_in(self, session: str) -> Self:
        """Those that the project pinned and `session` does not want."""
        return self.live().pinned().filter(self._chosen(session, attached=False))


class Pinnable(Written):
    """What a project can pin: it then rides with every message until it is unpinned."""

    pinned = models.BooleanField(_("pinned"), default=False, help_text=_("Told to every session of its project."))
    pinned_at = models.DateTimeField(_("pinned since"), null=True, blank=True, editable=False)
    characters: int | None = None  # where the query was `sized()`

    class Meta(Written.Meta):
        abstract = True

    def pinned_from_the_start(self, pinned: bool) -> Self:
        """Before it is stored: whether it rides at once."""
        self.pinned, self.pinned_at = pinned, timezone.now() if pinned else None
        return self

    def pin(self) -> None:
        """Let it ride with every message of its project. Twice is once."""
        self._set_pinned(pinned=True, at=timezone.now())

    def unpin(self) -> None:
        """Let it ride no more."""
        self._set_pinned(pinned=False, at=None)

    @transaction.atomic
    def _set_pinned(self, *, pinned: bool, at: Any) -> None:
        self.project.lock()
        rows = type(self)._default_manager.filter(pk=self.pk, pinned=not pinned)
        if rows.update(pinned=pinned, pinned_at=at) == 1:
            project_changed(self.project)
        self.pinned, self.pinned_at = pinned, at


class SessionPin(models.Model):
    """What one session chose about one note or plan, whatever its project says."""

    # The agent's id, not a foreign key: a session may choose before we have a row for it.
    session = models.CharField(_("session"), max_length=200, db_index=True)
    note = models.ForeignKey("knowledge.Note", models.CASCADE, null=True, blank=True, related_name="choices")
    plan = models.ForeignKey("knowledge.Plan", models.CASCADE, null=True, blank=True, related_name="choices")
    attached = models.BooleanField(_("attached"))

    class Meta:
        verbose_name = _("session's choice")
        verbose_name_plural = _("sessions' choices")
        constraints = [
            models.UniqueConstraint(fields=["session", "note"], name="one_choice_per_note"),
            models.UniqueConstraint(fields=["session", "plan"], name="one_choice_per_plan"),
            models.CheckConstraint(
                condition=Q(note=None, plan__isnull=False) | Q(note__isnull=False, plan=None),
                name="choice_of_one_thing",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.session}: {'with' if self.attached else 'without'} {self.note or self.plan}"

    @classmethod
    @transaction.atomic
    def choose(cls, session: str, item: Any, *, attached: bool | None) -> None:
        """Attach `item` to `session`, detach it there, or (None) follow the project again."""
        about = {"session": session, str(item._meta.model_name): item}
        item.project.lock()
        if attached is None:
            cls.objects.filter(**about).delete()
        else:
            cls.objects.update_or_create(**about, defaults={"attached": attached})
        project_changed(item.project)
