"""What a session is owed: asked of the apps, reckoned from what it carries, against a deadline.

Nothing here may fail or delay a send: any error means "no block this time", and what was owed
stays owed, because every decision is reckoned anew.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass, field
from datetime import datetime

from django.conf import settings
from django.db import connections
from django.utils import timezone
from django.utils.translation import gettext as _

from openchamber.models import Session
from openchamber.sessions import carriers, context, mirror, pinned
from openchamber.sessions.carriers import Carried, Conversation
from openchamber.sessions.context import Block, Item
from openchamber.sessions.opencode import AgentServerError, client_for
from openchamber.signals import context_version_wanted, context_wanted

logger = logging.getLogger(__name__)

CHARACTERS_PER_TOKEN = 3
_assemblers = ThreadPoolExecutor(8, thread_name_prefix="assemble")


# What is wanted -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Wanted:
    """What all apps together want a session to hold, and the sources that could not be read, with the reason."""

    items: Sequence[Item]
    failures: Mapping[str, str] = field(default_factory=dict)

    def pinned_keys(self) -> list[str]:
        """The keys of the pinned messages among the items."""
        return [item.key for item in self.items if item.kind == "message"]


def wanted(session: Session, agent: str) -> Wanted:
    """Ask the apps. One that raises fails as a whole and takes nobody's answer with it."""
    items: list[Item] = []
    failures: dict[str, str] = {}
    answers = context_wanted.send_robust(sender=Session, project=session.project, session=session, agent=agent)
    for receiver, answer in answers:
        if isinstance(answer, Exception):
            app = receiver.__module__.partition(".")[0]
            source = "session" if app == "openchamber" else app
            failures[source] = _("could not be read")
            logger.error("%s could not say what session %s needs", app, session.pk, exc_info=answer)
            continue
        items += answer[0]
        failures |= dict.fromkeys(answer[1], _("could not be read"))
    return Wanted(items, failures)


# What is carried ----------------------------------------------------------------------


def rows_trusted(session: Session) -> bool:
    """Whether nothing can have happened to the conversation since it was last looked at without our seeing it."""
    server = session.server
    if session.carried_at is None or server is None or server.unbroken_since is None:
        return False
    disturbed = session.disturbed_at is not None and session.disturbed_at >= session.carried_at
    return not disturbed and server.unbroken_since <= session.carried_at and server.listening


def carried_by_rows(session: Session, pinned_keys: Sequence[str]) -> Carried | None:
    """What the rows say that the session holds; None where only the conversation knows."""
    if not rows_trusted(session):
        return None
    held = Carried.load(session.carried)
    unknown = [key for key in pinned_keys if key not in held.told and key not in held.spoken]
    return None if unknown else held


def remember(session: Session, held: Carried, looked_at: datetime) -> None:
    """Keep what a conversation was found to hold, unless a delivery was confirmed since this process looked."""
    # What was not owed to the session as it was known before may be owed to the one that was found.
    fields = {"carried": held.stored(), "carried_at": looked_at, "owed_nothing_at": ""}
    unchanged = Session.objects.filter(pk=session.pk, carried_sequence=session.carried_sequence)
    if unchanged.update(**fields):
        session.carried, session.carried_at, session.owed_nothing_at = held.stored(), looked_at, ""


# What is owed -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Terms:
    """How a block is told: at most `budget` units (0: as configured), after a compaction, or by titles alone."""

    budget: int = 0
    restore: bool = False
    titles_only: bool = False


@dataclass(frozen=True, slots=True)
class Assembly:
    """A decision: the block to tell (None: nothing is owed), and what it was reckoned from.

    `outdated`: no decision, since the session was told something after the given conversation was read.
    """

    session: Session
    block: Block | None
    wanted: Wanted
    carried: Carried
    sequence: int
    agent: str = ""
    conversation_wanted: bool = False
    outdated: bool = False


PLAIN = Terms()


