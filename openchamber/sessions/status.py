"""Work status: what a session should hold, what it holds, what it is owed, and the exact text of the next block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from django.utils.translation import gettext as _

from openchamber.models import Delivery, PinnedMessage, Session
from openchamber.sessions import pinned
from openchamber.sessions.assembly import CHARACTERS_PER_TOKEN, Assembly, assemble, budget_for
from openchamber.sessions.carriers import Carried
from openchamber.sessions.context import Item, owed, signature
from openchamber.sessions.thread import kind_told
from openchamber.signals import choices_wanted

State = Literal["held", "owed", "leaving", "failed", "detached"]
LEDGER = 20


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that rides, with its state. `change` says why it is owed; `since` is the message it is held since."""

    key: str
    kind: str
    group: str
    title: str
    state: State
    characters: int = 0
    change: str = ""
    cut: bool = False
    since: str = ""
    url: str = ""
    reason: str = ""

    @property
    def tokens(self) -> int:
        """Estimated tokens."""
        return -(-self.characters // CHARACTERS_PER_TOKEN)


@dataclass(frozen=True, slots=True)
class Status:
    """All of a session's entries, and the next block."""

    entries: Sequence[Entry]
    preview: str
    signature: str
    budget: int
    deliveries: Sequence[Delivery]

    def in_state(self, *states: State) -> list[Entry]:
        """The entries in any of these states."""
        return [entry for entry in self.entries if entry.state in states]

    @property
    def held(self) -> list[Entry]:
        """What the session holds."""
        return self.in_state("held")

    @property
    def owed(self) -> list[Entry]:
        """What the next message tells, retractions included."""
        return self.in_state("owed", "leaving")

    @property
    def failed(self) -> list[Entry]:
        """The sources that could not be read."""
        return self.in_state("failed")

    @property
    def detached(self) -> list[Entry]:
        """What was detached in this session."""
        return self.in_state("detached")

    @property
    def characters(self) -> int:
        """The size of everything that rides."""
        return sum(entry.characters for entry in self.entries if entry.state in ("held", "owed"))

    @property
    def tokens_estimate(self) -> int:
        """The same in tokens, roughly."""
        return -(-self.characters // CHARACTERS_PER_TOKEN)

    def groups(self) -> list[tuple[str, list[Entry]]]:
        """The entries by heading, in the order in which they are told."""
        found: dict[str, list[Entry]] = {}
        for entry in self.entries:
            found.setdefault(entry.group, []).append(entry)
        return list(found.items())


def status(session: Session, agent: str = "") -> Status:
    """A session's status as the next send would find it; raises `AgentServerError` when it cannot be read."""
    assembly = assemble(session, agent)
    ledger = list(session.deliveries.order_by("-sequence")[:LEDGER])
    return Status(
        entries=list(_entries(assembly)),
        preview=assembly.block.text if assembly.block else "",
        signature=signature(assembly.carried.told),
        budget=budget_for(assembly.session),
        deliveries=ledger,
    )


def _entries(assembly: Assembly) -> Iterator[Entry]:
    carried = assembly.carried
    for item in assembly.wanted.items:
        yield _entry(item, carried)
    leaving = owed(assembly.wanted.items, list(assembly.wanted.failures), carried).removed
    titles = assembly.session.deliveries.titles(leaving)
    for key in leaving:
        title = titles.get(key) or _nameless(key)
        yield Entry(key, "", _("Leaving"), title, "leaving", change="removed", since=carried.since.get(key, ""))
    yield from map(_missing, assembly.session.pinned_messages.filter(missing=True))
    for source, reason in assembly.wanted.failures.items():
        yield Entry(source, "", _("Failed"), source, "failed", reason=reason)
    answers = choices_wanted.send_robust(sender=Session, project=assembly.session.project, session=assembly.session)
    for _receiver, choices in answers:
        if isinstance(choices, Exception):
            continue  # what could be attached is an offer, not a promise; the failure itself was logged by the signal
        for choice in choices:
            group = {"note": "Notes", "plan": "Plans"}.get(choice.kind, "")
            yield Entry(choice.key, choice.kind, group, choice.title, "detached", choice.characters, url=choice.url)


def _missing(row: PinnedMessage) -> Entry:
    """A pin whose message is nowhere in the conversation, so that nothing of it is told."""
    title = row.text.strip()[:200] or _("a pinned message")
    reason, url = _("no such message"), pinned.url_of(row)
    return Entry(pinned.key_of(row), "message", pinned.GROUP, title, "failed", reason=reason, url=url)


def _nameless(key: str) -> str:
    """What leaves where no delivery tells what it was called: a fork has its messages, and no deliveries of its own."""
    kinds = {"message": _("a pinned message"), "note": _("a note"), "plan": _("a plan")}
    name = kinds.get(kind_told(key), _("something"))
    return f"{name} ({key})"


def _entry(item: Item, carried: Carried) -> Entry:
    held = carried.holds(item.key, item.revision)
    return Entry(
        key=item.key,
        kind=item.kind,
        group=item.group,
        title=item.title,
        state="held" if held else "owed",
        characters=len(item.text),
        change="" if held else ("changed" if item.key in carried.told else "added"),
        cut=item.key in carried.cut,
        since=carried.since.get(item.key, "") if held else "",
        url=item.url,
    )
