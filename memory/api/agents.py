"""Agents' configuration and the installation's switches over the API."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _
from ninja import Router

from memory.access import check_speaks_to_all
from memory.models import Agent, Switches
from openchamber.bodies import Body
from openchamber.errors import NotFound
from openchamber.projects.access import ApiRequest
from openchamber.texts import Text

router = Router(tags=["agents"])


class MemoryConfig(Body):
    """Whether an agent has memory, and its prompts; null is the built-in text."""

    enabled: bool | None = None
    prompt: Text | None = None
    workspace_prompt: Text | None = None


class Config(Body):
    """What can be set for an agent; what is left out stays."""

    system_prompt: Text | None = None
    memory: MemoryConfig | None = None


class Settings(Body):
    """The switch of the installation."""

    memory_enabled: bool


def agent_named(slug: str) -> Agent:
    """The agent with this slug."""
    agent = Agent.objects.default() if slug == "default" else Agent.objects.filter(slug=slug).first()
    if agent is None:
        raise NotFound(_("There is no agent of that name."))
    return agent


def shown(agent: Agent) -> dict[str, Any]:
    """An agent's configuration: effective values, and which of them are defaults."""
    memory = {
        "enabled": agent.memory_enabled,
        "prompt": agent.memory_prompt or "",
        "workspace_prompt": agent.workspace_prompt or "",
    }
    defaults = {
        "system_prompt": not agent.system_prompt,
        "prompt": agent.memory_prompt is None,
        "workspace_prompt": agent.workspace_prompt is None,
    }
    return {"system_prompt": agent.system_prompt, "memory": memory, "defaults": defaults}


@router.get("/agents/{a}/config", response=dict[str, Any])
def read_config(request: ApiRequest, a: str) -> dict[str, Any]:
    """An agent's configuration."""
    return shown(agent_named(a))


@router.patch("/agents/{a}/config", response=dict[str, Any])
def change_config(request: ApiRequest, a: str, sent: Config) -> dict[str, Any]:
    """Change an agent's configuration, for those who administer the installation."""
    check_speaks_to_all(request.auth)
    agent = agent_named(a)
    fields = sent.model_dump(exclude_unset=True)
    memory = fields.pop("memory", None) or {}
    names = {"prompt": "memory_prompt", "workspace_prompt": "workspace_prompt"}
    wanted = {**fields, **{names[name]: memory[name] for name in names if name in memory}}
    if "system_prompt" in wanted:
        wanted["system_prompt"] = wanted["system_prompt"] or ""
    if wanted:
        agent.configure(**wanted)
    if memory.get("enabled") is not None:
        agent.switch_memory(on=memory["enabled"])
    return shown(agent)


@router.get("/settings", response=Settings)
def read_settings(request: ApiRequest) -> dict[str, bool]:
    """Whether agents have memory."""
    return {"memory_enabled": Switches.current().enabled}


@router.patch("/settings", response=Settings)
def change_settings(request: ApiRequest, sent: Settings) -> dict[str, bool]:
    """Switch agents' memory on or off, for those who administer the installation."""
    check_speaks_to_all(request.auth)
    return {"memory_enabled": Switches.change(enabled=sent.memory_enabled).enabled}
