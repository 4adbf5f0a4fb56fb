"""Export a project: as a folder of Markdown files, or whole as one archive."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from knowledge import files
from openchamber import archive
from openchamber.management import database
from openchamber.management.projects import project_named
from openchamber.models import Project


class Command(BaseCommand):
    """A target that ends in .zip is an archive with history and pins; any other is a folder."""

    help = "Export a project as a folder of Markdown files, or (a target ending in .zip) whole as one archive."

    def add_arguments(self, parser: CommandParser) -> None:
        """Which project, and whereto."""
        parser.add_argument("project", help="slug of the project")
        parser.add_argument("target", type=Path, help="a folder, or a file ending in .zip")

    def handle(self, *args: Any, **options: Any) -> None:
        """Export, and say where it is."""
        database.require_current()
        project, target = project_named(options["project"]), options["target"]
        try:
            sentence = exported(project, target)
        except OSError as error:
            told = {"target": target, "reason": error.strerror}
            raise CommandError(_("%(target)s cannot be written: %(reason)s.") % told) from error
        self.stdout.write(sentence)


def exported(project: Project, target: Path) -> str:
    """Export; the sentence that says where it is."""
    if target.suffix.lower() == ".zip":
        archive.export(project, target)
        return _("The whole project is in %s.") % target
    count = files.export_folder(project, target)
    sentence = ngettext("%(count)d thing is in %(target)s.", "%(count)d things are in %(target)s.", count)
    return sentence % {"count": count, "target": target}
