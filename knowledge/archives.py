"""What an archive holds of project knowledge: the answer to `archive_wanted`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.core.exceptions import ValidationError
from django.dispatch import receiver

from knowledge.models import LISTS, Author, Through, rows_of
from knowledge.models.records import record_of, take_in
from knowledge.texts import shortened
from openchamber.archive import Archive
from openchamber.models import Project
from openchamber.signals import archive_wanted


@receiver(archive_wanted)
def knowledge_archive(project: Project, archive: Archive, **_more: Any) -> None:
    """Write the project's notes, todos and plans, those in the bin too, or take in what the archive has."""
    for name in LISTS:
        part = f"knowledge/{name}.jsonl"
        if archive.writing:
            archive.write(part, records(project, name))
        else:
            take_in_part(project, archive, name, part)


def records(project: Project, name: str) -> Iterator[dict[str, Any]]:
    """Everything on one list, the oldest first; todos in their order."""
    order = ("position", "pk") if name == "todos" else ("created_at", "pk")
    for row in rows_of(name).filter(project=project).order_by(*order).iterator(chunk_size=20):
        yield record_of(row)


def take_in_part(project: Project, archive: Archive, name: str, part: str) -> None:
    """Take in one list, record by record: one that breaks a rule is named and leaves the others alone."""
    by = Author(None, Through.IMPORT)
    for number, record in enumerate(archive.read(part), 1):
        try:
            outcome = take_in(LISTS[name], project, record, existing=archive.existing, by=by)
        except ValidationError as error:
            # A message may repeat a value, and a value may be as long as a line.
            reason = shortened(" ".join(error.messages), 300)
            archive.refused.append(f"{part}, line {number}: {reason}")
        else:
            archive.outcomes[outcome] += 1
