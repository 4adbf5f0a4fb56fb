"""Which scope a directory has: keys, temporary workspaces, and what a project's directories share."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

from django.conf import settings

from memory import texts
from openchamber.projects.resolve import resolve

USER = "user"
BASE_LENGTH = 40
EMPTY_BASE = "workspace"


def workspace_key(path: str) -> str:
    """The key of a workspace: `<safe base name>-<8 hex of sha256(real path)>`, at most 49 characters.

    The generated key always has a hyphen, so it is never `user`.
    """
    real = real_path(path)
    return key_of(real, base_name(real))


def key_of(real: str, base: str) -> str:
    """The key of a real path whose last part is `base`."""
    safe = re.sub(r"[^A-Za-z0-9_-]+", "-", base).strip("-")[:BASE_LENGTH].lower() or EMPTY_BASE
    return f"{safe}-{hashlib.sha256(real.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def real_path(path: str) -> str:
    """The path without links and dots; one that cannot be followed as it is written. Never fails."""
    try:
        return os.path.realpath(path, strict=True)
    except (OSError, ValueError):
        return os.path.abspath(path)


def base_name(path: str) -> str:
    """The last part of a path, of Windows' kind too; "" for a root."""
    if re.match(r"[A-Za-z]:[\\/]", path):
        return re.split(r"[\\/]", path[2:].rstrip("\\/"))[-1]
    return os.path.basename(path.rstrip("/"))


def agents_directory() -> Path:
    """Where agents' own directories are."""
    return Path(settings.DATA_DIR) / "agents"


def is_temporary(directory: str) -> bool:
    """Whether a directory lies in an agent's `workspaces/`: such a one is used once and keeps nothing."""
    inside = os.path.relpath(real_path(directory), real_path(str(agents_directory()))).split(os.sep)
    return inside[0] != os.pardir and len(inside) >= 3 and inside[1] == "workspaces"


def workspace_of(directory: str) -> str:
    """The directory whose workspace scope `directory` uses; "" for a temporary one, or none.

    A project's worktrees and sub-directories share that of its root. Outside any project it stands for itself.
    """
    if not directory or not is_whole(directory) or is_temporary(directory):
        return ""
    return resolve(directory).root


def is_whole(directory: str) -> bool:
    """Whether it is a path from the root on, which means the same place to everybody."""
    # What `plain` changes (a NUL, half a surrogate pair) no file system and no database has in a path.
    return os.path.isabs(os.path.expanduser(directory)) and texts.plain(directory) == directory
