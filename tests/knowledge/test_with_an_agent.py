"""What project knowledge and the sessions of a real OpenCode have to do with each other, in Chromium."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.agent_server.chamber import Chamber
from tests.agent_server.opencode_process import OpenCodeProcess
from tests.agent_server.scripted_model import ScriptedModel
from tests.agent_server.serve_process import ServeProcess
from tests.browser.fixtures import Complaints

WAIT = 20_000


def test_messages_are_kept_and_todos_sent(
    page: Page,
    serve: ServeProcess,
    opencode: OpenCodeProcess,
    model: ScriptedModel,
    git_directory: Path,
    complaints: Complaints,
) -> None:
    chamber = Chamber(serve, opencode, model, git_directory)
    slug = serve.request("GET", f"/projects/{chamber.project}")["slug"]
    session = chamber.session()
    model.when("Berths have four letters.\n\nQuays have three.", said="What are berths called?")
    chamber.send(session, "What are berths called?")
    page.set_default_timeout(WAIT)
    page.goto(serve.link)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(re.compile(r"/$"))

    messages = opencode.messages(session)
    answer = next(m["info"]["id"] for m in messages if m["info"]["role"] == "assistant")
    page.goto(f"{serve.url}/projects/{slug}/sessions/{session}/messages/{answer}/")
    page.get_by_role("link", name="Keep as a note").click()
    expect(page.get_by_label("Text")).to_have_value("Berths have four letters.\n\nQuays have three.")
    page.get_by_label("Text").fill("Four letters.")
    page.get_by_role("button", name="Keep it").click()
    card = page.locator("article", has_text="Four letters.")
    card.get_by_role("link", name="From a message").click()
    expect(page).to_have_url(re.compile(rf"/sessions/{session}/#message-{answer}"))
    (note,) = serve.request("GET", f"/projects/{slug}/notes")["results"]
    assert note["origin"] == {"session": session, "message": answer}

    page.goto(f"{serve.url}/projects/{slug}/sessions/{session}/")
    page.wait_for_load_state()
    page.locator(f"#message-{answer} .prose p").last.click(click_count=3)  # selects the paragraph
    page.locator(f"#more-{answer}").click()
    page.get_by_role("link", name="Keep as a plan").click()
    expect(page.get_by_label("Text")).to_have_value("Quays have three.")
    expect(page.get_by_label("a plan")).to_be_checked()

    serve.request("POST", f"/projects/{slug}/todos", {"text": "Refuse rows & say why"})
    page.goto(f"{serve.url}/projects/{slug}/todos/")
    page.get_by_role("button", name="More: Refuse").click()
    page.get_by_role("link", name="Send to a session").click()
    page.get_by_label(re.compile("in a worktree")).check()
    page.get_by_role("button", name="Open it there").click()
    page.wait_for_url(re.compile(r"/sessions/ses_[^/]+/\?text="))
    expect(page.locator("#composer-text")).to_have_value("Refuse rows & say why")
    worktree = page.url.split("/sessions/")[1].split("/")[0]
    assert "worktree" in opencode.session(worktree)["directory"]
    assert len(opencode.messages(worktree)) == 0
    page.goto("about:blank")  # or the server's end would break the stream that the page listens to
