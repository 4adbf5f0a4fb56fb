"""Notes over the API."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.http import HttpResponse
from ninja import Query, Router, Schema, Status

from knowledge.api.refusals import author, delete, found, refusals
from knowledge.models import Note, Source
from openchamber.bodies import Body
from openchamber.paging import Page, Paging, page
from openchamber.projects.access import ApiRequest
from openchamber.revisions import etag, seen_revision

router = Router(tags=["notes"])


class Origin(Schema):
    """Where a text was taken from."""

    session: str = ""
    message: str = ""


class NoteOut(Schema):
    """A note."""

    id: str
    body: str
    source: str
    origin: Origin | None
    pinned: bool
    revision: str
    created_at: datetime
    updated_at: datetime
    warnings: list[str]


class NoteIn(Body):
    """A note to write."""

    body: str
    source: Source = Source.TYPED
    origin: Origin | None = None


class NoteChange(Body):
    """What replaces a note's text."""

    body: str


def shown(note: Note) -> dict[str, Any]:
    """A note as the API tells it."""
    origin = {"session": note.origin_session, "message": note.origin_message} if note.origin_session else None
    return {
        "id": str(note.pk),
        "body": note.body,
        "source": note.source,
        "origin": origin,
        "pinned": note.pinned,
        "revision": note.revision,
        "created_at": note.created_at,
        "updated_at": note.updated_at,
        "warnings": note.warnings(),
    }


def tagged(note: Note, response: HttpResponse) -> dict[str, Any]:
    """A note with its revision in the `ETag` header."""
    response.headers["ETag"] = etag(note.revision)
    return shown(note)


@router.get("/projects/{p}/notes", response=Page[NoteOut])
def list_notes(request: ApiRequest, p: str, paging: Query[Paging]) -> dict[str, Any]:
    """The project's notes, the newest first."""
    notes = request.auth.project(p).notes.live()
    listed = page(notes, paging, by=["-created_at", "-pk"])
    return {**listed, "results": [shown(note) for note in listed["results"]]}


@router.post("/projects/{p}/notes", response={201: NoteOut})
def write_note(request: ApiRequest, p: str, sent: NoteIn, response: HttpResponse) -> Status[Any]:
    """Write a note."""
    project = request.auth.project(p)
    origin = sent.origin or Origin()
    with refusals(shown):
        note = Note.write(
            project=project,
            body=sent.body,
            by=author(request),
            source=sent.source,
            session=origin.session,
            message=origin.message,
        )
    return Status(201, tagged(note, response))


@router.get("/projects/{p}/notes/{key}", response=NoteOut)
def read_note(request: ApiRequest, p: str, key: str, response: HttpResponse) -> dict[str, Any]:
    """One note."""
    return tagged(found(request.auth.project(p).notes.live(), key), response)


@router.patch("/projects/{p}/notes/{key}", response=NoteOut)
def edit_note(request: ApiRequest, p: str, key: str, sent: NoteChange, response: HttpResponse) -> dict[str, Any]:
    """Replace a note's text; with `If-Match` only if that revision still stands."""
    note = found(request.auth.project(p).notes.live(), key)
    with refusals(shown):
        note.edit(body=sent.body, by=author(request), seen=seen_revision(request, note.revision))
    return tagged(note, response)


@router.delete("/projects/{p}/notes/{key}", response={204: None})
def delete_note(request: ApiRequest, p: str, key: str) -> Status[None]:
    """Put a note into the bin; with `If-Match` only if that revision still stands."""
    delete(request, request.auth.project(p).notes.live(), key, shown)
    return Status(204, None)


@router.post("/projects/{p}/notes/{key}/undelete", response=NoteOut)
def undelete_note(request: ApiRequest, p: str, key: str, response: HttpResponse) -> dict[str, Any]:
    """Take a note out of the bin again; one that is not in it stays as it is."""
    note = found(request.auth.project(p).notes.all(), key)
    note.undelete(by=author(request))
    return tagged(note, response)
