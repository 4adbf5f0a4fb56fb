"""The pool that restores: one session's work in order, and a failure that stops nobody."""

from __future__ import annotations

import threading

import pytest

from openchamber.sessions.restore import InOrder


def test_the_work_of_one_session_is_done_in_order_and_that_of_others_beside_it() -> None:
    pool, done, gate = InOrder(), list[str](), threading.Event()
    other = threading.Event()
    pool.submit("a", lambda: (gate.wait(5), done.append("first")))
    pool.submit("a", lambda: done.append("second"))
    pool.submit("b", other.set)
    assert other.wait(5)
    assert done == []
    last = threading.Event()
    pool.submit("a", last.set)
    gate.set()
    assert last.wait(5)
    assert done == ["first", "second"]
    pool.finish()


def test_a_failure_is_logged_and_the_next_work_follows(caplog: pytest.LogCaptureFixture) -> None:
    pool, after = InOrder(), threading.Event()
    pool.submit("a", lambda: 1 / 0)
    pool.submit("a", after.set)
    assert after.wait(5)
    pool.finish()
    assert "a restore failed" in caplog.text


def test_what_comes_after_the_end_is_left_to_the_next_start() -> None:
    pool, never = InOrder(), threading.Event()
    pool.finish()
    pool.submit("a", never.set)
    assert not never.wait(0.2)
