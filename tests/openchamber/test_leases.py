"""Leases: one at a time, taken over when their time is up, or when their holder is known to be dead."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from datetime import timedelta

import pytest
from django.utils import timezone

from openchamber.models import Lease

pytestmark = pytest.mark.django_db
HERE = socket.gethostname()


def held_by(holder: str, *, seconds: float = 30) -> None:
    Lease.objects.create(name="watch:1", holder=holder, until=timezone.now() + timedelta(seconds=seconds))


def test_a_first_comer_has_it_renews_it_and_gives_it_back() -> None:
    assert Lease.take("watch:1", seconds=30)
    assert Lease.take("watch:1", seconds=30)
    assert not Lease.take("watch:1", seconds=30, by="elsewhere:1:1")
    Lease.give_back("watch:1", by="elsewhere:1:1")
    assert not Lease.take("watch:1", seconds=30, by="elsewhere:1:1")
    Lease.give_back("watch:1")
    assert Lease.take("watch:1", seconds=30, by="elsewhere:1:1")


@pytest.mark.parametrize("holder", [f"{HERE}:{os.getppid()}:1", "another-machine:999999:1", "msg_0123456789ab"])
def test_one_that_may_live_is_waited_for_until_its_time_is_up(holder: str) -> None:
    held_by(holder)
    assert not Lease.take("watch:1", seconds=30)
    Lease.objects.update(until=timezone.now() - timedelta(seconds=1))
    assert Lease.take("watch:1", seconds=30)


def test_one_that_died_on_this_machine_is_not_waited_for() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    held_by(f"{HERE}:{process.pid}:1")
    assert Lease.take("watch:1", seconds=30)
    assert not Lease.take("watch:1", seconds=30, by="elsewhere:1:1")
