"""A conversation in Chromium: as it is written, in two tabs, through a restart, by keyboard, and without scripts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.agent_server.chamber import Chamber, wait_for
from tests.agent_server.opencode_process import OpenCodeProcess
from tests.agent_server.scripted_model import Reply, ScriptedModel
from tests.agent_server.serve_process import Installation, ServeProcess
from tests.browser.fixtures import Complaints
from tests.browser.showcase import sign_in

WAIT = 20_000  # milliseconds

SLOW = "One two three four five six seven eight nine ten."


@pytest.fixture(scope="module")
def serve(shared_opencode: OpenCodeProcess, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServeProcess]:
    """One OpenChamber for these tests; each has a project of its own in it."""
    installation = Installation(tmp_path_factory.mktemp("conversation"), opencode=shared_opencode)
    process = ServeProcess(installation).start()
    yield process
    process.stop()


@pytest.fixture
def chamber(serve: ServeProcess, opencode: OpenCodeProcess, model: ScriptedModel, git_directory: Path) -> Chamber:
    """A project on an OpenChamber."""
    return Chamber(serve, opencode, model, git_directory)


@pytest.fixture
def address(chamber: Chamber) -> str:
    """The page of a new session."""
    return new_session(chamber)


def new_session(chamber: Chamber) -> str:
    """The page of a new session."""
    return f"{chamber.serve.url}/projects/{chamber.slug}/sessions/{chamber.session('Tides')}/"


@pytest.fixture(scope="module")
def signed_in(chromium: Browser, serve: ServeProcess) -> Any:
    """The cookies of somebody who is signed in."""
    return sign_in(chromium, serve)


@pytest.fixture
def tab(open_page: Callable[..., Page], signed_in: Any, address: str) -> Iterator[Callable[..., Page]]:
    """Open the session's page in a browser of its own; the arguments are those of `open_page`."""
    pages = []

    def open_(**options: Any) -> Page:
        page = open_page(storage_state=signed_in, **options)
        pages.append(page)
        page.goto(address)
        return page

    yield open_
    for page in pages:
        page.close()  # before the server stops: a page that follows it would complain


def say(page: Page, text: str) -> None:
    """Write and send with the keyboard."""
    page.get_by_label("Message", exact=True).fill(text)
    page.keyboard.press("Control+Enter")


def session_of(page: Page) -> str:
    """The id of the session that is open."""
    found = re.search(r"ses_\w+", page.url)
    assert found is not None
    return found[0]


def test_words_appear_while_they_are_written(tab: Callable[..., Page], model: ScriptedModel) -> None:
    model.when(Reply(text=SLOW, pieces=4, hold="gate"), said="Count")
    page = tab()
    say(page, "Count")
    answer = page.locator(".message[data-role=assistant]").last
    expect(answer).to_contain_text("One two", timeout=WAIT)
    expect(answer).not_to_contain_text("ten.")
    expect(answer).to_have_attribute("aria-busy", "true")
    expect(page.locator("#session-state")).to_contain_text("working")

    page.reload()
    expect(page.locator(".message[data-role=assistant]").last).to_contain_text("One two", timeout=WAIT)

    model.release("gate")
    expect(page.locator(".message[data-role=assistant]").last).to_contain_text("ten.", timeout=WAIT)
    expect(page.locator("#session-state")).to_have_text("", timeout=WAIT)


def test_a_running_turn_is_stopped(tab: Callable[..., Page], model: ScriptedModel) -> None:
    model.when(Reply(text=SLOW, pieces=4, hold="gate"), said="Count")
    page = tab()
    say(page, "Count")
    expect(page.locator(".message[data-role=assistant]").last).to_contain_text("One two", timeout=WAIT)
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("stopped")).to_be_visible(timeout=WAIT)
    model.when("All right then.", said="Count")
    page.get_by_role("button", name="Send it again").click()
    expect(page.get_by_text("All right then.")).to_be_visible(timeout=WAIT)


