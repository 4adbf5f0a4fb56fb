"""The tools that a client's plugin may offer to its agent: apps register theirs when they are ready."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool: `path` is where its calls are posted; `offered(directory, agent)` says whether it exists just now."""

    name: str
    description: str
    schema: Mapping[str, Any]
    path: str
    offered: Callable[[str, str], bool]


_tools: dict[str, Tool] = {}


def register(tool: Tool) -> None:
    """Make a tool known; an app calls this in `ready()`."""
    _tools[tool.name] = tool


def offered(directory: str, agent: str) -> list[Tool]:
    """The tools that an agent in this directory may have now."""
    return [tool for tool in _tools.values() if tool.offered(directory, agent)]
