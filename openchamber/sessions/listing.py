"""A project's sessions as a list: by their last message, children under their parents, each with its state."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Literal

from django.db.models import Max
from django.utils.translation import gettext as _

from openchamber.models import Project, Session
from openchamber.sessions import assembly, context
from openchamber.sessions.opencode import AgentServerError, OpenCode
from openchamber.sessions.reading import readers
from openchamber.sessions.wire import SessionInfo

SHOWN = 60  # sessions that were not started by another one
READ = 500  # in each directory: those that are archived and those of sub-agents come between
LOOKS = 2 * SHOWN  # whose newest message is looked up; of the oldest sub-agents the last change is good enough
DIRECTORIES = 8
OWED_LOOKS = 12  # the newest sessions; the others' pages tell
State = Literal["", "working", "waiting", "failed"]


@dataclass(frozen=True, slots=True)
class Last:
    """A session's newest message: when, and whether it ended in an error."""

    at: datetime
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Listed:
    """One session of the list; `at` is when something was last said in it."""

    info: SessionInfo
    at: datetime
    state: State = ""
    owed: int = 0
    children: Sequence[Listed] = field(default_factory=list)

    @property
    def group(self) -> str:
        """The heading that it stands under."""
        days = (datetime.now().astimezone().date() - self.at.astimezone().date()).days
        if days < 1:
            return _("Today")
        return _("Yesterday") if days == 1 else _("Last week") if days < 7 else _("Earlier")

    @property
    def waiting(self) -> int:
        """How many of its children wait for an answer."""
        return sum(child.state == "waiting" for child in self.children)


# A session's newest message by (server, session, time.updated). That time moves with every turn, but also
# whenever metadata is written, so it says when to look again, and not what to sort by.
_last: dict[tuple[str, str, datetime | None], Last] = {}
# What is owed, by session and the state of everything that is wanted: reckoned once per change.
_dues: dict[tuple[str, str], int] = {}


def sessions(client: OpenCode, project: Project, *, search: str = "", archived: bool = False) -> list[Listed]:
    """The project's sessions, the one where something was said last first; raises `AgentServerError`."""
    directories = _directories(project)
    states_read = [readers.submit(_states, client, directory) for directory in directories]
    pages = readers.map(lambda directory: client.sessions(directory, limit=READ, search=search), directories)
    infos = _chosen({info.id: info for page in pages for info in page}, archived=archived)
    lasts = [*readers.map(lambda info: last_message(client, info), infos[:LOOKS]), *map(_unread, infos[LOOKS:])]
    states = {session: state for read in states_read for session, state in read.result().items()}
    listed = [Listed(info, last.at, _state(info.id, last, states)) for info, last in zip(infos, lasts, strict=True)]
    listed.sort(key=lambda row: row.at, reverse=True)
    due = _owed([row.info for row in listed if not row.info.parent][:OWED_LOOKS])
    return _nested([replace(row, owed=due.get(row.info.id, 0)) for row in listed])


def _chosen(found: Mapping[str, SessionInfo], *, archived: bool) -> list[SessionInfo]:
    """The sessions that changed last, followed by all that they started: a sub-agent goes where its session goes."""
    changed = sorted(found.values(), key=_changed_at, reverse=True)
    tops = [info for info in changed if info.parent not in found and bool(info.archived) == archived][:SHOWN]
    chosen = {info.id for info in tops}
    started = [info for info in changed if info.parent in found and _top(info, found).id in chosen]
    return [*tops, *started]


def _top(info: SessionInfo, found: Mapping[str, SessionInfo]) -> SessionInfo:
    while info.parent in found:
        info = found[info.parent]
    return info


def _changed_at(info: SessionInfo) -> datetime:
    return info.updated or info.created or datetime.fromtimestamp(0, tz=UTC)


def _unread(info: SessionInfo) -> Last:
    return Last(_changed_at(info))


def _owed(infos: Sequence[SessionInfo]) -> dict[str, int]:
    """How much is owed to each session, as far as our rows can say it: no conversation is read for a list."""
    sessions = Session.objects.select_related("project", "server").in_bulk([info.id for info in infos])
    versions: dict[tuple[int | None, str, str], str | None] = {}
    due = {}
    for info in infos:
        if session := sessions.get(info.id):
            alike = (session.project_id, session.directory, info.agent)
            if alike not in versions:
                versions[alike] = assembly.versions_of(session, info.agent)
            due[info.id] = _owed_to(session, info.agent, versions[alike])
    return due


def _owed_to(session: Session, agent: str, versions: str | None) -> int:
    state = assembly.stamp_with(versions, session, agent)
    if not state or not assembly.rows_trusted(session) or session.owed_nothing_at == state:
        return 0
    key = (session.pk, state)
    if key not in _dues:
        if len(_dues) > 1000:
            _dues.clear()
        found = assembly.assemble(session, agent, can_read=False)
        due = context.owed(found.wanted.items, list(found.wanted.failures), found.carried)
        unknown = found.conversation_wanted
        _dues[key] = 0 if unknown else len(due.added) + len(due.changed) + len(due.removed)
    return _dues[key]


def _directories(project: Project) -> list[str]:
    """The project's root, and where else its sessions were met: worktrees and sub-directories."""
    met = project.sessions.exclude(directory=project.directory).order_by().values("directory")
    newest = met.annotate(newest=Max("created_at")).order_by("-newest", "directory")[:DIRECTORIES]
    return [project.directory, *(row["directory"] for row in newest)]


def last_message(client: OpenCode, info: SessionInfo) -> Last:
    """The session's newest message, looked up once per change of the session."""
    key = (client.url, info.id, info.updated)
    found = _last.get(key)
    if found is None:
        if len(_last) > 5000:
            _last.clear()
        found = _last[key] = _read_last(client, info)
    return found


def _read_last(client: OpenCode, info: SessionInfo) -> Last:
    try:
        messages = client.messages(info.id, limit=1).messages
    except AgentServerError:
        messages = []  # it may have been deleted since; the list is still good for the others
    if not messages:
        return Last(info.created or datetime.fromtimestamp(0, tz=UTC))
    newest = messages[-1]
    return Last(newest.completed or newest.created, bool(newest.error))


def _states(client: OpenCode, directory: str) -> dict[str, State]:
    """Who works and who waits. A session that waits is busy too, and waiting is what matters."""
    states: dict[str, State] = dict.fromkeys(client.statuses(directory), "working")
    if states:  # nobody waits who does not work
        states |= {request.session: "waiting" for request in client.permissions(directory)}
        states |= {request.session: "waiting" for request in client.questions(directory)}
    return states


def _state(key: str, last: Last, states: dict[str, State]) -> State:
    return states.get(key) or ("failed" if last.failed else "")


def revision(listed: Sequence[Listed]) -> str:
    """What changes whenever the list would."""
    return hashlib.sha256(repr([_shown(row) for row in listed]).encode()).hexdigest()[:16]


def _shown(row: Listed) -> tuple[object, ...]:
    children = [_shown(child) for child in row.children]
    return (row.info.id, row.info.title, row.info.agent, row.at, row.group, row.state, row.owed, children)


def _nested(listed: Sequence[Listed]) -> list[Listed]:
    """Children under their parents; one whose parent is not in the list stands for itself."""
    ids = {row.info.id for row in listed}
    children: dict[str, list[Listed]] = {}
    for row in listed:
        children.setdefault(row.info.parent if row.info.parent in ids else "", []).append(row)

    def below(parent: str) -> list[Listed]:
        return [replace(row, children=below(row.info.id)) for row in children.get(parent, [])]

    return below("")
