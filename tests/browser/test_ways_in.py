"""Signing in, projects, settings and the admin in Chromium, as a person does it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.agent_server.serve_process import Installation, ServeProcess
from tests.browser.fixtures import Complaints


@pytest.fixture(scope="module")
def serve(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServeProcess]:
    """One OpenChamber without an agent server for this module."""
    running = ServeProcess(Installation(tmp_path_factory.mktemp("ways-in"))).start()
    yield running
    running.stop()


def new_link(serve: ServeProcess) -> str:
    """A fresh sign-in link."""
    made = serve.installation.manage("login", "--port", str(serve.port))
    assert made.returncode == 0, made.stderr
    return made.stdout.strip()


def sign_in(page: Page, serve: ServeProcess) -> Page:
    """Sign in by a fresh link."""
    page.goto(new_link(serve))
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("button", name="Add the project")).to_be_visible()
    return page


@pytest.mark.parametrize("javascript", [True, False])
def test_a_link_signs_in_once(
    serve: ServeProcess, open_page: Callable[..., Page], complaints: Complaints, javascript: bool
) -> None:
    complaints.expect("410")
    page = open_page(javascript=javascript)
    link = new_link(serve)
    page.goto(f"{serve.url}/settings/")
    expect(page).to_have_url(f"{serve.url}/login/?next=/settings/")
    expect(page.get_by_text("openchamber login")).to_be_visible()
    page.goto(link)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("button", name="Add the project")).to_be_visible()
    other = open_page(javascript=javascript)
    other.goto(link)
    other.get_by_role("button", name="Sign in").click()
    expect(other.get_by_text("no longer good")).to_be_visible()


def test_signing_out_ends_it(serve: ServeProcess, page: Page) -> None:
    sign_in(page, serve)
    page.get_by_role("link", name="Settings").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page).to_have_url(f"{serve.url}/login/")
    page.goto(serve.url)
    expect(page).to_have_url(re.compile("/login/"))


@pytest.mark.parametrize("javascript", [True, False])
def test_a_project_is_added_removed_and_brought_back(
    serve: ServeProcess, open_page: Callable[..., Page], complaints: Complaints, tmp_path: Path, javascript: bool
) -> None:
    complaints.expect("422")
    page = sign_in(open_page(javascript=javascript), serve)
    directory = tmp_path.resolve() / f"harbour-{javascript}"
    page.get_by_label("Directory").fill(str(directory))
    page.get_by_role("button", name="Add the project").click()
    expect(page.get_by_text("There is no directory at")).to_be_visible()
    directory.mkdir()
    expect(page.get_by_label("Directory")).to_have_value(str(directory))
    page.get_by_role("button", name="Add the project").click()
    expect(page).to_have_url(re.compile(r"/projects/harbour-(true|false)/"))
    page.goto(serve.url)
    page.get_by_role("link", name=f"Edit {directory.name}").click()
    page.get_by_role("button", name="Remove the project").click()
    expect(page.get_by_text("was removed")).to_be_visible()
    page.get_by_text("Removed projects").click()
    page.get_by_role("button", name=f"Bring back {directory.name}").click()
    expect(page).to_have_url(re.compile(r"/projects/harbour-(true|false)/"))


def test_a_token_is_made_shown_once_and_revoked(serve: ServeProcess, page: Page) -> None:
    sign_in(page, serve)
    page.goto(f"{serve.url}/settings/")
    tokens = page.locator("#tokens")
    tokens.get_by_label("Name").fill("cron")
    tokens.get_by_role("button", name="Make a token").click()
    secret = page.locator("#new-token").inner_text()
    assert secret.startswith("oc_")
    answer = page.request.get(f"{serve.url}/api/projects", headers={"Authorization": f"Bearer {secret}"})
    assert answer.status == 200
    page.reload()
    assert secret not in page.content()
    tokens.get_by_role("button", name="Revoke cron").click()
    page.locator("#confirm").get_by_role("button", name="Revoke cron").click()
    expect(tokens.get_by_role("listitem").filter(has_text="cron")).to_have_count(0)
    answer = page.request.get(f"{serve.url}/api/projects", headers={"Authorization": f"Bearer {secret}"})
    assert answer.status == 401


def test_a_server_that_does_not_answer_is_refused_in_place(
    serve: ServeProcess, page: Page, complaints: Complaints
) -> None:
    complaints.expect("422")
    sign_in(page, serve)
    page.goto(f"{serve.url}/settings/")
    page.get_by_label("Address").fill("http://127.0.0.1:9")
    page.get_by_role("button", name="Add the server").click()
    expect(page.locator("#servers").get_by_role("alert")).to_contain_text("127.0.0.1:9")
    expect(page.get_by_label("Address")).to_have_value("http://127.0.0.1:9")


def test_the_admin_works_under_the_policy(serve: ServeProcess, page: Page) -> None:
    sign_in(page, serve)
    page.goto(f"{serve.url}/admin/")
    models = page.locator("#content-main a[href^='/admin/']")
    addresses = sorted({address for link in models.all() if (address := link.get_attribute("href"))})
    assert "/admin/openchamber/project/" in addresses
    for address in addresses:
        answer = page.goto(serve.url + address)
        assert answer is not None
        assert answer.status == 200, address


def test_the_admin_s_form_changes_a_project(serve: ServeProcess, page: Page, tmp_path: Path) -> None:
    made = serve.request("POST", "/projects", {"directory": str(tmp_path), "name": "Old name"})
    sign_in(page, serve)
    page.goto(f"{serve.url}/admin/openchamber/project/{made['id']}/change/")
    page.get_by_label("Name:").fill("New name")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("was changed successfully")).to_be_visible()
    assert serve.request("GET", f"/projects/{made['id']}")["name"] == "New name"


def test_the_pages_are_accessible(
    serve: ServeProcess, page: Page, complaints: Complaints, accessibility: Callable[[Page], list[str]]
) -> None:
    complaints.expect("404.*/nothing/")
    page.goto(f"{serve.url}/login/")
    wrong = accessibility(page)
    page.goto(new_link(serve))
    wrong += accessibility(page)
    sign_in(page, serve)
    for path in ("/", "/settings/", "/api/docs", "/nothing/"):
        page.goto(serve.url + path)
        wrong += accessibility(page)
    assert wrong == []
