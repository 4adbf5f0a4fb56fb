"""Who writes in a scope takes its row before any entry: writers in turn never wait for each other in a circle."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memory.models import Author, Entry, Scope, Through
from memory.reading import read
from tests.memory.test_tool import THREAT

pytestmark = pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite has one writer at a time")


def first_taken(act: Callable[[], object]) -> str:
    """The first statement of an act that changes or holds a row."""
    with CaptureQueriesContext(connection) as told:
        act()
    return next(
        sql for query in told if (sql := query["sql"]).startswith(("UPDATE", "INSERT")) or "FOR NO KEY UPDATE" in sql
    )


def test_a_scope_s_row_is_taken_first(write: Callable[..., Entry], user_scope: Scope, workspace: Scope) -> None:
    by = Author(Through.PANEL)
    entry, flagged = write("Prefers tabs"), write("Orders", THREAT)
    write("Orders", THREAT, scope=workspace)
    Entry.objects.filter(pk=entry.pk).update(scanned_with="an older one")
    acts = [
        lambda: read("user", user_scope),
        lambda: flagged.judge("safe", by=None, through=by),
        lambda: entry.bin(by=by),
        lambda: entry.undelete(by=by),
        lambda: entry.move(workspace, by=by),
    ]
    for act in acts:
        taken = first_taken(act)
        assert '"memory_scope"' in taken
        assert "FOR NO KEY UPDATE" in taken
