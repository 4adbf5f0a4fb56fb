"""The doctor: examines a whole installation and says of each thing whether it is well, and how to mend it.

Apps add examinations of their own: a function that yields findings, decorated with `examination`,
in a module that `AppConfig.ready` imports.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from django.db import DatabaseError
from django.utils.translation import gettext as _

Level = Literal["ok", "warn", "fail"]


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found out about one thing; `mend` says what to do where it is not well."""

    topic: str
    level: Level
    says: str
    mend: str = ""


Examination = Callable[[], Iterable[Finding]]
_examinations: list[tuple[Examination, bool]] = []


def examination(*, reads_rows: bool = True) -> Callable[[Examination], Examination]:
    """Register an examination. One that `reads_rows` is left out while the database is not in order."""

    def register(examine_one: Examination) -> Examination:
        _examinations.append((examine_one, reads_rows))
        return examine_one

    return register


def ok(topic: str, says: str) -> Finding:
    """It is well."""
    return Finding(topic, "ok", says)


def warn(topic: str, says: str, mend: str) -> Finding:
    """It works, and somebody should look at it."""
    return Finding(topic, "warn", says, mend)


def fail(topic: str, says: str, mend: str) -> Finding:
    """Something does not work."""
    return Finding(topic, "fail", says, mend)


def examine() -> list[Finding]:
    """Examine everything, in the order of registration; what needs no rows comes first."""
    found = [finding for one, reads_rows in _examinations if not reads_rows for finding in one()]
    if any(finding.level == "fail" for finding in found):
        return found  # without a database, or with half a configuration, the rest would only repeat it
    for one, reads_rows in _examinations:
        if reads_rows:
            try:
                found += one()
            except DatabaseError as error:
                mend = _("Run .venv/bin/python manage.py migrate, and look into the log.")
                found.append(fail(one.__name__, str(error), mend))
    return found


def healthy(findings: Iterable[Finding]) -> bool:
    """Whether nothing failed."""
    return all(finding.level != "fail" for finding in findings)
