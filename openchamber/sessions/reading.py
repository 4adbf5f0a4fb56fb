"""One look at a session: its conversation, whether it works, and who waits for an answer."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from openchamber.models import Session
from openchamber.sessions import thread
from openchamber.sessions.catalogue import Permission, Question
from openchamber.sessions.following import followers
from openchamber.sessions.opencode import OpenCode
from openchamber.sessions.thread import Row
from openchamber.sessions.wire import Message, Page, SessionInfo

PAGE = 50  # messages

# Requests to the agent server that a page needs at once. No database in these threads.
readers = ThreadPoolExecutor(12, thread_name_prefix="reading")


@dataclass(frozen=True, slots=True)
class Ask:
    """Something that waits for the person: a permission or a question, of this session or of a sub-agent's."""

    request: Permission | Question
    title: str

    @property
    def id(self) -> str:
        """The request's id."""
        return self.request.id

    @property
    def permission(self) -> Permission | None:
        """The permission that is asked for, if it is one."""
        return self.request if isinstance(self.request, Permission) else None

    @property
    def question(self) -> Question | None:
        """The question, if it is one."""
        return self.request if isinstance(self.request, Question) else None


@dataclass(frozen=True, slots=True)
class Look:
    """What one look found. `settled` are the rows that no longer change, `live` those of the running turn."""

    info: SessionInfo
    settled: Sequence[Row]
    live: Sequence[Row]
    earlier: str
    status: str
    asks: Sequence[Ask]
    revision: str

    @property
    def state(self) -> str:
        """The session's state as a mark: waiting, working, or "" when it is idle."""
        return "waiting" if self.asks else "working" if self.status else ""

    @property
    def first_live(self) -> str:
        """The message that the running turn begins with."""
        return self.live[0].id if self.live else ""

    @property
    def last_said(self) -> Row | None:
        """The newest message of the person, which a retry would send again."""
        said = (row for row in reversed(self.live) if row.message.role == "user" and row.kind == "said")
        return next(said, None)

    @property
    def since_said(self) -> Sequence[Row]:
        """What came after it."""
        ids = [row.id for row in self.live]
        return self.live[ids.index(self.last_said.id) + 1 :] if self.last_said else []

    @property
    def unanswered(self) -> bool:
        """Whether that message got no answer that ended well: it failed, was stopped, or a failed compaction ate it."""
        if self.last_said is None or self.state:
            return False
        answers = [row for row in self.since_said if row.message.role == "assistant" and row.kind != "compaction"]
        return not answers or bool(answers[-1].message.error)

    @property
    def compacted_since(self) -> bool:
        """Whether a compaction stands after the person's newest message."""
        return any(row.kind == "compaction" for row in self.since_said)

    @property
    def reverted(self) -> bool:
        """Whether a revert waits to be undone or made final."""
        return bool(self.info.reverted_from)


@dataclass(frozen=True, slots=True)
class Asked:
    """What the agent server was asked for one look, side by side: each takes it some milliseconds."""

    info: Future[SessionInfo]
    page: Future[Page]
    statuses: Future[dict[str, str]]


def ask(session: Session, client: OpenCode, *, limit: int = PAGE) -> Asked:
    """Ask for the newest page; a page that needs more than a look asks first, and looks when it has the rest."""
    return Asked(
        readers.submit(client.session, session.pk),
        readers.submit(client.messages, session.pk, limit=limit),
        readers.submit(client.statuses, session.directory),
    )


def look(session: Session, client: OpenCode, *, limit: int = PAGE, asked: Asked | None = None) -> Look:
    """The newest page of the conversation; raises `AgentServerError`."""
    asked = asked or ask(session, client, limit=limit)
    info, page, status = asked.info.result(), asked.page.result(), asked.statuses.result().get(session.pk, "")
    asks = waiting(session, client, info) if status else []
    messages = followers.of(session.server).with_words(page.messages) if status and session.server else page.messages
    shown = rows_of(session, info, messages)
    start = thread.live_from(shown)
    live = shown[start:]
    said = thread.revision(
        [row.message for row in live], status, [ask.id for ask in asks], info.reverted_from, info.title
    )
    return Look(info, shown[:start], live, page.next, status, asks, said)


def revision(session: Session, found: Look) -> str:
    """What changes whenever the page would: the conversation's half and Work status's."""
    return f"{found.revision}.{_riding(session)}"


def _riding(session: Session) -> str:
    """What changes whenever Work status may."""
    newest = session.deliveries.order_by("-sequence").values_list("sequence", "state").first()
    project = session.project.revision if session.project else 0
    return f"{project}-{newest[0] if newest else 0}{newest[1][:2] if newest else ''}-{session.pins_revision}"


def rows_of(session: Session, info: SessionInfo, messages: Sequence[Message]) -> list[Row]:
    """Messages as rows, with what is pinned and what is reverted."""
    pinned = set(session.pinned_messages.values_list("message_id", flat=True))
    return thread.rows(messages, pinned=pinned, reverted_from=info.reverted_from)


def waiting(session: Session, client: OpenCode, info: SessionInfo) -> list[Ask]:
    """Who waits in this session, or in a sub-agent's that it started."""
    questions = readers.submit(client.questions, info.directory)
    requests: list[Permission | Question] = [*client.permissions(info.directory), *questions.result()]
    found = []
    for request in requests:
        if request.session == session.pk:
            found.append(Ask(request, ""))
        elif child := _child(client, request.session, session.pk):
            found.append(Ask(request, child.title))
    return found


def _child(client: OpenCode, session_id: str, parent: str) -> SessionInfo | None:
    """The session, if it was started by `parent`, or by one that was."""
    info = client.session(session_id)
    above = info
    while above.parent and above.parent != parent:
        above = client.session(above.parent)
    return info if above.parent == parent else None
