"""`doctor` and the health page: what they find, what they say to do, and what they end with."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from io import StringIO
from pathlib import Path
from typing import Any, ClassVar

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client
from django.utils import timezone

from openchamber import doctor, examinations
from openchamber.models import AgentServer, ApiToken, Delivery, Lease, Session
from openchamber.models.leases import holder
from openchamber.sessions.servers import PLUGIN
from tests.agent_server.serve_process import Installation

pytestmark = pytest.mark.django_db
NOBODY = "http://127.0.0.1:9"


def levels() -> dict[str, set[str]]:
    """The levels found for each topic."""
    found: dict[str, set[str]] = {}
    for finding in doctor.examine():
        found.setdefault(finding.topic, set()).add(finding.level)
    return found


def mends() -> str:
    return "\n".join(finding.mend for finding in doctor.examine())


class OpenCodeOf(BaseHTTPRequestHandler):
    """As much of an OpenCode as the doctor asks, of any version and with any plugins."""

    version: ClassVar[str] = "1.18.33"
    plugins: ClassVar[list[Any]] = []

    def do_GET(self) -> None:
        told = {"healthy": True, "version": self.version, "plugin": self.plugins}
        body = json.dumps(told).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_args: Any) -> None:
        """Keep quiet."""


@pytest.fixture
def answering() -> Iterator[Callable[..., AgentServer]]:
    """Make an agent server that answers: `answering(version="1.17.0", plugins=[...])`."""
    servers: list[HTTPServer] = []

    def make(**told: Any) -> AgentServer:
        server = HTTPServer(("127.0.0.1", 0), type("Handler", (OpenCodeOf,), told))
        servers.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return AgentServer.objects.create(url=f"http://127.0.0.1:{server.server_port}")

    yield make
    for server in servers:
        server.shutdown()
        server.server_close()


def test_a_new_installation_works_and_wants_an_agent_server(db: None) -> None:
    found = levels()
    assert found["Database"] == {"ok"}
    assert found["Agent server"] == {"warn"}
    assert {level for every in found.values() for level in every} == {"ok", "warn"}
    assert "Install OpenCode (make install)" in mends()


def test_examining_leaves_nothing_behind() -> None:
    doctor.examine()
    assert not Lease.objects.exists()


@pytest.mark.parametrize(
    ("version", "level"), [("1.18.33", "ok"), ("1.18", "ok"), ("1.180.0", "warn"), ("1.17.9", "warn")]
)
def test_a_version_that_nobody_tested_is_said(answering: Callable[..., AgentServer], version: str, level: str) -> None:
    answering(version=version)
    assert levels()["Agent server"] == {level}


@pytest.mark.parametrize(
    ("plugins", "level"),
    [
        ([], "warn"),
        (["somebody-else"], "warn"),
        ([["file:///elsewhere/plugin.js", {"token": "oc_secret"}]], "warn"),
        ([[PLUGIN.as_uri(), {"token": "oc_secret"}]], "ok"),
        (["file:///home/x/.config/opencode/plugin/openchamber.js"], "ok"),
    ],
)
def test_it_tells_whether_opencode_loads_the_plugin(
    answering: Callable[..., AgentServer], plugins: list[Any], level: str
) -> None:
    answering(plugins=plugins)
    assert levels()["Plugin of OpenCode"] == {level}
    assert "oc_secret" not in str(doctor.examine())


def test_it_tells_whether_somebody_follows_the_events(answering: Callable[..., AgentServer]) -> None:
    server = answering()
    assert levels()["Watcher"] == {"warn"}
    server.connected(by=holder())
    assert levels()["Watcher"] == {"ok"}


@pytest.mark.parametrize(
    ("source", "level"), [("environment", "fail"), ("settings", "fail"), ("started", "fail"), ("found", "fail")]
)
def test_an_agent_server_that_somebody_named_must_answer(source: str, level: str) -> None:
    AgentServer.objects.create(url=NOBODY, source=source)
    assert levels()["Agent server"] == {level}


def test_it_tells_when_a_hook_last_took_something_along() -> None:
    session = Session.objects.create(pk="s", client=Session.Client.CODEX)
    at = timezone.now() - timedelta(hours=2)
    Delivery.objects.create(session=session, sequence=1, cause="hook", state="confirmed", claimed_at=at, expires_at=at)
    says = {finding.topic: finding.says for finding in doctor.examine()}
    assert "2" in says["Client Codex"]
    assert "OpenCode" in says["Clients"]
    assert "Client OpenCode" not in says


def test_deliveries_that_nobody_settled_are_said() -> None:
    session = Session.objects.create(pk="s")
    at = timezone.now() - timedelta(hours=1)
    Delivery.objects.create(session=session, sequence=1, cause="message", claimed_at=at, expires_at=at)
    assert levels()["Deliveries"] == {"warn"}


def test_a_token_that_nobody_used_for_long_is_said(owner: User) -> None:
    token, _secret = ApiToken.make(name="cron", user=owner)
    assert levels()["API tokens"] == {"ok"}
    ApiToken.objects.filter(pk=token.pk).update(created_at=timezone.now() - timedelta(days=100))
    assert levels()["API tokens"] == {"warn"}


def test_a_system_check_is_a_finding(settings: Any) -> None:
    settings.ENVIRONMENT_TOKEN = "short"
    assert levels()["Configuration"] == {"warn"}
    assert "secrets.token_urlsafe" in mends()


def test_little_room_is_said(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("openchamber.examinations.LITTLE_SPACE", 1 << 60)
    assert levels()["Data directory"] == {"warn"}


def test_memory_that_this_process_leaves_out_is_said(settings: Any) -> None:
    settings.MEMORY_INSTALLED = False
    MigrationRecorder.Migration.objects.filter(app="memory").delete()
    assert [finding.level for finding in examinations.memory()] == ["ok"]
    MigrationRecorder(connection).record_applied("memory", "0001_initial")
    (finding,) = examinations.memory()
    assert finding.level == "warn"
    assert "for serve and for every other command" in finding.mend


# The command -----------------------------------------------------------------------------


def test_the_command_says_what_it_found_and_how_to_mend_it() -> None:
    out = StringIO()
    call_command("doctor", stdout=out)
    assert "OK    Database: " in out.getvalue()
    assert "WARN  Agent server: " in out.getvalue()
    assert "To mend it: Install OpenCode" in out.getvalue()


def test_the_command_ends_with_1_when_something_does_not_work() -> None:
    AgentServer.objects.create(url=NOBODY)
    out = StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("doctor", "--json", stdout=out)
    assert ended.value.code == 1
    told = json.loads(out.getvalue())
    assert told["healthy"] is False
    [failed] = [finding for finding in told["findings"] if finding["level"] == "fail"]
    assert set(failed) == {"topic", "level", "says", "mend"}
    assert failed["mend"]


def test_before_the_first_start_it_says_what_to_do(tmp_path: Path) -> None:
    answer = Installation(tmp_path).manage("doctor")
    assert (answer.returncode, answer.stderr) == (1, "")
    assert "FAIL  Database" in answer.stdout
    assert "Start OpenChamber once" in answer.stdout


def test_a_damaged_database_is_said_in_a_sentence(tmp_path: Path) -> None:
    installation = Installation(tmp_path)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "openchamber.sqlite3").write_bytes(b"no database at all" * 1000)
    answer = installation.manage("doctor")
    assert (answer.returncode, answer.stderr) == (1, "")
    assert "FAIL  Database: The database cannot be opened: file is not a database" in answer.stdout


# The page --------------------------------------------------------------------------------


def test_the_page_shows_the_worst_first(panel: Client) -> None:
    AgentServer.objects.create(url=NOBODY)
    answer = panel.get("/settings/health/")
    assert answer.status_code == 200
    found = [finding.level for finding in answer.context["findings"]]
    assert found == sorted(found, key=("fail", "warn", "ok").index)
    assert found[0] == "fail"
    assert b"Something does not work" in answer.content
    assert b"/settings/health/" in panel.get("/settings/").content


def test_the_page_is_for_staff(sign_in: Callable[..., Client], member: User) -> None:
    client = sign_in(member)
    assert client.get("/settings/health/").status_code == 403
    assert b"/settings/health/" not in client.get("/settings/").content


def test_the_page_costs_the_same_for_2_and_200_rows(panel: Client, owner: User, count_queries: Any) -> None:
    def grow(count: int) -> int:
        for number in range(count):
            session = Session.objects.create(pk=f"{count}-{number}")
            now = timezone.now()
            Delivery.objects.create(
                session=session, sequence=1, cause="hook", state="confirmed", claimed_at=now, expires_at=now
            )
            ApiToken.make(name=f"t{number}", user=owner)
        return int(count_queries(lambda: panel.get("/settings/health/")))

    assert grow(2) == grow(200)
