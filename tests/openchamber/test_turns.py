"""Turns: the threads of one process write to SQLite one by one, in the order in which they came."""

from __future__ import annotations

import threading
import time

import pytest
from django.db import connection, transaction

from openchamber.models import Project
from openchamber.sqlite.turns import Turns


def test_who_waited_longest_is_next():
    turns = Turns()
    order = []
    assert turns.take(seconds=1)

    def wait(number):
        assert turns.take(seconds=10)
        order.append(number)
        turns.hand_on()

    threads = []
    for number in range(20):
        threads.append(threading.Thread(target=wait, args=[number]))
        threads[-1].start()
        while len(turns._waiting) <= number:
            time.sleep(0.001)
    turns.hand_on()
    for thread in threads:
        thread.join()
    assert order == list(range(20))


def test_a_turn_that_does_not_come_is_not_waited_for_and_not_lost():
    turns = Turns()
    assert turns.take(seconds=1)
    assert not turns.take(seconds=0.01)
    turns.hand_on()
    assert turns.take(seconds=0.01)


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL has no need of turns")
def test_a_turn_ends_with_its_transaction_however_that_ends():
    project = Project.objects.create(name="Shop", slug="shop", directory="/shop")
    with transaction.atomic():
        project.touch()
        assert connection._holds_turn
    assert not connection._holds_turn
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        project.revision = 1 // 0
    assert not connection._holds_turn
    with transaction.atomic(), transaction.atomic():
        project.touch()
    assert not connection._holds_turn
    project.touch()
    assert not connection._holds_turn


@pytest.mark.django_db(transaction=True)
def test_fifty_threads_write_and_every_write_is_there():
    project = Project.objects.create(name="Shop", slug="shop", directory="/shop")

    def write():
        for _number in range(5):
            with transaction.atomic():
                project.touch()
            project.touch()
        connection.close()

    threads = [threading.Thread(target=write) for _number in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    project.refresh_from_db()
    assert project.revision == 500
