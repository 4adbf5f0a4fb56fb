"""`watch`: the event watcher alone. Any number may run; leases share the agent servers."""

from __future__ import annotations

import signal
import threading
from typing import Any

from django.core.management.base import BaseCommand

from openchamber.management import database
from openchamber.sessions import delivery, restore
from openchamber.sessions.events import Watchers


class Command(BaseCommand):
    help = "Follow the agent servers' events and restore what compaction takes away."

    def handle(self, *args: Any, **options: Any) -> None:
        database.require_current()
        told = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: told.set())
        watchers = Watchers()
        watchers.start()
        self.stdout.write("Watching. Stop with Ctrl+C.")
        self.stdout.flush()
        told.wait()
        watchers.stop()
        restore.finish()
        delivery.finish()
