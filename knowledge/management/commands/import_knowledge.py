"""Import into a project: a folder of Markdown files, an archive, or an earlier system's store."""

from __future__ import annotations

import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils.translation import gettext as _

from knowledge import earlier, files
from knowledge.models import LISTS, Author, Through
from knowledge.models.records import take_in
from openchamber import archive
from openchamber.management import database
from openchamber.management.projects import project_named
from openchamber.models import Project


class Command(BaseCommand):
    """What is refused is named with its reason; the rest is imported. Exit status 1 when something was refused."""

    help = "Import a folder of Markdown files, an archive (.zip) or an earlier system's context.json into a project."

    def add_arguments(self, parser: CommandParser) -> None:
        """Into which project, from where, and what to do about what is there."""
        parser.add_argument("project", help="slug of the project")
        parser.add_argument("source", type=Path, help="a folder, a .zip or a context.json")
        parser.add_argument("--existing", choices=["skip", "overwrite", "both"], default="skip")
        parser.add_argument("--loose", choices=["notes", "plans"], default="plans", help="what loose files become")

    def handle(self, *args: Any, **options: Any) -> None:
        """Import, and say what became of everything."""
        database.require_current()
        project = project_named(options["project"])
        source: Path = options["source"]
        if not source.exists():
            raise CommandError(_("There is no %s.") % source)
        try:
            refused = self.take(project, source, options)
        except (archive.ArchiveError, ValidationError) as error:
            sentences = error.messages if isinstance(error, ValidationError) else [str(error)]
            raise CommandError(" ".join(sentences)) from error
        for line in refused:
            self.stderr.write(line)
        if refused:
            raise CommandError(_("%d were refused; everything else is imported.") % len(refused))

    def take(self, project: Project, source: Path, options: dict[str, Any]) -> list[str]:
        """Import by what `source` is; the sentences about what was refused."""
        if source.is_dir() and not (source / "context.json").is_file():
            by = Author(None, Through.FILE)
            outcomes = list(files.import_folder(project, source, loose=options["loose"], by=by))
            self.tell(Counter(one.what for one in outcomes if one.what != "refused"))
            return [f"{one.where}: {one.reason}" for one in outcomes if one.what == "refused"]
        if source.is_dir() or source.name == "context.json":
            return self.take_earlier(project, source / "context.json" if source.is_dir() else source, options)
        if source.suffix.lower() != ".zip" and not zipfile.is_zipfile(source):
            raise CommandError(_("%s is none of these: give the folder it is in, a .zip or a context.json.") % source)
        found = archive.take_in(project, source, name=source.name, existing=options["existing"])
        self.tell(found.outcomes)
        return found.refused

    def take_earlier(self, project: Project, path: Path, options: dict[str, Any]) -> list[str]:
        """Import an earlier system's store."""
        by = Author(None, Through.IMPORT)
        outcomes: Counter[str] = Counter()
        refused: list[str] = []
        for name, record in earlier.records(path):
            try:
                if isinstance(record, str):
                    raise ValidationError(record)
                outcomes[take_in(LISTS[name], project, record, existing=options["existing"], by=by)] += 1
            except ValidationError as error:
                refused.append(f"{name}: {' '.join(error.messages)}")
        self.tell(outcomes)
        return refused

    def tell(self, outcomes: Counter[str]) -> None:
        """How many of each outcome."""
        words = ", ".join(f"{count} {name}" for name, count in sorted(outcomes.items()) if count)
        self.stdout.write(_("Imported: %s.") % (words or _("nothing")))
