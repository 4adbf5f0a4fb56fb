"""Print a new sign-in link."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils.translation import gettext as _

from openchamber import data_directory, serving
from openchamber.management import database
from openchamber.projects import access
from openchamber.serving import HOST, PORT


class Command(BaseCommand):
    """A link that signs in once, within ten minutes."""

    help = "Print a link that signs you in to the panel: once, within ten minutes."

    def add_arguments(self, parser: CommandParser) -> None:
        """Where the panel runs, and who signs in."""
        parser.add_argument("--host", default="", help=f"where serve listens (where it does; else {HOST})")
        parser.add_argument("--port", type=int, help=f"where serve listens (where it does; else {PORT})")
        parser.add_argument("--url", default="", help="the panel's whole address, where a proxy stands before it")
        parser.add_argument("--user", default="", metavar="NAME", help="who signs in (the owner)")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the link alone, so that scripts can take it."""
        database.require_current()
        base_url = options["url"] or self.panel(options["host"], options["port"])
        self.stdout.write(access.sign_in_url(base_url, user=self.user(options["user"])))

    def panel(self, host: str, port: int | None) -> str:
        """Where the panel is: as it was said, else as the serve that runs wrote it down."""
        running = "" if host or port else data_directory.panel(settings.DATA_DIR)
        return running or serving.address(host or HOST, port or PORT)

    def user(self, name: str) -> User | None:
        """The user of that name; None stands for the owner."""
        if not name:
            return None
        user = User.objects.filter(username=name, is_active=True).first()
        if user is None:
            raise CommandError(_("There is no user “%(name)s”.") % {"name": name})
        return user
