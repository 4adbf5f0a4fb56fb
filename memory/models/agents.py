"""Agents: who the memory belongs to."""

from __future__ import annotations

from typing import Self

from django.db import models
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

DEFAULT = "default"


class AgentQuerySet(models.QuerySet["Agent"]):
    """Questions about agents."""

    def of(self, name: str) -> Agent:
        """The agent that a client means by `name`: the row with that slug, else the default one (made on demand)."""
        rows = {agent.slug: agent for agent in self.filter(slug__in=[name, DEFAULT])}
        return rows.get(name) or rows.get(DEFAULT) or self.default()

    def default_first(self) -> Self:
        """In the order in which they are listed."""
        return self.order_by(models.Case(models.When(slug=DEFAULT, then=0), default=1), "name", "pk")

    def default(self) -> Agent:
        """The agent that serves whoever has no row."""
        return self.get_or_create(slug=DEFAULT, defaults={"name": str(_("Default"))})[0]


class Agent(models.Model):
    """An agent with memory of its own. In requests `agent` is the client's name for it, which is our slug."""

    slug = models.SlugField(_("name in the client"), max_length=60, unique=True)
    name = models.CharField(_("name"), max_length=120)
    description = models.CharField(_("description"), max_length=500, blank=True)
    system_prompt = models.TextField(_("system prompt"), blank=True)
    memory_enabled = models.BooleanField(_("memory is on"), default=True)
    # Null is the built-in text, and "" is none on purpose.
    memory_prompt = models.TextField(_("memory prompt"), null=True, blank=True)  # noqa: DJ001
    workspace_prompt = models.TextField(_("workspace memory prompt"), null=True, blank=True)  # noqa: DJ001
    revision = models.PositiveIntegerField(default=0, editable=False)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    objects = AgentQuerySet.as_manager()

    class Meta:
        ordering = ["name", "pk"]
        verbose_name = _("agent")
        verbose_name_plural = _("agents")

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        """Its memory."""
        return reverse("memory:agent-memory", args=[self.slug])

    @property
    def is_default(self) -> bool:
        """Whether it serves every agent that has no row of its own."""
        return self.slug == DEFAULT

    def switch_memory(self, *, on: bool) -> None:
        """Give it memory, or stop telling it; nothing that was stored goes."""
        type(self).objects.filter(pk=self.pk).update(memory_enabled=on, revision=models.F("revision") + 1)
        self.memory_enabled = on

    def configure(self, **fields: str | None) -> None:
        """Set its prompt and its memory prompts (null: the built-in text)."""
        type(self).objects.filter(pk=self.pk).update(**fields, revision=models.F("revision") + 1)
        self.refresh_from_db()
