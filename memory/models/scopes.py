"""Scopes: where a memory is true, everywhere or in one workspace."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from django.db import connection, models, transaction
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory.models.agents import Agent
from memory.scopes import USER, base_name
from openchamber import signals
from openchamber.models import Project

if TYPE_CHECKING:
    from openchamber.projects.access import Caller


class Readable(models.DateTimeField):  # type: ignore[type-arg]
    """A time that is None where the row holds none: one broken entry must not break the list of all scopes."""

    def get_internal_type(self) -> str:
        """The database's own reading of times fails on what is none."""
        return "TextField"

    def from_db_value(self, value: Any, *_more: Any) -> datetime | None:
        """The time: SQLite has texts for it, in UTC."""
        try:
            time = value if isinstance(value, datetime | None) else parse_datetime(value)
        except (TypeError, ValueError):
            return None
        return time if time is None or timezone.is_aware(time) else time.replace(tzinfo=UTC)


class ScopeQuerySet(models.QuerySet["Scope"]):
    """Questions about scopes."""

    def visible_to(self, caller: Caller) -> Self:
        """The user scopes and the workspaces of the caller's projects; to the owner those outside any project too."""
        if caller.user.is_superuser and not (caller.token and caller.token.bound):
            return self
        mine = caller.projects().values("directory")
        return self.filter(models.Q(kind=Scope.Kind.USER) | models.Q(directory__in=mine))

    def about(self, project: Project) -> Self:
        """What is kept about a project, and what the default agent keeps about the user."""
        user = models.Q(kind=Scope.Kind.USER, agent__slug="default")
        return self.filter(user | models.Q(directory=project.directory))

    def counted(self) -> Self:
        """With how many live entries they have, how many of those are flagged, and when one changed last."""
        live = models.Q(entries__deleted_at=None)
        return self.annotate(
            count=models.Count("entries", filter=live),
            flagged=models.Count("entries", filter=live & models.Q(entries__flagged=True)),
            updated_at=models.Max("entries__updated_at", filter=live, output_field=Readable()),
        )

    def in_order(self) -> Self:
        """User first, then workspaces by newest activity. On what `counted` answers."""
        return self.order_by("kind", models.F("updated_at").desc(nulls_last=True), "key", "pk")


class Scope(models.Model):
    """Where an agent's entries are true: everywhere (`user`) or in one directory (`workspace`)."""

    class Kind(models.TextChoices):
        USER = "user", gettext_lazy("about the user")
        WORKSPACE = "workspace", gettext_lazy("about a project")

    agent = models.ForeignKey(Agent, models.CASCADE, related_name="scopes", verbose_name=gettext_lazy("agent"))
    key = models.CharField(gettext_lazy("key"), max_length=64)
    kind = models.CharField(gettext_lazy("kind"), max_length=10, choices=Kind.choices)
    directory = models.CharField(gettext_lazy("directory"), max_length=4096, blank=True)
    # Counts every change of what a session is told of it.
    revision = models.PositiveBigIntegerField(default=0, editable=False)
    created_at = models.DateTimeField(gettext_lazy("created"), auto_now_add=True)

    objects = ScopeQuerySet.as_manager()

    class Meta:
        ordering = ["kind", "key"]
        verbose_name = gettext_lazy("scope")
        verbose_name_plural = gettext_lazy("scopes")
        constraints = [
            models.UniqueConstraint(fields=["agent", "key"], name="one_scope_per_key"),
            models.CheckConstraint(
                condition=models.Q(kind="user", key=USER, directory="")
                | (models.Q(kind="workspace") & ~models.Q(key=USER) & ~models.Q(directory="")),
                name="scope_kind",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.agent}: {self.label}"

    @property
    def label(self) -> str:
        """What it is called: the last part of its directory."""
        return _("User") if self.kind == self.Kind.USER else base_name(self.directory) or self.key

    @property
    def source(self) -> str:
        """What the keys of its items begin with, and what a failure to read it is called."""
        return f"memory:{self.agent.slug}:{self.kind}"

    def touch(self) -> None:
        """Say that what a session is told of it changed. One statement, because many writers do it at once."""
        type(self).objects.filter(pk=self.pk).update(revision=models.F("revision") + 1)


def lock_scopes(*keys: int) -> None:
    """Within a transaction: take one's turn among those who change something of these scopes.

    They come before any entry, and in one order, so that writers never wait for each other in a circle.
    """
    if connection.features.has_select_for_update:  # else (SQLite) there is one writer at a time anyway
        list(Scope.objects.select_for_update(no_key=True).filter(pk__in=keys).order_by("pk").values_list("pk"))


def scope_changed(scope: Scope) -> None:
    """Let sessions and open pages follow, now that something of `scope` changed."""
    scope.touch()
    if scope.directory:
        Project.objects.filter(directory=scope.directory).update(revision=models.F("revision") + 1)
        transaction.on_commit(partial(_tell_of, scope.directory))


def _tell_of(directory: str) -> None:
    """Tell who listens that what belongs to the project of this directory changed."""
    if signals.knowledge_changed.has_listeners(Project):
        for project in Project.objects.filter(directory=directory):
            signals.knowledge_changed.send_robust(sender=Project, project=project)
