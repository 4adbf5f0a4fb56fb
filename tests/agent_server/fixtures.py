"""Fixtures of the tests with real parts, loaded by `-p` so that the browser's tests share the one OpenCode.

Starting OpenCode costs seconds, so one serves the whole run; each test has a git project of its own in it. A test
that stops, kills or configures its OpenCode takes one from `start_opencode`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.agent_server.chamber import Chamber, plugin
from tests.agent_server.opencode_process import OpenCodeProcess, free_port, git_project
from tests.agent_server.scripted_model import ScriptedModel
from tests.agent_server.serve_process import Installation, ManagedProcess, ServeProcess


@pytest.hookimpl(tryfirst=True)  # before `-m` chooses
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever starts OpenCode is marked `real`, and what asks no database `pure`."""
    for item in items:
        fixtures = set(getattr(item, "fixturenames", ()))
        if {"shared_opencode", "start_opencode", "shared_plugged"} & fixtures:
            item.add_marker("real")
        if "_django_db_helper" not in fixtures and not item.get_closest_marker("django_db"):
            item.add_marker("pure")


@pytest.fixture(scope="session")
def scripted_model() -> Iterator[ScriptedModel]:
    """The one model server of the run; tests use `model`."""
    with ScriptedModel() as server:
        yield server


@pytest.fixture
def model(scripted_model: ScriptedModel) -> Iterator[ScriptedModel]:
    """The model with an empty script and an empty record."""
    scripted_model.reset()
    yield scripted_model
    scripted_model.reset()  # opens the gates that a failed test left shut


@pytest.fixture(scope="session")
def shared_opencode(
    scripted_model: ScriptedModel, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[OpenCodeProcess]:
    """The one OpenCode of the run; tests use `opencode`."""
    server = OpenCodeProcess(home=tmp_path_factory.mktemp("opencode"), model_url=scripted_model.url).start()
    yield server
    server.close()


@pytest.fixture
def opencode(shared_opencode: OpenCodeProcess, model: ScriptedModel) -> OpenCodeProcess:
    """A running OpenCode without plugins, shared with other tests: leave it running and as it is."""
    return shared_opencode


@pytest.fixture
def start_opencode(model: ScriptedModel, tmp_path: Path) -> Iterator[Callable[..., OpenCodeProcess]]:
    """Start an OpenCode of the test's own; the arguments are those of OpenCodeProcess."""
    number = count(1)
    with ExitStack() as stack:

        def start(**options: Any) -> OpenCodeProcess:
            server = OpenCodeProcess(home=tmp_path / f"opencode-{next(number)}", model_url=model.url, **options)
            stack.callback(server.close)
            return server.start()

        yield start


@pytest.fixture
def git_directory(tmp_path: Path) -> Path:
    """A fresh git repository with one commit: a project of its own for OpenCode and for us."""
    return git_project(tmp_path.resolve() / "project")


@pytest.fixture
def install(tmp_path: Path) -> Callable[..., Installation]:
    """Make an installation (a data directory and its environment); the arguments are those of Installation."""
    number = count(1)

    def make(**options: Any) -> Installation:
        return Installation(tmp_path / f"installation-{next(number)}", **options)

    return make


@pytest.fixture
def start_process() -> Iterator[Callable[..., ManagedProcess]]:
    """Start a command on an installation (`start_process(installation, "watch")`) and stop it after the test."""
    with ExitStack() as stack:

        def start(installation: Installation, *arguments: str) -> ManagedProcess:
            process = ManagedProcess(installation, *arguments)
            stack.callback(process.stop)
            process.start()
            return process

        yield start


@pytest.fixture
def start_serve() -> Iterator[Callable[..., ServeProcess]]:
    """Start `serve` on an installation, wait until it is ready, and stop it after the test."""
    with ExitStack() as stack:

        def start(installation: Installation, *arguments: str, **options: Any) -> ServeProcess:
            process = ServeProcess(installation, *arguments, **options)
            stack.callback(process.stop)
            return process.start()

        yield start


@pytest.fixture(scope="session")
def shared_serve(shared_opencode: OpenCodeProcess, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServeProcess]:
    """One OpenChamber for all tests that leave it running; each has a project of its own in it."""
    installation = Installation(tmp_path_factory.mktemp("installation"), opencode=shared_opencode)
    process = ServeProcess(installation).start()
    yield process
    process.stop()


@pytest.fixture
def chamber(
    shared_serve: ServeProcess, opencode: OpenCodeProcess, model: ScriptedModel, git_directory: Path
) -> Chamber:
    """A fresh project on the shared OpenChamber, whose OpenCode has no plugin."""
    return Chamber(shared_serve, opencode, model, git_directory)


@pytest.fixture(scope="session")
def shared_plugged(
    scripted_model: ScriptedModel, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[ServeProcess, OpenCodeProcess]]:
    """The same with our plugin in an OpenCode of its own."""
    port = free_port()
    home = tmp_path_factory.mktemp("plugged")
    opencode = OpenCodeProcess(home=home / "opencode", model_url=scripted_model.url, plugins=[plugin(port)]).start()
    process = ServeProcess(Installation(home / "installation", opencode=opencode), port=port).start()
    yield process, opencode
    process.stop()
    opencode.close()


@pytest.fixture
def plugged(shared_plugged: tuple[ServeProcess, OpenCodeProcess], model: ScriptedModel, git_directory: Path) -> Chamber:
    """A fresh project on the shared OpenChamber whose OpenCode has our plugin."""
    return Chamber(*shared_plugged, model, git_directory)


@pytest.fixture
def serve(
    install: Callable[..., Installation], start_serve: Callable[..., ServeProcess], opencode: OpenCodeProcess
) -> ServeProcess:
    """OpenChamber on a fresh data directory, with the shared OpenCode as its agent server."""
    return start_serve(install(opencode=opencode))
