"""The thin path with a person's hands: from the sign-in link to a restored conversation, in Chromium."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from tests.agent_server.scripted_model import ScriptedModel
from tests.agent_server.serve_process import ServeProcess

NOTE = "Berths are named by four letters, never three."
WAIT = 20_000  # milliseconds; the agent answers within one or two seconds, a busy machine takes longer


def test_from_the_link_to_a_restored_conversation(
    page: Page, serve: ServeProcess, model: ScriptedModel, git_directory: Path
) -> None:
    sign_in(page, serve)
    add_project(page, git_directory)
    write_pinned_note(page)

    start_session(page)
    send(page, model, "What are berths called?", answer="Four letters each.")
    (asked,) = model.asked()
    assert NOTE in asked.said
    assert asked.said.index(NOTE) < asked.said.index("What are berths called?")
    expect(work_status(page)).to_contain_text("Berths are named")

    question = page.locator(".message[data-role=user]").first
    question.get_by_role("button", name="Pin").click()
    expect(question.get_by_role("button", name="Pinned")).to_have_attribute("aria-pressed", "true")

    mark = compact(page, model)
    send(page, model, "And quays?", answer="Three letters each.")
    (asked,) = model.asked(after=mark)
    told = "\n".join(text for _role, text in asked.conversation)
    assert NOTE in told
    assert "What are berths called?" in told
    expect(work_status(page)).to_contain_text("Berths are named")
    expect(work_status(page)).to_contain_text("What are berths called?")
    expect(work_status(page).locator("[data-state=owed]")).to_have_count(0)
    page.goto("about:blank")  # the page follows the server, and would complain of its stop


def sign_in(page: Page, serve: ServeProcess) -> None:
    """Open the link that `serve` printed, and press the button."""
    page.goto(serve.link)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("button", name="Add the project")).to_be_visible()


def add_project(page: Page, directory: Path) -> None:
    """Name a directory; we land on the project."""
    page.get_by_label("Directory").fill(str(directory))
    page.get_by_role("button", name="Add the project").click()
    page.wait_for_url(re.compile(r"/projects/"))


def write_pinned_note(page: Page) -> None:
    """Write a note, then pin it with its button."""
    page.get_by_role("link", name="Knowledge").first.click()
    page.get_by_label("New note").fill(NOTE)
    page.get_by_role("button", name="Add note").click()
    card = page.locator("article", has_text=NOTE)
    expect(card).to_be_visible()
    with page.expect_response("**/pin/"):
        card.get_by_role("button", name="Pin", pressed=False).click()
    page.reload()
    expect(page.locator("article", has_text=NOTE).get_by_role("button", name="Pinned", pressed=True)).to_be_visible()


def start_session(page: Page) -> None:
    """Make a session of this project; we land in its conversation."""
    page.get_by_role("link", name="Sessions").first.click()
    page.get_by_role("button", name="New session").click()
    expect(page.get_by_label("Message", exact=True)).to_be_visible()


def send(page: Page, model: ScriptedModel, text: str, *, answer: str) -> None:
    """Write to the agent and wait until its answer stands in the conversation."""
    model.when(answer, said=text)
    page.get_by_label("Message", exact=True).fill(text)
    page.get_by_role("button", name="Send", exact=True).click()
    expect(page.get_by_text(answer)).to_be_visible(timeout=WAIT)
    expect(page.locator("#session-state")).to_have_text("", timeout=WAIT)


def compact(page: Page, model: ScriptedModel) -> int:
    """Compact through the menu and its question; the number of the model's last request so far."""
    model.when("They spoke of berths.", kind="compaction")
    page.get_by_role("button", name="More for this session").click()
    page.get_by_role("button", name="Compact").click()
    page.locator("#confirm").get_by_role("button", name="Compact").click()
    expect(page.get_by_text("Compacted: a summary replaced")).to_be_visible(timeout=WAIT)
    expect(page.get_by_text("Restored after compaction")).to_be_visible(timeout=WAIT)
    return model.number


def work_status(page: Page) -> Locator:
    """The column that says what rides in this session."""
    return page.locator("#work-status")
