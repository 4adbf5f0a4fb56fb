"""Keeping what was said: the answer to `message_actions`."""

from __future__ import annotations

from typing import Any

from django.dispatch import receiver
from django.urls import reverse
from django.utils.translation import gettext as _

from openchamber.models import Project, Session
from openchamber.panel import Act
from openchamber.sessions.wire import Message
from openchamber.signals import message_actions


@receiver(message_actions)
def keep_acts(project: Project | None, session: Session, message: Message, **_more: Any) -> list[Act]:
    """A message that says something can be kept."""
    if project is None or not message.own_text.strip():
        return []
    url = reverse("knowledge:keep-message", args=[project.slug, session.pk, message.id])
    return [
        Act(_("Keep as a note"), f"{url}?kind=note", icon="note"),
        Act(_("Keep as a plan"), f"{url}?kind=plan", icon="plan"),
    ]
