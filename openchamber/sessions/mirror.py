"""The mirror for other clients: our keys in a session's metadata, everybody else's left byte for byte.

The agent server replaces the whole object and has no compare-and-set, so our writers take turns
by a lease row, read fresh, merge, write, and look once more.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from openchamber.models import Lease, Session
from openchamber.sessions.opencode import OpenCode, SessionInfo

NAMESPACE = "openchamber"
PINNED = "context_obligatory_messages"
CURSOR = "context_obligatory_last_compaction_message_id"
DELIVERED = "knowledge_context_delivered"
CARRIER = "knowledge_context_carrier"

LEASE_SECONDS = 15
WAIT_SECONDS = 10


class MirrorBusy(Exception):
    """Another writer held the session's metadata for too long."""


def merged(metadata: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """`metadata` with our keys changed (None removes one); whatever is not ours stays as it is."""
    ours = metadata.get(NAMESPACE)
    mine = dict(ours) if isinstance(ours, dict) else {}
    for key, value in changes.items():
        if value is None:
            mine.pop(key, None)
        else:
            mine[key] = value
    return {**metadata, NAMESPACE: mine}


Change = Callable[[SessionInfo], Mapping[str, Any]]


def write(client: OpenCode, session: Session, change: Change) -> SessionInfo:
    """Merge into the session's metadata what `change` says of the fresh session (None removes a key).

    `change` must come to rest: asked again about its own result, it changes nothing. Raises
    `AgentServerError` or `MirrorBusy`.
    """
    name = f"metadata:{session.pk}"
    _wait_for(name)
    try:
        info = _write_once(client, session, change)
        # A writer who is not one of ours may have come between the read and the write: look, and repair once.
        return info if _rests(info, change) else _write_once(client, session, change)
    finally:
        Lease.give_back(name)


def _wait_for(name: str) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    pause = 0.005
    while not Lease.take(name, seconds=LEASE_SECONDS):
        if time.monotonic() > deadline:
            raise MirrorBusy(name)
        time.sleep(pause)
        pause = min(pause * 2, 0.2)


def _write_once(client: OpenCode, session: Session, change: Change) -> SessionInfo:
    info = client.session(session.pk)
    if _rests(info, change):
        return info  # a write would only wake everybody who listens
    client.write_metadata(session.pk, merged(info.metadata, change(info)))
    return client.session(session.pk)


def _rests(info: SessionInfo, change: Change) -> bool:
    return merged(info.metadata, change(info)) == {NAMESPACE: {}, **info.metadata}
