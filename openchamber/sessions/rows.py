"""Our rows for the agent's sessions: made when a session is first met."""

from __future__ import annotations

from django.utils import timezone
from django.utils.translation import gettext as _

from openchamber.errors import Conflict
from openchamber.models import AgentServer, Project, Session
from openchamber.projects.resolve import resolve
from openchamber.sessions import ids
from openchamber.sessions.opencode import Missing, Refused, SessionInfo, client_for
from openchamber.signals import session_started


def _known(session_id: str) -> Session | None:
    """Our row, if there is one. What belonged to no project may belong to one that was added since."""
    row = Session.objects.select_related("project", "server").filter(pk=session_id).first()
    if row is not None and row.project is None and (project := resolve(row.directory).project):
        row.project = project
        row.save(update_fields=["project"])
    return row


def session_row(server: AgentServer | None, info: SessionInfo) -> Session:
    """The row of a session that the agent server told us of, with its project found by directory.

    Where a session really is, only the agent server knows: what a hook said of it decides until then.
    """
    row = _known(info.id)
    if row is None:
        return _first_met(
            Session(
                id=info.id,
                server=server,
                project=resolve(info.directory).project,
                directory=info.directory,
                parent=info.parent,
                title=info.title[:500],
            )
        )
    if row.server is None and row.directory != info.directory:
        row.directory, row.parent = info.directory, info.parent
        row.project = resolve(info.directory).project
        row.save(update_fields=["directory", "parent", "project"])
    if (row.title, row.server_id) != (info.title[:500], server.pk if server else row.server_id):
        row.title, row.server = info.title[:500], server or row.server
        row.save(update_fields=["title", "server"])
    return row


def gather(project: Project) -> None:
    """Let the sessions that belong to `project`, and were met before it was added, go with it.

    Their directories decide, as they would if the sessions were met now; there are few of those.
    """
    for directory in Session.objects.exclude(directory="").order_by().values_list("directory", flat=True).distinct():
        if resolve(directory).project == project:
            Session.objects.filter(directory=directory).update(project=project)


def client_session(client: str, session_id: str, directory: str, parent: str = "") -> Session:
    """The row of a session that a client's own hook told us of; no agent server may be within reach."""
    row = _known(session_id)
    if row is not None:
        return row
    return _first_met(
        Session(id=session_id, client=client, project=resolve(directory).project, directory=directory, parent=parent)
    )


def find_session(session_id: str) -> Session | None:
    """A session by its id: our row, else what an agent server in use knows of it."""
    row = _known(session_id)
    if row is not None and row.server is not None:
        return row
    if not ids.is_session(session_id):
        return row  # the agent server would answer with an error of its own
    for server in AgentServer.objects.usable():
        try:
            return session_row(server, client_for(server).session(session_id))
        except Missing:
            continue
    return row


def compact(session: Session) -> None:
    """Compact an idle session with the model of its last turn; waits for the summary. `Refused` when there is none."""
    if session.server is None:
        raise Conflict(_("No agent server is known for this session."))
    client = client_for(session.server)
    info = client.session(session.pk)
    if client.statuses(info.directory).get(session.pk):
        raise Conflict(_("The session is busy. Compact it when it is idle."))
    if not info.model:
        raise Conflict(_("Nothing was said in this session yet, so there is nothing to compact."))
    client.summarize(session.pk, info.model)
    newest = client.messages(session.pk, limit=1).messages
    if newest and newest[-1].summary and newest[-1].error:
        raise Refused(_("The session was not compacted: %(reason)s") % {"reason": newest[-1].error})


def create_session(
    server: AgentServer, project: Project, *, title: str = "", agent: str = "", model: str = "", directory: str = ""
) -> Session:
    """A new session of the agent's in the project's directory, or in another one that belongs to it.

    It holds nothing yet, which we know.

    It gets a title now, its own or one with the time: OpenCode would otherwise ask a model for one,
    and that request would quote the first block.
    """
    now = timezone.localtime()
    title = title.strip() or _("Session of %(time)s") % {"time": now.strftime("%Y-%m-%d %H:%M")}
    info = client_for(server).create_session(directory or project.directory, title=title, agent=agent, model=model)
    row = session_row(server, info)
    row.project = project
    row.carried_at = timezone.now()
    row.save(update_fields=["project", "carried_at"])
    return row


def _first_met(row: Session) -> Session:
    """Store a new row; where another process was first, its row is the row."""
    Session.objects.bulk_create([row], ignore_conflicts=True)
    stored = Session.objects.select_related("project", "server").get(pk=row.pk)
    session_started.send_robust(sender=Session, session=stored)
    return stored
