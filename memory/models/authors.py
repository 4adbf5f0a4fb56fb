"""Who changed something and through what: one half of every history entry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import models
from django.utils.translation import gettext_lazy as _

from memory import texts

if TYPE_CHECKING:
    from django.contrib.auth.models import User


class Through(models.TextChoices):
    """The ways by which a change can come."""

    TOOL = "tool", _("the agent’s tool")
    PANEL = "panel", _("panel")
    API = "api", _("API")
    FILE = "file", _("file")
    IMPORT = "import", _("import")
    ADMIN = "admin", _("admin")


@dataclass(frozen=True, slots=True)
class Author:
    """Who writes and through what; of a tool's call also the session, the agent's name there and the client."""

    through: Through
    user: User | None = None
    session: str = ""
    agent: str = ""
    client: str = ""

    def __post_init__(self) -> None:
        for name in ("session", "agent", "client"):  # they come from outside: without what no database holds
            object.__setattr__(self, name, texts.plain(getattr(self, name)))


class Written(models.Model):
    """What a history entry has beyond the fields of its row and simple_history's own."""

    through = models.CharField(_("through"), max_length=8, choices=Through.choices, default=Through.TOOL)
    session = models.CharField(_("session"), max_length=200, blank=True, default="")
    agent_name = models.CharField(_("agent"), max_length=200, blank=True, default="")
    client = models.CharField(_("client"), max_length=40, blank=True, default="")

    class Meta:
        abstract = True
