"""Who writes in a project takes its row before any other: writers in turn never wait for each other in a circle."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from knowledge.models import SessionPin
from knowledge.models.todos import clear_done

pytestmark = pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite has one writer at a time")


def first_taken(act: Callable[[], object]) -> str:
    """The table of the first row, of a project or what is in it, that an act changes or holds."""
    with CaptureQueriesContext(
        connection,
    ) as told:
        act()
    taking = [sql for query in told if (sql := query["sql"]).startswith("UPDATE") or "FOR NO KEY UPDATE" in sql]
    tables = [sql.split('"')[1] if sql.startswith("UPDATE") else sql.split('FROM "')[1].split('"')[0] for sql in taking]
    return next(table for table in tables if table != "openchamber_apitoken")  # when the door was last used


def test_a_project_s_row_is_taken_first(project, write_note, write_todo, write_plan, by, api):
    note, todo, other, plan = write_note(), write_todo("one"), write_todo("two"), write_plan("# P")
    acts = [
        lambda: note.edit(body="Another", by=by),
        note.pin,
        note.unpin,
        lambda: SessionPin.choose("ses_1", note, attached=True),
        lambda: note.bin(by=by),
        lambda: note.undelete(by=by),
        lambda: todo.edit(done=True, by=by),
        lambda: todo.move(before=other),
        lambda: other.edit(text="three", by=by),
        lambda: clear_done(project, by=by),
        lambda: plan.edit(body="# Q", by=by),
        lambda: api("DELETE", f"/projects/{project.slug}/plans/{plan.pk}"),
    ]
    assert [first_taken(act) for act in acts] == ["openchamber_project"] * len(acts)
