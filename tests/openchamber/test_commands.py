"""Commands with wrong arguments say so in a sentence."""

from __future__ import annotations

import logging
import re
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from openchamber.models import AgentServer, ApiToken, Project, Session
from openchamber.models.leases import holder
from openchamber.sessions import servers
from tests.agent_server.opencode_process import free_port
from tests.agent_server.serve_process import Installation

pytestmark = pytest.mark.django_db
NOBODY = "http://127.0.0.1:9"


@pytest.mark.parametrize(
    "command",
    [
        ["login"],
        ["purge"],
        ["send", "Hello", "--new"],
        ["token", "list"],
        ["watch"],
        ["backup", "backups"],
        ["import_knowledge", "shop", "folder"],
        ["export_knowledge", "shop", "folder"],
        ["import_memory", "memory.json"],
        ["scan_memory"],
    ],
    ids=lambda command: command[0],
)
def test_before_the_first_start_a_command_says_that_there_is_no_database(tmp_path: Path, command: list[str]) -> None:
    installation = Installation(tmp_path, environment={"OPENCHAMBER_MEMORY_ENABLE": "1"})
    arguments = [str(tmp_path / one) if one == "backups" else one for one in command]
    answer = installation.manage(*arguments)
    assert (answer.returncode, answer.stdout) == (1, "")
    assert re.fullmatch(r"CommandError: (The database is not set up|There is no database yet).*\n", answer.stderr)
    assert not (tmp_path / "backups").exists()
    assert not (tmp_path / "data" / "openchamber.sqlite3").exists()


def test_who_is_in_the_wrong_data_directory_sees_which_one_it_is(tmp_path: Path) -> None:
    assert f"({tmp_path}/data/openchamber.sqlite3)" in Installation(tmp_path).manage("login").stderr


def test_the_doctor_makes_no_database_by_looking_for_it(tmp_path: Path) -> None:
    answer = Installation(tmp_path).manage("doctor")
    assert answer.returncode == 1
    assert "FAIL  Database: There is no database yet." in answer.stdout
    assert "make run" in answer.stdout
    assert not (tmp_path / "data" / "openchamber.sqlite3").exists()


@pytest.mark.parametrize("command", [["serve", "--no-opencode"], ["token", "list"], ["doctor"]], ids=lambda one: one[0])
def test_a_database_that_is_away_is_said_at_once_and_in_a_sentence(tmp_path: Path, command: list[str]) -> None:
    away = {"DATABASE_URL": f"postgres://nobody@127.0.0.1:{free_port()}/nothing"}
    command += ["--port", str(free_port())] if command[0] == "serve" else []
    answer = Installation(tmp_path, environment=away).manage(*command, timeout=25)
    assert answer.returncode == 1
    said = answer.stdout + answer.stderr
    assert re.search(r"The database cannot be opened: .*refused", said)
    assert "Check DATABASE_URL" in said
    assert "Traceback" not in said
    assert "psycopg.pool" not in said


def test_the_log_level_is_taken_in_either_case_and_a_wrong_one_names_those_that_there_are(tmp_path: Path) -> None:
    loud = Installation(tmp_path, environment={"OPENCHAMBER_LOG_LEVEL": "loud"}).manage("check")
    assert (loud.returncode, loud.stdout) == (1, "")
    assert loud.stderr == (
        "openchamber: OPENCHAMBER_LOG_LEVEL must be one of DEBUG, INFO, WARNING, ERROR, CRITICAL, not 'LOUD'.\n"
    )
    assert Installation(tmp_path, environment={"OPENCHAMBER_LOG_LEVEL": "error"}).manage("check").returncode == 0


def test_purge_of_more_days_than_there_were_is_refused() -> None:
    for days in ("999999999", "800000", "9" * 30):
        with pytest.raises(CommandError, match="Give a smaller number"):
            call_command("purge", "--days", days)


def test_a_backup_into_a_file_says_that_this_is_no_directory(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("x")
    with pytest.raises(CommandError) as refused:
        call_command("backup", str(file))
    assert str(refused.value) == f"No backup can be put into {file}: Not a directory. Name a directory."


@pytest.mark.parametrize("name", ["", "   ", "two\nlines", "\u202egnp", "x" * 101])
def test_a_token_needs_a_name_of_one_line(owner, name: str) -> None:
    with pytest.raises(CommandError):
        call_command("token", "create", name)
    assert not ApiToken.objects.exists()


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [("--title", "two\nlines", "--title: This must be one line"), ("--message-id", "nope", "--message-id")],
)
def test_send_refuses_what_no_session_takes(project: Project, option: str, value: str, said: str) -> None:
    with pytest.raises(CommandError, match=said):
        call_command("send", "Hello", "--new", "--project", "shop", option, value)


