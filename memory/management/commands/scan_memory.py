"""Judge again what agents keep: with the present scanner, as after an update of its patterns."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from memory.models import Entry, Scope
from memory.reading import BROKEN, judge
from memory.threats import SCANNER_VERSION
from openchamber.management import database


class Command(BaseCommand):
    """`manage.py scan_memory [--all]`."""

    help = "Scan entries that an earlier version of the scanner looked at, and say what is withheld."

    def add_arguments(self, parser: CommandParser) -> None:
        """Its options."""
        parser.add_argument("--all", action="store_true", help="scan every entry, also those scanned with this version")

    def handle(self, *args: Any, **options: Any) -> None:
        """Scan scope by scope, so that a broken one keeps no other from it."""
        database.require_current()
        scanned = 0
        told: list[str] = []
        for scope in Scope.objects.select_related("agent"):
            try:
                entries = entries_of(scope, anew=options["all"])
                scanned += judge(scope, entries)
            except BROKEN as error:
                told.append(f"{scope} cannot be read: {type(error).__name__}")  # what it says quotes the row
            else:
                told += [f"withheld: {scope} · {entry} ({reason(entry)})" for entry in entries if entry.flagged]
        self.stdout.write("\n".join([f"Scanner {SCANNER_VERSION}: {scanned} scanned.", *told]))


def entries_of(scope: Scope, *, anew: bool) -> list[Entry]:
    """The scope's entries; `anew` as if no scanner had seen them."""
    entries = list(scope.entries.live())
    for entry in entries:
        entry.scope = scope
        entry.scanned_with = "" if anew else entry.scanned_with
    return entries


def reason(entry: Entry) -> str:
    """Why it is withheld."""
    categories = ", ".join(match["category"] for match in entry.matches)
    if entry.conflicting and (not categories or entry.judgement == Entry.Judgement.SAFE):
        return "its title is another entry’s"
    return categories or "judged a threat"
