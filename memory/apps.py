"""The Django app `memory`: what agents keep for themselves, and how users review it. Installed only when asked for."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class MemoryConfig(AppConfig):
    """Connects this app's answers to the questions in `openchamber.signals`."""

    name = "memory"
    verbose_name = _("agent memory")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Import the modules whose receivers register themselves, and offer agents the tool."""
        from memory import beginnings, manual, purging, search, sections, wanted  # noqa: F401
        from openchamber.clients import tools

        tools.register(tools.Tool(manual.NAME, manual.DESCRIPTION, manual.SCHEMA, manual.PATH, wanted.is_offered))
