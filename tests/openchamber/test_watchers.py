"""The care for the watchers: what goes wrong with one row does not end it."""

from __future__ import annotations

import logging
import threading
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.utils import timezone

from openchamber.models import AgentServer, Session
from openchamber.sessions import delivery
from openchamber.sessions.events import Watcher, Watchers, catch_up
from openchamber.sessions.restore import restore_soon
from openchamber.signals import session_compacted

pytestmark = pytest.mark.django_db(transaction=True)


def test_an_error_in_one_round_is_logged_and_the_next_round_comes(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    AgentServer.objects.create(url="http://127.0.0.1:9")
    rounds, twice = [], threading.Event()

    def sweep() -> None:
        rounds.append(1)
        if len(rounds) > 1:
            twice.set()
        raise ValueError("a row that nobody expected")

    monkeypatch.setattr(delivery, "sweep", sweep)
    monkeypatch.setattr("openchamber.sessions.events.ROUND_SECONDS", 0.05)
    watchers = Watchers()
    watchers.start()
    assert twice.wait(10)
    watchers.stop()
    assert "a row that nobody expected" in caplog.text


class Sessions:
    """An agent server that lists sessions by their last change."""

    def __init__(self, *changed: datetime) -> None:
        self.changed = changed

    def all_sessions(self, *, limit: int) -> list[Any]:
        rows = enumerate(self.changed)
        return [SimpleNamespace(id=f"ses_{n}", parent="", directory="/", updated=at) for n, at in rows][:limit]


def test_after_a_gap_those_are_compared_that_changed_since_and_shortly_before_it() -> None:
    server = AgentServer.objects.create(url="http://127.0.0.1:9")
    now = timezone.now()
    changed = [now, now - timedelta(seconds=30), now - timedelta(minutes=5)]
    for number in range(len(changed)):
        Session.objects.create(pk=f"ses_{number}", server=server)
    seen: list[str] = []

    def compacted(session_id: str, **_more: Any) -> None:
        seen.append(session_id)

    session_compacted.disconnect(restore_soon)
    session_compacted.connect(compacted)
    try:
        catch_up(server, Sessions(*changed), since=now - timedelta(seconds=5))  # type: ignore[arg-type]
    finally:
        session_compacted.disconnect(compacted)
        session_compacted.connect(restore_soon)
    assert seen == ["ses_0", "ses_1"]


def test_an_agent_server_that_is_away_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    watcher = Watcher(AgentServer.objects.create(url="http://127.0.0.1:9"))
    with caplog.at_level(logging.INFO, "openchamber"):
        for _attempt in range(3):
            watcher._follow()
    assert caplog.text.count("not listening to http://127.0.0.1:9") == 1
