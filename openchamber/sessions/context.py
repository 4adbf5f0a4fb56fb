"""Items and blocks: from what a session is owed to the text of one delivery. Pure.

Sizes are UTF-16 units, the strictest measure among the clients; they are never less than characters.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from openchamber.sessions import writing
from openchamber.sessions.carriers import Carried

Kind = Literal["message", "note", "plan", "index"]

# How the budget is shared: no kind may starve another.
MESSAGES_SHARE = 1 / 2
INDEX_SHARE = 1 / 3
SMALLEST_BUDGET = 2_000  # below this an item might get neither its title nor a line that counts it
FEW = 24  # a full block names what it retracts in at most this part of the budget


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
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Choice:
    """Something that could ride in this session and does not, because it was detached here."""

    key: str
    kind: Kind
    title: str
    characters: int
    url: str = ""


@dataclass(frozen=True, slots=True)
class Owed:
    """What is wanted and not carried, and what is carried and no longer wanted."""

    added: Sequence[Item] = ()
    changed: Sequence[Item] = ()
    removed: Sequence[str] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.changed or self.removed)


@dataclass(frozen=True, slots=True)
class Block:
    """The text of one delivery and what it brings: `items`, `cut` and `removed` are the carrier's metadata."""

    text: str
    full: bool
    signature: str
    items: Mapping[str, str]
    cut: Sequence[str]
    removed: Sequence[str]
    lines: Sequence[Mapping[str, str | int]] = field(default_factory=list)


def covered(key: str, failures: Collection[str]) -> bool:
    """Whether `key` belongs to a source that failed: its name, or a name that the key begins with."""
    return any(key == failure or key.startswith(f"{failure}:") for failure in failures)


def owed(wanted: Sequence[Item], failures: Collection[str], carried: Carried) -> Owed:
    """The one rule: wanted minus carried, plus carried minus wanted (not of a source that failed)."""
    missing = [item for item in wanted if not carried.holds(item.key, item.revision)]
    keys = {item.key for item in wanted}
    gone = [key for key in carried.told if key not in keys and not covered(key, failures)]
    return Owed(
        added=[item for item in missing if item.key not in carried.told],
        changed=[item for item in missing if item.key in carried.told],
        removed=sorted(gone),
    )


def signature(held: Mapping[str, str]) -> str:
    """What stands for a session's holdings: sha256 over the sorted `key@revision`, "" when it holds nothing."""
    if not held:
        return ""
    lines = "\n".join(sorted(f"{key}@{revision}" for key, revision in held.items()))
    return hashlib.sha256(lines.encode()).hexdigest()


def nonce(secret: str, session: str, what: str) -> str:
    """The envelope's nonce: the same content in the same session gives the same text."""
    return hmac.new(secret.encode(), f"{session}\n{what}".encode(), hashlib.sha256).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Frame:
    """Where a block goes: the session and the installation's secret (for the nonce), how large it may
    be, whether it restores after a compaction, and whether its texts are reduced to titles."""

    session: str
    secret: str
    budget: int
    restore: bool = False
    titles_only: bool = False


def assemble(
    wanted: Sequence[Item], failures: Collection[str], carried: Carried, frame: Frame, *, forced: bool = False
) -> Block | None:
    """The block that a session is owed, or None when it is owed nothing. `forced` asks for a full one in any case.

    Nothing carried yet, or changes dearer than the whole: one full block, which names under
    `removed` all that it leaves out. Otherwise only what changed. While a source has failed and
    something of it is carried, a full block would drop that, so only changes travel.
    """
    due = owed(wanted, failures, carried)
    if frame.budget < SMALLEST_BUDGET:
        return None  # it stays owed: what is told in part must at least be named
    if not due and not (forced and wanted):
        return None
    full_items = [item for item in wanted if item.key not in carried.spoken]
    full = _block(full_items, due, carried, frame, full=True)
    if forced or not carried.told:
        return full
    delta = _block([*due.added, *due.changed], due, carried, frame, full=False)
    if any(covered(key, failures) for key in carried.told) or len(delta.text) <= len(full.text):
        return delta
    return full


