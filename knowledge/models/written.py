"""What every note, todo and plan has: a project, a revision, a history and a way through the bin."""

from __future__ import annotations

import uuid
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

from django.db import models, transaction
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import cached_property
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from simple_history.models import HistoricalRecords

from knowledge.models.authors import Author, Entry
from knowledge.models.search import find_by, rows_for
from openchamber import signals
from openchamber.history import versions_of
from openchamber.texts import is_key

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

    from openchamber.models import Project

Row = TypeVar("Row", bound="Written")


class Stale(Exception):
    """The text was changed, or put into the bin, after the edit began; `current` is what stands now."""

    def __init__(self, current: Written) -> None:
        super().__init__(_("This was changed in the meantime. Nothing was overwritten: compare, then save again."))
        self.current = current


class WrittenQuerySet(models.QuerySet[Row]):
    """Questions about what the user wrote."""

    LISTED: ClassVar[models.Q] = models.Q(deleted_at=None)

    def live(self) -> Self:
        """Those that are not in the bin."""
        return self.filter(deleted_at=None)

    def binned(self) -> Self:
        """Those in the bin, the newest there first."""
        return self.exclude(deleted_at=None).order_by("-deleted_at", "-pk")

    def tally(self) -> dict[str, int]:
        """How many their list counts, and how many are in the bin."""
        deleted = models.Count("pk", filter=models.Q(deleted_at__isnull=False))
        return self.aggregate(listed=models.Count("pk", filter=self.LISTED), deleted=deleted)

    def page_of(self, key: str, *, size: int) -> int:
        """On which page of `size` rows, the newest first, the live row with this id stands; 1 for none."""
        row = self.live().filter(pk=key).first() if is_key(key) else None
        if row is None:
            return 1
        newer = models.Q(created_at__gt=row.created_at) | models.Q(created_at=row.created_at, pk__gt=row.pk)
        return self.live().filter(newer).count() // size + 1

    def newest_first(self) -> Self:
        """In the order in which they are listed."""
        return self.order_by("-created_at", "-pk")


def project_changed(project: Project) -> None:
    """Let open pages of `project` follow, now that something it owns changed.

    Its revision moves with the change itself; listeners hear of it once it is certain.
    """
    project.touch()
    transaction.on_commit(partial(signals.knowledge_changed.send_robust, sender=type(project), project=project))


def recorded(*unrecorded: str) -> Any:
    """The history of a model: entries hold what edits change, and not the fields `unrecorded`."""
    excluded = ["uid", "created_at", "updated_at", *unrecorded]
    return HistoricalRecords(bases=[Entry], cascade_delete_history=True, excluded_fields=excluded)


