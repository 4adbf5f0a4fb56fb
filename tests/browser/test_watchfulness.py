"""The browser tests are only worth what they notice: each kind of complaint is provoked here once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.browser.fixtures import Complaints

PAGES = {
    "/fine": "<h1>Fine</h1>",
    "/inline": "<h1>Inline</h1><script>document.title = 'ran'</script>",
    "/missing": "<h1>Missing</h1><script src='/no-such.js'></script>",
    "/raises": "<h1>Raises</h1><script src='/raises.js'></script>",
    "/raises.js": "setTimeout(() => { throw new Error('on purpose') })",
    "/unlabelled": "<main><h1>Unlabelled</h1><input id=name></main>",
    "/wide": "<main><h1>Wide</h1><table width=2000><tr><td>x</table></main>",
}


class Handler(BaseHTTPRequestHandler):
    """Serves PAGES under our own content security policy."""

    def do_GET(self) -> None:
        body = PAGES.get(self.path)
        self.send_response(200 if body or self.path == "/favicon.ico" else 404)
        script = self.path.endswith(".js")
        self.send_header("Content-Type", "text/javascript" if script else "text/html")
        self.send_header("Content-Security-Policy", "default-src 'self'")
        self.end_headers()
        page = f"<!doctype html><html lang=en><title>Page</title>{body}"
        self.wfile.write((body if script and body else page).encode())

    def log_message(self, format: str, *args: Any) -> None:
        """Keep quiet."""


@pytest.fixture
def site() -> Iterator[str]:
    """The address of a site that serves PAGES."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


def heard_of(complaints: Complaints, page: Page, url: str) -> str:
    """What is complained of while `url` loads, taken out so that this test passes."""
    page.goto(url)
    page.wait_for_timeout(200)
    heard = "\n".join(complaints.unexpected)
    complaints.heard.clear()
    return heard


def test_a_fine_page_is_fine(page: Page, complaints: Complaints, site: str) -> None:
    assert heard_of(complaints, page, f"{site}/fine") == ""


def test_a_violated_policy_is_noticed(page: Page, complaints: Complaints, site: str) -> None:
    assert "policy: script-src-elem inline" in heard_of(complaints, page, f"{site}/inline")
    assert page.title() == "Page"


def test_a_missing_file_is_noticed(page: Page, complaints: Complaints, site: str) -> None:
    assert "console: Failed to load resource" in heard_of(complaints, page, f"{site}/missing")


def test_an_uncaught_exception_is_noticed(page: Page, complaints: Complaints, site: str) -> None:
    assert "exception: on purpose" in heard_of(complaints, page, f"{site}/raises")


def test_what_a_test_expects_is_let_pass(page: Page, complaints: Complaints, site: str) -> None:
    complaints.expect("status of 404")
    assert heard_of(complaints, page, f"{site}/missing") == ""


def test_axe_works_under_the_policy(page: Page, accessibility: Callable[[Page], list[str]], site: str) -> None:
    page.goto(f"{site}/fine")
    page.goto(f"{site}/unlabelled")
    assert any(line.startswith("label (critical)") for line in accessibility(page))


def test_what_is_too_wide_is_named(
    open_page: Callable[..., Page], overflows: Callable[[Page], list[str]], site: str
) -> None:
    page = open_page(width=390, scheme="dark")
    page.goto(f"{site}/wide")
    assert any(line.startswith("<table") for line in overflows(page))
    page.goto(f"{site}/fine")
    assert overflows(page) == []


def test_a_page_may_do_without_javascript(open_page: Callable[..., Page], site: str) -> None:
    page = open_page(javascript=False)
    page.goto(f"{site}/fine")
    assert page.text_content("h1") == "Fine"
