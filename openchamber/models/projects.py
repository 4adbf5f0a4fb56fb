"""Projects: codebases that a user works on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models
from django.urls import reverse
from django.utils.text import slugify
from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from django.contrib.auth.models import User


class ProjectQuerySet(models.QuerySet["Project"]):
    """Questions about projects."""

    def visible_to(self, user: User) -> ProjectQuerySet:
        """The projects that `user` is a member of; the installation's owner sees all."""
        if user.is_superuser:
            return self
        return self.filter(members=user)

    def free_slug(self, name: str) -> str:
        """A slug for `name` that no project has yet: `shop`, `shop-2`, `shop-3`..."""
        stem = slugify(name, allow_unicode=False)[:40] or "project"
        taken = set(self.filter(slug__startswith=stem).values_list("slug", flat=True))
        number = 2
        slug = stem
        while slug in taken:
            slug, number = f"{stem}-{number}", number + 1
        return slug


class Project(models.Model):
    """A codebase: a name and a root directory (its real path)."""

    slug = models.SlugField(_("slug"), max_length=60, unique=True)
    name = models.CharField(_("name"), max_length=200)
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

    objects = ProjectQuerySet.as_manager()

    class Meta:
        ordering = ["name", "pk"]
        verbose_name = _("project")
        verbose_name_plural = _("projects")

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        """The project's first page."""
        return reverse("openchamber:project", args=[self.slug])

    def rename(self, *, name: str) -> None:
        """Give the project another name; its slug (and so its address) stays."""
        self.name = name
        self.save(update_fields=["name"])

    def touch(self) -> None:
        """Say that something the project owns changed, so that open pages follow.

        One statement, because many writers do it at once.
        """
        type(self).objects.filter(pk=self.pk).update(revision=models.F("revision") + 1)
