"""Eight processes save and delete at once, and some are killed: what was answered is there."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import connection

from memory.models import Entry, Switches
from openchamber.models import Project

ROOT = Path(__file__).resolve().parents[2]
PROCESSES, FACTS = 8, 12


def database_url() -> str:
    """The tests' own database, as the other processes find it."""
    told = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{told['NAME']}"
    return f"postgres://{told['USER']}:{told['PASSWORD']}@{told['HOST']}:{told['PORT']}/{told['NAME']}"


class Saver:
    """One process, and what it said."""

    def __init__(self, name: str, directory: str) -> None:
        self.name = name
        self.said: dict[str, set[int]] = defaultdict(set)
        environment = {
            **os.environ,
            "DATABASE_URL": database_url(),
            "OPENCHAMBER_DATA_DIR": str(settings.DATA_DIR),
            "DJANGO_SETTINGS_MODULE": "openchamber.settings",
        }
        command = [sys.executable, "-m", "tests.memory.saver", name, directory, str(FACTS)]
        self.process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)
        self.reader = threading.Thread(target=self._listen)
        self.reader.start()

    def _listen(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            word, _space, number = line.strip().partition(" ")
            self.said[word].add(int(number or -1))

    def join(self) -> None:
        """Wait for its end."""
        self.process.wait(timeout=240)
        self.reader.join(timeout=30)
        assert self.process.stdout
        self.process.stdout.close()


def kill_one(savers: list[Saver], pick: random.Random) -> None:
    """End a process in the middle of its work, as a power cut would."""
    busy = [saver for saver in savers if saver.said["saved"] and saver.process.poll() is None]
    if busy:
        pick.choice(busy).process.kill()


@pytest.mark.soak
@pytest.mark.django_db(transaction=True)
def test_every_answered_save_is_there(tmp_path: Path) -> None:
    directory = tmp_path.resolve() / "shop"
    directory.mkdir()
    Project.objects.create(name="Shop", slug="shop", directory=str(directory))
    Switches.change(enabled=True, workspace_limit=5_000)
    pick = random.Random(11)
    savers = [Saver(f"p{number}", str(directory)) for number in range(PROCESSES)]
    for _kill in range(3):
        time.sleep(pick.uniform(0.5, 2))
        kill_one(savers, pick)
    for saver in savers:
        saver.join()

    titles = set(Entry.objects.live().values_list("title", flat=True))
    for saver in savers:
        check(saver, titles)
    assert sum("done" in saver.said for saver in savers) >= PROCESSES - 3
    assert Entry.objects.live().filter(title="Shared").count() == 1
    shared: Any = Entry.objects.get(title="Shared")
    assert shared.history.count() == shared.history.values("revision", "history_date").distinct().count()


def check(saver: Saver, titles: set[str]) -> None:
    """What the process was answered is what is stored."""
    for number in saver.said["saved"]:
        title = f"Fact {saver.name} {number}"
        if number in saver.said["deleted"]:
            assert title not in titles
        elif number not in saver.said["deleting"]:
            assert title in titles
