"""Judge again what agents keep: with the present scanner, as after an update of its patterns."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from memory.models import Entry, Scope
from memory.reading import judge
from memory.threats import SCANNER_VERSION


class Command(BaseCommand):
    """`manage.py scan_memory [--all]`."""

    help = "Scan entries that an earlier version of the scanner looked at, and say what is withheld."

    def add_arguments(self, parser: CommandParser) -> None:
        """Its options."""
        parser.add_argument("--all", action="store_true", help="scan every entry, also those scanned with this version")

    def handle(self, *args: Any, **options: Any) -> None:
        """Scan scope by scope, so that a broken one keeps no other from it."""
        scanned = 0
        for scope in Scope.objects.select_related("agent"):
            entries = list(scope.entries.live())
            for entry in entries:
                entry.scope = scope
                entry.scanned_with = "" if options["all"] else entry.scanned_with
            scanned += judge(scope, entries)
        self.stdout.write(f"Scanner {SCANNER_VERSION}: {scanned} scanned.")
        for entry in Entry.objects.live().filter(flagged=True).select_related("scope__agent"):
            categories = ", ".join(match["category"] for match in entry.matches) or "judged a threat"
            self.stdout.write(f"withheld: {entry.scope} · {entry.title} ({categories})")
