"""A message under an id that its sender chose: however often it is tried, it is sent once."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

from django.utils import timezone
from django.utils.translation import gettext as _

from openchamber.errors import Conflict
from openchamber.models import Delivery, Lease, Session
from openchamber.sessions.message_ids import message_id as new_message_id
from openchamber.sessions.opencode import SEND_SECONDS, AgentServerError, Missing, OpenCode

REPEATED_SECONDS = 600  # after which the same words from the same composer are meant to be said again


def id_of(attempt: str, words: str) -> str:
    """The message id of an attempt at saying `words`: a new one, and for a while the same when it is repeated."""
    name = "attempt:" + hashlib.sha256(f"{attempt}\n{words}".encode()).hexdigest()[:32]
    message = new_message_id()
    if Lease.take(name, seconds=REPEATED_SECONDS, by=message):
        return message
    return Lease.objects.filter(name=name).values_list("holder", flat=True).first() or message


def first_time(client: OpenCode, session: Session, message: str, text: str) -> bool:
    """Whether nobody sent `message` before: a repeated id would append parts to the first one.

    The lease keeps two requests with one id apart; the agent server knows about earlier ones. It appends to the first
    one also what is sent to another session: `Conflict`.
    """
    _not_elsewhere(session, message)
    if not Lease.take(f"message:{message}", seconds=SEND_SECONDS, by=f"{session.pk}:{new_message_id()}"):
        _not_elsewhere(session, message)
        _same_words(client, session, message, text)
        return False
    try:
        if _same_words(client, session, message, text):
            return False
        _let_go_of_earlier(session, message)
    except (AgentServerError, Conflict):
        # Nothing is sent, so the lease must not make the next try look like a repetition.
        forget(message)
        raise
    return True


def _not_elsewhere(session: Session, message: str) -> None:
    """Refuse an id that was used in another session; the leases of messages stay, and say where."""
    leased = Lease.objects.filter(name=f"message:{message}").exclude(holder__startswith=f"{session.pk}:")
    if leased.exists() or Delivery.objects.filter(carrier=message).exclude(session=session).exists():
        raise Conflict(_("This message id was used in another session. Choose a new one."))


def _same_words(client: OpenCode, session: Session, message: str, text: str) -> bool:
    """Whether the message is stored; raises `Conflict` where it has other words: those given would be lost."""
    try:
        stored = client.message(session.pk, message)
    except Missing:
        return False
    if stored.own_text and stored.own_text != text:
        raise Conflict(_("This message id was used for another text. Choose a new one."))
    return True


def _let_go_of_earlier(session: Session, message: str) -> None:
    """Release what an earlier try with this id claimed; raises `Conflict` while that may still arrive."""
    earlier = session.deliveries.open().filter(carrier=message).first()
    if earlier is None:
        return
    if not earlier.overdue:
        raise Conflict(_("An earlier try may still be on its way. Try again in a few seconds."))
    earlier.release()


@contextmanager
def once(name: str) -> Iterator[None]:
    """Raises `Conflict` while somebody does the same, and for a while after it was done; a failure may be repeated."""
    by = new_message_id()
    if not Lease.take(name, seconds=SEND_SECONDS, by=by):
        raise Conflict(_("An earlier try may still be on its way. Try again in a few seconds."))
    try:
        yield
    except AgentServerError:
        Lease.give_back(name, by=by)
        raise


def under_way(message: str) -> bool:
    """Whether a sender of ours is just handing over a message under this id, with whatever it decided to let ride."""
    return Lease.objects.filter(name=f"message:{message}", until__gt=timezone.now()).exists()


def forget(message: str) -> None:
    """A try failed: the next one is no repetition."""
    Lease.objects.filter(name=f"message:{message}").delete()
