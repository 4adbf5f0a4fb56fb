"""Commands that need the database say so in a sentence when it is not there yet."""

from __future__ import annotations

from django.core.management.base import CommandError
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils.translation import gettext as _


def require_current() -> None:
    """Raise `CommandError` unless the database is as this version wants it."""
    executor = MigrationExecutor(connection)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        raise CommandError(
            _("The database is not set up, or is older than this program. Start serve once, or run migrate.")
        )
