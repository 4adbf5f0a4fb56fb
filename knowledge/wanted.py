"""Which notes and plans a session must hold: the answer to `context_wanted`."""

from __future__ import annotations

from typing import Any, Literal

from django.dispatch import receiver

from knowledge.models import Note, Plan, SessionPin
from knowledge.tool import call_that_reads
from openchamber.models import Project, Session
from openchamber.sessions.context import Choice, Item
from openchamber.signals import choice_made, choices_wanted, context_version_wanted, context_wanted
from openchamber.texts import is_key


@receiver(context_wanted)
def pinned_items(project: Project | None, session: Session, **_more: Any) -> tuple[list[Item], list[str]]:
    """What rides in `session`: one query for notes and one for plans, however many there are."""
    if project is None:
        return [], []
    notes = (
        project.notes.riding_in(session.pk, parent=session.parent)
        .order_by("created_at", "pk")
        .select_related("project")
    )
    plans = (
        project.plans.riding_in(session.pk, parent=session.parent)
        .order_by("created_at", "pk")
        .select_related("project")
    )
    # A plan without a word has nothing to tell yet.
    return [*map(note_item, notes), *(plan_item(plan) for plan in plans if plan.body.strip())], []


def note_item(note: Note) -> Item:
    """A note as one thing that a session holds."""
    return item("note", note, group="Notes")


def plan_item(plan: Plan) -> Item:
    """A plan as one thing that a session holds."""
    return item("plan", plan, group="Plans")


def item(kind: Literal["note", "plan"], row: Note | Plan, *, group: str) -> Item:
    """What `row` is to a session."""
    return Item(
        key=f"knowledge:{kind}:{row.pk}",
        kind=kind,
        title=row.title,
        text=row.body,
        group=group,
        at=row.created_at,
        reads=call_that_reads(kind, row.pk),
        url=row.get_absolute_url(),
    )


@receiver(context_version_wanted)
def knowledge_version(project: Project | None, **_more: Any) -> str:
    """What stands for the answer above without reading it: every change of ours counts the project's revision up."""
    return str(project.revision) if project else ""


@receiver(choices_wanted)
def detached_items(project: Project | None, session: Session, **_more: Any) -> list[Choice]:
    """What the project pinned and `session` detached."""
    if project is None:
        return []
    notes = project.notes.detached_in(session.pk).newest_first().sized().select_related("project")
    plans = project.plans.detached_in(session.pk).newest_first().sized().select_related("project")
    return [*(choice("note", note) for note in notes), *(choice("plan", plan) for plan in plans)]


def choice(kind: Literal["note", "plan"], row: Note | Plan) -> Choice:
    """What `session` could ride with again."""
    return Choice(f"knowledge:{kind}:{row.pk}", kind, row.title, row.characters or 0, row.get_absolute_url())


@receiver(choice_made)
def choose_item(session: Session, key: str, attached: bool, **_more: Any) -> bool | None:
    """Keep what a person chose for `session` about a note or plan; who attaches what is pinned follows the project."""
    source, _colon, number = key.rpartition(":")
    project = session.project
    if project is None or not is_key(number):
        return None
    row: Note | Plan | None = None
    if source == "knowledge:note":
        row = project.notes.live().filter(pk=number).select_related("project").first()
    elif source == "knowledge:plan":
        row = project.plans.live().filter(pk=number).select_related("project").first()
    if row is None:
        return None
    SessionPin.choose(session.pk, row, attached=None if attached and row.pinned else attached)
    return True
