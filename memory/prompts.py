"""Prompts: the placeholder that lets an agent's template tell its memory. Pure."""

from __future__ import annotations

import re

MEMORY = "{{MEMORY}}"
KEY_LINE = "- Workspace Memory Key: {{WORKSPACE_MEMORY_KEY}}"
ENVIRONMENT = re.compile(r"^#+ Environment[ \t]*\r?$", re.MULTILINE)


def has_memory(template: str) -> bool:
    """Whether a template tells memory."""
    return MEMORY in template


def with_memory(template: str) -> str:
    """The template with the placeholder before its Environment heading and the key's line right after that; each only
    if it is missing, and at the end without such a heading. No template stays none: there memory travels as items."""
    if not template.strip():
        return template
    if MEMORY not in template:
        template = _before_environment(template, MEMORY)
    return template if "{{WORKSPACE_MEMORY_KEY}}" in template else _after_environment(template, KEY_LINE)


def _before_environment(template: str, text: str) -> str:
    heading = ENVIRONMENT.search(template)
    if heading is None:
        return f"{template.rstrip()}\n\n{text}\n"
    return f"{template[: heading.start()]}{text}\n\n{template[heading.start() :]}"


def _after_environment(template: str, text: str) -> str:
    heading = ENVIRONMENT.search(template)
    if heading is None:
        return f"{template.rstrip()}\n\n{text}\n"
    return f"{template[: heading.end()]}\n{text}{template[heading.end() :]}"
