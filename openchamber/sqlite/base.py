"""The database backend `openchamber.sqlite`.

SQLite lets one write at a time, and whoever meets another sleeps and tries again, longer each time:
of fifty threads that write at once some sleep past every time-out ("database is locked") while
others come and go. So the threads of one process queue up before they ask SQLite; between
processes its own waiting remains. A thread whose turn does not come in time asks SQLite all the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db.backends.sqlite3 import base

from openchamber.sqlite.turns import Turns

# One file is written by this process (a test's copy of it included), so one queue is enough.
turns = Turns()
WRITES = ("INSERT", "UPDATE", "DELETE", "REPLACE")


class Cursor(base.SQLiteCursorWrapper):
    """Takes a turn for each statement that writes and is a transaction of its own."""

    turn: Any

    def execute(self, query: str, params: Any = None) -> Any:
        """Run one statement."""
        if not query.lstrip()[:7].upper().startswith(WRITES) or self.connection.in_transaction:
            return super().execute(query, params)
        with self.turn():
            return super().execute(query, params)


class DatabaseWrapper(base.DatabaseWrapper):
    """Takes a turn for each transaction: they are IMMEDIATE, so each one is going to write."""

    _holds_turn = False

    def create_cursor(self, name: str | None = None) -> Any:
        """A cursor that takes turns."""
        cursor = self.connection.cursor(factory=Cursor)
        cursor.turn = self.turn
        return cursor

    @contextmanager
    def turn(self) -> Iterator[None]:
        """A turn for as long as the block runs."""
        self._take_turn()
        try:
            yield
        finally:
            self._hand_turn_on()

    def _take_turn(self) -> None:
        if not self._holds_turn:
            self._holds_turn = turns.take(seconds=self.settings_dict["OPTIONS"].get("timeout", 5))

    def _hand_turn_on(self) -> None:
        if self._holds_turn:
            self._holds_turn = False
            turns.hand_on()

    def _start_transaction_under_autocommit(self) -> None:
        self._take_turn()
        try:
            super()._start_transaction_under_autocommit()  # type: ignore[misc]
        except BaseException:
            self._hand_turn_on()
            raise

    def _commit(self) -> Any:
        try:
            return super()._commit()  # type: ignore[misc]
        finally:
            self._hand_turn_on()

    def _rollback(self) -> Any:
        try:
            return super()._rollback()  # type: ignore[misc]
        finally:
            self._hand_turn_on()

    def _close(self) -> Any:
        try:
            return super()._close()  # type: ignore[misc]
        finally:
            self._hand_turn_on()
