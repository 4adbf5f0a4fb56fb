"""The security floor: headers, hosts, cookies, transport, the data directory, and the checks that watch over them."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core import checks as django_checks
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory

from openchamber import checks, data_directory
from openchamber.middleware import encrypted_transport
from openchamber.models import SignInLink

ROOT = Path(__file__).resolve().parent.parent.parent
PATHS = ["/", "/login/", "/login/unknown", "/settings/", "/nothing/", "/api/health", "/api/nothing", "/admin/"]


@pytest.mark.django_db
@pytest.mark.parametrize("path", PATHS)
def test_every_answer_carries_the_policy(panel: Client, client: Client, path: str) -> None:
    for answer in (panel.get(path), client.get(path)):
        policy = answer.headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'self';")
        assert "unsafe" not in policy
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["X-Frame-Options"] == "DENY"
        assert answer.headers["Referrer-Policy"] == "same-origin"
        assert answer.headers["Cross-Origin-Opener-Policy"] == "same-origin"
        assert "camera=()" in answer.headers["Permissions-Policy"]
        assert "public" not in answer.headers["Cache-Control"]


@pytest.mark.django_db
@pytest.mark.parametrize("path", PATHS)
def test_page_and_fragment_of_one_address_are_kept_apart(panel: Client, path: str) -> None:
    assert "HX-Request" in panel.get(path).headers["Vary"]


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/", "/login/", "/login/unknown", "/settings/", "/nothing/", "/admin/"])
def test_no_page_has_anything_inline(panel: Client, path: str) -> None:
    page = panel.get(path).content.decode()
    for forbidden in (
        "<style",
        " style=",
        " onclick=",
        " onload=",
        " onsubmit=",
        "javascript:",
        "<script>",
        "data:image",
    ):
        assert forbidden not in page


@pytest.mark.django_db
def test_cookies_have_names_of_our_own_and_stay_here(client: Client, owner: User) -> None:
    client.post(f"/login/{SignInLink.make(owner)}")
    assert set(client.cookies) == {"openchamber_session", "openchamber_csrf"}
    for cookie in client.cookies.values():
        assert (cookie["httponly"], cookie["samesite"]) == (True, "Strict")


@pytest.mark.django_db
@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "0.0.0.0"])
def test_a_foreign_host_name_is_refused(client: Client, host: str) -> None:
    assert client.get("/login/", headers={"Host": host}).status_code == 400


@pytest.mark.django_db
@pytest.mark.parametrize("host", ["127.0.0.1:8790", "localhost:8790", "[::1]:8790"])
def test_this_machine_s_own_names_are_answered(client: Client, host: str) -> None:
    assert client.get("/login/", headers={"Host": host}).status_code == 200


@pytest.mark.django_db
def test_a_form_without_its_token_is_refused_with_a_page_or_a_toast(owner: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(owner)
    page = client.post("/projects/")
    assert page.status_code == 403
    assert b"open for too long" in page.content
    fragment = client.post("/projects/", headers={"HX-Request": "true"})
    assert (fragment.status_code, fragment.content) == (403, b"")
    assert "open for too long" in fragment.headers["HX-Trigger"]
    assert fragment.headers["HX-Reswap"] == "none"


@pytest.mark.django_db
def test_an_unknown_page_has_a_page(panel: Client, client: Client) -> None:
    for answer in (panel.get("/nothing/"), client.get("/nothing/")):
        assert answer.status_code == 404
        assert b"There is nothing at this address" in answer.content


# Under a host name ----------------------------------------------------------------------


def asked(host: str, *, secure: bool = False, path: str = "/a/?b=c") -> HttpResponse:
    """The answer of a view that sets a cookie, behind the transport middleware."""

    def view(request: HttpRequest) -> HttpResponse:
        response = HttpResponse()
        response.set_cookie("openchamber_session", "x", secure=True)
        return response

    request = RequestFactory().get(path, headers={"Host": host}, secure=secure)
    answer = encrypted_transport(view)(request)
    assert isinstance(answer, HttpResponse)
    return answer


@pytest.fixture
def named(settings: Any) -> None:
    """Served as box.example."""
    settings.ALLOWED_HOSTS = ["127.0.0.1", "localhost", "[::1]", "box.example"]


@pytest.mark.usefixtures("named")
def test_a_named_host_is_sent_to_https() -> None:
    answer = asked("box.example")
    assert (answer.status_code, answer.headers["Location"]) == (301, "https://box.example/a/?b=c")


@pytest.mark.usefixtures("named")
def test_over_https_cookies_stay_secure() -> None:
    answer = asked("box.example", secure=True)
    assert answer.status_code == 200
    assert answer.cookies["openchamber_session"]["secure"] is True


@pytest.mark.usefixtures("named")
@pytest.mark.parametrize("host", ["127.0.0.1:8790", "localhost", "[::1]:8790"])
def test_plain_http_goes_on_working_on_this_machine(host: str) -> None:
    answer = asked(host)
    assert answer.status_code == 200
    assert not answer.cookies["openchamber_session"]["secure"]


def manage(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A management command in a process of its own."""
    return subprocess.run(
        [sys.executable, "manage.py", *words],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("hosts", ["box.example", "box.example,other.example"])
def test_check_deploy_is_clean_under_a_host_name(hosts: str, tmp_path: Path) -> None:
    environment = {"OPENCHAMBER_ALLOWED_HOSTS": hosts, "OPENCHAMBER_DATA_DIR": str(tmp_path / "data")}
    checked = manage("check", "--deploy", "--fail-level", "WARNING", **environment)
    assert checked.returncode == 0, checked.stderr
    assert "no issues" in checked.stdout


@pytest.mark.parametrize("words", [("login",), ("token", "list")])
def test_a_command_says_when_there_is_no_database_yet(words: tuple[str, ...], tmp_path: Path) -> None:
    done = manage(*words, OPENCHAMBER_DATA_DIR=str(tmp_path / "data"), DATABASE_URL="")
    assert done.returncode == 1
    assert "The database is not set up" in done.stderr
    assert "Traceback" not in done.stderr


# The data directory ---------------------------------------------------------------------


def test_the_data_directory_and_the_key_are_private(tmp_path: Path) -> None:
    directory = data_directory.prepare(tmp_path / "deep" / "data")
    key = data_directory.secret_key(directory)
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    assert stat.S_IMODE((directory / "secret_key").stat().st_mode) == 0o600
    assert len(key) >= 50
    assert data_directory.secret_key(directory) == key


# Checks ---------------------------------------------------------------------------------


def ids(found: list[django_checks.CheckMessage]) -> list[str | None]:
    assert all(message.hint for message in found)
    return [message.id for message in found]


def test_this_installation_has_nothing_to_complain_about() -> None:
    for check in (
        checks.private_data,
        checks.sqlite,
        checks.hosts,
        checks.environment_token,
        checks.context_limits,
    ):
        assert check() == []


def test_a_data_directory_that_others_can_read_is_a_warning(settings: Any, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path
    (tmp_path / "secret_key").write_text("x")
    tmp_path.chmod(0o755)
    (tmp_path / "secret_key").chmod(0o644)
    assert ids(checks.private_data()) == ["openchamber.W001", "openchamber.W001"]


def test_every_host_name_is_a_warning(settings: Any) -> None:
    settings.ALLOWED_HOSTS = ["*"]
    assert ids(checks.hosts()) == ["openchamber.W002"]


def test_debug_on_a_network_is_a_warning(settings: Any) -> None:
    settings.DEBUG, settings.HOST_NAMES = True, ["box.example"]
    assert ids(checks.hosts()) == ["openchamber.W003"]


def test_a_short_token_in_the_environment_is_a_warning(settings: Any) -> None:
    settings.ENVIRONMENT_TOKEN = "secret"
    assert ids(checks.environment_token()) == ["openchamber.W004"]


def test_limits_under_which_nothing_can_be_told_are_warnings(settings: Any) -> None:
    settings.CONTEXT_BUDGET, settings.CONTEXT_TIMEOUT = 100, 0
    assert ids(checks.context_limits()) == ["openchamber.W005", "openchamber.W006"]


def test_an_old_sqlite_is_an_error(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    if "sqlite" not in settings.DATABASES["default"]["ENGINE"]:
        pytest.skip("another database")
    monkeypatch.setattr("sqlite3.sqlite_version_info", (3, 30, 0))
    assert ids(checks.sqlite()) == ["openchamber.E001"]