def test_a_look_that_waited_for_another_shows_no_message_twice(tab: Callable[..., Page], model: ScriptedModel) -> None:
    page = tab()
    say(page, "First")
    expect(page.locator(".message[data-role=assistant]")).to_have_count(1, timeout=WAIT)
    expect(page.locator("#session-state")).to_have_text("", timeout=WAIT)
    held: list[Route] = []
    page.route("**/live/?**", lambda route: held.append(route), times=1)
    say(page, "Second")
    wait_for(lambda: model.saw("Second"))
    page.wait_for_timeout(500)  # the look that is held was asked; the one that follows it waits
    page.evaluate("document.body.dispatchEvent(new Event('conversation-changed', {bubbles: true}))")
    held[0].continue_()
    expect(page.locator(".message[data-role=assistant]").nth(1)).to_be_visible(timeout=WAIT)
    expect(page.locator("#session-state")).to_have_text("", timeout=WAIT)
    said = page.locator(".message").evaluate_all("rows => rows.map(row => row.id)")
    assert len(said) == len(set(said)) == 4


def test_two_tabs_show_the_same(tab: Callable[..., Page], model: ScriptedModel) -> None:
    one, other = tab(), tab()
    model.when("Heard.", said="From the first tab")
    say(one, "From the first tab")
    expect(other.get_by_text("From the first tab")).to_be_visible(timeout=WAIT)
    expect(other.get_by_text("Heard.")).to_be_visible(timeout=WAIT)
    one.locator(".message[data-role=user] .pin").click()
    expect(other.locator(".message[data-role=user] .pin")).to_have_attribute("aria-pressed", "true", timeout=WAIT)
    expect(other.locator("#work-status")).to_contain_text("From the first tab", timeout=WAIT)


def test_a_restart_under_an_open_page_loses_nothing(
    open_page: Callable[..., Page],
    chromium: Browser,
    install: Callable[..., Installation],
    start_serve: Callable[..., ServeProcess],
    opencode: OpenCodeProcess,
    model: ScriptedModel,
    git_directory: Path,
    complaints: Complaints,
) -> None:
    complaints.expect("ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE")
    complaints.expect("Failed to fetch|network error")
    serve = start_serve(install(opencode=opencode))
    page = open_page(storage_state=sign_in(chromium, serve))
    page.goto(new_session(Chamber(serve, opencode, model, git_directory)))
    expect(page.get_by_label("Message", exact=True)).to_be_visible()
    serve.kill()
    say(page, "Said into the void")
    expect(page.locator(".toast")).to_contain_text("does not answer", timeout=WAIT)
    expect(page.get_by_label("Message", exact=True)).to_have_value("Said into the void")

    again = ServeProcess(serve.installation, port=serve.port).start()
    try:
        model.when("Now I hear you.", said="Said into the void")
        page.get_by_role("button", name="Send", exact=True).click()
        expect(page.get_by_text("Now I hear you.")).to_be_visible(timeout=WAIT)
    finally:
        page.close()
        again.stop()


def test_a_refused_pin_flips_back(tab: Callable[..., Page], chamber: Chamber, complaints: Complaints) -> None:
    complaints.expect("status of 502")
    page = tab()
    say(page, "Keep this")
    expect(page.locator("#session-state")).to_have_text("", timeout=WAIT)
    pin = page.locator(".message[data-role=user] .pin")
    expect(pin).to_be_visible(timeout=WAIT)
    page.route("**/pin/", lambda route: route.fulfill(status=502, body=""))
    pin.click()
    expect(page.locator(".toast")).to_be_visible()
    expect(pin).to_have_attribute("aria-pressed", "false")
    page.unroute("**/pin/")
    pin.click()
    expect(pin).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#work-status")).to_contain_text("Keep this")


def test_a_message_that_is_not_sent_is_told_of_once(tab: Callable[..., Page], complaints: Complaints) -> None:
    complaints.expect("status of 502")
    page = tab()
    composer = '<div id="composer"><p class="failure">Not sent</p></div>'
    page.route("**/messages/send/", lambda route: route.fulfill(status=502, content_type="text/html", body=composer))
    say(page, "Said to nobody")
    expect(page.locator("#composer .failure")).to_be_visible()
    expect(page.locator(".toast")).to_have_count(0)


