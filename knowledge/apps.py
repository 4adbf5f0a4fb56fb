"""The Django app `knowledge`: what the user writes, and which of it rides with every message."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class KnowledgeConfig(AppConfig):
    """Connects this app's answers to the questions in `openchamber.signals`."""

    name = "knowledge"
    verbose_name = _("project knowledge")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Import the modules whose receivers register themselves, and offer agents the tool."""
        from knowledge import archives, keeping, purging, search, sections, tool, wanted  # noqa: F401
        from openchamber.clients import tools

        tools.register(tools.Tool(tool.NAME, tool.DESCRIPTION, tool.SCHEMA, "/api/knowledge/tool", tool.is_offered))
