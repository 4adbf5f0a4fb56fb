"""Items and blocks: from what a session is owed to the text of one delivery. Pure."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

Kind = Literal["message", "note", "plan", "index"]


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that a session should hold.

    `key` begins with its source (`knowledge:note:41`); `title` is one line; `text` is the whole,
    which the revision is made of and which the budget may cut; `group` is the heading that it
    stands under; `reads` is the tool call that reads the rest of a cut text ("" when none can);
    `at` orders items inside a group; `role` is a pinned message's; `url` is its page in the panel.
    """

    key: str
    kind: Kind
    title: str
    text: str
    group: str
    at: datetime
    reads: str = ""
    role: str = ""
    url: str = ""

    @property
    def revision(self) -> str:
        """16 hex of the hash of the text before any cut."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Choice:
    """Something that could ride in this session and does not, because it was detached here."""

    key: str
    kind: Kind
    title: str
    characters: int
    url: str = ""