def test_typed_text_outlives_a_reload_until_it_is_sent(tab: Callable[..., Page], model: ScriptedModel) -> None:
    page = tab()
    field = page.get_by_label("Message", exact=True)
    field.fill("Half a thought")
    page.reload()
    expect(field).to_have_value("Half a thought")
    model.when("A whole answer.", said="Half a thought")
    page.get_by_role("button", name="Send", exact=True).click()
    expect(page.get_by_text("A whole answer.")).to_be_visible(timeout=WAIT)
    page.reload()
    expect(field).to_have_value("")


def test_everything_is_done_by_keyboard(tab: Callable[..., Page], model: ScriptedModel) -> None:
    page = tab()
    expect(page.get_by_label("Message", exact=True)).to_be_focused()  # an empty session waits for its first message
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("?")
    expect(page.get_by_role("heading", name="Keyboard")).to_be_visible()
    expect(page.locator("#keys")).to_contain_text("New session")
    page.keyboard.press("Escape")
    page.keyboard.press("c")
    expect(page.get_by_label("Message", exact=True)).to_be_focused()
    model.when("By hand.", said="No mouse")
    page.keyboard.type("No mouse")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("By hand.")).to_be_visible(timeout=WAIT)
    expect(page.locator("#session-state")).to_have_text("", timeout=WAIT)
    pin = page.locator(".message[data-role=user] .pin")
    pin.focus()
    page.keyboard.press("Enter")
    expect(pin).to_have_attribute("aria-pressed", "true")
    expect(pin).to_be_focused()


def test_a_question_is_answered_in_place(tab: Callable[..., Page], model: ScriptedModel) -> None:
    options = [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}]
    asked = {"questions": [{"question": "Which colour?", "header": "Colour", "options": options}]}
    model.when(Reply(tool_calls=(("question", asked),)), said="Ask me", last_role="user")
    model.when("Blue it is.", last_role="tool")
    page = tab()
    say(page, "Ask me")
    expect(page.get_by_role("heading", name="Which colour?")).to_be_visible(timeout=WAIT)
    expect(page.locator("#session-state")).to_contain_text("waiting for you")
    page.get_by_role("link", name="Answer").click()
    page.get_by_label("Blue").check()
    page.get_by_role("group", name="Which colour?").get_by_role("button", name="Answer").click()
    expect(page.get_by_text("Blue it is.")).to_be_visible(timeout=WAIT)
    expect(page.locator(".question")).to_have_count(0)


def test_a_question_that_the_first_look_finds_is_as_loud(
    tab: Callable[..., Page], model: ScriptedModel, opencode: OpenCodeProcess, git_directory: Path
) -> None:
    options = [{"label": "Red", "description": "warm"}]
    asked = {"questions": [{"question": "Which colour?", "header": "Colour", "options": options}]}
    model.when(Reply(tool_calls=(("question", asked),)), said="Ask me", last_role="user")
    page = tab()
    page.route("**/live/*", lambda route: route.abort())  # until it is asked: the page is still an empty one
    say(page, "Ask me")
    wait_for(lambda: opencode.request("GET", "/question", directory=str(git_directory)), what="the question")
    page.unroute("**/live/*")
    expect(page.get_by_role("heading", name="Which colour?")).to_be_visible(timeout=WAIT)
    expect(page.locator("#session-state")).to_contain_text("waiting for you")
    expect(page.get_by_role("button", name="Stop")).to_be_visible()


def test_what_was_unfolded_stays_so_while_the_page_follows(tab: Callable[..., Page], model: ScriptedModel) -> None:
    call = ("bash", {"command": "echo from-the-tool", "description": "x"})
    model.when(Reply(tool_calls=(call,)), said="Run", last_role="user")
    model.when("First turn done.", last_role="tool")
    page = tab()
    say(page, "Run")
    expect(page.get_by_text("First turn done.")).to_be_visible(timeout=WAIT)
    page.locator(".tool summary").click()
    model.when("Second turn done.", said="Next")
    say(page, "Next")
    expect(page.get_by_text("Second turn done.")).to_be_visible(timeout=WAIT)
    expect(page.locator(".tool[open]")).to_have_count(1)


