"""Message ids of our own: of the agent server's shape and order, and known to the plugin and the watcher as ours."""

from __future__ import annotations

import secrets
import string
import threading
import time

_last_id = [0]
_id_lock = threading.Lock()
_LETTERS = string.digits + string.ascii_letters
# Our ids have the shape and the order of the server's own (older releases compare them in their loop):
# 12 hex of time, then our mark, by which the plugin and the watcher know them, then chance.
OUR_MARK = "openchamber"


def message_id() -> str:
    """A message id of our own; later calls sort after earlier ones."""
    with _id_lock:
        _last_id[0] = max(_last_id[0] + 1, int(time.time() * 1000) * 0x1000)
        digits = format(_last_id[0] & 0xFFFFFFFFFFFF, "012x")
    return f"msg_{digits}{OUR_MARK}" + "".join(secrets.choice(_LETTERS) for _ in range(8))


def is_ours(message: str) -> bool:
    """Whether `message` is an id that `message_id` made."""
    return message[16:].startswith(OUR_MARK)