def assemble(
    session: Session,
    agent: str,
    *,
    conversation: Conversation | None = None,
    read_at: int | None = None,
    can_read: bool = True,
    terms: Terms = PLAIN,
) -> Assembly:
    """Decide what `session` is owed, by rows where those can be trusted, else by its conversation.

    Without a conversation and without a way to read one (`can_read`) the answer is only that one is wanted.
    `read_at` is the session's newest delivery before the given conversation was read, where that is known.
    """
    session = Session.objects.select_related("project", "server").get(pk=session.pk)
    state = stamp(session, agent)
    sequence = session.deliveries.last_sequence()
    if read_at is not None and session.deliveries.told_after(read_at):
        return Assembly(session, None, Wanted([]), Carried(), sequence, agent, outdated=True)
    client = client_for(session.server) if can_read and session.server else None
    want = wanted(session, agent)
    held = carried_by_rows(session, want.pinned_keys()) if conversation is None else None
    forced = False
    if held is None:
        looked_at = timezone.now()
        conversation = conversation or (client.conversation(session.pk) if client else None)
        if conversation is None:
            return Assembly(session, None, want, Carried(), sequence, agent, conversation_wanted=True)
        if pinned.adopt(session, conversation, client):
            want = wanted(session, agent)
        held = carriers.fold(conversation, want.pinned_keys())
        forced = conversation.mirror.get(mirror.DELIVERED) == ""
        if not forced:  # another client's wish stands until it is met, so the rows must not answer before
            remember(session, held, looked_at)
    block = context.assemble(want.items, list(want.failures), held, _frame(session, terms), forced=forced)
    if block is None and not want.failures and not context.owed(want.items, (), held):
        session.owes_nothing(stamp=state)
    return Assembly(session, block, want, held, sequence, agent)


def _frame(session: Session, terms: Terms) -> context.Frame:
    budget = terms.budget or budget_for(session)
    return context.Frame(session.pk, settings.SECRET_KEY, budget, restore=terms.restore, titles_only=terms.titles_only)


def budget_for(session: Session) -> int:
    """The most that one block may take: the configured size, or a tenth of the context of the session's model."""
    contexts = session.server.model_contexts if session.server else {}
    tokens = contexts.get(session.model, 0)
    share = tokens * CHARACTERS_PER_TOKEN // 10 if tokens else settings.CONTEXT_BUDGET
    return max(context.SMALLEST_BUDGET, min(settings.CONTEXT_BUDGET, share))


def stamp(session: Session, agent: str) -> str:
    """What stands for everything that is wanted: when it is the one of the last look, nothing new is wanted.

    Counters only, so that it costs the same for ten items and ten thousand. "" where an app cannot say.
    """
    return stamp_with(versions_of(session, agent), session, agent)


def stamp_with(versions: str | None, session: Session, agent: str) -> str:
    """The same where the apps were asked for their versions already."""
    if versions is None:
        return ""
    return f"{session.pins_revision}|{session.carried_sequence}|{session.project_id}|{agent}{versions}"


def versions_of(session: Session, agent: str) -> str | None:
    """The versions of what the apps want, alike for all sessions of a project, directory and agent; None: unknown."""
    answers = context_version_wanted.send_robust(sender=Session, project=session.project, session=session, agent=agent)
    versions = "|"
    for receiver, answer in answers:
        if isinstance(answer, Exception):
            logger.error("%s could not say its version", receiver.__module__, exc_info=answer)
            return None
        versions += f"{answer}|"
    return versions


def owed_nothing(session: Session, agent: str) -> bool:
    """Whether nothing was owed at the last look and nothing can have changed since: no item is read to know it."""
    fresh = Session.objects.select_related("project", "server").defer("carried").get(pk=session.pk)
    return bool(fresh.owed_nothing_at) and rows_trusted(fresh) and fresh.owed_nothing_at == stamp(fresh, agent)


def assemble_in_time(
    session: Session,
    agent: str,
    *,
    seconds: float,
    conversation: Conversation | None = None,
    read_at: int | None = None,
    can_read: bool = True,
    terms: Terms = PLAIN,
) -> Assembly | None:
    """`assemble` against a deadline; None when it failed or was late. A late one leaves nothing behind."""

    def work() -> Assembly:
        try:
            return assemble(session, agent, conversation=conversation, read_at=read_at, can_read=can_read, terms=terms)
        finally:
            connections.close_all()

    future = _assemblers.submit(work)
    try:
        return future.result(timeout=seconds)
    except FutureTimeout:
        logger.warning("no block for session %s: it was not ready within %s s", session.pk, seconds)
    except AgentServerError as error:  # what the send itself will meet, and say
        logger.debug("no block for session %s: %s", session.pk, error)
    # Nothing in delivery may fail a send: whatever went wrong means "no block this time".
    except Exception:
        logger.exception("no block for session %s", session.pk)
    return None


def finish() -> None:
    """Let nothing that is still being assembled hold the end of the process."""
    _assemblers.shutdown(wait=False, cancel_futures=True)
