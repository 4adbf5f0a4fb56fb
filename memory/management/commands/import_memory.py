"""Take in an earlier system's memory.json: about the user, or about a directory."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from memory.earlier import EarlierError, read_store, take_in
from memory.holders import Holder
from memory.models import Agent
from openchamber.errors import Invalid
from openchamber.management import database


class Command(BaseCommand):
    """`manage.py import_memory FILE [--directory DIR] [--agent SLUG]`."""

    help = "Import the entries of a memory.json; what is there already stays. Running it twice changes nothing."

    def add_arguments(self, parser: CommandParser) -> None:
        """Its arguments."""
        parser.add_argument("file", type=Path)
        parser.add_argument("--directory", default="", help="the project's directory; without it, about the user")
        parser.add_argument("--agent", default="default", help="whose memory it becomes")

    def handle(self, *args: Any, **options: Any) -> None:
        """Import and say what became of the entries."""
        database.require_current()
        if options["agent"] != "default" and not Agent.objects.filter(slug=options["agent"]).exists():
            raise CommandError(f"There is no agent {options['agent']}.")
        directory = options["directory"] and os.path.abspath(os.path.expanduser(options["directory"]))
        if directory and not os.path.isdir(directory):
            raise CommandError(f"There is no directory {directory}.")
        try:
            holder = Holder.of(options["agent"], directory)
            kept = list(read_store(options["file"]))  # before a scope is made for it
        except (Invalid, EarlierError) as error:
            raise CommandError(str(error)) from error
        scope = holder.scope("workspace" if directory else "user")
        if scope is None:
            raise CommandError("That is a temporary directory: nothing is kept about it.")
        outcome = take_in(scope, kept)
        told = ", ".join(f"{count} {what}" for what, count in sorted(outcome.counts.items())) or "nothing"
        self.stdout.write("\n".join([f"{scope}: {told}", *(f"refused: {refusal}" for refusal in outcome.refusals)]))
