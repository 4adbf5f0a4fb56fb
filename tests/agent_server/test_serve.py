"""`serve` and its sister commands as people start and stop them."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from stat import S_IMODE

import httpx2
import pytest

from tests.agent_server.opencode_process import ROOT, OpenCodeProcess
from tests.agent_server.serve_process import LINK, Installation, ManagedProcess, ServeProcess


def test_serve_is_ready_and_tells_a_signed_in_caller_of_the_agent_server(
    serve: ServeProcess, opencode: OpenCodeProcess
) -> None:
    health = serve.request("GET", "/health")
    assert health["status"] == "ok"
    assert health["database"] == "sqlite"
    assert health["agent_server"]["url"] == opencode.url
    assert health["agent_server"]["reachable"] is True
    anonymous = httpx2.get(f"{serve.url}/api/health", trust_env=False).json()
    assert "agent_server" not in anonymous


def test_the_link_that_serve_prints_signs_in_once(serve: ServeProcess) -> None:
    with httpx2.Client(base_url=serve.url, trust_env=False, follow_redirects=True) as person:
        assert person.get("/").url.path != "/"
        page = person.get(serve.link)
        assert page.status_code == 200
        form = {"csrfmiddlewaretoken": person.cookies["openchamber_csrf"]}
        assert person.post(serve.link, data=form, headers={"Referer": serve.link}).url.path == "/"
        assert person.get("/").url.path == "/"
    with httpx2.Client(base_url=serve.url, trust_env=False, follow_redirects=True) as other:
        other.get(serve.link)
        form = {"csrfmiddlewaretoken": other.cookies["openchamber_csrf"]}
        other.post(serve.link, data=form, headers={"Referer": serve.link})
        assert other.get("/").url.path != "/"


def test_serve_ends_in_time_although_a_request_is_open(serve: ServeProcess) -> None:
    with socket.create_connection(("127.0.0.1", serve.port)) as connection:
        connection.sendall(b"GET /api/health HTTP/1.1\r\n")
        serve.stop()  # asserts exit status 0 within five seconds


def test_serve_starts_again_on_what_it_left(
    install: Callable[..., Installation], start_serve: Callable[..., ServeProcess], git_directory: Path
) -> None:
    installation = install()
    first = start_serve(installation)
    project = first.request("POST", "/projects", {"directory": str(git_directory)}, status=201)
    first.kill()
    second = start_serve(installation)
    assert second.link != first.link
    assert [found["id"] for found in second.request("GET", "/projects")["results"]] == [project["id"]]


def test_data_is_readable_by_its_owner_alone(
    install: Callable[..., Installation], start_serve: Callable[..., ServeProcess]
) -> None:
    installation = install()
    start_serve(installation)
    data = installation.directory / "data"
    assert S_IMODE(data.stat().st_mode) == 0o700
    assert S_IMODE((data / "secret_key").stat().st_mode) == 0o600


def test_a_taken_port_is_said_in_a_sentence(install: Callable[..., Installation]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        answer = install().manage("serve", "--no-opencode", "--port", str(taken.getsockname()[1]))
    assert answer.returncode != 0
    assert "Traceback" not in answer.stderr
    assert str(taken) not in answer.stderr
    assert 'Address already in use. Choose another port: make run ARGS="--port 9000".' in answer.stderr


@pytest.mark.parametrize("host", ["192.0.2.1", "no such host"])
def test_an_address_of_another_machine_is_not_taken_for_a_taken_port(
    install: Callable[..., Installation], host: str
) -> None:
    answer = install().manage("serve", "--no-opencode", "--host", host)
    assert answer.returncode == 1
    assert f"--host {host} is no address of this machine: " in answer.stderr
    assert "Choose another port" not in answer.stderr


def test_who_starts_it_twice_is_told_that_it_runs(install: Callable[..., Installation], serve: ServeProcess) -> None:
    answer = install().manage("serve", "--no-opencode", "--port", str(serve.port))
    assert answer.returncode == 1
    assert f"is running already at 127.0.0.1:{serve.port}" in answer.stderr
    assert f"manage.py login --port {serve.port} prints a link" in answer.stderr


def test_serve_says_how_long_its_link_works_and_how_to_stop_it(serve: ServeProcess) -> None:
    assert "The link works once, within ten minutes. Stop with Ctrl+C." in serve.output.text


def test_login_prints_another_link(
    install: Callable[..., Installation], start_serve: Callable[..., ServeProcess]
) -> None:
    installation = install()
    serve = start_serve(installation)
    answer = installation.manage("login")
    assert answer.returncode == 0, answer.stderr
    link = LINK.search(answer.stdout)
    assert link is not None
    assert link[1] != serve.link
    assert link[1].startswith(f"{serve.url}/login/")  # where it runs, not where it would by default


def test_login_without_a_running_serve_is_for_the_usual_address_and_for_the_one_that_is_named(
    install: Callable[..., Installation], start_serve: Callable[..., ServeProcess]
) -> None:
    installation = install()
    start_serve(installation).stop()
    assert not (installation.directory / "data" / "panel").exists()
    assert installation.manage("login").stdout.startswith("http://127.0.0.1:8790/login/")
    assert installation.manage("login", "--port", "9000").stdout.startswith("http://127.0.0.1:9000/login/")
    assert installation.manage("login", "--host", "::1").stdout.startswith("http://[::1]:8790/login/")


def test_of_two_panels_login_is_for_the_one_that_started_last(
    install: Callable[..., Installation], start_serve: Callable[..., ServeProcess]
) -> None:
    installation = install()
    first, second = start_serve(installation), start_serve(installation)
    first.stop()
    assert installation.manage("login").stdout.startswith(f"{second.url}/login/")


def test_a_token_lets_a_program_in_until_it_is_revoked(
    install: Callable[..., Installation], start_serve: Callable[..., ServeProcess]
) -> None:
    installation = install()
    serve = start_serve(installation)
    secret = installation.manage("token", "create", "script").stdout.split()[-1]
    headers = {"Authorization": f"Bearer {secret}"}
    assert httpx2.get(f"{serve.url}/api/projects", headers=headers, trust_env=False).status_code == 200
    listed = installation.manage("token", "list").stdout
    assert "script" in listed
    assert secret not in listed
    assert installation.manage("token", "revoke", "script").returncode == 0
    assert httpx2.get(f"{serve.url}/api/projects", headers=headers, trust_env=False).status_code == 401


@pytest.mark.parametrize("when", ["with", "without"])
def test_watch_ends_in_time(
    install: Callable[..., Installation],
    start_serve: Callable[..., ServeProcess],
    start_process: Callable[..., ManagedProcess],
    opencode: OpenCodeProcess,
    when: str,
) -> None:
    installation = install(opencode=opencode if when == "with" else None)
    start_serve(installation)
    watch = start_process(installation, "watch")
    watch.output.wait_for(re.compile("Watching"), within=30)
    assert watch.running
    watch.stop()


@pytest.mark.skipif(shutil.which("curl") is None, reason="the example needs curl")
def test_the_example_in_the_readme_writes_and_pins_a_note(serve: ServeProcess, tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    project = serve.request("POST", "/projects", {"directory": str(tmp_path / "shop")})
    example = re.search(r"^TOKEN=.*?(?=^```)", (ROOT / "README.md").read_text(), re.DOTALL | re.MULTILINE)
    assert example is not None
    words = example[0].replace(".venv/bin/python", sys.executable).replace("http://127.0.0.1:8790", serve.url)
    environment = {**serve.installation.environment, "no_proxy": "127.0.0.1"}
    subprocess.run(["bash", "-euc", words], cwd=ROOT, env=environment, check=True, timeout=60)
    [note] = serve.request("GET", f"/projects/{project['slug']}/notes")["results"]
    assert (note["body"], note["pinned"]) == ("Deploy on Mondays.", True)
