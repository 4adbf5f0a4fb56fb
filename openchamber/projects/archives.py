"""A project as one archive: downloaded from its page, and taken in there."""

from __future__ import annotations

from io import BytesIO

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET, require_POST

from openchamber import archive
from openchamber.panel import tell_refused
from openchamber.projects import access
from openchamber.projects.forms import ArchiveForm
from openchamber.projects.views import go_to, project_page

MOST_BYTES = 512 * 1024**2  # that a file from a browser may unpack to
# What became of the things in an archive, by the words that `records.take_in` counts them with.
OUTCOMES = {
    "new": gettext_lazy("%d new"),
    "same": gettext_lazy("%d already the same"),
    "kept": gettext_lazy("%d left as they were"),
    "overwritten": gettext_lazy("%d overwritten"),
    "both": gettext_lazy("%d kept beside what was here"),
}


@require_GET
def download_archive(request: HttpRequest, slug: str) -> HttpResponse:
    """Everything of the project, with history and pins, as a zip file."""
    project = access.signed_in(request).project(slug)
    target = BytesIO()
    archive.export(project, target)
    name = f"{slugify(project.name) or project.slug}.zip"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(target.getvalue(), content_type="application/zip", headers=headers)


@require_POST
def take_in_archive(request: HttpRequest, slug: str) -> HttpResponse:
    """Take in what an archive has; a file that is none changes nothing."""
    project = access.signed_in(request).project(slug)
    form = ArchiveForm(request.POST, request.FILES)
    if not form.is_valid():
        return project_page(request, project, archive=form)
    file, existing = form.cleaned_data["file"], form.cleaned_data["existing"]
    try:
        found = archive.take_in(project, file, name=file.name, existing=existing, most_bytes=MOST_BYTES)
    except archive.ArchiveError as error:
        form.add_error("file", str(error))
        return project_page(request, project, archive=form)
    tell(request, found)
    return go_to(request, reverse("openchamber:edit-project", args=[slug]))


def tell(request: HttpRequest, found: archive.Archive) -> None:
    """How many of each outcome, and what was refused."""
    words = ", ".join(OUTCOMES[name] % count for name, count in sorted(found.outcomes.items()) if count)
    messages.success(request, _("Taken in: %s.") % (words or _("nothing")))
    tell_refused(request, found.refused)
