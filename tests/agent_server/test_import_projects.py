"""Projects from the directories that a real OpenCode server knows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client

from openchamber.models import AgentServer, Project
from tests.agent_server.opencode_process import OpenCodeProcess, git_project

pytestmark = pytest.mark.django_db


@pytest.fixture
def known(opencode: OpenCodeProcess, tmp_path: Path) -> Path:
    """A directory that OpenCode knows, since a session was made there."""
    directory = git_project(tmp_path.resolve() / "harbour")
    opencode.create_session(directory)
    AgentServer.objects.create(url=opencode.url, password=opencode.password)
    return directory


def test_directories_that_the_agent_server_knows_become_projects(panel: Client, known: Path) -> None:
    assert f'value="{known}"' in panel.get("/projects/import/").content.decode()
    answer = panel.post("/projects/import/", {"directories": [str(known)]})
    assert answer.headers["Location"] == "/"
    assert Project.objects.get(directory=str(known)).name == "harbour"
    assert f'value="{known}"' not in panel.get("/projects/import/").content.decode()


def test_a_directory_that_the_agent_server_does_not_know_is_refused(panel: Client, known: Path) -> None:
    assert panel.post("/projects/import/", {"directories": [str(known.parent)]}).status_code == 422
    assert panel.post("/projects/import/", {}).status_code == 422
    assert not Project.objects.exists()


def test_importing_is_for_staff(sign_in: Callable[..., Client], stranger: User, known: Path) -> None:
    assert sign_in(stranger).get("/projects/import/").status_code == 403
    assert b"/projects/import/" not in sign_in(stranger).get("/").content


def test_without_an_agent_server_it_says_so(panel: Client) -> None:
    answer = panel.get("/projects/import/")
    assert answer.status_code == 502
    assert b"No agent server is known" in answer.content
