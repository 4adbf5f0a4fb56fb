"""The settings page and the `token` command: tokens, agent servers, rows of the installed apps."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from openchamber.models import AgentServer, ApiToken, Project
from openchamber.projects import access
from openchamber.signals import settings_rows

pytestmark = pytest.mark.django_db


# Tokens ---------------------------------------------------------------------------------


def make_token(client: Client, **data: Any) -> str:
    """Make a token on the page; its secret as shown there."""
    answer = client.post("/settings/tokens/", {"name": "cron", "scope": "all", **data})
    assert answer.status_code == 200
    return str(answer.context["secret"])


@pytest.mark.parametrize("browser", ["panel", "htmx"])
def test_a_token_is_shown_once(browser: str, request: pytest.FixtureRequest) -> None:
    client = request.getfixturevalue(browser)
    answer = client.post("/settings/tokens/", {"name": "cron", "scope": "all"})
    secret = answer.context["secret"]
    assert secret in answer.content.decode()
    assert "no-store" in answer.headers["Cache-Control"]
    page = client.get("/settings/").content.decode()
    assert secret not in page
    assert secret[:8] in page
    found = access.caller_with(secret)
    assert found is not None
    assert found.user.username == "owner"


def test_the_htmx_answer_is_the_list_alone(htmx: Client) -> None:
    answer = htmx.post("/settings/tokens/", {"name": "cron", "scope": "all"})
    assert answer.content.strip().startswith(b'<section id="tokens"')


def test_a_token_can_be_bound_to_projects(panel: Client, project: Project) -> None:
    make_token(panel, scope="agent", projects=[str(project.pk)])
    token = ApiToken.objects.get()
    assert (token.scope, token.bound, list(token.projects.all())) == ("agent", True, [project])


def test_a_token_cannot_be_bound_to_somebody_else_s_project(
    sign_in: Callable[..., Client], stranger: User, project: Project
) -> None:
    answer = sign_in(stranger).post("/settings/tokens/", {"name": "x", "scope": "all", "projects": [project.pk]})
    assert answer.status_code == 422
    assert not ApiToken.objects.exists()


@pytest.mark.parametrize("browser", ["panel", "htmx"])
@pytest.mark.parametrize("data", [{"name": "", "scope": "all"}, {"name": "x", "scope": "root"}, {"name": "x" * 101}])
def test_a_token_without_a_name_or_scope_is_refused(
    browser: str, data: dict[str, str], request: pytest.FixtureRequest
) -> None:
    answer = request.getfixturevalue(browser).post("/settings/tokens/", data)
    assert answer.status_code == 422
    assert not ApiToken.objects.exists()


@pytest.mark.parametrize(("browser", "status"), [("panel", 302), ("htmx", 200)])
def test_a_revoked_token_is_gone_from_the_list(browser: str, status: int, request: pytest.FixtureRequest) -> None:
    client = request.getfixturevalue(browser)
    secret = make_token(client)
    token = ApiToken.objects.get()
    for _ in range(2):
        assert client.post(f"/settings/tokens/{token.pk}/revoke/").status_code == status
    assert f"token-{token.pk}" not in client.get("/settings/").content.decode()
    assert access.caller_with(secret) is None


def test_a_user_sees_and_revokes_their_own_tokens_only(
    panel: Client, sign_in: Callable[..., Client], stranger: User
) -> None:
    make_token(panel)
    token, client = ApiToken.objects.get(), sign_in(stranger)
    assert f"token-{token.pk}" not in client.get("/settings/").content.decode()
    assert client.post(f"/settings/tokens/{token.pk}/revoke/").status_code == 404
    make_token(client)
    assert panel.get("/settings/").content.decode().count('id="token-') >= 2


def test_the_list_costs_the_same_for_2_and_200_tokens(
    panel: Client, owner: User, project: Project, count_queries: Callable[[Callable[[], Any]], int]
) -> None:
    def make(number: int) -> None:
        for _ in range(number):
            ApiToken.make(name="x", user=owner, projects=[project])

    make(2)
    few = count_queries(lambda: panel.get("/settings/"))
    make(198)
    assert count_queries(lambda: panel.get("/settings/")) == few


# The command ----------------------------------------------------------------------------


def command(*words: str) -> str:
    out = StringIO()
    call_command("token", *words, stdout=out)
    return out.getvalue().strip()


def test_the_command_makes_a_token_of_the_owner_s() -> None:
    found = access.caller_with(command("create", "cron"))
    assert found is not None
    assert found.user == access.owner()
    assert found.token is not None
    assert found.token.scope == "all"


def test_the_command_makes_a_token_for_an_agent_in_one_project(project: Project) -> None:
    found = access.caller_with(command("create", "hooks", "--scope", "agent", "--project", "shop"))
    assert found is not None
    assert list(found.projects()) == [project]


def test_the_command_lists_and_revokes_by_name_and_by_id(project: Project) -> None:
    secrets = [command("create", name, "--project", "shop") for name in ("one", "two")]
    listed = command("list")
    assert [line.split("\t")[-1] for line in listed.splitlines()] == ["name", "two", "one"]
    assert "shop" in listed
    assert not any(secret in listed for secret in secrets)
    command("revoke", "one")
    command("revoke", str(ApiToken.objects.get(name="two").pk))
    assert command("list") == ""


@pytest.mark.parametrize(
    "words", [("revoke", "nothing"), ("revoke", "99"), ("create", "x" * 101), ("create", "x", "--project", "nope")]
)
def test_the_command_refuses_what_is_not_there(words: tuple[str, ...]) -> None:
    with pytest.raises(CommandError):
        command(*words)


def test_the_command_asks_for_an_id_where_a_name_is_not_enough() -> None:
    command("create", "same")
    command("create", "same")
    with pytest.raises(CommandError, match="Give an id"):
        command("revoke", "same")


# Agent servers --------------------------------------------------------------------------


class Answering(BaseHTTPRequestHandler):
    """Answers as an OpenCode server does for its health; under /page as a web page."""

    def do_GET(self) -> None:
        body, kind = (
            (b"<html>", "text/html")
            if self.path.startswith("/page")
            else (b'{"healthy":true,"version":"1.18.33"}', "application/json")
        )
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments: Any) -> None:
        """Keep quiet."""


@pytest.fixture
def server_url() -> Iterator[str]:
    """The address of a server that answers."""
    with HTTPServer(("127.0.0.1", 0), Answering) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(("browser", "status"), [("panel", 302), ("htmx", 200)])
def test_a_server_that_answers_is_added_and_removed(
    browser: str, status: int, request: pytest.FixtureRequest, server_url: str
) -> None:
    client = request.getfixturevalue(browser)
    assert client.post("/settings/servers/", {"url": server_url + "/"}).status_code == status
    server = AgentServer.objects.usable().get()
    assert server.url == server_url
    assert client.post(f"/settings/servers/{server.pk}/remove/").status_code == status
    assert not AgentServer.objects.usable().exists()
    client.post("/settings/servers/", {"url": server_url})
    assert AgentServer.objects.usable().get() == server


@pytest.mark.parametrize("browser", ["panel", "htmx"])
@pytest.mark.parametrize(
    "url",
    [
        "",
        "127.0.0.1:4096",
        "ftp://127.0.0.1",
        "http://",
        "http://user:x@127.0.0.1",
        "http://127.0.0.1:99999",
        "http://127.0.0.1:9",
        "javascript:alert(1)",
    ],
)
def test_what_is_no_server_is_refused(browser: str, url: str, request: pytest.FixtureRequest) -> None:
    answer = request.getfixturevalue(browser).post("/settings/servers/", {"url": url})
    assert answer.status_code == 422
    assert not AgentServer.objects.exists()


def test_a_server_that_answers_with_a_page_is_refused(panel: Client, server_url: str) -> None:
    assert panel.post("/settings/servers/", {"url": f"{server_url}/page"}).status_code == 422


def test_only_staff_change_servers(sign_in: Callable[..., Client], stranger: User, server_url: str) -> None:
    server = AgentServer.objects.create(url=server_url)
    client = sign_in(stranger)
    assert client.post("/settings/servers/", {"url": server_url}).status_code == 403
    assert client.post(f"/settings/servers/{server.pk}/remove/").status_code == 403
    assert b'action="/settings/servers/"' not in client.get("/settings/").content


def test_a_server_s_password_is_never_shown(panel: Client, server_url: str) -> None:
    AgentServer.objects.create(url=server_url, password="hunter2-hunter2")
    for path in (
        "/settings/",
        "/admin/openchamber/agentserver/",
        f"/admin/openchamber/agentserver/{AgentServer.objects.get().pk}/change/",
    ):
        assert b"hunter2" not in panel.get(path).content


# Rows of the installed apps -------------------------------------------------------------


def test_an_app_adds_rows_and_one_that_raises_is_left_out(panel: Client) -> None:
    def adds(**_arguments: object) -> list[tuple[str, dict[str, object]]]:
        return [("openchamber/problem.html", {"problem": {"status": 409, "message": "a row of an app"}})]

    def raises(**_arguments: object) -> list[object]:
        raise ValueError

    settings_rows.connect(adds)
    settings_rows.connect(raises)
    try:
        page = panel.get("/settings/")
    finally:
        settings_rows.disconnect(adds)
        settings_rows.disconnect(raises)
    assert page.status_code == 200
    assert b"a row of an app" in page.content


def test_settings_are_for_the_signed_in(client: Client) -> None:
    assert client.get("/settings/").status_code == 302
    assert client.post("/settings/tokens/").status_code == 302


def test_a_page_of_no_project_keeps_the_way_back_to_the_last_one(
    panel: Client, project: Project, sign_in: Callable[..., Client], stranger: User
) -> None:
    sessions = f'href="{reverse("openchamber:sessions", args=[project.slug])}"'
    assert sessions not in panel.get("/settings/").content.decode()
    panel.get(project.get_absolute_url(), follow=True)
    assert sessions in panel.get("/settings/").content.decode()
    assert sessions not in panel.get("/").content.decode()
    assert sessions not in sign_in(stranger).get("/settings/").content.decode()
    project.delete()
    assert sessions not in panel.get("/settings/").content.decode()
