"""Empty the bin."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone
from django.utils.translation import gettext as _

from openchamber.management import database
from openchamber.models import Project
from openchamber.signals import purge_wanted


class Command(BaseCommand):
    """Everything that lies in the bin long enough is removed for good, with its history."""

    help = "Remove for good what has been in the bin for so many days, with its history."

    def add_arguments(self, parser: CommandParser) -> None:
        """How long a thing must have been there."""
        parser.add_argument("--days", type=int, default=30, help="only what was deleted so many days ago (30; 0: all)")

    def handle(self, *args: Any, **options: Any) -> None:
        """Purge, and say how much of what."""
        database.require_current()
        if options["days"] < 0:
            raise CommandError(_("--days cannot be negative."))
        try:
            before = timezone.now() - timedelta(days=options["days"])
        except OverflowError as error:
            raise CommandError(_("--days reaches back before the first year. Give a smaller number.")) from error
        counts: dict[str, int] = {}
        for _receiver, answer in purge_wanted.send(Project, before=before):
            counts |= answer if isinstance(answer, dict) else {}
        words = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
        self.stdout.write(_("Removed for good: %s.") % (words or _("nothing")))
