"""What the templates of agents' memory need: texts in which nothing is hidden."""

from __future__ import annotations

from django import template

from memory import threats

register = template.Library()


@register.filter
def visible(text: str) -> str:
    """The text with invisible characters, and those that turn the direction of reading, as their codes."""
    return threats.visible(str(text))
