"""Which project a directory belongs to."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Literal

from openchamber.models import Project

MatchedBy = Literal["exact", "ancestor", "worktree", "none"]


@dataclass(frozen=True, slots=True)
class Resolution:
    """A directory's project, and how it was found; `real` is the directory's own real path."""

    project: Project | None
    real: str
    matched_by: MatchedBy

    @property
    def root(self) -> str:
        """The directory that stands for it: the project's, or outside any project itself."""
        return self.project.directory if self.project else self.real


def resolve(directory: str) -> Resolution:
    """The project that `directory` belongs to. The directory need not exist any more."""
    real = real_path(directory)
    project = Project.objects.filter(directory=real).first()
    if project is not None:
        return Resolution(project, real, "exact")
    return Resolution(None, real, "none")


def real_path(directory: str) -> str:
    """The path without links, dots and a trailing slash; ~ is the home directory."""
    return os.path.realpath(os.path.expanduser(directory))
