"""The sections of project knowledge in a project's panel: the answer to `panel_sections`."""

from __future__ import annotations

from typing import Any

from django.dispatch import receiver
from django.urls import reverse
from django.utils.translation import gettext as _

from openchamber.models import Project
from openchamber.panel import Section
from openchamber.signals import panel_sections


@receiver(panel_sections)
def knowledge_sections(project: Project, **_more: Any) -> list[Section]:
    """The lists, each with how much stands on it."""
    count = project.notes.live().count()
    return [
        Section("notes", _("Notes"), reverse("knowledge:notes", args=[project.slug]), count, icon="note", shortcut="1")
    ]