def _block(items: Sequence[Item], due: Owed, carried: Carried, frame: Frame, *, full: bool) -> Block:
    told = {item.key: item.revision for item in items}
    retracted, removed = writing.retractions(due.removed, carried.told, frame.budget // (FEW if full else 2))
    if full and len(removed) < len(due.removed):
        # A full block replaces all that was told, so it can do without naming many; changes retract as many
        # as fit, and the others stay owed.
        retracted, removed = "", list(due.removed)
    kept = {key: revision for key, revision in carried.told.items() if key not in removed}
    after = signature({**kept, **told})
    envelope = writing.Envelope(nonce(frame.secret, frame.session, after), full=full, restore=frame.restore)
    room = max(0, frame.budget - envelope.size - writing.size(retracted))
    body, cut = write(items, room, titles_only=frame.titles_only)
    return Block(
        text=envelope.around(retracted, body),
        full=full,
        signature=after,
        items=told,
        cut=sorted(cut),
        removed=list(removed),
        lines=_lines(items, due, removed),
    )


def _lines(items: Sequence[Item], due: Owed, removed: Sequence[str]) -> list[Mapping[str, str | int]]:
    """For people: each thing the block brings or takes, with its size before any cut."""
    changed = {item.key for item in due.changed}
    lines: list[Mapping[str, str | int]] = [
        {
            "key": item.key,
            "title": writing.one_line(item.title),
            "change": "changed" if item.key in changed else "added",
            "characters": len(item.text),
        }
        for item in items
    ]
    lines += [{"key": key, "title": key, "change": "removed", "characters": 0} for key in removed]
    return lines


def write(items: Sequence[Item], room: int, *, titles_only: bool = False) -> tuple[str, set[str]]:
    """The items as text of at most `room`, and the keys of those that did not get in whole.

    Pinned messages take at most half, index lines at most a third, the rest has what those leave.
    """
    messages = [item for item in items if item.kind == "message"]
    index = [item for item in items if item.kind == "index"]
    rest = [item for item in items if item.kind in ("note", "plan")]
    spoken, cut_messages = _texts(messages, int(room * MESSAGES_SHARE) if index or rest else room // 2, titles_only)
    listed, cut_index = _index(index, int(room * INDEX_SHARE))
    left = max(0, room - writing.size(spoken) - writing.size(listed))
    stored, cut_rest = _texts(rest, left, titles_only)
    text = "".join(part for part in (spoken, stored, listed) if part)
    return text, cut_messages | cut_index | cut_rest


def _groups(items: Sequence[Item]) -> list[tuple[str, list[Item]]]:
    """Items by heading, in the order in which headings first appear, each group by time."""
    groups: dict[str, list[Item]] = {}
    for item in items:
        groups.setdefault(item.group, []).append(item)
    return [(name, sorted(group, key=lambda item: (item.at, item.key))) for name, group in groups.items()]


def _texts(items: Sequence[Item], room: int, titles_only: bool) -> tuple[str, set[str]]:
    """Whole texts where they fit; else each a fair share, at last titles, at last how many more there are."""
    if not items:
        return "", set()
    groups = _groups(items)
    ordered = [item for _name, group in groups for item in group]
    room -= sum(writing.size(writing.heading(name)) for name, _group in groups)
    complete = [writing.item(item, max(0, room)) for item in ordered] if not titles_only else []
    if complete and all(fits for _, fits in complete) and sum(writing.size(text) for text, _ in complete) <= room:
        texts = iter(text for text, _ in complete)
        return "".join(writing.heading(name) + "".join(next(texts) for _item in group) for name, group in groups), set()
    frames = {item.key: writing.frame_size(item) for item in ordered}
    sizes = [writing.size(writing.sample(item, max(0, room))) for item in ordered]
    shares = _fair([frame + size for frame, size in zip(frames.values(), sizes, strict=True)], room)
    smallest = [frame + min(size, writing.SMALLEST) for frame, size in zip(frames.values(), sizes, strict=True)]
    if titles_only or any(share < least for share, least in zip(shares, smallest, strict=True)):
        return _titles(groups, room)
    written: list[str] = []
    cut: set[str] = set()
    allotted = dict(zip((item.key for item in ordered), shares, strict=True))
    for name, group in groups:
        written.append(writing.heading(name))
        for item in group:
            text, whole = writing.item(item, allotted[item.key] - frames[item.key])
            written.append(text)
            cut |= set() if whole else {item.key}
    return "".join(written), cut


def _titles(groups: Sequence[tuple[str, list[Item]]], room: int) -> tuple[str, set[str]]:
    written: list[str] = []
    left = room - writing.MORE_SIZE
    hidden = 0
    for name, group in groups:
        lines = [writing.title_line(item) for item in group]
        taken = _prefix([writing.size(line) for line in lines], left)
        hidden += len(lines) - taken
        left -= sum(writing.size(line) for line in lines[:taken])
        if taken:
            written += [writing.heading(name), *lines[:taken]]
    if hidden and room > writing.MORE_SIZE:
        written.append(writing.more(hidden))
    return "".join(written), {item.key for _name, group in groups for item in group}


def _index(items: Sequence[Item], room: int) -> tuple[str, set[str]]:
    """Index lines, the newest first, then one line that counts the others; each group its share."""
    if not items:
        return "", set()
    groups = [(name, group[::-1]) for name, group in _groups(items)]
    lines = {name: [writing.index_line(item) for item in group] for name, group in groups}
    needs = [
        writing.size(writing.heading(name)) + sum(map(writing.size, lines[name])) + writing.MORE_SIZE
        for name, _group in groups
    ]
    written: list[str] = []
    cut: set[str] = set()
    for (name, group), share in zip(groups, _fair(needs, room), strict=True):
        left = share - writing.size(writing.heading(name)) - writing.MORE_SIZE
        taken = _prefix([writing.size(line) for line in lines[name]], left)
        hidden = len(group) - taken
        cut |= {item.key for item in group[taken:]}
        if share > writing.size(writing.heading(name)) + writing.MORE_SIZE:
            written += [writing.heading(name), *lines[name][:taken]]
            written += [writing.more(hidden, group[0].reads)] if hidden else []
    return "".join(written), cut


def _prefix(sizes: Sequence[int], room: int) -> int:
    """How many of the first sizes fit."""
    for count, size in enumerate(sizes):
        room -= size
        if room < 0:
            return count
    return len(sizes)


def _fair(needs: Sequence[int], room: int) -> list[int]:
    """Share `room` so that small needs are met and large ones get equal parts of what is left."""
    shares = [0] * len(needs)
    order = sorted(range(len(needs)), key=needs.__getitem__)
    for place, number in enumerate(order):
        share = max(0, room) // (len(order) - place)
        shares[number] = min(needs[number], share)
        room -= shares[number]
    return shares
