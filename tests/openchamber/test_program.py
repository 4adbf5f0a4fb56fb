"""The `opencode` program: which one is used, and what people are told to type."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from openchamber.sessions import program


def place(directory: Path) -> str:
    """Put a program there that is called like it."""
    directory.mkdir(parents=True)
    path = directory / "opencode"
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def base(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory as OpenChamber's own, and a PATH with nothing in it."""
    settings.BASE_DIR = tmp_path / "clone"
    settings.BASE_DIR.mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.chdir(settings.BASE_DIR)
    return Path(settings.BASE_DIR)


def test_the_one_in_node_modules_goes_before_the_one_on_the_path(base: Path, tmp_path: Path) -> None:
    assert program.installed() is None
    elsewhere = place(tmp_path / "path")
    assert (program.installed(), program.called()) == (elsewhere, "opencode")
    own = place(base / "node_modules" / ".bin")
    assert (program.installed(), program.called()) == (own, "node_modules/.bin/opencode")


def test_from_another_directory_it_is_called_by_its_whole_path(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = place(base / "node_modules" / ".bin")
    monkeypatch.chdir(tmp_path / "clone" / "node_modules")
    assert program.called() == ".bin/opencode"
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    assert program.called() == own


def test_in_a_clone_make_installs_it(base: Path) -> None:
    assert (program.way_to_install(), program.called()) == ("npm install -g opencode-ai", "opencode")
    (base / "Makefile").touch()
    assert (program.way_to_install(), program.called()) == ("make install", "node_modules/.bin/opencode")
