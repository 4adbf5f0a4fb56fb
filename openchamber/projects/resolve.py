"""Which project a directory belongs to: by path, else by git repository.

Asked on the way of every prompt, so it must be quick: the usual answer costs one indexed query
and a few looks at the file system, however many projects there are.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import Literal

from openchamber.models import Project
from openchamber.projects.checkouts import Checkout, checkouts, parents

MatchedBy = Literal["exact", "ancestor", "worktree", "none"]
REMEMBERED_SECONDS = 30


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
    if not real:
        return Resolution(None, directory, "none")
    for project in around(real):
        if project.directory == real:
            return Resolution(project, real, "exact")
        if not (project.worktrees_apart and in_worktree_of(project, real)):
            return Resolution(project, real, "ancestor")
    for checkout in checkouts(real):
        if checkout.certain and (found := of_repository(checkout, real)):
            return Resolution(found, real, "worktree")
    return Resolution(None, real, "none")


def real_path(directory: str) -> str:
    """The whole path without links, dots and a trailing slash; ~ is the home directory.

    "" for what is no whole path, or has bytes that are no text (the database could not hold it).
    """
    path = os.path.expanduser(directory)
    try:
        real = os.path.realpath(path) if os.path.isabs(path) else ""
        real.encode()
    except ValueError:
        return ""
    return real


def around(path: str) -> list[Project]:
    """The projects at `path` and above it, the nearest first."""
    found = Project.objects.filter(directory__in=[path, *parents(path)])
    return sorted(found, key=lambda project: len(project.directory), reverse=True)


def in_worktree_of(project: Project, path: str) -> bool:
    """Whether `path`, below the project, lies in a linked worktree of the project's own repository."""
    own = next(checkouts(project.directory), None)
    below = (checkout for checkout in checkouts(path) if own and len(checkout.top) > len(own.top))
    return any(own and checkout.linked and checkout.common == own.common for checkout in below)


def of_repository(checkout: Checkout, path: str) -> Project | None:
    """The project that holds the repository of `checkout`, with which `path` goes."""
    if checkout.linked:
        # Where `path` would be in the main checkout, so that a project in a part of it gets only that part.
        main, name = os.path.split(checkout.common)
        place = os.path.join(main, inside(checkout.top, path)) if name == ".git" else checkout.common
        for project in around(os.path.normpath(place)):
            if not project.worktrees_apart:
                return project
    return sibling(checkout, path)


def inside(top: str, path: str) -> str:
    """`path` as seen from `top`; "" for `top` itself."""
    relative = os.path.relpath(path, top)
    return "" if relative == "." else relative


def sibling(checkout: Checkout, path: str) -> Project | None:
    """The project that is itself another checkout of the same repository (or a part of one).

    The one that goes deepest with `path` wins, then the main checkout, then the oldest.
    """
    place = inside(checkout.top, path)
    matching = []
    for project in Project.objects.filter(worktrees_apart=False).order_by("pk"):
        own = remembered_checkout(project.directory)
        if own is None or own.common != checkout.common:
            continue
        part = inside(own.top, project.directory)
        if part in ("", place) or place.startswith(part + os.sep):
            matching.append((-len(part), own.linked, project.pk, project))
    return min(matching)[-1] if matching else None


_remembered: dict[str, tuple[float, Checkout | None]] = {}


def remembered_checkout(directory: str) -> Checkout | None:
    """The checkout of a project's directory, looked up at most twice a minute: they hardly ever change."""
    now = time.monotonic()
    until, checkout = _remembered.get(directory, (0.0, None))
    if until < now:
        checkout = next(checkouts(directory), None)
        _remembered[directory] = (now + REMEMBERED_SECONDS, checkout)
    return checkout


def forget_checkouts() -> None:
    """Look again at once."""
    _remembered.clear()
