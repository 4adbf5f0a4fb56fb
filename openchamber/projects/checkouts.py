"""Git checkouts, read from their files: which repository a directory belongs to, without running git.

A repository has one common directory. Its main checkout holds that as `.git`; a linked worktree
has a `.git` file instead, which names a directory in `<common>/worktrees/`, which names the file
back. Formats: gitrepository-layout(5).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Checkout:
    """A working tree: its top directory, its repository's common directory, and whether it is a linked worktree.

    `certain` is false where only the tree itself says which repository it has (a link, or a file that
    the repository knows nothing of): a downloaded folder could name any repository of this machine.
    """

    top: str
    common: str
    linked: bool
    certain: bool


def checkouts(directory: str) -> Iterator[Checkout]:
    """The checkouts that the real path `directory` lies in, the innermost first."""
    for top in (directory, *parents(directory)):
        if checkout := _at(top):
            yield checkout


def parents(directory: str) -> Iterator[str]:
    """The directories above `directory`, the nearest first."""
    while (above := os.path.dirname(directory)) != directory:
        directory = above
        yield directory


def _at(top: str) -> Checkout | None:
    """The checkout whose top is `top` itself."""
    mark = os.path.join(top, ".git")
    if os.path.isdir(mark):
        return Checkout(top, os.path.realpath(mark), linked=False, certain=not os.path.islink(mark))
    told = _line(mark)
    if not told.startswith("gitdir:"):
        return None
    git_directory = _path(top, told.removeprefix("gitdir:").strip())
    common = _line(os.path.join(git_directory, "commondir"))
    if not common:
        # A submodule, or a repository whose directory was put elsewhere.
        there = os.path.isdir(git_directory)
        return Checkout(top, git_directory, linked=False, certain=False) if there else None
    common = _path(git_directory, common)
    listed = os.path.dirname(git_directory) == os.path.join(common, "worktrees")
    back = _path(git_directory, _line(os.path.join(git_directory, "gitdir")))
    return Checkout(top, common, linked=True, certain=listed and back == mark)


def _path(base: str, written: str) -> str:
    return os.path.realpath(os.path.join(base, written))


def _line(path: str) -> str:
    """The first line of a small file; "" when there is none to be read."""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.readline(4096).rstrip("\n")
    except OSError:
        return ""
