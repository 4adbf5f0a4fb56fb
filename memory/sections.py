"""What agents' memory adds to the panel's frame: a project's section, an entry of the menu, a row of the settings."""

from __future__ import annotations

from typing import Any

from django.dispatch import receiver
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _

from memory.forms import SwitchesForm
from memory.models import Entry, Scope, Switches
from openchamber.models import Project
from openchamber.panel import Place, Section
from openchamber.signals import panel_places, panel_sections, settings_rows


@receiver(panel_sections)
def memory_section(project: Project, **_more: Any) -> list[Section]:
    """What the project's page of memory shows; nothing while memory is off and nothing was ever kept."""
    count = Entry.objects.live().filter(scope__in=Scope.objects.about(project)).count()
    if not count and not Switches.current().enabled:
        return []
    return [Section("memory", _("Memory"), reverse("memory:project-memory", args=[project.slug]), count, "memory", "4")]


@receiver(panel_places)
def agents_place(request: HttpRequest, **_more: Any) -> list[Place]:
    """The agents, in the main menu."""
    url = reverse("memory:agents")
    return [Place(_("Agents"), url, request.path.startswith((url, reverse("memory:review"))))]


@receiver(settings_rows)
def memory_row(request: HttpRequest, **_more: Any) -> list[tuple[str, dict[str, Any]]]:
    """The switches, for those who administer the installation."""
    if not getattr(request.user, "is_staff", False):
        return []
    return [("memory/switches.html", {"form": SwitchesForm(instance=Switches.current())})]
