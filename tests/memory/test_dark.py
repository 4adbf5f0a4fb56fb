"""Dark by default: without the environment variable there is no memory at all in a process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from openchamber.settings import flag
from tests.environment import MEMORY

pytestmark = pytest.mark.skipif(bool(MEMORY), reason="looks into processes of its own: once is enough")
ROOT = Path(__file__).resolve().parents[2]

LOOKS = """
import json
import django
django.setup()
from django.apps import apps
from django.core.management import call_command
from django.test import Client
from openchamber.clients import tools
from openchamber.api import api
call_command("migrate", verbosity=0)
print(apps.is_installed("memory"))
words = ("memory", "agents", "settings")
print([path for path in api.get_openapi_schema()["paths"] if any(word in path for word in words)])
print("openchamber_memory" in tools._tools)
print("memory" in json.dumps(api.get_openapi_schema()))
client = Client(HTTP_HOST="localhost")
print([client.get(path).status_code for path in ("/agents/", "/memory/review/", "/api/memory/tool", "/api/settings")])
"""


def looks(tmp_path: Path, **environment: str) -> list[str]:
    """What a process with this environment says of memory."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OPENCHAMBER_")}
    kept |= {"OPENCHAMBER_DATA_DIR": str(tmp_path), "DJANGO_SETTINGS_MODULE": "openchamber.settings", **environment}
    kept.pop("DATABASE_URL", None)
    done = subprocess.run([sys.executable, "-c", LOOKS], cwd=ROOT, env=kept, check=True, capture_output=True, text=True)
    return done.stdout.splitlines()


NO, YES = ["", "0", "off", "maybe"], ["1", " TRUE ", "yes", "on"]


@pytest.mark.parametrize(("value", "means"), [*((value, False) for value in NO), *((value, True) for value in YES)])
def test_what_the_variable_means(monkeypatch: pytest.MonkeyPatch, value: str, means: bool) -> None:
    monkeypatch.setenv("OPENCHAMBER_MEMORY_ENABLE", value)
    assert flag("OPENCHAMBER_MEMORY_ENABLE") is means


def test_unset_there_is_no_app_no_route_no_tool_and_nothing_in_the_schema(tmp_path: Path) -> None:
    installed, schema, tool, word, statuses = looks(tmp_path, OPENCHAMBER_MEMORY_ENABLE="off")
    assert (installed, schema, tool, word) == ("False", "[]", "False", "False")
    assert statuses == "[404, 404, 404, 404]"


def test_set_there_is_memory_and_it_is_switched_off(tmp_path: Path) -> None:
    installed, schema, tool, word, statuses = looks(tmp_path, OPENCHAMBER_MEMORY_ENABLE="on")
    assert (installed, tool, word) == ("True", "True", "True")
    assert "/api/memory/tool" in schema
    assert statuses == "[302, 302, 405, 401]"
