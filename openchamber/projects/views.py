"""The list of projects, and what belongs to one as a whole: its name, its members, its removal."""

from __future__ import annotations

import os

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from django_htmx.http import HttpResponseClientRedirect

from openchamber.models import Project
from openchamber.projects import access
from openchamber.projects.forms import ArchiveForm, ImportForm, MemberForm, ProjectForm, ProjectSettingsForm, name_of
from openchamber.projects.resolve import real_path
from openchamber.sessions.opencode import client_for
from openchamber.sessions.servers import current_server


def go_to(request: HttpRequest, url: str) -> HttpResponse:
    """Another page: for htmx as a whole, not as a fragment of this one."""
    return HttpResponseClientRedirect(url) if request.htmx else redirect(url)  # type: ignore[attr-defined]


@require_GET
def projects(request: HttpRequest) -> HttpResponse:
    """The caller's projects."""
    return project_list(request, ProjectForm())


def project_list(request: HttpRequest, form: ProjectForm, *, part: str = "") -> HttpResponse:
    """The page `/`, or its part, around a form that may have errors."""
    caller = access.signed_in(request)
    context = {"projects": caller.projects(), "removed": caller.all_projects().removed(), "form": form}
    template = f"openchamber/project_list.html{part}"
    return render(request, template, context, status=422 if form.errors else 200)


@require_POST
def add_project(request: HttpRequest) -> HttpResponse:
    """Add the project in a directory, or go to the one that is there."""
    form = ProjectForm(request.POST)
    if not form.is_valid():
        return project_list(request, form, part="#project-form" if request.htmx else "")  # type: ignore[attr-defined]
    project, new = access.signed_in(request).add_project(**form.cleaned_data)
    if not new:
        messages.info(request, _("This directory is already the project “%(name)s”.") % {"name": project.name})
    return go_to(request, project.get_absolute_url())


@require_http_methods(["GET", "POST"])
def import_projects(request: HttpRequest) -> HttpResponse:
    """Make projects of directories that the agent server knows. For staff: they may be anybody's."""
    caller = access.signed_in(request)
    caller.check_staff()
    form = ImportForm(unknown_directories(), request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        for directory in form.cleaned_data["directories"]:
            caller.add_project(directory=directory, name=name_of(directory))
        messages.success(request, _("The projects were added."))
        return go_to(request, reverse("openchamber:projects"))
    return render(request, "openchamber/project_import.html", {"form": form}, status=422 if form.errors else 200)


def unknown_directories() -> list[str]:
    """What the agent server knows, exists here, and is no project yet; real paths."""
    known = {real_path(directory) for directory in client_for(current_server()).projects()}
    taken = set(Project.objects.values_list("directory", flat=True))
    return sorted(directory for directory in known - taken - {"", "/"} if os.path.isdir(directory))


@require_GET
def project(request: HttpRequest, slug: str) -> HttpResponse:
    """A project's address leads to its sessions."""
    return redirect("openchamber:sessions", access.signed_in(request).project(slug).slug)


@require_http_methods(["GET", "POST"])
def edit_project(request: HttpRequest, slug: str) -> HttpResponse:
    """The project's name and worktrees; the page also lists its members."""
    project = access.signed_in(request).project(slug)
    form = ProjectSettingsForm(request.POST if request.method == "POST" else None, instance=project)
    if request.method == "POST" and form.is_valid():
        project.edit(**form.cleaned_data)
        messages.success(request, _("Saved."))
        return go_to(request, request.path)
    return project_page(request, project, form=form)


def project_page(
    request: HttpRequest,
    project: Project,
    *,
    form: ProjectSettingsForm | None = None,
    member: MemberForm | None = None,
    archive: ArchiveForm | None = None,
) -> HttpResponse:
    """The page that edits a project, around a form that may have errors."""
    forms = {
        "form": form or ProjectSettingsForm(instance=project),
        "member_form": member or MemberForm(),
        "archive_form": archive or ArchiveForm(),
    }
    refused = any(form.errors for form in forms.values())
    # An invalid form has already written into its project: the page's title and links need the stored one.
    project = Project.objects.prefetch_related("members").get(pk=project.pk)
    context = {"project": project, **forms}
    return render(request, "openchamber/project_form.html", context, status=422 if refused else 200)


@require_POST
def remove_project(request: HttpRequest, slug: str) -> HttpResponse:
    """Take the project off every list; the list of projects offers to bring it back."""
    project = access.signed_in(request).project(slug)
    project.remove()
    messages.success(request, _("“%(name)s” was removed. Nothing on disk was touched.") % {"name": project.name})
    return go_to(request, reverse("openchamber:projects"))


@require_POST
def restore_project(request: HttpRequest, slug: str) -> HttpResponse:
    """Bring a removed project back, with all that it owned."""
    project = get_object_or_404(access.signed_in(request).all_projects(), slug=slug)
    project.restore()
    messages.success(request, _("“%(name)s” is back.") % {"name": project.name})
    return go_to(request, project.get_absolute_url())


@require_POST
def add_member(request: HttpRequest, slug: str) -> HttpResponse:
    """Let another user see and change the project."""
    project = access.signed_in(request).project(slug)
    form = MemberForm(request.POST)
    if not form.is_valid():
        return project_page(request, project, member=form)
    project.members.add(form.cleaned_data["username"])
    return go_to(request, reverse("openchamber:edit-project", args=[slug]))


@require_POST
def remove_member(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Take a member out; who takes themselves out has left the project."""
    caller = access.signed_in(request)
    project = caller.project(slug)
    project.members.remove(*project.members.filter(pk=pk))
    left = not caller.projects().filter(pk=project.pk).exists()
    return go_to(request, reverse("openchamber:projects") if left else reverse("openchamber:edit-project", args=[slug]))
