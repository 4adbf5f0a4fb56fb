"""Backups: a consistent copy of everything that an installation keeps, taken while it runs."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection
from django.utils import timezone
from django.utils.translation import gettext as _


class BackupFailed(Exception):
    """There is no backup; the sentence says why and what to do."""


def back_up(into: Path) -> Path:
    """Copy database and secret key into a new directory below `into`; that directory.

    It appears under its name only when it is whole.
    """
    name = timezone.now().strftime("openchamber-%Y%m%d-%H%M%S")
    draft, target = into / f".{name}", into / name
    try:
        draft.mkdir(parents=True, mode=0o700)
    except OSError as error:
        problem = {"path": into, "reason": error.strerror}
        raise BackupFailed(_("No backup can be put into %(path)s: %(reason)s. Name a directory.") % problem) from error
    try:
        if connection.vendor == "sqlite":
            copy_sqlite(draft / "openchamber.sqlite3")
        else:
            dump_postgresql(draft / "openchamber.dump")
        key = settings.DATA_DIR / "secret_key"
        if key.exists():
            shutil.copy2(key, draft / "secret_key")
        draft.rename(target)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return target


def copy_sqlite(target: Path) -> None:
    """SQLite's own online copy: consistent, and writers wait at most for a few pages at a time."""
    source = connection.settings_dict["NAME"]
    target.touch(mode=0o600)
    with closing(sqlite3.connect(str(source))) as original, closing(sqlite3.connect(target)) as copy:
        original.backup(copy, pages=500, sleep=0.01)
        fine = copy.execute("PRAGMA quick_check").fetchone()[0]
        if fine != "ok":
            raise BackupFailed(_("The copy is damaged: %s") % fine)


def dump_postgresql(target: Path) -> None:
    """A dump by PostgreSQL's own program, to be read by pg_restore."""
    program = shutil.which("pg_dump")
    if program is None:
        raise BackupFailed(_("pg_dump is missing. Install PostgreSQL's client programs."))
    wanted: dict[str, Any] = connection.settings_dict
    where = {"--host": wanted["HOST"], "--port": wanted["PORT"], "--username": wanted["USER"]}
    options = [f"{name}={value}" for name, value in where.items() if value]
    target.touch(mode=0o600)
    done = subprocess.run(  # noqa: S603  our own settings, and no shell
        [program, "--format=custom", f"--file={target}", *options, wanted["NAME"]],
        env={"PGPASSWORD": str(wanted["PASSWORD"] or "")},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise BackupFailed(_("pg_dump failed: %s") % done.stderr.strip())
