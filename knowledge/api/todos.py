"""Todos over the API: one operation per wish, never the whole list at once."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.http import HttpResponse
from ninja import Query, Router, Schema, Status

from knowledge.api.refusals import author, delete, found, refusals
from knowledge.models import Todo
from openchamber.bodies import Body
from openchamber.paging import Page, Paging, page
from openchamber.projects.access import ApiRequest
from openchamber.revisions import etag, seen_revision

router = Router(tags=["todos"])


class TodoOut(Schema):
    """A todo. `position` is a rank: only its order means something."""

    id: str
    text: str
    done: bool
    position: int
    revision: str
    created_at: datetime
    updated_at: datetime


class TodoIn(Body):
    """A todo to add at the end."""

    text: str


class TodoChange(Body):
    """What changes; what is left out stays."""

    text: str | None = None
    done: bool | None = None


class TodoMove(Body):
    """Before which todo it shall stand; null for the end."""

    before: str | None


def shown(todo: Todo) -> dict[str, Any]:
    """A todo as the API tells it."""
    names = ("text", "done", "position", "revision", "created_at", "updated_at")
    return {"id": str(todo.pk), **{name: getattr(todo, name) for name in names}}


def tagged(todo: Todo, response: HttpResponse) -> dict[str, Any]:
    """A todo with its revision in the `ETag` header."""
    response.headers["ETag"] = etag(todo.revision)
    return shown(todo)


@router.get("/projects/{p}/todos", response=Page[TodoOut])
def list_todos(request: ApiRequest, p: str, paging: Query[Paging]) -> dict[str, Any]:
    """The project's todos in their order, done ones too."""
    listed = page(request.auth.project(p).todos.live(), paging, by=["position", "pk"])
    return {**listed, "results": [shown(todo) for todo in listed["results"]]}


@router.post("/projects/{p}/todos", response={201: TodoOut})
def write_todo(request: ApiRequest, p: str, sent: TodoIn, response: HttpResponse) -> Status[Any]:
    """Add a todo at the end of the list."""
    project = request.auth.project(p)
    with refusals(shown):
        todo = Todo.write(project=project, text=sent.text, by=author(request))
    return Status(201, tagged(todo, response))


@router.get("/projects/{p}/todos/{key}", response=TodoOut)
def read_todo(request: ApiRequest, p: str, key: str, response: HttpResponse) -> dict[str, Any]:
    """One todo."""
    return tagged(found(request.auth.project(p).todos.live(), key), response)


@router.patch("/projects/{p}/todos/{key}", response=TodoOut)
def edit_todo(request: ApiRequest, p: str, key: str, sent: TodoChange, response: HttpResponse) -> dict[str, Any]:
    """Change the text, or say whether it is done; with `If-Match` only if that revision still stands."""
    todo = found(request.auth.project(p).todos.live(), key)
    with refusals(shown):
        todo.edit(text=sent.text, done=sent.done, by=author(request), seen=seen_revision(request, todo.revision))
    return tagged(todo, response)


@router.post("/projects/{p}/todos/{key}/move", response=TodoOut)
def move_todo(request: ApiRequest, p: str, key: str, sent: TodoMove, response: HttpResponse) -> dict[str, Any]:
    """Put a todo right before another one of the project, or at the end."""
    todos = request.auth.project(p).todos.live()
    todo = found(todos, key)
    before = None if sent.before is None else found(todos, sent.before)
    if before != todo:
        todo.move(before=before)
    return tagged(todo, response)


@router.delete("/projects/{p}/todos/{key}", response={204: None})
def delete_todo(request: ApiRequest, p: str, key: str) -> Status[None]:
    """Put a todo into the bin; with `If-Match` only if that revision still stands."""
    delete(request, request.auth.project(p).todos.live(), key, shown)
    return Status(204, None)


@router.post("/projects/{p}/todos/{key}/undelete", response=TodoOut)
def undelete_todo(request: ApiRequest, p: str, key: str, response: HttpResponse) -> dict[str, Any]:
    """Take a todo out of the bin again, to its old place."""
    todo = found(request.auth.project(p).todos.all(), key)
    todo.undelete(by=author(request))
    return tagged(todo, response)
