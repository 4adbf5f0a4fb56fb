"""The agent's read-only tool over the API."""

from __future__ import annotations

from typing import Any, Literal

from ninja import Field, Router, Schema

from knowledge.tool import Answer, knowledge_read, knowledge_search
from openchamber.errors import NotFound
from openchamber.models import Project, Session
from openchamber.projects.access import ApiRequest
from openchamber.projects.resolve import resolve
from openchamber.texts import Line, Text

router = Router(tags=["tool"])


class Call(Schema):
    """A call of the tool: what the agent gave, and where it was called from."""

    action: Literal["search", "read"]
    session: Line = ""
    directory: Text = ""
    query: str = Field("", max_length=2000)
    kind: Literal["", "note", "plan", "todo", "message"] = ""
    id: Line = Field("", max_length=300)
    start: int = Field(0, alias="from")
    limit: int = 10


@router.post("/knowledge/tool", response=dict[str, Any])
def use_tool(request: ApiRequest, call: Call) -> dict[str, Any]:
    """Search or read what the user wrote for the project of the directory."""
    session = Session.objects.select_related("project").filter(pk=call.session).first() if call.session else None
    if session is not None and not request.auth.sees(session.project):
        session = None
    answer = answer_to(call, project_of(request, call, session), session)
    return {"text": answer.text, **answer.data}


def project_of(request: ApiRequest, call: Call, session: Session | None) -> Project | None:
    """The project of the directory, else of the session; None when the caller may not see it."""
    project = resolve(call.directory).project if call.directory else None
    project = project or (session.project if session else None)
    return project if project and request.auth.sees(project) else None


def answer_to(call: Call, project: Project | None, session: Session | None) -> Answer:
    """What the call answers."""
    if call.action == "read":
        return knowledge_read(project, call.kind, call.id, start=call.start, session=session)
    if project is None:
        raise NotFound("This directory belongs to no project that you may see, so nothing was written for it.")
    return knowledge_search(project, call.query, kind=call.kind, limit=call.limit)
