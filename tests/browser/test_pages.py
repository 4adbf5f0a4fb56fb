"""Every page, on a phone, a tablet and a desk, in both colour schemes: it fits, it speaks, and nothing complains."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page

from tests.agent_server.opencode_process import OpenCodeProcess, git_project
from tests.agent_server.scripted_model import ScriptedModel
from tests.agent_server.serve_process import Installation, ServeProcess
from tests.browser.fixtures import SCHEMES, WIDTHS, Complaints
from tests.browser.showcase import Showcase, fill


@pytest.fixture(scope="module")
def showcase(
    shared_opencode: OpenCodeProcess,
    scripted_model: ScriptedModel,
    chromium: Browser,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Showcase]:
    """One OpenChamber with content for this module: these tests only look."""
    directory = tmp_path_factory.mktemp("showcase").resolve()
    serve = ServeProcess(Installation(directory / "installation", opencode=shared_opencode)).start()
    try:
        yield fill(serve, shared_opencode, scripted_model, git_project(directory / "harbour"), chromium)
    finally:
        serve.stop()


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_every_page_fits_and_is_accessible(
    showcase: Showcase,
    open_page: Callable[..., Page],
    accessibility: Callable[[Page], list[str]],
    overflows: Callable[[Page], list[str]],
    width: int,
    scheme: str,
) -> None:
    page = open_page(width=width, scheme=scheme, storage_state=showcase.signed_in)
    wrong = []
    for name in showcase.pages:
        answer = page.goto(showcase.address(name))
        assert answer is not None
        assert answer.status == 200, name
        wrong += [f"{name}: too wide: {what}" for what in overflows(page)]
        wrong += [f"{name}: {what}" for what in accessibility(page)]
    assert wrong == []


@pytest.mark.parametrize("width", WIDTHS)
def test_every_page_fits_in_a_language_of_longer_words(
    showcase: Showcase, open_page: Callable[..., Page], overflows: Callable[[Page], list[str]], width: int
) -> None:
    page = open_page(width=width, locale="uk-UA", storage_state=showcase.signed_in)
    for name in showcase.pages:
        page.goto(showcase.address(name))
        assert page.locator("html").get_attribute("lang") == "uk"
        assert overflows(page) == [], name
        assert page.locator("h1").first.bounding_box()["y"] < 300, name  # type: ignore[index]


def test_a_language_is_chosen_without_javascript(showcase: Showcase, open_page: Callable[..., Page]) -> None:
    page = open_page(javascript=False, storage_state=showcase.signed_in)
    page.goto(showcase.address("settings"))
    page.get_by_label("Language").select_option("uk")
    page.get_by_role("button", name="Use this language").click()
    page.get_by_role("heading", name="Налаштування").wait_for()
    assert page.get_by_label("Мова").input_value() == "uk"


def test_every_page_stands_without_javascript(showcase: Showcase, open_page: Callable[..., Page]) -> None:
    page = open_page(javascript=False, storage_state=showcase.signed_in)
    for name in showcase.pages:
        page.goto(showcase.address(name))
        assert page.locator("h1").first.is_visible(), name


def test_a_missing_page_says_so(showcase: Showcase, open_page: Callable[..., Page], complaints: Complaints) -> None:
    complaints.expect("status of 404")
    page = open_page(storage_state=showcase.signed_in)
    answer = page.goto(f"{showcase.serve.url}/projects/no-such-project/")
    assert answer is not None
    assert answer.status == 404
    assert page.locator("h1").first.is_visible()
