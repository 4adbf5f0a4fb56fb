"""The console script `openchamber`: Django's command line with our settings."""

import os
import sys

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line


def main() -> None:
    """Run the management command named on the command line."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "openchamber.settings")
    os.umask(0o077)  # whatever we write is the user's own business
    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        sys.exit(f"openchamber: {error}")


if __name__ == "__main__":
    main()
