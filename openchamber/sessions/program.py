"""The `opencode` program: where it is, how a person calls it, and how one comes by it."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

from django.conf import settings

NAME = "opencode"


def installed() -> str | None:
    """Where it is: the one that `make install` brought, whose version was tested, before the one on the PATH."""
    return shutil.which(NAME, path=str(_own())) or shutil.which(NAME)


def called() -> str:
    """What to type in a terminal, where this process was started, to call the one that is used (or would be)."""
    program = Path(installed() or (_own() / NAME if _cloned() else NAME))
    if program.parent != _own():
        return NAME
    here = Path.cwd()
    return shlex.quote(str(program.relative_to(here) if program.is_relative_to(here) else program))


def way_to_install() -> str:
    """The command that installs it."""
    return "make install" if _cloned() else "npm install -g opencode-ai"


def _own() -> Path:
    return Path(settings.BASE_DIR / "node_modules" / ".bin")


def _cloned() -> bool:
    return Path(settings.BASE_DIR / "Makefile").exists()
