"""The decision: what counts as seen, when rows may be trusted, and what one failing app does to the others."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.dispatch import Signal
from django.utils import timezone

from openchamber.models import AgentServer, Delivery, Project, Session
from openchamber.sessions import assembly, delivery
from openchamber.sessions.carriers import Carrier, Conversation, Message
from openchamber.sessions.context import Item
from openchamber.sessions.status import status
from openchamber.signals import context_version_wanted, context_wanted

pytestmark = pytest.mark.django_db

AT = datetime(2026, 11, 30, tzinfo=UTC)


def item(key: str, text: str) -> Item:
    return Item(key, "note", text, text, "Notes", AT)


@contextmanager
def answering(signal: Signal, answer: Any) -> Iterator[None]:
    """A receiver that answers, or raises, for as long as the block lasts."""

    def receiver(**_asked: Any) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    signal.connect(receiver, weak=False)
    try:
        yield
    finally:
        signal.disconnect(receiver)


@pytest.fixture
def listening() -> AgentServer:
    """An agent server that this process follows."""
    server = AgentServer.objects.create(url="http://127.0.0.1:9")
    server.connected(by=f"{socket.gethostname()}:{os.getpid()}:1")
    return server


@pytest.fixture
def session(listening: AgentServer, project: Project) -> Session:
    """A session that holds nothing, looked at just now."""
    return Session.objects.create(id="ses_1", server=listening, project=project, carried_at=timezone.now())


def test_rows_are_trusted_only_while_nothing_can_have_been_missed(session: Session, listening: AgentServer) -> None:
    assert assembly.rows_trusted(session)
    session.disturb()
    assert not assembly.rows_trusted(session)
    session.carried_at = timezone.now() + timedelta(seconds=1)
    assert assembly.rows_trusted(session)
    listening.disconnected(by=listening.watched_by)
    session.server = AgentServer.objects.get()
    assert not assembly.rows_trusted(session)


def test_a_gap_in_the_stream_ends_the_trust(session: Session, listening: AgentServer) -> None:
    listening.connected(by=listening.watched_by)
    session.server = AgentServer.objects.get()
    assert not assembly.rows_trusted(session)


def test_a_watcher_that_died_or_lives_elsewhere_or_fell_silent_proves_nothing(listening: AgentServer) -> None:
    assert listening.listening
    listening.watched_by = f"{socket.gethostname()}:999999999:1"
    assert not listening.listening
    listening.watched_by = f"another-machine:{os.getpid()}:1"
    assert not listening.listening
    listening.watched_by = f"{socket.gethostname()}:{os.getpid()}:1"
    listening.heard_at = timezone.now() - timedelta(minutes=1)
    assert not listening.listening


def test_an_app_that_raises_fails_alone_and_retracts_nothing(session: Session) -> None:
    with (
        answering(context_wanted, ([item("garden:note:1", "one")], [])),
        answering(context_wanted, RuntimeError("broken")),
    ):
        decided = assembly.assemble(session, "")
    assert decided.block is not None
    assert set(decided.block.items) == {"garden:note:1"}
    assert set(decided.wanted.failures) == {"tests"}


def test_a_failed_source_keeps_what_it_told(session: Session) -> None:
    held = Carrier("d", "s", {"garden:note:1": item("", "one").revision})
    conversation = Conversation((Message("msg_1", "user", 0, carrier=held),))
    with answering(context_wanted, ([], ["garden:note"])):
        decided = assembly.assemble(session, "", conversation=conversation, can_read=False)
    assert decided.block is None
    assert set(decided.wanted.failures) == {"garden:note"}


def test_without_trust_and_without_a_way_to_read_a_conversation_is_wanted(session: Session) -> None:
    session.disturb()
    assert assembly.assemble(session, "", can_read=False).conversation_wanted


def test_nothing_changed_is_known_without_reading_an_item(session: Session, django_assert_max_num_queries: Any) -> None:
    with answering(context_wanted, ([], [])), answering(context_version_wanted, "7"):
        assert not assembly.owed_nothing(session, "build")
        assembly.assemble(session, "build")
        with django_assert_max_num_queries(4):  # one of ours; memory, where it is installed, reads three counters
            assert assembly.owed_nothing(session, "build")
        assert not assembly.owed_nothing(session, "plan")
    with answering(context_version_wanted, "8"):
        assert not assembly.owed_nothing(session, "build")


def test_a_disturbed_conversation_is_never_taken_for_unchanged(session: Session) -> None:
    assembly.assemble(session, "build")
    assert assembly.owed_nothing(session, "build")
    session.disturb()
    assert not assembly.owed_nothing(session, "build")


def test_a_conversation_that_was_read_again_is_reckoned_again(session: Session) -> None:
    wants = ([item("garden:note:1", "one")], [])
    held = Message("msg_1", "user", 0, carrier=Carrier("d", "s", {"garden:note:1": wants[0][0].revision}))
    with answering(context_wanted, wants):
        assembly.assemble(session, "build", conversation=Conversation((held,)), can_read=False)
        assert assembly.owed_nothing(session, "build")
        assembly.assemble(session, "build", conversation=Conversation(()), can_read=False)
        assert not assembly.owed_nothing(session, "build")


@pytest.mark.django_db(transaction=True)
def test_a_source_that_is_too_slow_means_no_block_and_leaves_nothing_behind(session: Session) -> None:
    waiting = threading.Event()

    def slow(**_asked: Any) -> tuple[list[Item], list[str]]:
        waiting.wait(5)
        return [item("garden:note:1", "one")], []

    context_wanted.connect(slow, weak=False)
    try:
        started = time.monotonic()
        assert assembly.assemble_in_time(session, "", seconds=0.2) is None
        assert time.monotonic() - started < 2
    finally:
        waiting.set()
        context_wanted.disconnect(slow)
    assert not Delivery.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_an_assembly_that_fails_means_no_block(session: Session) -> None:
    session.disturb()  # the conversation is needed, and nobody answers at the server's address
    assert assembly.assemble_in_time(session, "", seconds=5) is None


def test_an_app_that_cannot_say_its_version_is_asked_in_full(session: Session) -> None:
    with answering(context_version_wanted, RuntimeError("broken")):
        assembly.assemble(session, "build")
        assert not assembly.owed_nothing(session, "build")


def test_a_block_takes_at_most_a_tenth_of_the_models_context(session: Session, listening: AgentServer) -> None:
    assert assembly.budget_for(session) == 24_000
    listening.has_models({"small/model": 8_000, "large/model": 1_000_000})
    session.server = AgentServer.objects.get()
    session.uses(model="small/model")
    assert assembly.budget_for(session) == 2_400
    session.uses(model="large/model")
    assert assembly.budget_for(session) == 24_000


def claimed(session: Session, *, cause: str = Delivery.Cause.MESSAGE) -> Delivery:
    """A claim on a block with one item."""
    with answering(context_wanted, ([item("garden:note:1", timezone.now().isoformat())], [])):
        decided = assembly.assemble(session, "")
    taken = delivery.claim(decided, cause=cause, carrier="msg_1", seconds=10)
    assert taken is not None
    return taken


def test_one_session_has_at_most_one_open_claim(session: Session) -> None:
    with answering(context_wanted, ([item("garden:note:1", "one")], [])):
        decided = assembly.assemble(session, "")
    assert delivery.claim(decided, cause="message", carrier="msg_1", seconds=10)
    assert delivery.claim(decided, cause="message", carrier="msg_2", seconds=10) is None


def test_what_leaves_is_called_as_it_was_when_it_was_told(session: Session) -> None:
    told = claimed(session)
    delivery.confirm(told)
    with answering(context_wanted, ([], [])):
        [leaving] = status(session).in_state("leaving")
        taken = delivery.claim(assembly.assemble(session, ""), cause="message", carrier="msg_2", seconds=10)
    assert (leaving.key, leaving.title) == ("garden:note:1", told.lines[0]["title"])
    assert taken is not None
    assert [(line["title"], line["change"]) for line in taken.lines] == [(leaving.title, "removed")]
    assert taken.metadata()["openchamber"]["removed"] == ["garden:note:1"]


def test_what_leaves_without_ever_being_told_here_is_named_by_its_kind(session: Session) -> None:
    delivery.confirm(claimed(session))
    session.deliveries.all().delete()
    with answering(context_wanted, ([], [])):
        [leaving] = status(session).in_state("leaving")
    assert leaving.title == "a note (garden:note:1)"


def test_a_claim_is_not_taken_when_something_was_told_since_the_assembly(session: Session) -> None:
    with answering(context_wanted, ([item("garden:note:1", "one")], [])):
        early = assembly.assemble(session, "")
        delivery.confirm(claimed(session))
    assert delivery.claim(early, cause="message", carrier="msg_2", seconds=10) is None


def test_a_confirmed_delivery_is_carried_and_a_released_one_is_owed_again(session: Session) -> None:
    taken = claimed(session)
    assert taken.release()
    assert not delivery.confirm(taken)
    taken = claimed(session)
    assert delivery.confirm(taken)
    assert not delivery.confirm(taken)
    session.refresh_from_db()
    assert session.carried["told"] == taken.items
    assert session.carried_sequence == taken.sequence


def test_restores_that_are_compacted_away_at_once_grow_smaller(session: Session) -> None:
    assert delivery.restraint(session) == assembly.Terms(restore=True)
    delivery.confirm(claimed(session, cause=Delivery.Cause.RESTORE))
    assert delivery.restraint(session) == assembly.Terms(budget=12_000, restore=True)
    delivery.confirm(claimed(session, cause=Delivery.Cause.RESTORE))
    assert delivery.restraint(session).titles_only
    session.deliveries.update(settled_at=timezone.now() - timedelta(minutes=2))
    assert delivery.restraint(session) == assembly.Terms(restore=True)
