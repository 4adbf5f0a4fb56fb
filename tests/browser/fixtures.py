"""Fixtures of the tests in Chromium, loaded by `-p`: pages that let no error pass.

A page fails its test on any console error, uncaught exception or violation of the content security policy, unless
the test expected it (`complaints.expect(...)`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, sync_playwright

from tests.agent_server.opencode_process import ROOT

CHROMIUM = "/usr/bin/chromium"
# As root there is no sandbox, without a network there must be no background traffic: it floods the log and the machine.
SWITCHES = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
WIDTHS = {390: 844, 1024: 768, 1440: 900}  # width: height of a phone, a tablet, a desk
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
FAILURES = ROOT / "test-results"
REPORT_VIOLATIONS = """
document.addEventListener("securitypolicyviolation", (event) =>
  window.reportViolation(`${event.violatedDirective} ${event.blockedURI} at ${event.sourceFile}:${event.lineNumber}`));
"""


@pytest.hookimpl(tryfirst=True)  # before `-m` chooses
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever opens a page is marked `browser`."""
    for item in items:
        if "chromium" in getattr(item, "fixturenames", ()):
            item.add_marker("browser")


@dataclass
class Complaints:
    """What the pages of one test complained of, and what of it was expected."""

    heard: list[str] = field(default_factory=list)
    expected: list[re.Pattern[str]] = field(default_factory=list)

    def expect(self, pattern: str) -> None:
        """Let pass what matches `pattern`; for the console's "status of 422" of a refusal that the test provokes."""
        self.expected.append(re.compile(pattern))

    @property
    def unexpected(self) -> list[str]:
        """What nobody expected."""
        return [complaint for complaint in self.heard if not any(known.search(complaint) for known in self.expected)]

    def listen_to(self, page: Page) -> None:
        """Hear everything that goes wrong in `page`."""

        def console(message: ConsoleMessage) -> None:
            if message.type == "error":
                self.heard.append(f"console: {message.text} ({message.location.get('url', '')})")

        page.on("console", console)
        page.on("pageerror", lambda error: self.heard.append(f"exception: {error}"))


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """One Chromium for a module.

    Not for the run: while Playwright's loop lives in this thread, Django refuses the ORM to every other test.
    """
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=SWITCHES)
        yield browser
        browser.close()


@pytest.fixture
def complaints() -> Iterator[Complaints]:
    """Fails the test at its end for what went wrong in its pages."""
    heard = Complaints()
    yield heard
    assert not heard.unexpected, "\n".join(heard.unexpected)


@pytest.fixture
def open_page(
    chromium: Browser, complaints: Complaints, request: pytest.FixtureRequest
) -> Iterator[Callable[..., Page]]:
    """Open a page in a browser profile of its own: `open_page(width=390, scheme="dark", javascript=False)`."""
    contexts = []

    def open_(
        *, width: int = 1440, scheme: Literal["light", "dark"] = "light", javascript: bool = True, **options: Any
    ) -> Page:
        context = chromium.new_context(
            viewport={"width": width, "height": WIDTHS.get(width, 900)},
            color_scheme=scheme,
            java_script_enabled=javascript,
            reduced_motion="reduce",
            **options,
        )
        contexts.append(context)
        context.set_default_timeout(10_000)
        context.expose_function("reportViolation", lambda what: complaints.heard.append(f"policy: {what}"))
        context.add_init_script(REPORT_VIOLATIONS)
        context.on("page", complaints.listen_to)
        return context.new_page()

    yield open_
    failed = getattr(request.node, "failed_call", False) or complaints.unexpected
    for context in contexts:
        if failed:
            _keep_pictures(context.pages, re.sub(r"\W+", "-", request.node.name))
        context.close()


@pytest.fixture
def page(open_page: Callable[..., Page]) -> Page:
    """A page of a desk's size in light colours."""
    return open_page()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    """Remember that a test failed, so that `open_page` keeps pictures of it."""
    report = yield
    if report.when == "call" and report.failed:
        item.failed_call = True  # type: ignore[attr-defined]
    return report


def _keep_pictures(pages: list[Page], name: str) -> None:
    FAILURES.mkdir(exist_ok=True)
    for number, page in enumerate(pages):
        page.screenshot(path=FAILURES / f"{name}-{number}.png", full_page=True)
        Path(FAILURES / f"{name}-{number}.html").write_text(page.content())


@pytest.fixture(scope="session")
def axe_source() -> str:
    """The accessibility checker, as text."""
    return (ROOT / "node_modules" / "axe-core" / "axe.min.js").read_text()


@pytest.fixture
def accessibility(axe_source: str) -> Callable[[Page], list[str]]:
    """What axe finds wrong in a page, a line each; an empty list is what tests want.

    It is evaluated through the debugger, which the page's content security policy does not concern.
    """

    def check(page: Page) -> list[str]:
        debugger = page.context.new_cdp_session(page)
        debugger.send("Runtime.evaluate", {"expression": axe_source})
        options = {"expression": "axe.run()", "awaitPromise": True, "returnByValue": True}
        answer = debugger.send("Runtime.evaluate", options)
        debugger.detach()
        violations = answer["result"]["value"]["violations"]
        return [
            f"{violation['id']} ({violation['impact']}): {node['target']} {node['html'][:200]} {node['failureSummary']}"
            for violation in violations
            for node in violation["nodes"]
        ]

    return check


@pytest.fixture
def overflows() -> Callable[[Page], list[str]]:
    """What makes a page scroll sideways: descriptions of the elements that reach beyond the viewport."""

    def check(page: Page) -> list[str]:
        found: list[str] = page.evaluate(
            """() => document.documentElement.scrollWidth <= window.innerWidth ? [] :
                [...document.querySelectorAll("body *")]
                    .filter((element) => element.getBoundingClientRect().right > window.innerWidth + 1)
                    .map((element) => element.outerHTML.slice(0, 120))"""
        )
        return found

    return check
