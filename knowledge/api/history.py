"""The history of notes, todos and plans over the API."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from django.http import HttpResponse
from django.utils.translation import gettext as _
from ninja import Query, Router, Schema

from knowledge.api import notes, plans, todos
from knowledge.api.pages import fitting_page
from knowledge.api.refusals import author, found, refusals
from knowledge.models import Written, rows_of
from openchamber.errors import NotFound
from openchamber.paging import Page, Paging
from openchamber.projects.access import ApiRequest
from openchamber.revisions import seen_revision

router = Router(tags=["history"])

ListName = Literal["notes", "todos", "plans"]
TAGGED: dict[str, Any] = {"notes": notes.tagged, "todos": todos.tagged, "plans": plans.tagged}
SHOWN: dict[str, Any] = {"notes": notes.shown, "todos": todos.shown, "plans": plans.shown}


class EntryOut(Schema):
    """One entry of a history: what was stored from `at` on, who stored it, and through what."""

    id: str
    at: datetime
    author: str | None
    through: str
    change: Literal["created", "changed", "deleted", "undeleted", "restored", "imported"]
    revision: str
    body: str


def entry_shown(entry: Any, text_field: str) -> dict[str, Any]:
    """An entry as the API tells it."""
    return {
        "id": str(entry.pk),
        "at": entry.history_date,
        "author": entry.history_user.get_username() if entry.history_user else None,
        "through": entry.through,
        "change": entry.change,
        "revision": entry.revision,
        "body": getattr(entry, text_field),
    }


def item_of(request: ApiRequest, p: str, kind: ListName, key: str) -> Written:
    """The live note, todo or plan whose history is asked for."""
    item: Written = found(rows_of(kind).live().filter(project=request.auth.project(p)), key)
    return item


@router.get("/projects/{p}/{kind}/{key}/history", response=Page[EntryOut])
def list_history(request: ApiRequest, p: str, kind: ListName, key: str, paging: Query[Paging]) -> dict[str, Any]:
    """What was stored before, the newest first; the first one is what stands now."""
    item = item_of(request, p, kind, key)
    entries = item.history.select_related("history_user")
    listed = fitting_page(entries, paging, by=["-history_date", "-history_id"], text=item.text_field)
    return {**listed, "results": [entry_shown(entry, item.text_field) for entry in listed["results"]]}


@router.post("/projects/{p}/{kind}/{key}/history/{entry}/restore", response=dict[str, Any])
def restore_entry(
    request: ApiRequest, p: str, kind: ListName, key: str, entry: str, response: HttpResponse
) -> dict[str, Any]:
    """Store again what an entry holds; with `If-Match` only if that revision still stands."""
    item = item_of(request, p, kind, key)
    earlier = item.entry(entry)
    if earlier is None:
        raise NotFound(_("There is no such entry in this history."))
    with refusals(SHOWN[kind]):
        item.restore(entry=earlier, by=author(request), seen=seen_revision(request, item.revision))
    told: dict[str, Any] = TAGGED[kind](item, response)
    return told