def test_a_pinned_message_is_jumped_to(tab: Callable[..., Page], chamber: Chamber) -> None:
    page = tab()
    session = session_of(page)
    chamber.send(session, "The first thing\n\n" + "and more\n\n" * 40)
    for number in range(3):
        chamber.send(session, f"Then {number}\n\n" + "and so on\n\n" * 30)
    first = chamber.opencode.messages(session)[0]["info"]["id"]
    chamber.api("PUT", f"/sessions/{session}/pinned-messages/{first}", status=204)
    page.reload()
    message = page.locator(f"#message-{first}")
    expect(message).not_to_be_in_viewport()
    page.locator("#work-status").get_by_role("link", name="The first thing").click()
    expect(message).to_be_in_viewport()
    expect(message).to_be_focused()


def test_whoever_reads_above_stays_there_and_is_told_of_news(
    tab: Callable[..., Page], chamber: Chamber, accessibility: Callable[[Page], list[str]]
) -> None:
    page = tab()
    thread, newest = page.locator("#thread"), page.get_by_role("link", name="Newest")
    for number in range(3):
        chamber.send(session_of(page), f"Long {number}\n\n" + "and so on\n\n" * 30)
    expect(page.get_by_text("Long 2", exact=True)).to_be_visible(timeout=WAIT)
    expect(newest).to_be_hidden()
    thread.evaluate("box => { box.scrollTop = 0 }")
    chamber.send(session_of(page), "Said meanwhile")
    expect(newest).to_be_visible(timeout=WAIT)
    expect(page.get_by_text("echo: Said meanwhile")).not_to_be_in_viewport()
    assert accessibility(page) == []
    newest.click()
    expect(page.get_by_text("echo: Said meanwhile")).to_be_in_viewport()
    expect(newest).to_be_hidden()
    assert thread.evaluate("box => box.scrollHeight - box.scrollTop - box.clientHeight") < 2


def test_whoever_says_something_sees_the_end(tab: Callable[..., Page], chamber: Chamber, model: ScriptedModel) -> None:
    page = tab()
    thread = page.locator("#thread")
    chamber.send(session_of(page), "Long\n\n" + "and so on\n\n" * 60)
    expect(page.get_by_text("Long", exact=True)).to_be_visible(timeout=WAIT)
    thread.evaluate("box => { box.scrollTop = 0 }")
    model.when("Your own answer.", said="My own words")
    say(page, "My own words")
    expect(page.get_by_text("Your own answer.")).to_be_in_viewport(timeout=WAIT)
    thread.evaluate("box => { box.scrollTop = 0 }")
    expect(page.get_by_text("Your own answer.")).not_to_be_in_viewport()
    page.get_by_role("button", name="More for this session").click()
    page.get_by_role("button", name="Compact now").click()
    page.get_by_role("dialog").get_by_role("button", name="Compact").click()
    expect(page.locator(".seam").last).to_be_in_viewport(timeout=WAIT)


def test_without_scripts_one_reads_sends_and_pins(
    tab: Callable[..., Page], model: ScriptedModel, chamber: Chamber
) -> None:
    page = tab(javascript=False)
    model.when("Read without scripts.", said="Plain")
    page.get_by_label("Message", exact=True).fill("Plain")
    page.get_by_role("button", name="Send", exact=True).click()
    wait_for(lambda: model.saw("Plain"), what="the send")
    chamber.opencode.wait_idle(session_of(page))
    page.reload()
    expect(page.get_by_text("Read without scripts.")).to_be_visible()
    page.locator(".message[data-role=user] .pin").click()
    expect(page.locator(".message[data-role=user] .pin")).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#work-status")).to_contain_text("Plain")


@pytest.mark.parametrize("width", [320, 640, 1440])
def test_it_fits_and_is_accessible_while_something_waits(
    tab: Callable[..., Page],
    model: ScriptedModel,
    accessibility: Callable[[Page], list[str]],
    overflows: Callable[[Page], list[str]],
    width: int,
) -> None:
    asked = {
        "questions": [{"question": "Which?", "header": "Which", "options": [{"label": "This", "description": ""}]}]
    }
    model.when(Reply(tool_calls=(("question", asked),)), said="Ask me", last_role="user")
    page = tab(width=width)
    say(page, "Ask me")
    expect(page.get_by_role("heading", name="Which?")).to_be_visible(timeout=WAIT)
    assert overflows(page) == []
    assert accessibility(page) == []
    page.get_by_role("button", name="Stop").click()
    expect(page.locator("#session-state")).to_have_text("", timeout=WAIT)
