"""Copy everything that the installation keeps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DEFAULT_DB_ALIAS, connection
from django.utils.translation import gettext as _

from openchamber.backups import BackupFailed, back_up
from openchamber.management import database


class Command(BaseCommand):
    """A directory with the database and the secret key, consistent although the server runs."""

    help = "Copy the database and the secret key, consistently, into a new directory below TARGET."

    def add_arguments(self, parser: CommandParser) -> None:
        """Whereto."""
        parser.add_argument("target", type=Path, help="the directory that the backup is put into")

    def handle(self, *args: Any, **options: Any) -> None:
        """Copy, and say where the copy is and how to use it."""
        database.require_set_up()
        try:
            made = back_up(options["target"])
        except (BackupFailed, OSError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(_("The backup is %s.") % made)
        where = {"directory": settings.DATA_DIR}
        self.stdout.write(_("To restore it, stop serve. Copy its secret_key to %(directory)s.") % where)
        if connection.vendor == "sqlite":
            where["files"] = settings.DATABASES[DEFAULT_DB_ALIAS]["NAME"]
            self.stdout.write(
                _("Remove %(files)s, %(files)s-wal and %(files)s-shm, and copy its openchamber.sqlite3 there.") % where
            )
        else:
            self.stdout.write(_("Then run pg_restore --clean --if-exists --dbname=URL with its openchamber.dump."))
