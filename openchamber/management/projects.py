"""A project as a command's argument names it."""

from __future__ import annotations

from django.core.management.base import CommandError
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from openchamber.models import Project

NAMED = 10  # projects that are told to whoever named none of them


def project_named(slug: str) -> Project:
    """The project with this slug."""
    project = Project.objects.filter(slug=slug).first()
    if project is None:
        raise CommandError(_("There is no project %s.") % slug + " " + slugs_told())
    return project


def slugs_told() -> str:
    """Which projects can be named, as a sentence."""
    slugs = list(Project.objects.order_by("slug").values_list("slug", flat=True))
    if not slugs:
        return _("There is none at all yet.")
    more = len(slugs) - NAMED
    named = ", ".join(slugs[:NAMED]) + (
        ngettext(" and %(count)d more", " and %(count)d more", more) % {"count": more} if more > 0 else ""
    )
    return _("There are: %s.") % named
