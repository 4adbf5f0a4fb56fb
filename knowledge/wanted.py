"""Which notes and plans a session must hold: the answer to `context_wanted`."""

from __future__ import annotations

from typing import Any

from django.dispatch import receiver
from django.utils.translation import gettext as _

from knowledge.models import Note
from openchamber.models import Project, Session
from openchamber.sessions.context import Choice, Item
from openchamber.signals import choices_wanted, context_wanted


@receiver(context_wanted)
def pinned_items(project: Project | None, session: Session, **_more: Any) -> tuple[list[Item], list[str]]:
    """What rides in `session`: one query, however many there are."""
    if project is None:
        return [], []
    notes = project.notes.riding_in(session.pk).order_by("created_at", "pk")
    return [note_item(note) for note in notes.select_related("project")], []


def note_item(note: Note) -> Item:
    """A note as one thing that a session holds."""
    return Item(
        key=f"knowledge:note:{note.pk}",
        kind="note",
        title=note.title,
        text=note.body,
        group=_("Notes"),
        at=note.created_at,
        url=note.get_absolute_url(),
    )


@receiver(choices_wanted)
def detached_items(project: Project | None, session: Session, **_more: Any) -> list[Choice]:
    """What the project pinned and `session` detached."""
    if project is None:
        return []
    notes = project.notes.detached_in(session.pk).newest_first().sized().select_related("project")
    return [
        Choice(f"knowledge:note:{note.pk}", "note", note.title, note.characters, note.get_absolute_url())
        for note in notes
    ]
