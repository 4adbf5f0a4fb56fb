"""What the tests of project knowledge start from: an author, and notes as they are asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from knowledge.models import Author, Note, Through

if TYPE_CHECKING:
    from django.contrib.auth.models import User

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
