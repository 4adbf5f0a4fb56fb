"""The Makefile: which tests it runs, and that `make` alone tells what there is to make."""

from __future__ import annotations

import os
import re
import subprocess

from tests.house import ROOT


def make(*arguments: str) -> str:
    """What make says, whatever the make that runs this test was told."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS", "TESTS"))
    }
    done = subprocess.run(["make", *arguments], cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    return done.stdout


def passes(*arguments: str) -> list[str]:
    """The passes over the tests that `make test` would make."""
    return [line for line in make("--dry-run", "test", *arguments).splitlines() if "/pytest -n" in line]


def test_everything_is_tested_in_four_passes() -> None:
    assert len(passes()) == 4
    assert not any("-eq 5" in one for one in passes())


def test_of_chosen_tests_a_pass_may_have_none() -> None:
    chosen = passes("TESTS=tests/test_house.py")
    assert len(chosen) == 3
    assert all(one.endswith(" tests/test_house.py || [ $? -eq 5 ]") for one in chosen)


def test_help_names_every_target() -> None:
    targets = re.search(r"^\.PHONY: (.*)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert targets is not None
    told = set(re.findall(r"^make ([\w-]+) ", make("help"), re.MULTILINE))
    assert told == set(targets[1].split()) - {"help", "install-checks", "system-packages"}
