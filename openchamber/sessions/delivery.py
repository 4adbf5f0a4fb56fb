"""How a session is told what it is owed: claim, send, confirm.

A claim is a row that only one sender can have; what became of it is learned by reading the message
back, never by sending again.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from django.conf import settings
from django.db import IntegrityError, connections, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from openchamber.errors import Conflict, Invalid
from openchamber.models import AgentServer, Delivery, Session
from openchamber.sessions import attempts, carriers, context, ids, mirror
from openchamber.sessions.assembly import Assembly, Terms, assemble_in_time, budget_for, owed_nothing
from openchamber.sessions.carriers import Carried
from openchamber.sessions.context import Block
from openchamber.sessions.message_ids import message_id as new_message_id
from openchamber.sessions.opencode import (
    SEND_SECONDS,
    AgentServerError,
    Missing,
    NotConnected,
    OpenCode,
    Refused,
    client_for,
)
from openchamber.sessions.rows import session_row

logger = logging.getLogger(__name__)

LOOP_PAUSE = timedelta(minutes=1)
SWEEP = 100  # claims that one sweep looks at
_confirmers = ThreadPoolExecutor(4, thread_name_prefix="confirm")


# Claim, confirm, release --------------------------------------------------------------


def restraint(session: Session) -> Terms:
    """How much a restore may say: when the last one was compacted away within a minute, half; again, titles only.

    A restore that fills the context would bring the next compaction, and that the next restore, for ever.
    """
    recent = session.deliveries.confirmed().filter(
        cause=Delivery.Cause.RESTORE, settled_at__gt=timezone.now() - LOOP_PAUSE
    )
    count = recent.count()
    budget = max(context.SMALLEST_BUDGET, budget_for(session) // 2) if count else 0
    return Terms(budget=budget, restore=True, titles_only=count > 1)


def claim(assembly: Assembly, *, cause: str, carrier: str, seconds: float, compaction: str = "") -> Delivery | None:
    """Take the right to tell this block; None when another sender has it or has told something since."""
    block = assembly.block
    if block is None:
        return None
    delivery = Delivery(
        session=assembly.session,
        sequence=assembly.sequence + 1,
        cause=cause,
        carrier=carrier,
        compaction=compaction,
        agent=assembly.agent,
        full=block.full,
        text=block.text,
        signature=block.signature,
        items=dict(block.items),
        cut=list(block.cut),
        removed=list(block.removed),
        lines=_lines(block, assembly.session),
        expires_at=timezone.now() + timedelta(seconds=seconds),
    )
    try:
        with transaction.atomic():
            delivery.save(force_insert=True)
    except IntegrityError:
        return None
    return delivery


def _lines(block: Block, session: Session) -> list[Mapping[str, str | int]]:
    """The block's lines, where what it takes back is called as it was when it was told."""
    titles = session.deliveries.titles(block.removed)
    return [
        {**line, "title": titles.get(str(line["key"]), line["title"])} if line["change"] == "removed" else line
        for line in block.lines
    ]


@transaction.atomic
def confirm(delivery: Delivery, *, carrier: str = "") -> bool:
    """The carrier was read back: count it among what the session holds. True when this call did it."""
    session = Session.objects.select_for_update().get(pk=delivery.session_id)
    if not delivery.confirm(carrier=carrier):
        return False
    arrived = carriers.Carrier.read(delivery.metadata()["openchamber"])
    assert arrived is not None
    session.carried = Carried.load(session.carried).after(arrived, delivery.carrier).stored()
    session.carried_sequence = delivery.sequence
    session.restored_compaction = delivery.compaction or session.restored_compaction
    session.save(update_fields=["carried", "carried_sequence", "restored_compaction"])
    return True


def settle(delivery: Delivery, client: OpenCode) -> None:
    """Learn the fate of a delivery by reading its carrier; raises `AgentServerError` when it cannot be read."""
    if client.carries(delivery.session_id, delivery.carrier, str(delivery.pk)):
        if confirm(delivery):
            write_mirror(delivery, client)
    elif delivery.overdue:
        delivery.release()


def settle_open(session: Session) -> bool:
    """Settle the session's open claim, if there is one. False while its sender may still act.

    That a message is there can be believed at any time; that it is not, only after the sender's own
    time-out: a dead process sends no more, but what it sent may still be on its way.
    """
    delivery = session.deliveries.open().first()
    if delivery is None:
        return True
    if session.server is None:
        return False
    settle(delivery, client_for(session.server))
    return not session.deliveries.open().exists()


def sweep() -> None:
    """Settle the claims whose senders have given up or died, wherever an agent server can be asked about them."""
    overdue = Delivery.objects.open().filter(expires_at__lt=timezone.now()).select_related("session__server")
    for delivery in overdue[:SWEEP]:
        server = delivery.session.server or _server_of(delivery.session)
        if server is None:
            continue  # a hook's own conversation settles it
        try:
            settle(delivery, client_for(server))
        except AgentServerError as error:
            logger.info("not settled yet: %s", error)


def write_mirror(delivery: Delivery, client: OpenCode) -> None:
    """Tell other clients what the session holds now: signature, carrier and, after a restore, the cursor."""
    changes: dict[str, str] = {mirror.DELIVERED: delivery.signature, mirror.CARRIER: delivery.carrier}
    if delivery.compaction:
        changes[mirror.CURSOR] = delivery.compaction
    mirror.write(client, delivery.session, lambda _info: changes)


