"""The sections of project knowledge in a project's panel: the answer to `panel_sections`."""

from __future__ import annotations

from typing import Any

from django.dispatch import receiver
from django.urls import reverse
from django.utils.translation import gettext as _

from knowledge.models import LISTS, rows_of
from openchamber.models import Project
from openchamber.panel import Section
from openchamber.signals import panel_sections


@receiver(panel_sections)
def knowledge_sections(project: Project, **_more: Any) -> list[Section]:
    """The lists, each with how much stands on it; of todos, how much is to do."""
    counts = {name: rows_of(name).filter(project=project).tally() for name in LISTS}
    labels = {"notes": _("Notes"), "todos": _("Todos"), "plans": _("Plans")}
    deleted = sum(tally["deleted"] for tally in counts.values())
    lists = []
    for place, (name, label) in enumerate(labels.items(), 1):
        address = reverse(f"knowledge:{name}", args=[project.slug])
        lists.append(Section(name, label, address, counts[name]["listed"], name[:-1], shortcut=str(place)))
    address = reverse("knowledge:bin", args=[project.slug])
    return [*lists, Section("bin", _("Bin"), address, deleted, "trash", last=True)]
