"""Pinned messages: kept with their own text, named in the session's metadata, told like any other item."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.db import transaction
from django.dispatch import receiver
from django.utils import timezone
from django.utils.translation import gettext as _

from openchamber.models import PinnedMessage, Session
from openchamber.sessions import carriers, mirror
from openchamber.sessions.carriers import MESSAGE_SOURCE, message_hash
from openchamber.sessions.context import Item
from openchamber.sessions.opencode import Missing, OpenCode, Refused, SessionInfo, client_for
from openchamber.signals import context_wanted

GROUP = "Pinned messages"


def key_of(pinned: PinnedMessage) -> str:
    """The item's key: the same wherever the message is copied to."""
    return MESSAGE_SOURCE + message_hash(pinned.role, pinned.text)


def item(pinned: PinnedMessage) -> Item:
    """A pinned message as a context item."""
    return Item(
        key=key_of(pinned),
        kind="message",
        title=pinned.text.strip()[:200],
        text=pinned.text,
        group=GROUP,
        at=pinned.written_at,
        role=pinned.role,
        url=f"#message-{pinned.message_id}",
    )


@receiver(context_wanted)
def pinned_wanted(session: Session, **_rest: Any) -> tuple[list[Item], list[str]]:
    """Answer `context_wanted` with the session's pinned messages; those that are gone are named in the panel only."""
    rows = session.pinned_messages.filter(missing=False)
    items = {item_.key: item_ for item_ in map(item, rows)}  # the same words said twice are one item
    return list(items.values()), []


def pin(session: Session, message_id: str) -> PinnedMessage:
    """Pin a user or assistant message: fetch it, name it in the metadata, keep its text. Pinning twice is pinning once.

    Raises `Missing` for an unknown message, `Refused` for one without text of its own.
    """
    client = _client(session)
    message = client.message(session.pk, message_id)
    if message.summary or not message.own_text.strip():
        raise Refused(_("Only a message with text of its own can be pinned."))
    row = PinnedMessage(
        session=session, message_id=message.id, role=message.role, text=message.own_text, written_at=message.created
    )
    _write(client, session, add=row)
    saved, _new = PinnedMessage.objects.update_or_create(
        session=session,
        message_id=message.id,
        defaults={"role": row.role, "text": row.text, "written_at": row.written_at, "missing": False},
    )
    return saved


def unpin(session: Session, message_id: str) -> None:
    """Take a pin off; one that is not there is already off."""
    row = session.pinned_messages.filter(message_id=message_id).first()
    _write(_client(session), session, drop=message_id)
    if row is not None:
        row.delete()


def _client(session: Session) -> OpenCode:
    if session.server is None:
        raise Refused(_("No agent server can be asked about this session."))
    return client_for(session.server)


def _write(client: OpenCode, session: Session, *, add: PinnedMessage | None = None, drop: str = "") -> None:
    """Change the list in the metadata by one entry; what stands there is the truth about the others."""

    def change(info: SessionInfo) -> dict[str, Any]:
        rows = {pin.id: {"id": pin.id, "createdAt": pin.created, "role": pin.role} for pin in info.pinned()}
        rows.pop(drop, None)
        if add is not None:
            rows[add.message_id] = add.metadata()
        return {mirror.PINNED: sorted(rows.values(), key=lambda row: (row["createdAt"], row["id"]))}

    mirror.write(client, session, change)


def adopt(session: Session, conversation: carriers.Conversation, client: OpenCode | None) -> None:
    """Bring our rows in line with the pins that the session's metadata names.

    They differ in a fork (its metadata is a copy), and where another installation pinned. Text comes
    from what the client brought, else from the agent server, else the pin is marked missing.
    """
    rows = {row.message_id: row for row in session.pinned_messages.all()}
    named = {pin.id: pin for pin in conversation.pinned}
    for pin in conversation.pinned:
        row = rows.get(pin.id)
        if row is None or row.missing or (pin.text is not None and pin.text != row.text):
            _adopt_one(session, pin, conversation, client)
    settled = timezone.now() - timedelta(seconds=30)
    gone = [row.pk for row in rows.values() if row.message_id not in named and row.pinned_at < settled]
    if gone:
        PinnedMessage.objects.filter(pk__in=gone).delete()


def _adopt_one(
    session: Session, pin: carriers.Pinned, conversation: carriers.Conversation, client: OpenCode | None
) -> None:
    text = pin.text if pin.text is not None else _own_text(session, pin, client)
    with transaction.atomic():
        PinnedMessage.objects.update_or_create(
            session=session,
            message_id=pin.id,
            defaults={
                "role": pin.role,
                "text": text or "",
                "written_at": PinnedMessage.time_of(pin.created),
                "missing": not text,
            },
        )


def _own_text(session: Session, pin: carriers.Pinned, client: OpenCode | None) -> str:
    if client is None:
        return ""
    try:
        return client.message(session.pk, pin.id).own_text
    except Missing:
        return ""