# Sending ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Sent:
    """What became of a send: the message's id, and the delivery that rode on it, or why none did."""

    message_id: str
    delivery: Delivery | None = None
    error: str = ""
    repeated: bool = False


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a person or a script wants said, and with what."""

    text: str
    agent: str = ""
    model: str = ""
    variant: str = ""
    message_id: str = ""
    with_context: bool = True
    attached: Sequence[Mapping[str, object]] = ()  # parts beside the words, files for instance


def send_message(session: Session, prompt: Prompt, *, wait: bool = False) -> Sent:
    """Send a message with everything that the session is owed before it.

    The same `message_id` twice sends once. Raises `AgentServerError` when the message itself could
    not be handed over: then what rode with it stays owed, and a retry with the same id is safe.
    `wait` confirms before returning (a command that ends leaves nobody to confirm later).
    """
    if session.server is None:
        raise Conflict(_("This session is on no agent server that could be asked."))
    client = client_for(session.server)
    message = prompt.message_id or new_message_id()
    if not ids.is_message(message):
        raise Invalid(_("A message id is `msg` and then letters, digits, _ or -."))
    if prompt.message_id and not attempts.first_time(client, session, message, prompt.text):
        return Sent(message, session.deliveries.filter(carrier=message).first(), repeated=True)
    session.uses(model=prompt.model)
    delivery, error = _claim_for(session, prompt, message) if prompt.with_context else (None, "")
    try:
        client.prompt(
            session.pk,
            message=message,
            parts=_parts(prompt, delivery),
            agent=prompt.agent,
            model=prompt.model,
            variant=prompt.variant,
        )
    except AgentServerError as failure:
        _after_failure(session, message, delivery, failure)
        raise
    if delivery is not None:
        delivery.sent()
        _confirm_soon(delivery, client, wait=wait)
    return Sent(message, delivery, error)


def _claim_for(session: Session, prompt: Prompt, message: str) -> tuple[Delivery | None, str]:
    if owed_nothing(session, prompt.agent):
        return None, ""
    if not _settled_by_now(session):
        return None, _("Another message is just telling the session; what is still owed rides with the next one.")
    assembly = assemble_in_time(session, prompt.agent, seconds=settings.CONTEXT_TIMEOUT)
    if assembly is None:
        return None, _("What the session is owed was not ready in time; it rides with the next message.")
    if assembly.block is None:
        return None, ""
    delivery = claim(assembly, cause=Delivery.Cause.MESSAGE, carrier=message, seconds=SEND_SECONDS)
    if delivery is None:
        return None, _("Another message is just telling the session; what is still owed rides with the next one.")
    return delivery, ""


def _settled_by_now(session: Session) -> bool:
    try:
        return settle_open(session)
    except AgentServerError as error:
        logger.warning("an open claim of session %s could not be settled: %s", session.pk, error)
        return False


def block_part(text: str, metadata: Mapping[str, object]) -> dict[str, object]:
    """A block as a part: hidden from people, told to the model, its metadata never sent to it."""
    return {"type": "text", "text": text, "synthetic": True, "metadata": metadata}


def _parts(prompt: Prompt, delivery: Delivery | None) -> list[Mapping[str, object]]:
    """The block stands before the user's text: parts keep the order in which they are sent."""
    block = [block_part(delivery.text, delivery.metadata())] if delivery else []
    words = [{"type": "text", "text": prompt.text}] if prompt.text or not prompt.attached else []
    return [*block, *words, *prompt.attached]


def _after_failure(session: Session, message: str, delivery: Delivery | None, failure: AgentServerError) -> None:
    """Let go at once of what certainly never arrived; what may still be on its way is settled by reading."""
    attempts.forget(message)
    if delivery is not None and isinstance(failure, NotConnected | Refused | Missing):
        delivery.release()


CONFIRM_PAUSES = (0.02, 0.05, 0.1, 0.3, 0.5, 1, 2, 3, 4)  # seconds between looks; their sum stays below SEND_SECONDS


def _confirm_soon(delivery: Delivery, client: OpenCode, *, wait: bool) -> None:
    """Read the carrier back, in the background unless the caller waits."""
    if wait:
        confirm_by_reading(delivery, client)
    else:
        _confirmers.submit(_closing, partial(confirm_by_reading, delivery, client))


def _closing(work: partial[None]) -> None:
    try:
        work()
    except AgentServerError as error:
        logger.warning("not confirmed yet: %s", error)  # stays open; the next sender settles it
    finally:
        connections.close_all()


def confirm_by_reading(delivery: Delivery, client: OpenCode) -> None:
    """Look until the carrier can be read back; when it never can, the delivery is released."""
    for pause in CONFIRM_PAUSES:
        if client.carries(delivery.session_id, delivery.carrier, str(delivery.pk)):
            if confirm(delivery):
                write_mirror(delivery, client)
            return
        time.sleep(pause)
    delivery.release()


def mirror_soon(delivery: Delivery, client: OpenCode) -> None:
    """Write the mirror in the background."""
    _confirmers.submit(_closing, partial(write_mirror, delivery, client))


def finish() -> None:
    """Let what was claimed be confirmed before the process ends."""
    _confirmers.shutdown(wait=True, cancel_futures=False)


def mirror_later(delivery: Delivery) -> None:
    """Write the mirror in the background, where an agent server that knows the session can be called at all."""
    _confirmers.submit(_closing, partial(_mirror_wherever, delivery))


def _mirror_wherever(delivery: Delivery) -> None:
    session = delivery.session
    server = session.server or _server_of(session)
    if server is not None:
        write_mirror(delivery, client_for(server))


def _server_of(session: Session) -> AgentServer | None:
    """The agent server that knows a session which only a hook has told us of; remembered when found."""
    for server in AgentServer.objects.usable():
        try:
            session_row(server, client_for(server).session(session.pk))
        except AgentServerError:
            continue
        return server
    return None
