"""`doctor`: examine the installation, and say how to mend what is not well."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.utils.translation import gettext as _

from openchamber import doctor


class Command(BaseCommand):
    """Findings, one a line; exit status 1 when something does not work."""

    help = "Examine the installation and say how to mend what is not well. Exits with 1 when something does not work."
    requires_system_checks = []  # they are among the findings

    def add_arguments(self, parser: CommandParser) -> None:
        """For people, or for programs."""
        parser.add_argument("--json", action="store_true", help="print the findings as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Examine everything and print it."""
        findings = doctor.examine()
        healthy = doctor.healthy(findings)
        if options["json"]:
            told = {"healthy": healthy, "findings": [asdict(finding) for finding in findings]}
            self.stdout.write(json.dumps(told, ensure_ascii=False, indent=2))
        else:
            for finding in findings:
                self.show(finding)
        if not healthy:
            sys.exit(1)

    def show(self, finding: doctor.Finding) -> None:
        """One finding for a person."""
        styles = {"ok": self.style.SUCCESS, "warn": self.style.WARNING, "fail": self.style.ERROR}
        self.stdout.write(f"{styles[finding.level](f'{finding.level.upper():<4}')}  {finding.topic}: {finding.says}")
        if finding.mend:
            self.stdout.write("      " + _("To mend it: %s") % finding.mend)
