"""System checks: what can be wrong with an installation, and how to mend it."""

from __future__ import annotations

import sqlite3
import stat
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register

OLDEST_SQLITE = (3, 38, 0)  # JSON functions without an extension, and RETURNING
SHORTEST_TOKEN = 20
# What can be told in a block that is smaller is not worth its envelope.
SMALLEST_BUDGET = 1000


@register(Tags.security)
def private_data(**kwargs: Any) -> list[CheckMessage]:
    """W001: others on this machine can read the data directory or the secret key."""
    paths = [settings.DATA_DIR, settings.DATA_DIR / "secret_key"]
    return [
        Warning(
            f"{path} can be read by other users of this machine.",
            hint=f"Run: chmod go-rwx {path}",
            id="openchamber.W001",
        )
        for path in paths
        if others_reach(path)
    ]


def others_reach(path: Path) -> bool:
    """Whether group or others have any right on `path`."""
    return path.exists() and bool(path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO))


@register(Tags.compatibility)
def sqlite(**kwargs: Any) -> list[CheckMessage]:
    """E001: SQLite is too old. E002: it has no full-text search."""
    if settings.DATABASES["default"]["ENGINE"] != "openchamber.sqlite":
        return []
    hint = "Use a Python whose SQLite is newer, or set DATABASE_URL to a PostgreSQL database."
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        return [Error(f"SQLite {sqlite3.sqlite_version} is too old.", hint=hint, id="openchamber.E001")]
    if not has_full_text_search():
        return [Error("This SQLite was built without FTS5.", hint=hint, id="openchamber.E002")]
    return []


def has_full_text_search() -> bool:
    """Whether the SQLite of this Python has FTS5."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("CREATE VIRTUAL TABLE probe USING fts5(text)")
    except sqlite3.OperationalError:
        return False
    finally:
        connection.close()
    return True


@register(Tags.security)
def hosts(**kwargs: Any) -> list[CheckMessage]:
    """W002: any host name is answered. W003: DEBUG on a network."""
    found: list[CheckMessage] = []
    if "*" in settings.ALLOWED_HOSTS:
        found.append(
            Warning(
                "OPENCHAMBER_ALLOWED_HOSTS allows every host name, so any web page can reach this server by its own.",
                hint="Name the hosts under which people open the panel.",
                id="openchamber.W002",
            )
        )
    if settings.DEBUG and settings.HOST_NAMES:
        found.append(
            Warning(
                "OPENCHAMBER_DEBUG shows source code and settings to whoever causes an error.",
                hint="Unset OPENCHAMBER_DEBUG where a host name is served.",
                id="openchamber.W003",
            )
        )
    return found


@register(Tags.security)
def environment_token(**kwargs: Any) -> list[CheckMessage]:
    """W004: OPENCHAMBER_TOKEN can be guessed."""
    if not settings.ENVIRONMENT_TOKEN or len(settings.ENVIRONMENT_TOKEN) >= SHORTEST_TOKEN:
        return []
    return [
        Warning(
            f"OPENCHAMBER_TOKEN is shorter than {SHORTEST_TOKEN} characters and gives full access.",
            hint="Set a long random one: python -c 'import secrets; print(secrets.token_urlsafe(32))'",
            id="openchamber.W004",
        )
    ]


@register(Tags.compatibility)
def context_limits(**kwargs: Any) -> list[CheckMessage]:
    """W005: no block fits the budget. W006: none is ready in time."""
    found: list[CheckMessage] = []
    if settings.CONTEXT_BUDGET < SMALLEST_BUDGET:
        found.append(
            Warning(
                f"OPENCHAMBER_CONTEXT_BUDGET is {settings.CONTEXT_BUDGET} characters: hardly anything can be told.",
                hint=f"Unset it, or give at least {SMALLEST_BUDGET}.",
                id="openchamber.W005",
            )
        )
    if settings.CONTEXT_TIMEOUT <= 0:
        found.append(
            Warning(
                "OPENCHAMBER_CONTEXT_TIMEOUT leaves no time: every message is sent without its context.",
                hint="Unset it, or give seconds, such as 1.",
                id="openchamber.W006",
            )
        )
    return found