def test_the_opencode_that_serve_started_is_asked_with_its_own_password(opencode, monkeypatch, caplog) -> None:
    """OpenCode takes its usual address when that is free, also where `serve` starts it."""
    monkeypatch.setattr(servers, "DEFAULT_URL", opencode.url)
    started = AgentServer.objects.create(
        url=opencode.url, password=opencode.password, source=AgentServer.Source.STARTED, started_by=holder()
    )
    with caplog.at_level(logging.DEBUG, "openchamber"):
        assert servers.find() == started
    assert not [record for record in caplog.records if "no agent server" in record.getMessage()]
    started.refresh_from_db()
    assert (started.source, started.password) == (AgentServer.Source.STARTED, opencode.password)


def test_nothing_is_said_of_an_opencode_that_was_merely_looked_for(monkeypatch, caplog) -> None:
    monkeypatch.setattr(servers, "DEFAULT_URL", NOBODY)
    AgentServer.objects.create(url=NOBODY, source=AgentServer.Source.STARTED, started_by=holder())
    with caplog.at_level(logging.INFO, "openchamber"):
        assert servers.find() is None
    assert caplog.text == ""


def test_send_names_the_projects_that_there_are(project: Project, tmp_path: Path) -> None:
    with pytest.raises(CommandError) as refused:
        call_command("send", "Hello", "--new", "--project", "nope")
    assert str(refused.value) == f"There is no project nope. There are: {project.slug}."
    with pytest.raises(CommandError) as refused:
        call_command("send", "Hello", "--new", "--directory", str(tmp_path))
    assert str(refused.value) == f"No project contains {tmp_path}. There are: {project.slug}."
    with pytest.raises(CommandError) as refused:
        call_command("token", "create", "script", "--project", "nope")
    assert str(refused.value) == f"There is no project “nope”. There are: {project.slug}."


@pytest.mark.parametrize("wrong", [("--model", "no/such"), ("--agent", "nobody")], ids=lambda wrong: wrong[0])
def test_what_a_new_session_is_refused_for_leaves_no_session(
    opencode, project: Project, monkeypatch, wrong: tuple[str, str]
) -> None:
    AgentServer.objects.create(url=opencode.url, password=opencode.password)
    monkeypatch.setattr(servers, "DEFAULT_URL", NOBODY)
    with pytest.raises(CommandError, match="OpenCode has no"):
        call_command("send", "Hello", "--new", "--project", "shop", *wrong)
    assert not Session.objects.exists()


@pytest.mark.django_db(transaction=True)  # blocks are assembled in threads of their own
def test_send_to_an_agent_server_that_is_away_says_what_to_do_and_logs_nothing(project: Project, caplog) -> None:
    server = AgentServer.objects.create(url=NOBODY)
    session = Session.objects.create(pk="ses_1", server=server, project=project, directory=project.directory)
    with caplog.at_level(logging.INFO, "openchamber"), pytest.raises(CommandError) as refused:
        call_command("send", "Hello", "--session", session.pk)
    assert str(refused.value) == (
        f"No agent server can be reached at {NOBODY}. Start OpenChamber (make run): it finds or starts OpenCode."
    )
    assert caplog.text == ""


def test_the_list_of_tokens_says_what_stands_where(owner) -> None:
    ApiToken.make(name="script", user=owner)
    out = StringIO()
    call_command("token", "list", stdout=out)
    head, token = out.getvalue().splitlines()
    assert head.split("\t") == ["id", "begins", "may", "projects", "last used (UTC)", "name"]
    assert token.split("\t")[-2:] == ["-", "script"]


def test_the_demo_without_opencode_ends_and_says_why(settings, monkeypatch, tmp_path: Path) -> None:
    settings.BASE_DIR = tmp_path
    monkeypatch.setenv("PATH", "")
    with pytest.raises(CommandError) as refused:
        call_command("serve", "--demo")
    assert str(refused.value) == "The demo needs OpenCode, which is not installed: npm install -g opencode-ai."