class Written(models.Model):
    """Something that the user wrote. Edits name the revision that they were made on."""

    # The name of the list it stands in: in addresses, templates and exports.
    list_name: ClassVar[str]
    # By `recorded()`, in each model.
    history: Any
    # The field that holds what was typed, in the model and in every form.
    text_field: ClassVar[str] = "body"
    title: Any

    project = models.ForeignKey(
        "openchamber.Project", models.CASCADE, related_name="%(class)ss", verbose_name=gettext_lazy("project")
    )
    # The same wherever an archive takes it, so that importing it twice finds it again.
    uid = models.UUIDField(default=uuid.uuid4, editable=False)
    revision = models.CharField(gettext_lazy("revision"), max_length=16, editable=False)
    created_at = models.DateTimeField(gettext_lazy("created"), default=timezone.now, editable=False)
    updated_at = models.DateTimeField(gettext_lazy("changed"), default=timezone.now, editable=False)
    deleted_at = models.DateTimeField(gettext_lazy("in the bin since"), null=True, blank=True, editable=False)

    class Meta:
        abstract = True

    def get_absolute_url(self) -> str:
        """The page that it stands on, at its very row."""
        return f"{self.list_url()}#{self.row_id}"

    @property
    def typed(self) -> str:
        """The whole text."""
        typed: str = getattr(self, self.text_field)
        return typed

    def text_at(self, revision: str) -> str | None:
        """The text of an earlier revision, if the history still has it."""
        if not revision:
            return None
        texts = self.history.filter(revision=revision).values_list(self.text_field, flat=True)
        return texts.first()  # type: ignore[no-any-return]

    @cached_property
    def url(self) -> str:
        """What the addresses of everything that is done with it begin with."""
        return f"{self.list_url()}{self.pk}/"

    @property
    def kind(self) -> str:
        """What it is: note, todo or plan."""
        return self._meta.model_name or ""

    @property
    def kind_words(self) -> StrOrPromise:
        """What it is, in the reader's language."""
        return self._meta.verbose_name or ""

    @property
    def row_id(self) -> str:
        """Its name on a page: the id of its row, and what the ids of the controls in that row begin with."""
        return f"{self.kind}-{self.pk}"

    def edit_url(self) -> str:
        """Where an edit of it is sent."""
        return reverse(f"knowledge:edit-{self.kind}", args=[self.project.slug, self.pk])

    def history_url(self) -> str:
        """Where its earlier texts are compared and restored."""
        return reverse("knowledge:item-history", args=[self.project.slug, self.list_name, self.pk])

    def write_url(self) -> str:
        """Where a new one of its kind is sent."""
        return reverse(f"knowledge:write-{self.kind}", args=[self.project.slug])

    def list_url(self) -> str:
        """The page that it stands on."""
        return reverse(f"knowledge:{self.list_name}", args=[self.project.slug])

    def derive(self) -> None:
        """Work out what follows from the text: revision and title."""
        raise NotImplementedError

    def _create(self, *, by: Author, reason: str = "") -> Self:
        """Store a new row with the first entry of its history; a broken field rule raises ValidationError."""
        self.derive()
        self.clean_fields(exclude=["project"])
        rows = rows_for(self)
        with transaction.atomic():
            self.save_without_historical_record(force_insert=True)  # type: ignore[attr-defined]
            self._record("+", by=by, reason=reason)
            find_by(self, rows)
            project_changed(self.project)
        return self

    def _change(self, *, by: Author, seen: str | None, reason: str = "", **fields: Any) -> None:
        """Set `fields` unless a revision other than `seen` stands by now; without `seen`, whatever stands.

        A sitting may build on its own last save, whose revision its editor has not heard of yet.
        """
        if seen and seen != self.revision and not self._saved_in(by.sitting):
            raise Stale(self)
        while True:
            try:
                return self._change_once(by=by, reason=reason, **fields)
            except Stale as stale:
                if seen or stale.current.deleted_at:
                    raise
                # Another change came between: this one is made on top of it, and takes back nothing else of it.
                self.refresh_from_db()

    def _change_once(self, *, by: Author, reason: str, **fields: Any) -> None:
        """Set `fields` if the row still is as it was loaded; Stale when it is not."""
        before = self.revision
        for name, value in fields.items():
            setattr(self, name, value)
        self.derive()
        self.clean_fields(exclude=["project"])
        if self.revision == before:
            return
        self.updated_at = timezone.now()
        rows = rows_for(self)  # before the transaction: a long text takes its time
        with transaction.atomic():
            self.project.lock()
            self._compare_and_set(seen=before)
            self._record("~", by=by, reason=reason)
            find_by(self, rows)
            project_changed(self.project)

    def _saved_in(self, sitting: str) -> bool:
        """Whether what stands now was saved in this sitting."""
        return bool(sitting) and self.history.values_list("sitting", flat=True).first() == sitting

    def _compare_and_set(self, *, seen: str) -> None:
        """Write the tracked fields of a live row, if it still is what the edit saw."""
        rows = type(self)._default_manager.filter(pk=self.pk, deleted_at=None, revision=seen)
        names = [name for name in self._edited_fields() if name != "deleted_at"]
        if rows.update(**{name: getattr(self, name) for name in names}) != 1:
            raise Stale(type(self)._default_manager.select_related("project").get(pk=self.pk))

    def _edited_fields(self) -> list[str]:
        """The fields that an edit may write."""
        tracked = [field.attname for field in versions_of(type(self)).tracked_fields]
        return [name for name in tracked if name not in {"id", "project_id"}] + ["updated_at"]

    def _record(self, kind: str, *, by: Author, reason: str = "") -> None:
        """Write the history entry of what the row is now; a sitting's later saves replace its earlier ones."""
        entries = versions_of(type(self))
        fields = {field.attname: getattr(self, field.attname) for field in entries.tracked_fields}
        now = timezone.now()
        if by.sitting and kind == "~":
            newest = self.history.values("history_id", "history_type", "sitting").first()
            if newest and (newest["sitting"], newest["history_type"]) == (by.sitting, "~"):
                self.history.filter(history_id=newest["history_id"]).update(history_date=now, **fields)
                return
        entries.objects.create(
            history_type=kind,
            history_date=now,
            history_user=by.user,
            history_change_reason=reason or None,
            through=by.through,
            sitting=by.sitting,
            **fields,
        )

    def entry(self, key: str) -> Any:
        """The entry of its history with this id, or None."""
        if not is_key(key):
            return None
        return self.history.filter(history_id=key).select_related("history_user").first()

    def restore(self, *, entry: Any, by: Author, seen: str | None = None) -> None:
        """Store again the text that an entry of its history holds."""
        self._change(by=by, seen=seen, reason="restored", **{self.text_field: getattr(entry, self.text_field)})

    @transaction.atomic
    def overwrite(self, *, by: Author, deleted_at: datetime | None, **fields: Any) -> None:
        """Store what an import brings in place of what stands, and let it lie where it lay: in the bin or not."""
        if any(getattr(self, name) != value for name, value in fields.items()):
            self.undelete(by=by)  # what is in the bin is not edited
            self._change(by=by, seen=None, reason="imported", **fields)
        if deleted_at:
            self._throw(to=deleted_at, by=by, reason="deleted", among=~models.Q(deleted_at=deleted_at))
        else:
            self.undelete(by=by)

    def bin(self, *, by: Author, at: datetime | None = None) -> None:
        """Put it into the bin; from there `undelete` brings it back. Twice is once."""
        self._throw(to=at or timezone.now(), by=by, reason="deleted", among=models.Q(deleted_at=None))

    def undelete(self, *, by: Author) -> None:
        """Take it out of the bin again, as it was; pins come back with it."""
        self._throw(to=None, by=by, reason="undeleted", among=models.Q(deleted_at__isnull=False))

    def _throw(self, *, to: datetime | None, by: Author, reason: str, among: models.Q) -> None:
        """In or out of the bin, with its entry, when it was not there already."""
        rows = rows_for(self) if to is None else []
        with transaction.atomic():
            self.project.lock()
            if type(self)._default_manager.filter(among, pk=self.pk).update(deleted_at=to) != 1:
                return
            self.refresh_from_db(fields=[*self._edited_fields()])
            self._record("~", by=by, reason=reason)
            find_by(self, rows)
            project_changed(self.project)
