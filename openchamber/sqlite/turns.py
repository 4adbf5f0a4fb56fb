"""Turns: threads go through one by one, in the order in which they came."""

from __future__ import annotations

import threading
from collections import deque


class Turns:
    """A lock that is handed on to whoever has waited longest, which a plain one does not promise."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: deque[threading.Event] = deque()
        self._taken = False

    def take(self, *, seconds: float) -> bool:
        """Wait for the turn; False when it did not come within `seconds`."""
        with self._lock:
            if not self._taken:
                self._taken = True
                return True
            mine = threading.Event()
            self._waiting.append(mine)
        if mine.wait(seconds):
            return True
        with self._lock:
            # It may have come between the end of the waiting and this line.
            if mine.is_set():
                return True
            self._waiting.remove(mine)
            return False

    def hand_on(self) -> None:
        """Let the next one through."""
        with self._lock:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._taken = False
