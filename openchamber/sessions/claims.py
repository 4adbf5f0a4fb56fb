"""The door for plugins: an agent's own hook asks what to add to a message, and says what became of it.

Never calls an agent server: the hook is awaited by it. What only the conversation knows, the hook brings.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from openchamber.models import Delivery, Project, Session
from openchamber.sessions import attempts, rows
from openchamber.sessions import delivery as deliveries
from openchamber.sessions.assembly import Assembly, Terms, assemble_in_time, owed_nothing
from openchamber.sessions.carriers import Conversation
from openchamber.sessions.delivery import claim, restraint
from openchamber.sessions.message_ids import is_ours
from openchamber.sessions.message_ids import message_id as new_message_id

logger = logging.getLogger(__name__)

VALID_SECONDS = 5  # in which the hook must have stored what it was given
GRACE_SECONDS = 2  # after which the claim may be taken over
DEADLINE_MS = 250
SUBAGENT_BUDGET = 6_000  # a sub-agent has a small job of its own
OVERHEAD_MS = 40  # of the request around the assembly


@dataclass(frozen=True, slots=True)
class Ask:
    """What a client's hook asks, in the contract's words."""

    client: str
    session: str
    directory: str
    event: str
    agent: str = ""
    model: str = ""
    variant: str = ""
    parent: str = ""
    message_id: str = ""
    conversation: Conversation | None = None
    sequence: int | None = None  # as it was answered when the conversation was wanted
    limit: int = 0
    deadline_ms: int = DEADLINE_MS


@dataclass(frozen=True, slots=True)
class Answer:
    """What the hook is told; without a delivery there is nothing to add."""

    delivery: Delivery | None = None
    ask: Ask | None = None
    wanted_at: int | None = None  # the conversation is wanted, as it is after the delivery of this number

    def body(self) -> dict[str, Any]:
        """The contract's answer."""
        if self.delivery is None or self.ask is None:
            nothing = {"delivery": None, "text": ""}
            wanted = {"conversation_wanted": True, "sequence": self.wanted_at}
            return nothing if self.wanted_at is None else nothing | wanted
        return {
            "delivery": str(self.delivery.pk),
            "text": self.delivery.text,
            "signature": self.delivery.signature,
            "message_id": self.delivery.carrier,
            "agent": self.ask.agent,
            "model": self.ask.model,
            "variant": self.ask.variant,
            "metadata": self.delivery.metadata(),
            "valid_ms": VALID_SECONDS * 1000,
        }


NOTHING = Answer()


def answer(ask: Ask, *, sees: Callable[[Project | None], bool]) -> Answer:
    """What the hook may add. Always answers within the deadline; any error means "nothing this time".

    `sees` is the caller's: of somebody else's project a hook is told nothing.
    """
    started = time.monotonic()
    if ask.message_id and _dealt_with(ask.message_id):
        return NOTHING
    session = rows.client_session(ask.client, ask.session, ask.directory, ask.parent)
    if not sees(session.project):
        return NOTHING
    if ask.event == "compact" and ask.conversation is None:
        return _conversation_of(session)
    if not _settled(session, ask.conversation):
        open_claim_is_overdue = ask.conversation is None and _overdue(session)
        return _conversation_of(session) if open_claim_is_overdue else NOTHING
    if ask.event == "compact":
        return _answer_compaction(session, ask, started)
    session.uses(model=ask.model)
    if ask.conversation is None and owed_nothing(session, ask.agent):
        return NOTHING
    budget = SUBAGENT_BUDGET if ask.event == "subagent" else ask.limit
    assembly = _assemble(session, ask, started, Terms(budget=budget))
    if assembly is None:
        return NOTHING
    if assembly.conversation_wanted:
        return _conversation_of(session)
    # A client that cannot name its message is told how ours would be called, and names its own when it confirms.
    return _claimed(assembly, ask, cause=Delivery.Cause.HOOK, carrier=ask.message_id or new_message_id())


def _dealt_with(message: str) -> bool:
    """Whether our own sender, or an earlier call of this hook, has decided what rides on this message."""
    return is_ours(message) or attempts.under_way(message) or Delivery.objects.filter(carrier=message).exists()


def _assemble(session: Session, ask: Ask, started: float, terms: Terms) -> Assembly | None:
    left = max(0, ask.deadline_ms - OVERHEAD_MS) / 1000 - (time.monotonic() - started)
    return assemble_in_time(
        session,
        ask.agent,
        seconds=max(0.01, left),
        conversation=ask.conversation,
        read_at=ask.sequence,
        can_read=False,
        terms=terms,
    )


def _conversation_of(session: Session) -> Answer:
    """Ask for the conversation. What is on its way now, or told later, may be missing in what the hook then reads."""
    newest = session.deliveries.newest()
    if newest is None:
        return Answer(wanted_at=0)
    on_its_way = newest.state in Delivery.OPEN and not newest.overdue
    return Answer(wanted_at=newest.sequence - on_its_way)


def _answer_compaction(session: Session, ask: Ask, started: float) -> Answer:
    """The restore inside the agent's loop: one message of ours, which the hook stores before the next model call."""
    assert ask.conversation is not None
    summary = ask.conversation.compaction()
    if summary is None or session.restored_compaction == summary.id:
        return NOTHING
    assembly = _assemble(session, ask, started, restraint(session))
    if assembly is None or assembly.outdated:
        return NOTHING
    if assembly.block is None:
        Session.objects.filter(pk=session.pk).update(restored_compaction=summary.id)
        return NOTHING
    return _claimed(assembly, ask, cause=Delivery.Cause.RESTORE, carrier=new_message_id(), compaction=summary.id)


def _claimed(assembly: Assembly, ask: Ask, *, cause: str, carrier: str, compaction: str = "") -> Answer:
    seconds = VALID_SECONDS + GRACE_SECONDS
    taken = claim(assembly, cause=cause, carrier=carrier, seconds=seconds, compaction=compaction)
    return Answer(taken, ask)


def _overdue(session: Session) -> bool:
    claimed = session.deliveries.open().first()
    return claimed is not None and claimed.overdue


def _settled(session: Session, conversation: Conversation | None) -> bool:
    """Whether no claim is open; an overdue one is settled by the conversation that the hook brought."""
    claimed = session.deliveries.open().first()
    if claimed is None:
        return True
    if not claimed.overdue or conversation is None:
        return False
    if any(message.carrier and message.carrier.delivery == str(claimed.pk) for message in conversation.messages):
        deliveries.confirm(claimed)
    else:
        claimed.release()
    return True


def settle_claim(delivery: Delivery, *, accepted: bool, message_id: str = "") -> None:
    """The hook says what became of its claim; said twice, it stays as it was said first."""
    if not accepted:
        delivery.release()
    elif deliveries.confirm(delivery, carrier=message_id):
        deliveries.mirror_later(delivery)
