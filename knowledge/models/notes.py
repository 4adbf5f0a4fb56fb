"""Notes: short Markdown texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self
from urllib.parse import quote

from django.db import models
from django.db.models.functions import Length
from django.utils.translation import gettext_lazy as _

from knowledge.models.authors import Author
from knowledge.models.pins import Pinnable, PinnableQuerySet
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

models.TextField.register_lookup(Length)  # for the constraint below


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
            message=models.Count("pk", filter=models.Q(source=Note.Source.MESSAGE)),
        )

    def from_messages(self) -> Self:
        """Those that were kept from a conversation."""
        return self.filter(source=Note.Source.MESSAGE)


class Note(Pinnable):
    """A short text in Markdown: 1 to 20,000 characters."""

    list_name = "notes"

    class Source(models.TextChoices):
        TYPED = "typed", _("typed")
        MESSAGE = "message", _("from a message")
        IMPORT = "import", _("imported")

    body = models.TextField(_("note"), validators=[validate_characters, validate_not_blank, AtMost(NOTE_LENGTH)])
    title = models.CharField(_("title"), max_length=200, editable=False)
    source = models.CharField(_("source"), max_length=8, choices=Source.choices, default=Source.TYPED)
    origin_session = models.CharField(_("from session"), max_length=200, blank=True)
    origin_message = models.CharField(_("from message"), max_length=200, blank=True)

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
    ) -> Note:
        """A new note. `session` and `message` say where it comes from; a message without a session says nothing."""
        origin = {"origin_session": session, "origin_message": message if session else ""}
        return cls(project=project, body=normal_lines(body), source=source, **origin)._create(by=by)

    def origin_url(self) -> str:
        """The message that it was taken from, in the panel."""
        message = f"#message-{quote(self.origin_message)}" if self.origin_message else ""
        return f"{self.project.get_absolute_url()}sessions/{quote(self.origin_session, safe='')}/{message}"

    def derive(self) -> None:
        """Revision and title, from the body."""
        self.revision, self.title = revision_of(self.body), first_line(self.body)

    def warnings(self) -> list[str]:
        """What the writer should know about this text, as sentences."""
        return text_warnings(self.body)

    def edit(self, *, body: str, by: Author, seen: str | None = None) -> None:
        """Replace the body. `seen` is the revision that the edit was made on; Stale when another stands."""
        self._change(by=by, seen=seen, body=normal_lines(body))
