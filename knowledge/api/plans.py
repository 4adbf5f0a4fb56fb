"""Plans over the API."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.http import HttpResponse
from ninja import Query, Router, Schema, Status

from knowledge.api.notes import Origin
from knowledge.api.pages import fitting_page
from knowledge.api.refusals import author, delete, found, refusals
from knowledge.models import Plan, Source
from openchamber.bodies import Body
from openchamber.paging import Page, Paging
from openchamber.projects.access import ApiRequest
from openchamber.revisions import etag, seen_revision
from openchamber.texts import Line

router = Router(tags=["plans"])


class PlanOut(Schema):
    """A plan. `title` is its first heading."""

    id: str
    title: str
    body: str
    source: str
    origin: Origin | None
    pinned: bool
    revision: str
    created_at: datetime
    updated_at: datetime
    warnings: list[str]


class PlanIn(Body):
    """A plan to write. A title becomes the first heading, unless the body has it already."""

    title: Line = ""
    body: str = ""
    source: Source = Source.TYPED
    origin: Origin | None = None


class PlanChange(Body):
    """The whole text that replaces a plan's."""

    body: str


def shown(plan: Plan) -> dict[str, Any]:
    """A plan as the API tells it."""
    names = ("title", "body", "source", "pinned", "revision", "created_at", "updated_at")
    origin = {"session": plan.origin_session, "message": plan.origin_message} if plan.origin_session else None
    told = {name: getattr(plan, name) for name in names}
    return {"id": str(plan.pk), **told, "origin": origin, "warnings": plan.warnings()}


def tagged(plan: Plan, response: HttpResponse) -> dict[str, Any]:
    """A plan with its revision in the `ETag` header."""
    response.headers["ETag"] = etag(plan.revision)
    return shown(plan)


@router.get("/projects/{p}/plans", response=Page[PlanOut])
def list_plans(request: ApiRequest, p: str, paging: Query[Paging]) -> dict[str, Any]:
    """The project's plans, the newest first. A page of very long ones is shorter than was asked for."""
    plans = request.auth.project(p).plans.live()
    listed = fitting_page(plans, paging, by=["-created_at", "-pk"], text="body")
    return {**listed, "results": [shown(plan) for plan in listed["results"]]}


@router.post("/projects/{p}/plans", response={201: PlanOut})
def write_plan(request: ApiRequest, p: str, sent: PlanIn, response: HttpResponse) -> Status[Any]:
    """Write a plan."""
    project = request.auth.project(p)
    origin = sent.origin or Origin()
    with refusals(shown):
        plan = Plan.write(
            project=project,
            title=sent.title,
            body=sent.body,
            by=author(request),
            source=sent.source,
            session=origin.session,
            message=origin.message,
        )
    return Status(201, tagged(plan, response))


@router.get("/projects/{p}/plans/{key}", response=PlanOut)
def read_plan(request: ApiRequest, p: str, key: str, response: HttpResponse) -> dict[str, Any]:
    """One plan."""
    return tagged(found(request.auth.project(p).plans.live(), key), response)


@router.put("/projects/{p}/plans/{key}", response=PlanOut)
def edit_plan(request: ApiRequest, p: str, key: str, sent: PlanChange, response: HttpResponse) -> dict[str, Any]:
    """Replace a plan's text; with `If-Match` only if that revision still stands."""
    plan = found(request.auth.project(p).plans.live(), key)
    with refusals(shown):
        plan.edit(body=sent.body, by=author(request), seen=seen_revision(request, plan.revision))
    return tagged(plan, response)


@router.delete("/projects/{p}/plans/{key}", response={204: None})
def delete_plan(request: ApiRequest, p: str, key: str) -> Status[None]:
    """Put a plan into the bin; with `If-Match` only if that revision still stands."""
    delete(request, request.auth.project(p).plans.live(), key, shown)
    return Status(204, None)


@router.post("/projects/{p}/plans/{key}/undelete", response=PlanOut)
def undelete_plan(request: ApiRequest, p: str, key: str, response: HttpResponse) -> dict[str, Any]:
    """Take a plan out of the bin again; one that is not in it stays as it is."""
    plan = found(request.auth.project(p).plans.all(), key)
    plan.undelete(by=author(request))
    return tagged(plan, response)
