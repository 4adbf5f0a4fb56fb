"""What agents' memory costs: a save in a full scope, the index lines of a session, and knowing that nothing changed.

    python benchmarks/memory.py

It works on a data directory of its own, which it removes.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
DATA = Path(tempfile.mkdtemp(prefix="openchamber-benchmark-"))
os.environ["OPENCHAMBER_DATA_DIR"] = str(DATA)
os.environ["OPENCHAMBER_MEMORY_ENABLE"] = "1"
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "openchamber.settings")


def milliseconds(call: Callable[[], Any], times: int = 100) -> tuple[float, float]:
    """The median and the 95th percentile of a call."""
    costs = []
    for _time in range(times):
        start = time.perf_counter()
        call()
        costs.append((time.perf_counter() - start) * 1000)
    costs.sort()
    return costs[len(costs) // 2], costs[len(costs) * 95 // 100]


def report(what: str, call: Callable[[], Any], times: int = 100) -> None:
    """Measure and print."""
    median, late = milliseconds(call, times)
    print(f"{what:<64} p50 {median:8.2f} ms   p95 {late:8.2f} ms")


def fill(scope: Any, count: int, by: Any) -> None:
    """As many entries as the scope is to hold."""
    from django.db import transaction

    from memory.models import Entry

    with transaction.atomic():
        for number in range(scope.entries.count(), count):
            title = f"Fact {number} about module {number % 37}"
            body = f"The module {number % 37} keeps number {number} because of reason {number * 7}. " * 4
            Entry.write(scope=scope, by=by, title=title, body=body)


def measure(directory: str) -> None:
    """All figures."""
    from memory.holders import Holder
    from memory.models import Author, Switches, Through
    from memory.saving import Draft, memory_save
    from memory.wanted import index_items, memory_version
    from openchamber.models import Project, Session

    Switches.change(enabled=True, user_limit=10_000, workspace_limit=10_000)
    project = Project.objects.create(name="Shop", slug="shop", directory=directory)
    session = Session.objects.create(id="ses_1", project=project, directory=directory)
    holder, by = Holder.of("build", directory), Author(Through.TOOL, session="ses_1")
    number = iter(range(10**6))

    def save() -> None:
        memory_save(holder, "workspace", Draft("The turning word", f"Says {next(number)} now. " * 10), by=by)

    def told() -> Any:
        return index_items(project=project, session=session, agent="build")

    for user, workspace in ((60, 200), (60, 9_940)):
        fill(holder.scope("user"), user, by)
        fill(holder.scope("workspace"), workspace, by)
        total = user + workspace
        report(f"{total:>6} entries: a save through the tool", save, 60 if total < 1_000 else 10)
        report(f"{total:>6} entries: the index lines of a session", told, 60 if total < 1_000 else 10)
        report(
            f"{total:>6} entries: knowing that nothing changed",
            lambda: memory_version(project=project, session=session, agent="build"),
        )


def main() -> None:
    """Make a database, measure, and clean up."""
    import django
    from django.core.management import call_command

    try:
        django.setup()
        call_command("migrate", verbosity=0)
        measure(str(DATA))
    finally:
        shutil.rmtree(DATA, ignore_errors=True)


if __name__ == "__main__":
    main()
