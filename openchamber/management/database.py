"""Commands that need the database say so in a sentence when it is not there yet."""

from __future__ import annotations

from pathlib import Path

from django.core.management.base import CommandError
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.utils.translation import gettext as _


def require_current() -> None:
    """Raise `CommandError` unless the database is as this version wants it."""
    executor = _executor()
    if executor is None or executor.migration_plan(executor.loader.graph.leaf_nodes()):
        raise CommandError(
            _("The database is not set up, or is older than this program. Start serve once, or run migrate.")
            + f" ({connection.settings_dict['NAME']})"
        )


def require_set_up() -> None:
    """Raise `CommandError` unless there is a database, even an older one: that can at least be copied."""
    executor = _executor()
    if executor is None or not executor.loader.applied_migrations:
        raise CommandError(_("There is no database yet. Start serve once, or say where it is (OPENCHAMBER_DATA_DIR)."))


def require_reachable() -> None:
    """Raise `CommandError` unless the database can be opened."""
    if reason := unreachable():
        problem = _("The database cannot be opened: %s.") % reason
        raise CommandError(f"{problem} {_('Check DATABASE_URL, and that the server runs and its disk has room.')}")


def unreachable() -> str:
    """Why the database cannot be opened, or "". Asked without the pool, which would try and log for half a minute."""
    if _in_memory():
        return ""
    alone = connection.copy()
    alone.settings_dict["OPTIONS"].pop("pool", None)
    try:
        alone.ensure_connection()
    except DatabaseError as error:
        return str(error).partition("\n")[0].rstrip(".")
    finally:
        alone.close()
    return ""


def _executor() -> MigrationExecutor | None:
    """What knows the migrations; None where there is no file to ask."""
    if is_missing():
        return None
    require_reachable()
    return MigrationExecutor(connection)


def is_missing() -> bool:
    """Whether this is SQLite without a file: to ask it anything would make one."""
    if connection.vendor != "sqlite" or _in_memory():
        return False
    return not Path(str(connection.settings_dict["NAME"])).exists()


def _in_memory() -> bool:
    return connection.vendor == "sqlite" and connection.is_in_memory_db()  # type: ignore[attr-defined]  # SQLite's own
