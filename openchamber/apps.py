"""The Django app `openchamber`: session runtime, projects, clients and API."""

from django.apps import AppConfig


class OpenChamberConfig(AppConfig):
    """Connects the runtime's own answers to the questions in `signals`."""

    name = "openchamber"
    label = "openchamber"
    verbose_name = "OpenChamber"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Import the modules whose receivers and checks register themselves."""
        from openchamber import checks, examinations  # noqa: F401
        from openchamber.sessions import pinned, restore  # noqa: F401
