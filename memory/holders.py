"""Holders: the agent and the scopes that a session or a tool's call has to do with."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import transaction
from django.db.models import Exists, OuterRef

from memory import texts
from memory.models import Agent, Entry, Scope
from memory.refusals import readable
from memory.scopes import USER, base_name, is_temporary, is_whole, key_of, real_path, workspace_of
from openchamber.errors import Invalid
from openchamber.models import Project


@dataclass(frozen=True, slots=True)
class Holder:
    """An agent in a directory. `root` is the directory of its workspace scope, "" where it has none: because
    `directory`, what the client named, is a temporary one or none."""

    agent: Agent
    root: str
    directory: str = ""

    @classmethod
    def of(cls, agent: str, directory: str) -> Holder:
        """Who a client means by the agent's name and the session's directory; Invalid where that is no whole path."""
        if directory and not is_whole(directory):
            raise Invalid("The directory is no whole path: give the session’s directory from the root on.")
        return cls(Agent.objects.of(texts.plain(agent)), workspace_of(directory), directory)

    @property
    def keys(self) -> dict[str, str]:
        """The keys of its scopes by kind."""
        workspace = {"workspace": key_of(self.root, base_name(self.root))} if self.root else {}
        return {"user": USER, **workspace}

    def scopes(self) -> dict[str, Scope]:
        """Its scopes by kind, as far as there are any: one query."""
        found = Scope.objects.filter(agent=self.agent, key__in=self.keys.values()).select_related("agent")
        return {scope.kind: scope for scope in found}

    def scope(self, kind: str) -> Scope | None:
        """Its scope of that kind, made on demand; None for the workspace of a temporary directory."""
        key = self.keys.get(kind)
        return ensure(self.agent, key, self.root if kind == "workspace" else "") if key else None


def ensure(agent: Agent, key: str, directory: str = "") -> Scope:
    """The agent's scope with this key."""
    kind = Scope.Kind.WORKSPACE if directory else Scope.Kind.USER
    scope, _new = Scope.objects.get_or_create(agent=agent, key=key, defaults={"kind": kind, "directory": directory})
    scope.agent = agent
    return scope


def user_scope(agent: Agent) -> Scope:
    """What the agent keeps about the user."""
    return ensure(agent, USER)


def below(project: Project) -> list[Scope]:
    """Scopes with entries of directories that belong to the project and are not its root: older than the project."""
    kept = Entry.objects.live().filter(scope=OuterRef("pk"))
    inside = Scope.objects.filter(Exists(kept), directory__startswith=project.directory.rstrip("/") + "/")
    inside = inside.select_related("agent")
    nested = list(Project.objects.filter(directory__startswith=project.directory.rstrip("/") + "/"))
    return [scope for scope in inside.order_by("agent", "key") if is_of(project, nested, scope.directory)]


def is_of(project: Project, nested: list[Project], directory: str) -> bool:
    """Whether a directory below the project is its own, and not one of the projects that are `nested` in it."""
    if not is_whole(directory) or is_temporary(directory):
        return False
    real = real_path(directory)
    for nearest in sorted([project, *nested], key=lambda other: len(other.directory), reverse=True):
        if real == nearest.directory or real.startswith(nearest.directory.rstrip("/") + "/"):
            if real != nearest.directory and nearest.worktrees_apart:
                break
            return nearest == project
    return workspace_of(directory) == project.directory  # a link, or perhaps a worktree: seldom


def gather(project: Project, scope: Scope, *, by: object) -> tuple[int, int]:
    """Move all entries of a scope below the project to the project's own; how many moved, how many could not."""
    from memory.models import Author, Stale, Taken

    assert isinstance(by, Author)
    target = ensure(scope.agent, key_of(project.directory, base_name(project.directory)), project.directory)
    moved = kept = 0
    with readable():
        entries = list(scope.entries.live().select_related("scope__agent"))
    for entry in entries:
        try:
            with transaction.atomic():
                entry.move(target, by=by)
            moved += 1
        except (Taken, Stale):  # the latter: changed or deleted just now
            kept += 1
    return moved, kept
