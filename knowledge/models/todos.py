"""Todos: a checklist in an order of its own."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Self

from django.db import models, transaction
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from knowledge.models.authors import Author
from knowledge.models.written import Written, WrittenQuerySet, project_changed, recorded
from knowledge.texts import (
    AtMost,
    first_line,
    normal_lines,
    revision_of,
    validate_characters,
    validate_not_blank,
)

if TYPE_CHECKING:
    from openchamber.models import Project

TODO_LENGTH = 2_000  # characters
# The distance between two neighbours, so that many can be put between them before they must be counted anew.
STEP = 1 << 20


class TodoQuerySet(WrittenQuerySet["Todo"]):
    """Questions about todos."""

    LISTED = models.Q(deleted_at=None, done=False)

    def in_order(self) -> Self:
        """As the user arranged them."""
        return self.order_by("position", "pk")

    def open(self) -> Self:
        """Those still to do, in their order."""
        return self.live().filter(done=False).in_order()

    def done(self) -> Self:
        """Those done, the one done last first."""
        return self.live().filter(done=True).order_by("-updated_at", "-pk")

    def counts(self) -> dict[str, int]:
        """How many are to do and how many done."""
        return self.live().aggregate(
            open=models.Count("pk", filter=models.Q(done=False)), done=models.Count("pk", filter=models.Q(done=True))
        )

    def cleared(self, at: datetime) -> Self:
        """Those that went into the bin together at this moment."""
        return self.filter(deleted_at=at)


class Todo(Written):
    """Something to do: 1 to 2,000 characters, done or not, at a place in the list."""

    list_name = "todos"
    text_field = "text"

    text = models.TextField(_("todo"), validators=[validate_characters, validate_not_blank, AtMost(TODO_LENGTH)])
    done = models.BooleanField(_("done"), default=False)
    # A rank, not a number in a row; the bin and done ones keep theirs, so that they come back to their places.
    position = models.BigIntegerField(_("position"), default=0, editable=False)

    history = recorded("position")
    objects = TodoQuerySet.as_manager()

    class Meta:
        ordering = ["position", "pk"]
        verbose_name = _("todo")
        verbose_name_plural = _("todos")
        constraints = [
            models.UniqueConstraint(fields=["project", "uid"], name="todo_uid"),
            models.CheckConstraint(
                condition=models.Q(text__length__gte=1, text__length__lte=TODO_LENGTH), name="todo_length"
            ),
        ]
        indexes = [models.Index(fields=["project", "position", "id"], name="todos_in_order")]

    def __str__(self) -> str:
        return self.title

    @classmethod
    @transaction.atomic
    def write(cls, *, project: Project, text: str, by: Author, done: bool = False, at: datetime | None = None) -> Todo:
        """A new todo at the end of the list; `at` is when it was made, now as a rule."""
        place, now = place_at_end(cls.objects.filter(project=project)), at or timezone.now()
        todo = cls(project=project, text=normal_lines(text), done=done, position=place, created_at=now, updated_at=now)
        return todo._create(by=by)

    @property
    def title(self) -> str:
        """Its first line."""
        return first_line(self.text)

    def derive(self) -> None:
        """The revision, from the text and whether it is done."""
        self.revision = revision_of(f"{self.done:d}\n{self.text}")

    def edit(self, *, by: Author, text: str | None = None, done: bool | None = None, seen: str | None = None) -> None:
        """Replace the text, or say whether it is done. `seen` is the revision that the edit was made on."""
        wishes: dict[str, Any] = {} if text is None else {"text": normal_lines(text)}
        wishes |= {} if done is None else {"done": done}
        self._change(by=by, seen=seen, **wishes)

    @transaction.atomic
    def move(self, *, before: Todo | None) -> None:
        """Put it right before another todo of its project, or (None) at the end of the list."""
        self.project.lock()  # two moves at once must not reckon with the same neighbours
        others = Todo.objects.filter(project=self.project_id).exclude(pk=self.pk)
        self.position = place_at_end(others) if before is None else place_before(before, others)
        if Todo.objects.filter(pk=self.pk).update(position=self.position):
            project_changed(self.project)


def place_at_end(others: models.QuerySet[Todo]) -> int:
    """A rank after all of them."""
    return (others.aggregate(last=models.Max("position"))["last"] or 0) + STEP


def place_before(before: Todo, others: models.QuerySet[Todo]) -> int:
    """A rank between `before` and the one that stands before it; where there is no room, room is made."""
    before.refresh_from_db(fields=["position"])
    earlier = models.Q(position__lt=before.position) | models.Q(position=before.position, pk__lt=before.pk)
    low = others.filter(earlier).aggregate(last=models.Max("position"))["last"]
    if low is None:
        return before.position - STEP
    if before.position - low > 1:
        return int(low + before.position) // 2
    spread(others)
    return place_before(before, others)


def spread(rows: models.QuerySet[Todo]) -> None:
    """Count the rows anew with room between all of them."""
    ordered = list(rows.order_by("position", "pk").only("pk", "position"))
    for number, row in enumerate(ordered, 1):
        row.position = number * STEP
    Todo.objects.bulk_update(ordered, ["position"], batch_size=200)


def clear_done(project: Project, *, by: Author) -> tuple[int, datetime]:
    """Put every done todo of the project into the bin at one moment; how many, and the moment."""
    now = timezone.now()
    return bin_all(project.todos.done(), by=by, at=now), now


def undo_clearing(project: Project, at: datetime, *, by: Author) -> int:
    """Take out of the bin what was cleared at that moment; how many came back."""
    with transaction.atomic():
        rows = list(project.todos.cleared(at).select_related("project"))
        for row in rows:
            row.undelete(by=by)
    return len(rows)


def take_back(project: Project, made_at: datetime, *, by: Author) -> int:
    """Put into the bin what was made together at that moment; how many."""
    return bin_all(project.todos.live().filter(created_at=made_at), by=by, at=timezone.now())


@transaction.atomic
def bin_all(todos: models.QuerySet[Todo], *, by: Author, at: datetime) -> int:
    """Put these into the bin at one moment; how many."""
    rows = list(todos.select_related("project"))
    for row in rows:
        row.bin(by=by, at=at)
    return len(rows)
