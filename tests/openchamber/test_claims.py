"""The plugin's door: what a hook is given, what it brings, and what becomes of a claim that it left behind."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from openchamber.models import Delivery, Project, Session
from openchamber.sessions import claims
from openchamber.sessions.carriers import Carrier, Conversation, Message
from openchamber.sessions.context import Item
from openchamber.signals import context_wanted

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _one_note() -> Any:
    """Every session wants one note."""

    def answer(**_asked: Any) -> Any:
        return [Item("garden:note:1", "note", "One", "One note", "Notes", datetime(2026, 11, 30, tzinfo=UTC))], []

    context_wanted.connect(answer, weak=False)
    yield
    context_wanted.disconnect(answer)


def ask(project: Project, **more: Any) -> claims.Answer:
    """A hook's question; patient, since machines are slow."""
    fields = {
        "client": "opencode",
        "session": "ses_1",
        "directory": project.directory,
        "event": "prompt",
        "message_id": "msg_1",
        "deadline_ms": 5_000,
        "conversation": Conversation(()),
    }
    return claims.answer(claims.Ask(**{**fields, **more}), sees=lambda _project: True)


def test_a_session_that_nobody_watches_needs_its_conversation(project: Project) -> None:
    assert ask(project, conversation=None).body() == {
        "delivery": None,
        "text": "",
        "conversation_wanted": True,
        "sequence": 0,
    }


def told(project: Project, message: str) -> None:
    """Another sender tells the session what it is owed, and it arrives."""
    delivery = ask(project, message_id=message).delivery
    assert delivery is not None
    claims.settle_claim(delivery, accepted=True, message_id=message)


@pytest.mark.parametrize("event", ["prompt", "compact"])
def test_what_was_told_while_the_hook_read_is_not_told_again(project: Project, event: str) -> None:
    wanted = ask(project, event=event, conversation=None).body()
    read = compaction()  # without what comes now
    told(project, "msg_2")
    late = ask(project, event=event, message_id="msg_3", conversation=read, sequence=wanted["sequence"])
    assert late.body() == {"delivery": None, "text": ""}
    session = Session.objects.get()
    assert session.carried["told"].keys() == {"garden:note:1"}
    assert session.restored_compaction == ""


def test_what_was_on_its_way_when_the_hook_began_to_read_is_not_told_again(project: Project) -> None:
    on_its_way = ask(project, message_id="msg_2").delivery
    assert on_its_way is not None
    wanted = ask(project, event="compact", conversation=None).body()
    claims.settle_claim(on_its_way, accepted=True, message_id="msg_2")
    late = ask(project, event="compact", message_id="", conversation=compaction(), sequence=wanted["sequence"])
    assert late.delivery is None


def test_what_was_given_up_while_the_hook_read_is_told(project: Project) -> None:
    wanted = ask(project, event="compact", conversation=None).body()
    given_up = ask(project, message_id="msg_2").delivery
    assert given_up is not None
    claims.settle_claim(given_up, accepted=False)
    late = ask(project, event="compact", message_id="", conversation=compaction(), sequence=wanted["sequence"])
    assert late.delivery is not None


def test_a_hook_gets_the_block_and_what_its_carrier_must_say(project: Project) -> None:
    body = ask(project).body()
    assert "One note" in body["text"]
    assert body["message_id"] == "msg_1"
    assert body["metadata"]["openchamber"]["delivery"] == body["delivery"]
    assert body["metadata"]["openchamber"]["items"].keys() == {"garden:note:1"}


def test_a_second_hook_for_the_same_message_gets_nothing(project: Project) -> None:
    ask(project)
    assert ask(project).body()["delivery"] is None


def test_an_open_claim_means_no_block_on_the_next_message(project: Project) -> None:
    ask(project)
    assert ask(project, message_id="msg_2").body() == {"delivery": None, "text": ""}


def test_a_message_of_ours_gets_nothing(project: Project) -> None:
    assert ask(project, message_id="msg_0123456789abopenchamberABCDEFGH").body()["delivery"] is None


def overdue(project: Project) -> Delivery:
    """A claim whose hook was never heard of again."""
    ask(project)
    Delivery.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    return Delivery.objects.get()


def test_a_claim_left_behind_asks_for_the_conversation(project: Project) -> None:
    overdue(project)
    assert ask(project, message_id="msg_2", conversation=None).body().get("conversation_wanted")


def test_a_claim_left_behind_is_confirmed_by_the_message_that_carries_it(project: Project) -> None:
    left = overdue(project)
    carrier = Carrier.read(left.metadata()["openchamber"])
    held = Conversation((Message("msg_1", "user", 0, carrier=carrier),))
    assert ask(project, message_id="msg_2", conversation=held).body()["delivery"] is None
    left.refresh_from_db()
    assert left.state == Delivery.State.CONFIRMED


def test_a_claim_whose_message_went_without_its_block_is_released_and_told_again(project: Project) -> None:
    left = overdue(project)
    bare = Conversation((Message("msg_1", "user", 0),))
    body = ask(project, message_id="msg_2", conversation=bare).body()
    left.refresh_from_db()
    assert left.state == Delivery.State.RELEASED
    assert "One note" in body["text"]


def test_a_refused_block_is_owed_again_and_an_accepted_one_is_held(project: Project) -> None:
    delivery = ask(project).delivery
    assert delivery is not None
    claims.settle_claim(delivery, accepted=False)
    delivery = ask(project, message_id="msg_2").delivery
    assert delivery is not None
    claims.settle_claim(delivery, accepted=True, message_id="msg_2")
    assert Session.objects.get().carried["told"].keys() == {"garden:note:1"}


def test_a_client_that_cannot_name_its_message_is_given_a_name(project: Project) -> None:
    body = ask(project, message_id="").body()
    assert body["message_id"].startswith("msg_")
    claims.settle_claim(Delivery.objects.get(), accepted=True, message_id="msg_theirs")
    assert Delivery.objects.get().carrier == "msg_theirs"


def compaction() -> Conversation:
    """A conversation that was just compacted."""
    request = Message("msg_c", "user", 0, compaction=True)
    return Conversation((request, Message("msg_s", "assistant", 0, parent="msg_c", summary=True)))


def test_a_compaction_is_restored_once(project: Project) -> None:
    first = ask(project, event="compact", message_id="", conversation=compaction())
    assert first.delivery is not None
    assert first.delivery.carrier.startswith("msg_")
    assert first.delivery.compaction == "msg_s"
    claims.settle_claim(first.delivery, accepted=True)
    assert ask(project, event="compact", message_id="", conversation=compaction()).delivery is None


def test_a_limit_bounds_the_block(project: Project) -> None:
    long = [
        Item(f"garden:note:{n}", "note", f"{n}", "words " * 500, "Notes", datetime(2026, 11, 30, tzinfo=UTC))
        for n in range(2, 20)
    ]

    def more(**_asked: Any) -> Any:
        return long, []

    context_wanted.connect(more, weak=False)
    try:
        assert len(ask(project, limit=5_000).body()["text"]) <= 5_000
        Delivery.objects.all().delete()
        assert len(ask(project, event="subagent", message_id="msg_3").body()["text"]) <= claims.SUBAGENT_BUDGET
    finally:
        context_wanted.disconnect(more)
