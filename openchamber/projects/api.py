"""Projects over the API."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _
from ninja import Field, Query, Router, Schema, Status

from openchamber.bodies import Body
from openchamber.errors import Forbidden, Invalid
from openchamber.models import Project
from openchamber.paging import Page, Paging, page
from openchamber.projects.access import ApiRequest
from openchamber.projects.forms import ProjectForm, ProjectSettingsForm
from openchamber.projects.resolve import MatchedBy, resolve

router = Router(tags=["projects"])


class ProjectOut(Schema):
    """A project."""

    id: str
    slug: str
    name: str
    directory: str
    worktrees_apart: bool

    @staticmethod
    def resolve_id(project: Project) -> str:
        """Ids are opaque strings."""
        return str(project.pk)


class ProjectIn(Body):
    """A directory that exists, and a name (else the directory's)."""

    directory: str = Field(max_length=4096)
    name: str = Field("", max_length=200)


class ProjectChange(Body):
    """What to change; what is left out stays."""

    name: str | None = None
    worktrees_apart: bool | None = None


class Resolved(Schema):
    """Which project a directory belongs to."""

    project: ProjectOut | None
    root: str
    matched_by: MatchedBy


@router.get("/projects", response=Page[ProjectOut])
def list_projects(request: ApiRequest, paging: Query[Paging]) -> dict[str, Any]:
    """The caller's projects, the newest first."""
    return page(request.auth.projects(), paging, by=("-created_at", "-pk"))


@router.post("/projects", response={201: ProjectOut, 200: ProjectOut})
def create_project(request: ApiRequest, payload: ProjectIn) -> Status[Project]:
    """Add a project; 200 with the existing one when the directory (after resolving) is one already."""
    caller = request.auth
    if caller.token is not None and caller.token.bound:
        raise Forbidden(_("This token is bound to projects and cannot add any."))
    form = ProjectForm(payload.dict())
    if not form.is_valid():
        raise Invalid.form(form)
    project, new = caller.add_project(**form.cleaned_data)
    return Status(201 if new else 200, project)


@router.get("/projects/resolve", response=Resolved)
def resolve_directory(request: ApiRequest, directory: str) -> dict[str, Any]:
    """The project that a directory belongs to: itself, an ancestor, or the repository of its worktree."""
    found = resolve(directory)
    hidden = found.project is None or not request.auth.projects().filter(pk=found.project.pk).exists()
    if hidden:
        return {"project": None, "root": found.real, "matched_by": "none"}
    return {"project": found.project, "root": found.root, "matched_by": found.matched_by}


@router.get("/projects/{project}", response=ProjectOut)
def get_project(request: ApiRequest, project: str) -> Project:
    """One project, by id or slug."""
    return request.auth.project(project)


@router.patch("/projects/{project}", response=ProjectOut)
def change_project(request: ApiRequest, project: str, payload: ProjectChange) -> Project:
    """Rename a project, or say whether its worktrees stay apart."""
    found = request.auth.project(project)
    stored = {"name": found.name, "worktrees_apart": found.worktrees_apart}
    form = ProjectSettingsForm({**stored, **payload.dict(exclude_none=True)}, instance=found)
    if not form.is_valid():
        raise Invalid.form(form)
    found.edit(**form.cleaned_data)
    return found


@router.delete("/projects/{project}", response={204: None})
def remove_project(request: ApiRequest, project: str) -> Status[None]:
    """Take a project off every list. Nothing on disk is touched; adding the directory again brings it back."""
    request.auth.project(project).remove()
    return Status(204, None)
