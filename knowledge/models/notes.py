"""Notes: short Markdown texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from django.db import models
from django.db.models.functions import Length
from django.utils.translation import gettext_lazy as _

from knowledge.models.authors import Author
from knowledge.models.origins import Source, Sourced, origin
from knowledge.models.pins import Pinnable, PinnableQuerySet
from knowledge.models.written import recorded
from knowledge.texts import (
    AtMost,
    first_line,
    normal_lines,
    revision_of,
    text_warnings,
    validate_characters,
    validate_not_blank,
)

if TYPE_CHECKING:
    from openchamber.models import Project

NOTE_LENGTH = 20_000  # characters

models.TextField.register_lookup(Length)  # for the constraints on lengths


class NoteQuerySet(PinnableQuerySet["Note"]):
    """Questions about notes."""

    def shown(self, show: str) -> Self:
        """The live ones that a filter of the page asks for, in its order; an unknown filter asks for all."""
        rows = self.live().newest_first()
        return {"pinned": rows.pinned, "message": rows.from_messages}.get(show, rows.all)()

    def counts(self) -> dict[str, int]:
        """How many each filter of the page shows."""
        return self.live().aggregate(
            all=models.Count("pk"),
            pinned=models.Count("pk", filter=models.Q(pinned=True)),
            message=models.Count("pk", filter=models.Q(source=Source.MESSAGE)),
        )

    def from_messages(self) -> Self:
        """Those that were kept from a conversation."""
        return self.filter(source=Source.MESSAGE)


class Note(Sourced, Pinnable):
    """A short text in Markdown: 1 to 20,000 characters."""

    list_name = "notes"

    body = models.TextField(_("note"), validators=[validate_characters, validate_not_blank, AtMost(NOTE_LENGTH)])
    title = models.CharField(_("title"), max_length=200, editable=False)

    history = recorded("pinned", "pinned_at")
    objects = NoteQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "-pk"]
        verbose_name = _("note")
        verbose_name_plural = _("notes")
        constraints = [
            models.UniqueConstraint(fields=["project", "uid"], name="note_uid"),
            models.CheckConstraint(
                condition=models.Q(body__length__gte=1, body__length__lte=NOTE_LENGTH), name="note_length"
            ),
        ]
        indexes = [models.Index(fields=["project", "-created_at", "-id"], name="notes_newest_first")]

    def __str__(self) -> str:
        return self.title

    @classmethod
    def write(
        cls,
        *,
        project: Project,
        body: str,
        by: Author,
        source: str = Source.TYPED,
        session: str = "",
        message: str = "",
        pinned: bool = False,
    ) -> Note:
        """A new note. `session` and `message` say where it comes from."""
        note = cls(project=project, body=normal_lines(body), source=source, **origin(session, message))
        return note.pinned_from_the_start(pinned)._create(by=by)

    def derive(self) -> None:
        """Revision and title, from the body."""
        self.revision, self.title = revision_of(self.body), first_line(self.body)

    def warnings(self) -> list[str]:
        """What the writer should know about this text, as sentences."""
        return text_warnings(self.body)

    def edit(self, *, body: str, by: Author, seen: str | None = None) -> None:
        """Replace the body. `seen` is the revision that the edit was made on; Stale when another stands."""
        self._change(by=by, seen=seen, body=normal_lines(body))
