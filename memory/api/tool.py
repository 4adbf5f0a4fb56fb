"""The agent's tool over the API."""

from __future__ import annotations

import logging
from typing import Any, Literal

from django.db import OperationalError
from django.utils.translation import override
from ninja import Field, Router, Schema

from memory.access import has_a_place
from memory.holders import Holder
from memory.models import Author, Stale, Switches, Through
from memory.saving import Draft, memory_save
from memory.tool import Answer, memory_delete, memory_list, memory_read, memory_search
from openchamber.errors import Conflict, Forbidden, Invalid, Unavailable
from openchamber.models import Session
from openchamber.projects.access import ApiRequest
from openchamber.projects.resolve import resolve
from openchamber.texts import Line, Text

logger = logging.getLogger(__name__)
router = Router(tags=["memory"])


class Call(Schema):
    """A call of the tool: what the agent gave, and where it was called from."""

    action: Literal["list", "read", "save", "delete", "search"]
    client: Line = Field("", max_length=40)
    session: Line = Field("", max_length=200)
    directory: Text = Field("", max_length=4096)
    agent: Line = Field("", max_length=200)
    scope: Literal["", "user", "workspace"] = ""
    id: Line = Field("", max_length=200)
    title: str = ""
    name: str = Field("", max_length=200)
    body: str = ""
    description: str | None = None
    type: Literal["", "fact", "preference", "reference"] = ""
    revision: str = Field("", max_length=40)
    query: str = Field("", max_length=2000)

    @property
    def wanted(self) -> dict[str, str]:
        """Which entry is meant: the field that was given decides."""
        return {"id": self.id.removeprefix("memory:").rpartition(":")[2], "name": self.name, "title": self.title}

    @property
    def by(self) -> Author:
        """Who calls."""
        return Author(Through.TOOL, session=self.session, agent=self.agent, client=self.client)

    @property
    def draft(self) -> Draft:
        """What is to be saved."""
        wanted = self.id.removeprefix("memory:").rpartition(":")[2]
        return Draft(self.title, self.body, self.description, self.type, self.name, wanted, self.revision)


@router.post("/memory/tool", response=dict[str, Any])
def use_tool(request: ApiRequest, call: Call) -> dict[str, Any]:
    """List, read, save, delete or search what an agent keeps."""
    if not Switches.current().enabled:
        raise Forbidden("Agents’ memory is switched off. Nothing was read or saved.", code="memory_off")
    holder = Holder.of(call.agent, directory_of(request, call))
    if not holder.agent.memory_enabled:
        raise Forbidden("The memory of this agent is switched off. Nothing was read or saved.", code="memory_off")
    with override("en"):  # what the rules of the models say is read by a model too
        try:
            answer = answer_to(holder, call)
        except Stale as stale:
            raise Conflict(str(stale)) from stale
        except OperationalError as error:  # many write at once; the transaction was taken back
            logger.warning("The tool's caller was sent away: %s", error)
            raise Unavailable("What you know is busy just now. Nothing was saved. Try again.") from error
    return {"text": answer.text, **answer.data}


def directory_of(request: ApiRequest, call: Call) -> str:
    """The directory of the call, else its session's; Forbidden where it is not the caller's.

    What belongs to no project is the owner's alone. Without a directory there is only what is about the user, which
    belongs to the agent and so to whoever has a project where it works.
    """
    session = Session.objects.filter(pk=call.session).first() if call.session and not call.directory else None
    directory = call.directory or (session.directory if session else "")
    if directory and not request.auth.sees(resolve(directory).project):
        raise Forbidden("This directory belongs to no project of yours.")
    if not directory and not has_a_place(request.auth):
        raise Forbidden("You have no project in which an agent keeps anything.")
    return directory


def answer_to(holder: Holder, call: Call) -> Answer:
    """What the call answers."""
    match call.action:
        case "list":
            return memory_list(holder, call.scope)
        case "read":
            return memory_read(holder, call.scope, **call.wanted)
        case "search":
            return memory_search(holder, call.query, call.scope)
        case "delete":
            return memory_delete(holder, call.scope, by=call.by, **call.wanted)
    if not call.title.strip() and not call.name and not call.id:
        raise Invalid("Not saved. title: give it one line that says what it is about.", fields={"title": ["Needed."]})
    return memory_save(holder, call.scope, call.draft, by=call.by)
