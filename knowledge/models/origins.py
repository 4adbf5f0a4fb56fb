"""Where a text comes from: typed, kept from a conversation, or imported."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from django.db import models
from django.utils.translation import gettext_lazy as _

from openchamber.texts import validate_line

if TYPE_CHECKING:
    from openchamber.models import Project


class Source(models.TextChoices):
    """The ways by which a text can begin."""

    TYPED = "typed", _("typed")
    MESSAGE = "message", _("from a message")
    IMPORT = "import", _("imported")


class Sourced(models.Model):
    """A text that knows where it comes from."""

    source = models.CharField(_("source"), max_length=8, choices=Source.choices, default=Source.TYPED)
    origin_session = models.CharField(_("from session"), max_length=200, blank=True, validators=[validate_line])
    origin_message = models.CharField(_("from message"), max_length=200, blank=True, validators=[validate_line])
    project: Any

    class Meta:
        abstract = True

    def origin_url(self) -> str:
        """The message that it was taken from, in the panel; "" for one that was not."""
        if not self.origin_session:
            return ""
        project: Project = self.project
        message = f"#message-{quote(self.origin_message)}" if self.origin_message else ""
        return f"{project.get_absolute_url()}sessions/{quote(self.origin_session, safe='')}/{message}"


def origin(session: str, message: str) -> dict[str, str]:
    """The fields of an origin; a message without its session says nothing."""
    return {"origin_session": session, "origin_message": message if session else ""}
