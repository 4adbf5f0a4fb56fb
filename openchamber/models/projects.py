"""Projects: codebases that a user works on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.db import IntegrityError, connection, models, transaction
from django.urls import reverse
from django.utils import timezone
from django.utils.text import slugify
from django.utils.translation import gettext_lazy as _

from openchamber.texts import is_key, validate_line

if TYPE_CHECKING:
    from django.contrib.auth.models import User


class ProjectQuerySet(models.QuerySet["Project"]):
    """Questions about projects."""

    def visible_to(self, user: User) -> ProjectQuerySet:
        """The projects that `user` is a member of; the installation's owner sees all."""
        if user.is_superuser:
            return self
        return self.filter(members=user)

    def removed(self) -> ProjectQuerySet:
        """Those that were taken off the lists."""
        return self.filter(deleted_at__isnull=False)

    def named(self, key: str) -> Project | None:
        """The project with this slug or id."""
        project = self.filter(slug=key).first()
        if project is None and is_key(key):
            project = self.filter(pk=int(key)).first()
        return project

    def free_slug(self, name: str) -> str:
        """A slug for `name` that no project has yet: `shop`, `shop-2`, `shop-3`...

        Never a bare number, which would be another project's id, nor an address of its own.
        """
        stem = slugify(name, allow_unicode=False)[:40].strip("-_") or "project"
        if stem.isdecimal() or stem in {"resolve", "import"}:
            stem = f"project-{stem}"
        taken = set(self.filter(slug__startswith=stem).values_list("slug", flat=True))
        number = 2
        slug = stem
        while slug in taken:
            slug, number = f"{stem}-{number}", number + 1
        return slug


AnyProjectManager = models.Manager.from_queryset(ProjectQuerySet)


class ProjectManager(AnyProjectManager["Project"]):
    """Removed projects are no answer to any question, so no lookup can forget to leave them out."""

    def get_queryset(self) -> ProjectQuerySet:
        """The projects that were not removed."""
        return ProjectQuerySet(self.model, using=self._db).filter(deleted_at=None)


class Project(models.Model):
    """A codebase: a name and a root directory (its real path)."""

    slug = models.SlugField(_("slug"), max_length=60, unique=True)
    name = models.CharField(_("name"), max_length=200, validators=[validate_line])
    directory = models.CharField(_("directory"), max_length=4096, unique=True)
    worktrees_apart = models.BooleanField(
        _("worktrees apart"),
        default=False,
        help_text=_("Linked git worktrees do not belong to this project unless they are projects themselves."),
    )
    members = models.ManyToManyField(
        settings.AUTH_USER_MODEL, related_name="projects", blank=True, verbose_name=_("members")
    )
    revision = models.PositiveBigIntegerField(_("revision"), default=0, editable=False)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    deleted_at = models.DateTimeField(_("removed"), null=True, blank=True, editable=False)

    objects = ProjectManager()
    everything = ProjectQuerySet.as_manager()

    class Meta:
        ordering = ["name", "pk"]
        verbose_name = _("project")
        verbose_name_plural = _("projects")

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        """The project's first page."""
        return reverse("openchamber:project", args=[self.slug])

    @classmethod
    def add(cls, *, directory: str, name: str, by: User) -> tuple[Project, bool]:
        """The project at `directory` (a real path) and whether this call made it or brought it back.

        A removed project comes back with all that it owned, to those who had it. Two that add the
        same directory at once get the same project.
        """
        known = cls.everything.filter(directory=directory).first()
        if known is not None:
            mine = cls.everything.visible_to(by).filter(pk=known.pk).exists()
            return known, mine and known.restore()
        slug = cls.everything.free_slug(name)
        try:
            with transaction.atomic():
                project = cls.objects.create(slug=slug, name=name, directory=directory)
                project.members.add(by)
        except IntegrityError:
            # Somebody took the directory or the slug since we looked: look again.
            return cls.add(directory=directory, name=name, by=by)
        return project, True

    def edit(self, *, name: str, worktrees_apart: bool) -> None:
        """Change what its members may choose; the slug (and so the address) stays."""
        self.name, self.worktrees_apart = name, worktrees_apart
        self.save(update_fields=["name", "worktrees_apart"])

    def remove(self) -> None:
        """Take the project off every list. Its directory is not touched, and it can come back."""
        type(self).objects.filter(pk=self.pk).update(deleted_at=timezone.now())

    def restore(self) -> bool:
        """Bring a removed project back; False when it was there."""
        removed = type(self).everything.filter(pk=self.pk, deleted_at__isnull=False)
        return removed.update(deleted_at=None) == 1

    def lock(self) -> None:
        """Within a transaction: take one's turn among those who change what the project owns.

        It comes before any other row, so that writers never wait for each other in a circle.
        """
        if connection.features.has_select_for_update:  # else (SQLite) there is one writer at a time anyway
            type(self).everything.select_for_update(no_key=True).values_list("pk").get(pk=self.pk)

    def touch(self) -> None:
        """Say that something the project owns changed, so that open pages follow.

        One statement, because many writers do it at once.
        """
        type(self).objects.filter(pk=self.pk).update(revision=models.F("revision") + 1)
