"""What the tests of project knowledge start from: an author, and notes as they are asked for."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from knowledge.models import Author, Note, Plan, Through, Todo
from openchamber.models import ApiToken

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.http import HttpResponse
    from django.test import Client

    from openchamber.models import Project


@pytest.fixture
def by(owner: User) -> Author:
    """The owner, in the panel."""
    return Author(owner, Through.PANEL)


@pytest.fixture
def write_note(project: Project, by: Author) -> Callable[..., Note]:
    """Write a note in the project: `write_note("text", pinned=True)`."""

    def write(body: str = "No deploys on Friday.", *, pinned: bool = False, **more: Any) -> Note:
        note = Note.write(body=body, by=by, **{"project": project, **more})
        if pinned:
            note.pin()
        return note

    return write


@pytest.fixture
def note(write_note: Callable[..., Note]) -> Note:
    """One note."""
    return write_note()


@pytest.fixture
def write_todo(project: Project, by: Author) -> Callable[..., Todo]:
    """Add a todo to the project: `write_todo("text", done=True)`."""

    def write(text: str = "Refuse rows without a berth", **more: Any) -> Todo:
        return Todo.write(text=text, by=by, **{"project": project, **more})

    return write


@pytest.fixture
def write_plan(project: Project, by: Author) -> Callable[..., Plan]:
    """Write a plan in the project: `write_plan("# Title", pinned=True)`."""

    def write(body: str = "# Winter\n\nGo live.", *, pinned: bool = False, **more: Any) -> Plan:
        plan = Plan.write(body=body, by=by, **{"project": project, **more})
        if pinned:
            plan.pin()
        return plan

    return write


@pytest.fixture
def api(owner: User, client: Client) -> Callable[..., HttpResponse]:
    """A program with a token of the owner's: `api("PATCH", "/projects/shop/notes/1", {"body": "x"})`."""
    _token, secret = ApiToken.make(name="tests", user=owner)

    def call(method: str, path: str, body: Any = None, **headers: str) -> HttpResponse:
        data = b"" if body is None else json.dumps(body)
        headers["Authorization"] = f"Bearer {secret}"
        return client.generic(method, f"/api{path}", data=data, content_type="application/json", headers=headers)

    return call
