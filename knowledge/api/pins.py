"""Pins over the API: the project's, and what one session chose for itself."""

from __future__ import annotations

from typing import Annotated, Literal

from django.utils.translation import gettext as _
from ninja import Router, Status
from pydantic import StringConstraints

from knowledge.api.refusals import found
from knowledge.models import PINNABLE, Pinnable, SessionPin
from openchamber.bodies import Body
from openchamber.errors import Invalid, NotFound
from openchamber.models import Session
from openchamber.projects.access import ApiRequest, Caller
from openchamber.texts import Line

router = Router(tags=["pins"])

Kind = Literal["note", "plan"]
SessionKey = Annotated[Line, StringConstraints(max_length=200)]


class Choice(Body):
    """A session's own choice; null follows the project again."""

    attached: bool | None


def pinnable(request: ApiRequest, p: str, kind: Kind, key: str) -> Pinnable:
    """The live note or plan of the project `p` that a pin is about."""
    return found(PINNABLE[kind].objects.live().filter(project=request.auth.project(p)), key)


@router.put("/projects/{p}/pins/{kind}/{key}", response={204: None})
def pin(request: ApiRequest, p: str, kind: Kind, key: str) -> Status[None]:
    """Let a note or plan ride with every message of the project."""
    pinnable(request, p, kind, key).pin()
    return Status(204, None)


@router.delete("/projects/{p}/pins/{kind}/{key}", response={204: None})
def unpin(request: ApiRequest, p: str, kind: Kind, key: str) -> Status[None]:
    """Let it ride no more."""
    pinnable(request, p, kind, key).unpin()
    return Status(204, None)


@router.put("/sessions/{s}/pins/{kind}/{key}", response={204: None})
def choose(request: ApiRequest, s: SessionKey, kind: Kind, key: str, sent: Choice) -> Status[None]:
    """Attach a note or plan to one session, detach it there, or follow the project again."""
    item = found(PINNABLE[kind].objects.live().filter(project__in=request.auth.projects()), key)
    check_session(request.auth, s, item)
    SessionPin.choose(s, item, attached=sent.attached)
    return Status(204, None)


def check_session(caller: Caller, key: str, item: Pinnable) -> None:
    """Refuse a session that is not the caller's or whose project is another one than the item's.

    A session that we have no row for yet is taken at its word: it chooses only for itself.
    """
    session = Session.objects.filter(pk=key).first()
    if session is None or session.project_id == item.project_id:
        return
    if session.project_id is None or not caller.projects().filter(pk=session.project_id).exists():
        raise NotFound(_("There is no such session, or it is not yours."))
    raise Invalid(_("That session belongs to another project, so nothing of this one rides in it."))
