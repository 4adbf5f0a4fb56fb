"""What the templates of agents' memory need: texts in which nothing is hidden."""

from __future__ import annotations

from django import template

from memory import threats
from memory.models import Entry

register = template.Library()
LEAD = 300  # characters of a text that a list shows where there is no description


@register.filter
def visible(text: str) -> str:
    """The text with invisible characters, and those that turn the direction of reading, as their codes."""
    return threats.visible(str(text))


@register.filter
def lead(entry: Entry) -> str:
    """What a list says below an entry's title: its description, or how its text begins."""
    lines = (line.strip() for line in entry.body.splitlines())
    return entry.description or next((line[:LEAD] for line in lines if line), "")
