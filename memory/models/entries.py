"""Entries: what an agent keeps, with its history and what the scanner says of it."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.db import IntegrityError, models, transaction
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy
from simple_history.models import HistoricalRecords

from memory import texts
from memory.models.authors import Author, Written
from memory.models.questions import EntryQuerySet, Stale
from memory.models.scopes import Scope, lock_scopes, scope_changed
from memory.models.written import EDITED, SCANNED, TEXTS, VERDICT, record, stored, unlike_others
from memory.threats import SCANNER_VERSION, scan, visible

if TYPE_CHECKING:
    from django.contrib.auth.models import User


class Entry(models.Model):
    """One memory. What a session is told is its title and type; the rest is read on demand."""

    class Type(models.TextChoices):
        FACT = "fact", gettext_lazy("fact")
        PREFERENCE = "preference", gettext_lazy("preference")
        REFERENCE = "reference", gettext_lazy("reference")

    class Judgement(models.TextChoices):
        NONE = "", gettext_lazy("as the scanner says")
        SAFE = "safe", gettext_lazy("safe")
        THREAT = "threat", gettext_lazy("threat")

    scope = models.ForeignKey(Scope, models.CASCADE, related_name="entries", verbose_name=gettext_lazy("scope"))
    name = models.CharField(gettext_lazy("name"), max_length=80, validators=[texts.validate_name])
    title = models.CharField(
        gettext_lazy("title"), max_length=400, validators=[texts.validate_not_blank, texts.AtMost(texts.TITLE_LENGTH)]
    )
    title_key = models.CharField(max_length=800, editable=False)
    description = models.TextField(
        gettext_lazy("description"), blank=True, validators=[texts.AtMost(texts.DESCRIPTION_LENGTH)]
    )
    body = models.TextField(
        gettext_lazy("body"), validators=[texts.validate_not_blank, texts.AtMost(texts.BODY_LENGTH)]
    )
    type = models.CharField(gettext_lazy("type"), max_length=10, choices=Type.choices, default=Type.FACT)
    revision = models.CharField(gettext_lazy("revision"), max_length=16, editable=False)
    origin_session = models.CharField(gettext_lazy("from session"), max_length=200, blank=True)
    origin_agent = models.CharField(gettext_lazy("from agent"), max_length=200, blank=True)
    origin_client = models.CharField(gettext_lazy("from client"), max_length=40, blank=True)
    created_at = models.DateTimeField(gettext_lazy("created"), default=timezone.now, editable=False)
    updated_at = models.DateTimeField(gettext_lazy("changed"), default=timezone.now, editable=False)
    deleted_at = models.DateTimeField(gettext_lazy("deleted"), null=True, blank=True, editable=False)
    # What the scanner found in the content with this hash, and what a user said about exactly that content.
    content_hash = models.CharField(max_length=64, editable=False, db_index=True)
    scanned_with = models.CharField(gettext_lazy("scanned with"), max_length=16, editable=False)
    matches = models.JSONField(gettext_lazy("matches"), default=list, editable=False)
    judgement = models.CharField(
        gettext_lazy("judgement"), max_length=6, choices=Judgement.choices, blank=True, default=Judgement.NONE
    )
    flagged = models.BooleanField(gettext_lazy("flagged"), default=False, editable=False)
    awaiting = models.BooleanField(gettext_lazy("awaiting approval"), default=False)
    conflicting = models.BooleanField(gettext_lazy("conflicting"), default=False)

    history = HistoricalRecords(
        bases=[Written],
        cascade_delete_history=True,
        excluded_fields=["title_key", "created_at", "updated_at", "matches", "scanned_with", "content_hash"],
    )
    objects = EntryQuerySet.as_manager()

    class Meta:
        ordering = ["-updated_at", "-pk"]
        verbose_name = gettext_lazy("entry")
        verbose_name_plural = gettext_lazy("entries")
        constraints = [
            models.UniqueConstraint(
                fields=["scope", "name"], condition=Q(deleted_at=None), name="one_live_entry_per_name"
            ),
            # A flagged one may have the title of a clean one: it is told nowhere, and must not take its place.
            models.UniqueConstraint(
                fields=["scope", "title_key"], condition=Q(deleted_at=None, flagged=False), name="one_entry_per_title"
            ),
        ]
        indexes = [models.Index(fields=["scope", "deleted_at", "-updated_at"], name="entries_of_scope")]

    def __str__(self) -> str:
        return visible(self.title)

    def get_absolute_url(self) -> str:
        """Where it is read."""
        return reverse("memory:entry", args=[self.scope.agent.slug, self.pk])

    # What it is --------------------------------------------------------------------

    @property
    def key(self) -> str:
        """Its key as an item of a session. `scope.agent` must be loaded."""
        return f"{self.scope.source}:{self.pk}"

    @property
    def row_id(self) -> str:
        """Its name on a page."""
        return f"entry-{self.pk}"

    @property
    def withheld(self) -> bool:
        """Whether agents are not told of it."""
        return self.flagged or self.awaiting

    @property
    def size(self) -> int:
        """Characters of its body."""
        return len(self.body)

    def content(self) -> tuple[str, str, str]:
        """What is scanned, compared and told."""
        return self.title, self.description, self.body

    def check_texts(self) -> None:
        """Refuse what is empty or too long. Before the scan, which a text of any size would keep busy."""
        self.clean_fields(exclude={field.name for field in self._meta.fields} - TEXTS)

    # What happens to it ------------------------------------------------------------

    @classmethod
    def drafted(cls, *, scope: Scope, by: Author, **fields: str) -> Entry:
        """An entry (title, body, and perhaps description and type) with its verdict, not stored yet; a broken rule
        raises ValidationError."""
        entry = cls(scope=scope, **stored(fields))
        entry.origin_session, entry.origin_agent, entry.origin_client = by.session, by.agent, by.client
        entry.check_texts()
        entry.judge_content()
        return entry

    @classmethod
    def write(cls, *, scope: Scope, by: Author, awaiting: bool = False, **fields: str) -> Entry:
        """A new entry, stored at once."""
        entry = cls.drafted(scope=scope, by=by, **fields)
        alike = scope.entries.live().filter(name__startswith=texts.name_from(entry.title)[:20])
        entry.add(by=by, names=set(alike.values_list("name", flat=True)), awaiting=awaiting)
        return entry

    def add(self, *, by: Author, names: Collection[str], awaiting: bool = False) -> None:
        """Store what was drafted, under a name that is none of `names`. The name comes from the title: agents are told
        names, and only the content is scanned."""
        self.awaiting = awaiting
        self.name = texts.free_name(self.title, names)
        self._derive()
        self.clean_fields(exclude=["scope"])
        with unlike_others(self):
            self.save_without_historical_record(force_insert=True)  # type: ignore[attr-defined]
            record(self, "+", by=by)
            scope_changed(self.scope)

    def correct(self, draft: Entry, *, by: Author, seen: str = "", held: bool = False) -> None:
        """Let it say what `draft` says, under the verdict that this has."""
        for field in (*SCANNED, "judgement", "flagged"):
            setattr(self, field, getattr(draft, field))
        fields = {name: getattr(draft, name) for name in TEXTS}
        self.edit(by=by, seen=seen, reason="corrected", held=held, **fields)

    def edit(self, *, by: Author, seen: str = "", reason: str = "", held: bool = False, **fields: str) -> None:
        """Set title, description, body or type unless another revision than `seen` stands by now; `held` lets what is
        changed wait for approval."""
        if seen and seen != self.revision:
            raise Stale(self)
        before, content = self.revision, self.content()
        for field, value in stored(fields).items():
            setattr(self, field, value)
        self.check_texts()
        self._derive()
        self.clean_fields(exclude=["scope"])
        if self.revision == before:
            return
        self.updated_at = timezone.now()
        self.awaiting = self.awaiting or held
        # Of what is still said, a person may just have said something: that is not written over.
        judged = [] if self.content() == content else [*SCANNED, *VERDICT]
        self._store(before, [*EDITED, *judged, *(["awaiting"] if held else [])], by=by, reason=reason)

    def judge(self, verdict: str, *, by: User | None, through: Author) -> None:
        """Say that this very content is safe or a threat ("": as the scanner says). Every such word is kept."""
        from memory.models.judgements import Judgement

        before = self.judgement, self.flagged
        self.judgement = verdict
        self.flagged = self._is_flagged()
        if (self.judgement, self.flagged) == before:
            return
        self.conflicting = False  # this is the answer to it; where the title is taken still, it is refused
        with transaction.atomic():
            self.lock()
            Judgement.record(self, verdict, by=by)
            self._store(self.revision, VERDICT, by=through, reason="judged")
            for twin in self.twins().live():
                twin._follow(through=through)

    def twins(self) -> EntryQuerySet:
        """What says exactly this elsewhere."""
        return Entry.objects.with_content(self.content_hash).exclude(pk=self.pk)

    def lock(self, *scopes: int) -> None:
        """Within a transaction: take one's turn among those who change it, what says the same (in the bin too: whoever
        takes that out meanwhile must hear of a verdict), or something of `scopes`."""
        lock_scopes(self.scope_id, *scopes, *self.twins().values_list("scope_id", flat=True))

    def approve(self, *, by: Author) -> None:
        """Let agents be told of it; `NoRoom` where as many are told already as may be. Twice is once."""
        from memory.models.room import check_room

        if not self.awaiting:
            return
        self.awaiting = False
        with transaction.atomic():
            lock_scopes(self.scope_id)
            if not self.withheld:
                check_room(self.scope, withheld=False)
            self._store(self.revision, ["awaiting"], by=by, reason="approved")

    def settle(self, *, by: Author) -> None:
        """Say that a conflict was looked at."""
        if self.conflicting:
            self.conflicting = False
            self._store(self.revision, ["conflicting"], by=by, reason="settled")

    def date(self, *, created_at: datetime | None, updated_at: datetime | None) -> None:
        """Set the times that an import brings; None keeps what is."""
        self.created_at = created_at or self.created_at
        self.updated_at = updated_at or created_at or self.updated_at
        Entry.objects.filter(pk=self.pk).update(created_at=self.created_at, updated_at=self.updated_at)

    def move(self, scope: Scope, *, by: Author, seen: str = "") -> None:
        """Let it stand in another scope of its agent; `Taken` when that has one of its name or title, or no room."""
        from memory.models.room import check_room

        if seen and seen != self.revision:
            raise Stale(self)
        if scope.pk == self.scope_id:
            return
        left, self.scope = self.scope, scope
        before = self.revision
        self._derive()
        with transaction.atomic():
            lock_scopes(scope.pk, left.pk)
            check_room(scope, withheld=self.withheld)
            self._store(before, ["scope_id", "revision"], by=by, reason="moved")
            scope_changed(left)

    def bin(self, *, by: Author, reason: str = "deleted") -> None:
        """Delete it; Undo brings it back. Twice is once."""
        if self.deleted_at is None:
            self.deleted_at = timezone.now()
            self._store(self.revision, ["deleted_at"], by=by, reason=reason)

    def undelete(self, *, by: Author) -> None:
        """Bring it back, under the verdict that its content has by now; `Taken` when its name or title is another's,
        `NoRoom` when others came since and none more fits."""
        from memory.models.room import check_room, others_came

        if self.deleted_at is None:
            return
        self.judge_content()
        with transaction.atomic():
            lock_scopes(self.scope_id)
            self._hear()
            self.conflicting = False
            if others_came(self.scope, since=self.deleted_at):
                check_room(self.scope, withheld=self.withheld)
            self.deleted_at = None
            self._store(self.revision, ["deleted_at", *SCANNED, *VERDICT], by=by, reason="undeleted", live=False)

    def judge_content(self) -> None:
        """Work out what the present scanner, and whoever judged exactly this content before, say of it."""
        self.content_hash = texts.content_hash(*self.content())
        self.matches = [{"category": m.category, "words": m.words, "way": m.way} for m in scan(*self.content())]
        self.scanned_with = SCANNER_VERSION
        self._hear()

    def store_verdict(self) -> bool:
        """Write what was worked out, unless the content is another by now; whether it was. Where that would give a
        clean entry's title twice, this one stays withheld, as a conflict for a person to judge. Call it under the
        scope's lock: what a person said since the scan began is heard first."""
        self._hear()
        self.conflicting = False
        rows = Entry.objects.filter(pk=self.pk, revision=self.revision)
        try:
            with transaction.atomic():
                return rows.update(**self._values([*SCANNED, *VERDICT])) == 1
        except IntegrityError:
            self.flagged = self.conflicting = True
            return rows.update(**self._values([*SCANNED, *VERDICT])) == 1

    # How -----------------------------------------------------------------------------

    def _follow(self, *, through: Author) -> None:
        """Take over what somebody said of the same content elsewhere."""
        if self.store_verdict():
            record(self, "~", by=through, reason="judged")
            scope_changed(self.scope)

    def _values(self, fields: list[str]) -> dict[str, Any]:
        return {field: getattr(self, field) for field in fields}

    def _derive(self) -> None:
        """What follows from the content: keys, revision, and what the scanner and a user say of it."""
        self.title_key = texts.title_key(self.title)
        self.revision = texts.revision_of(*self.content(), self.type, self.name, str(self.scope_id))
        if texts.content_hash(*self.content()) != self.content_hash or self.scanned_with != SCANNER_VERSION:
            self.judge_content()

    def _is_flagged(self) -> bool:
        return self.judgement == self.Judgement.THREAT or (bool(self.matches) and self.judgement != self.Judgement.SAFE)

    def _hear(self) -> None:
        """Take over the last word about the content, as it stands just now."""
        from memory.models.judgements import Judgement

        self.judgement = Judgement.of(self.content_hash)
        self.flagged = self._is_flagged()

    def _store(self, seen: str, fields: list[str], *, by: Author, reason: str = "", live: bool = True) -> None:
        """Compare-and-set on the revision, the history entry, and word to whoever follows the scope."""
        with unlike_others(self):
            lock_scopes(self.scope_id)
            rows = Entry.objects.filter(pk=self.pk, revision=seen, deleted_at__isnull=live)
            if rows.update(**self._values(fields)) != 1:
                raise Stale(Entry.objects.select_related("scope__agent").get(pk=self.pk))
            record(self, "~", by=by, reason=reason)
            scope_changed(self.scope)
