"""Pinned messages: kept with their own text, named in the session's metadata, told like any other item."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.dispatch import receiver
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from openchamber.errors import Conflict, Invalid
from openchamber.models import PinnedMessage, Session
from openchamber.sessions import mirror
from openchamber.sessions.carriers import MESSAGE_SOURCE, Conversation, Pinned, message_hash
from openchamber.sessions.context import Item
from openchamber.sessions.opencode import Missing, OpenCode, SessionInfo, client_for
from openchamber.signals import context_wanted

GROUP = gettext_noop("Pinned messages")  # told in English; the panel translates it


def key_of(pinned: PinnedMessage) -> str:
    """The item's key: the same wherever the message is copied to."""
    return MESSAGE_SOURCE + message_hash(pinned.role, pinned.text)


def url_of(pinned: PinnedMessage) -> str:
    """Where it stands on its session's page."""
    return f"#message-{pinned.message_id}"


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
        url=url_of(pinned),
    )


@receiver(context_wanted)
def pinned_wanted(session: Session, **_rest: Any) -> tuple[list[Item], list[str]]:
    """Answer `context_wanted` with the session's pinned messages; those that are gone are named in the panel only."""
    rows = session.pinned_messages.filter(missing=False)
    items = {item_.key: item_ for item_ in map(item, rows)}  # the same words said twice are one item
    return list(items.values()), []


def pin(session: Session, message_id: str) -> PinnedMessage:
    """Pin a user or assistant message: fetch it, name it in the metadata, keep its text. Pinning twice is pinning once.

    Raises `Missing` for an unknown message, `Invalid` for one without text of its own.
    """
    client = _client(session)
    message = client.message(session.pk, message_id)
    if message.summary or not message.own_text.strip():
        raise Invalid(_("Only a message with text of its own can be pinned."))
    row = PinnedMessage(
        session=session, message_id=message.id, role=message.role, text=message.own_text, written_at=message.created
    )
    _write(client, session, add=row)
    saved, _new = PinnedMessage.objects.update_or_create(
        session=session,
        message_id=message.id,
        defaults={"role": row.role, "text": row.text, "written_at": row.written_at, "missing": False},
    )
    session.pins_changed()
    return saved


def unpin(session: Session, message_id: str) -> None:
    """Take a pin off; one that is not there is already off."""
    row = session.pinned_messages.filter(message_id=message_id).first()
    _write(_client(session), session, drop=message_id)
    if row is not None:
        row.delete()
        session.pins_changed()


def _client(session: Session) -> OpenCode:
    if session.server is None:
        raise Conflict(_("No agent server can be asked about this session."))
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


def refresh(session: Session, client: OpenCode) -> None:
    """Fetch the pinned messages again, since they are needed: one that was deleted is marked missing."""
    changed = [row.found(_own_text(session, row.message_id, client)) for row in session.pinned_messages.all()]
    if any(changed):
        session.pins_changed()


def adopt(session: Session, conversation: Conversation, client: OpenCode | None) -> bool:
    """Bring our rows in line with the pins that the session's metadata names.

    They differ in a fork (its metadata is a copy, its message ids are new), and where another
    installation pinned. Text comes from what the client brought, else from the agent server; a pin that
    neither has is kept and marked missing. True when something changed.
    """
    rows = {row.message_id: row for row in session.pinned_messages.all()}
    moved: dict[str, str] = {}
    changed = False
    for pin in conversation.pinned:
        row = rows.get(pin.id)
        if row is None or (pin.text is not None and (row.missing or pin.text != row.text)):
            stored = _adopt_one(session, pin, conversation, client)
            changed = True
            moved |= {pin.id: stored.message_id} if stored.message_id != pin.id else {}
    named = {pin.id for pin in conversation.pinned} | set(moved.values())
    changed = _drop_unnamed(rows, named) or changed
    if changed:
        session.pins_changed()
    if moved and client is not None:
        _rewrite(client, session, moved)
    return changed


def _drop_unnamed(rows: dict[str, PinnedMessage], named: set[str]) -> bool:
    """Forget rows that the metadata does not name; not the youngest, whose name may be on its way."""
    settled = timezone.now() - timedelta(seconds=30)
    gone = [row.pk for row in rows.values() if row.message_id not in named and row.pinned_at < settled]
    if gone:
        PinnedMessage.objects.filter(pk__in=gone).delete()
    return bool(gone)


def _adopt_one(session: Session, pin: Pinned, conversation: Conversation, client: OpenCode | None) -> PinnedMessage:
    place, text = pin.id, pin.text
    if text is None and client is not None:
        text = _own_text(session, pin.id, client) or None
    if text is None:
        place, text = _copy_in_fork(session, pin, conversation, client)
    fields = {"role": pin.role, "written_at": PinnedMessage.time_of(pin.created), "text": text, "missing": not text}
    row, _new = PinnedMessage.objects.update_or_create(session=session, message_id=place, defaults=fields)
    return row


def _copy_in_fork(
    session: Session, pin: Pinned, conversation: Conversation, client: OpenCode | None
) -> tuple[str, str]:
    """Where a fork holds the message that `pin` names in its origin, and its text; (`pin.id`, "") where it does not.

    A fork keeps role, time and text. Two messages of one moment are told apart by the text that was
    kept with the origin's pin.
    """
    origin = PinnedMessage.objects.filter(message_id=pin.id, role=pin.role).exclude(session=session).first()
    wanted_hash = message_hash(pin.role, origin.text) if origin else ""
    if client is not None:
        for message in client.messages_at(session.pk, pin.role, pin.created):
            if wanted_hash in ("", message_hash(message.role, message.own_text)):
                return message.id, message.own_text
        return pin.id, ""
    for trace in conversation.messages:
        if origin and (trace.role, trace.created, trace.hash) == (pin.role, pin.created, wanted_hash):
            return trace.id, origin.text
    return pin.id, ""


def _rewrite(client: OpenCode, session: Session, moved: Mapping[str, str]) -> None:
    """Name the fork's own messages in the fork's metadata."""

    def change(info: SessionInfo) -> dict[str, Any]:
        rows = [{"id": moved.get(pin.id, pin.id), "createdAt": pin.created, "role": pin.role} for pin in info.pinned()]
        return {mirror.PINNED: rows}

    mirror.write(client, session, change)


def _own_text(session: Session, message_id: str, client: OpenCode) -> str:
    try:
        return client.message(session.pk, message_id).own_text
    except Missing:
        return ""
