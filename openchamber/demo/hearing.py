"""What a model hears of OpenChamber: the blocks in one request, read back into items. Pure.

The exact counterpart of `sessions.writing`: what is written there is understood here, by its text
alone, as a model has to.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from openchamber.sessions import writing

BLOCK = re.compile(r'<openchamber-context nonce="[^"\n]*">\n(.*?)</openchamber-context>', re.DOTALL)
ITEM = r'<item key="(?P<key>[^"\n]+)" (?P<attributes>[^\n]*)>\n(?P<text>.*?)\n</item>'
# Items stand first: what looks like a heading or a line inside a note is the note's.
LINE = r"- \[(?P<name>[^\]\n]+)\] ?(?P<line>[^\n]*)"
PIECES = re.compile(
    rf"^(?:{ITEM}|## (?P<heading>[^\n]+)|{LINE}|- and (?P<more>[\d,]+) more[^\n]*)$",
    re.DOTALL | re.MULTILINE,
)
TITLE = re.compile(r'title="([^"\n]*)"')
TITLE_ONLY = re.compile(r" \(title only[^()]*\)$")
GONE = "No longer applies"
# How OpenCode 1.18 begins the conversation that a summary replaced.
COMPACTED = "What did we do so far?"


@dataclass(frozen=True, slots=True)
class Told:
    """One thing as a block told it. `title` is "" where the text speaks for itself."""

    key: str
    title: str
    text: str

    @property
    def kind(self) -> str:
        """note, plan, message or memory: what the key says."""
        source = self.key.split(":")
        return "memory" if source[0] == "memory" else source[1] if len(source) > 2 else source[0]


@dataclass(frozen=True, slots=True)
class Block:
    """One block, read: `items` by key, the keys or groups (`memory:a:user:*`) that left, how many it only counts."""

    full: bool
    restored: bool
    items: Mapping[str, Told]
    removed: Sequence[str]
    more: int

    @classmethod
    def read(cls, body: str) -> Block:
        """The block whose envelope holds `body`."""
        items: dict[str, Told] = {}
        removed: list[str] = []
        more, heading = 0, ""
        for piece in PIECES.finditer(body):
            if piece["heading"]:
                heading = piece["heading"]
            elif piece["more"]:
                more += int(piece["more"].replace(",", ""))
            elif piece["name"] and heading == GONE:
                removed.append(piece["name"])
            else:
                told = _told(piece)
                items[told.key] = told
        head = body.split("\n", 1)[0]
        return cls(writing.FULL_SENTENCE in head, writing.RESTORE_SENTENCE in head, items, removed, more)

    def leaves(self, held: Iterable[str]) -> list[str]:
        """Which of the keys `held` this block takes away."""
        if self.full and not self.more:  # what is only counted may be what is not named
            return [key for key in held if key not in self.items]
        return [key for key in held if key in self.removed or f"{key.rpartition(':')[0]}:*" in self.removed]


def _told(piece: re.Match[str]) -> Told:
    if piece["name"]:
        return Told(piece["name"], "", TITLE_ONLY.sub("", piece["line"]))
    title = TITLE.search(piece["attributes"])
    return Told(piece["key"], title[1].replace("&quot;", '"') if title else "", piece["text"])


@dataclass
class Heard:
    """A whole request, heard in order.

    `new`, `changed`, `again` and `gone` are what came since the model's last answer; `held` is all
    that still holds, by key. What a block restores was told before a compaction, which this request does not show.
    """

    messages: int = 0
    said: str = ""
    compacted: bool = False
    blocks: int = 0  # since the last answer
    full: bool = False
    restored: bool = False
    more: int = 0
    held: dict[str, Told] = field(default_factory=dict)
    new: list[Told] = field(default_factory=list)
    changed: list[Told] = field(default_factory=list)
    again: list[Told] = field(default_factory=list)
    gone: list[Told] = field(default_factory=list)

    @classmethod
    def listen(cls, messages: Sequence[Mapping[str, Any]]) -> Heard:
        """Hear the messages of a chat completions request, oldest first."""
        heard = cls()
        for message in messages:
            if message["role"] == "system":
                continue
            heard.messages += 1
            if message["role"] == "assistant":
                heard._answered()
            elif message["role"] == "user":
                heard._hear(text_of(message))
        return heard

    def _answered(self) -> None:
        self.blocks, self.more, self.full, self.restored = 0, 0, False, False
        self.new, self.changed, self.again, self.gone = [], [], [], []

    def _hear(self, text: str) -> None:
        self.compacted = self.compacted or text.strip() == COMPACTED
        self.said = BLOCK.sub("", text).strip() or self.said
        for found in BLOCK.finditer(text):
            self._take(Block.read(found[1]))

    def _take(self, block: Block) -> None:
        self.blocks += 1
        self.full, self.restored = self.full or block.full, self.restored or block.restored
        self.more += block.more
        self.gone += [self.held.pop(key) for key in block.leaves(list(self.held))]
        for key, told in block.items.items():
            before = self.held.get(key)
            first = self.again if block.restored else self.new
            among = first if before is None else self.again if before == told else self.changed
            among.append(told)
        self.held.update(block.items)


def text_of(message: Mapping[str, Any]) -> str:
    """The text of a chat message, whose content is a string or a list of parts; a line for each part."""
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text") or "") for part in content)
