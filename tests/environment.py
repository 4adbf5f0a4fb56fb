"""The environment of the tests, in place before Django reads its settings (loaded by `-p`, before any conftest)."""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

# What the person who runs the tests has set for a real installation must neither help nor hurt here.
for name in [name for name in os.environ if name.startswith("OPENCHAMBER_") and name != "OPENCHAMBER_ROUNDS"]:
    if not name.startswith("OPENCHAMBER_TEST_"):
        del os.environ[name]
os.environ.pop("DATABASE_URL", None)
if database := os.environ.get("OPENCHAMBER_TEST_DATABASE_URL"):
    os.environ["DATABASE_URL"] = database

# The suite runs in three states: agents' memory not installed (unset), installed and switched off, and switched on.
MEMORY = os.environ.get("OPENCHAMBER_TEST_MEMORY", "")
if MEMORY:
    os.environ["OPENCHAMBER_MEMORY_ENABLE"] = "1"

# Whether a test that waits for other programs is tried once more: on a machine that does much else, one may be late.
AGAIN = bool(os.environ.get("OPENCHAMBER_TEST_AGAIN"))

DATA_DIRECTORY = Path(tempfile.mkdtemp(prefix="openchamber-tests-"))
os.environ["OPENCHAMBER_DATA_DIR"] = str(DATA_DIRECTORY)
atexit.register(shutil.rmtree, DATA_DIRECTORY, ignore_errors=True)

# How often a test of a race repeats: `make soak` asks for many.
ROUNDS = int(os.environ.get("OPENCHAMBER_ROUNDS") or 5)
