"""Project knowledge with a person's hands, in Chromium: by mouse, by keyboard alone, in two tabs, and offline."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.agent_server.serve_process import Installation, ServeProcess
from tests.browser.fixtures import Complaints

FOLLOWS = 2_000  # milliseconds within which every open tab follows


@pytest.fixture(scope="module")
def serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServeProcess]:
    """One OpenChamber without an agent server for this module."""
    process = ServeProcess(Installation(tmp_path_factory.mktemp("knowledge") / "installation")).start()
    try:
        yield process
    finally:
        process.stop()


@pytest.fixture(scope="module")
def signed_in(serve: ServeProcess, chromium: Browser) -> Any:
    """The cookies of a browser that came in by the link."""
    context = chromium.new_context()
    page = context.new_page()
    page.goto(serve.link)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(re.compile(r"/$"))
    state = context.storage_state()
    context.close()
    return state


@pytest.fixture
def slug(serve: ServeProcess, tmp_path: Path) -> str:
    """A fresh project of this test's own."""
    directory = tmp_path.resolve() / "harbour"
    directory.mkdir()
    return str(serve.request("POST", "/projects", {"directory": str(directory)})["slug"])


@pytest.fixture
def visit(open_page: Callable[..., Page], serve: ServeProcess, signed_in: Any, slug: str) -> Callable[..., Page]:
    """Open a page of the project in a browser of its own: `visit("notes")`."""

    def go(section: str, **options: Any) -> Page:
        page = open_page(storage_state=signed_in, **options)
        page.goto(f"{serve.url}/projects/{slug}/{section}/")
        return page

    return go


def test_a_note_is_written_pinned_edited_deleted_and_undone_by_mouse(
    visit: Callable[..., Page], serve: ServeProcess, slug: str
) -> None:
    page = visit("notes")
    page.get_by_label("New note").fill("No **deploys** on Friday.")
    page.get_by_role("button", name="Add note").click()
    card = page.locator("article", has_text="No deploys on Friday.")
    expect(card).to_have_count(1)
    expect(page.get_by_label("New note")).to_have_value("")
    expect(page.get_by_label("New note")).to_be_focused()
    expect(page.locator("#sections a", has_text="Notes")).to_contain_text("1")

    card.get_by_role("button", name="Pin", pressed=False).click()
    expect(card.get_by_role("button", name="Pinned", pressed=True)).to_be_focused()

    card.get_by_role("link", name="Edit").click()
    editor = page.get_by_label("Note", exact=True)
    expect(editor).to_be_focused()
    expect(editor).to_have_value("No **deploys** on Friday.")
    editor.fill("Deploys on Monday.")
    page.get_by_role("button", name="Save", exact=True).click()
    card = page.locator("article", has_text="Deploys on Monday.")
    expect(card.get_by_role("link", name="Edit")).to_be_focused()
    expect(card.get_by_role("button", name="Pinned", pressed=True)).to_be_visible()

    card.get_by_role("button", name="Delete").click()
    expect(card).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    expect(card).to_have_count(1)
    (note,) = serve.request("GET", f"/projects/{slug}/notes")["results"]
    assert (note["body"], note["pinned"]) == ("Deploys on Monday.", True)


def test_the_same_by_keyboard_alone(visit: Callable[..., Page], serve: ServeProcess, slug: str) -> None:
    page = visit("todos")
    page.keyboard.press("1")
    expect(page.get_by_role("heading", name="Notes", level=1)).to_be_visible()
    page.wait_for_load_state()  # keys work once the scripts are there
    page.keyboard.press("n")
    expect(page.get_by_label("New note")).to_be_focused()
    page.keyboard.type("Written by keys.")
    page.keyboard.press("Control+Enter")
    expect(page.locator("article")).to_contain_text("Written by keys.")
    page.get_by_label("New note").blur()
    page.keyboard.press("j")
    page.keyboard.press("p")
    expect(page.get_by_role("button", name="Pinned", pressed=True)).to_be_visible()
    page.keyboard.press("e")
    expect(page.get_by_label("Note", exact=True)).to_be_focused()
    page.keyboard.press("End")
    page.keyboard.type(" Twice.")
    page.keyboard.press("Control+s")
    expect(page.locator("article")).to_contain_text("Written by keys. Twice.")
    page.keyboard.press("e")
    expect(page.get_by_label("Note", exact=True)).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("article")).to_contain_text("Written by keys. Twice.")
    expect(page.get_by_role("link", name="Edit")).to_be_focused()
    assert serve.request("GET", f"/projects/{slug}/notes")["results"][0]["pinned"] is True


def test_todos_are_added_ticked_and_arranged_by_keys_and_by_dragging(
    visit: Callable[..., Page], serve: ServeProcess, slug: str
) -> None:
    page = visit("todos")
    for text in ("alpha", "beta", "gamma"):
        page.get_by_label("New todo").fill(text)
        page.keyboard.press("Enter")
        expect(page.locator(".todo", has_text=text)).to_have_count(1)
        expect(page.get_by_label("New todo")).to_be_focused()

    def order() -> list[str]:
        return [todo["text"] for todo in serve.request("GET", f"/projects/{slug}/todos")["results"]]

    rows = page.locator("[data-arrange] > .todo")
    rows.nth(2).get_by_role("button", name="More").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(rows.nth(2).get_by_role("button", name="Move up")).to_be_focused()
    page.keyboard.press("Enter")
    expect(rows.nth(1)).to_contain_text("gamma")
    expect(rows.nth(1).get_by_role("button", name="More")).to_be_focused()
    page.keyboard.press("Enter")
    expect(rows.nth(1).get_by_role("button", name="Move up")).to_be_focused()
    page.keyboard.press("Escape")
    expect(rows.nth(1).get_by_role("button", name="More")).to_be_focused()
    page.keyboard.press("J")
    expect(rows.nth(2)).to_contain_text("gamma")
    assert order() == ["alpha", "beta", "gamma"]

    rows.nth(2).hover()
    rows.nth(2).locator(".grip").drag_to(rows.nth(0), target_position={"x": 50, "y": 2})
    expect(rows.nth(0)).to_contain_text("gamma")
    expect(page.locator(".toast", has_text="Moved to position 1")).to_have_count(1)
    assert order() == ["gamma", "alpha", "beta"]

    page.get_by_role("checkbox", name="alpha").check()
    expect(page.locator("[role=status]", has_text="2 open, 1 done")).to_have_count(1)
    expect(page.get_by_role("checkbox", name="beta")).to_be_focused()
    page.locator("summary", has_text="Done").click()
    page.get_by_role("button", name="Clear done").click()
    expect(page.locator("[role=status]", has_text="2 open, 0 done")).to_have_count(1)
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("[role=status]", has_text="2 open, 1 done")).to_have_count(1)


def test_every_open_tab_follows_and_keeps_what_is_half_typed(
    visit: Callable[..., Page], serve: ServeProcess, slug: str
) -> None:
    notes, todos = visit("notes"), visit("todos")
    notes.get_by_label("New note").fill("half typed")
    serve.request("POST", f"/projects/{slug}/notes", {"body": "From elsewhere."})
    serve.request("POST", f"/projects/{slug}/todos", {"text": "Also from elsewhere"})
    expect(notes.locator("article", has_text="From elsewhere.")).to_have_count(1, timeout=FOLLOWS)
    expect(todos.locator(".todo", has_text="Also from elsewhere")).to_have_count(1, timeout=FOLLOWS)
    expect(todos.locator("#sections a", has_text="Notes")).to_contain_text("1")
    expect(notes.get_by_label("New note")).to_have_value("half typed")
    expect(notes.get_by_label("New note")).to_be_focused()

    notes.get_by_role("link", name="Edit").click()
    notes.get_by_label("Note", exact=True).fill("half edited")
    notes.get_by_label("New note").focus()
    serve.request("POST", f"/projects/{slug}/notes", {"body": "A second one."})
    expect(notes.locator("#sections a", has_text="Notes")).to_contain_text("2", timeout=FOLLOWS)
    expect(notes.get_by_label("Note", exact=True)).to_have_value("half edited")


def test_a_plan_saves_itself_and_says_so(visit: Callable[..., Page], serve: ServeProcess, slug: str) -> None:
    page = visit("plans")
    page.get_by_label("Title of a new plan").fill("Winter")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/plans/\d+/"))
    text = page.get_by_label("Plan in Markdown")
    expect(text).to_have_value("# Winter\n")
    text.press("Control+End")
    page.keyboard.type("\n- [ ] **first** step")
    expect(page.locator("#saved")).to_contain_text("not saved")
    expect(page.locator("#saved")).to_contain_text(re.compile(r"^\s*saved "))
    expect(page.locator("#plan-preview strong")).to_have_text("first")
    text.press("Control+Home")
    page.keyboard.press("End")
    page.keyboard.type("time")
    expect(page.locator("#plan-title")).to_have_text("Wintertime")
    expect(text).to_be_focused()
    (plan,) = serve.request("GET", f"/projects/{slug}/plans")["results"]
    assert plan["body"] == "# Wintertime\n\n- [ ] **first** step"
    assert len(serve.request("GET", f"/projects/{slug}/plans/{plan['id']}/history")["results"]) == 2


def test_typed_text_survives_a_failing_server_a_reload_and_a_closed_tab(
    visit: Callable[..., Page], serve: ServeProcess, slug: str, complaints: Complaints
) -> None:
    complaints.expect("ERR_FAILED|Failed to fetch")
    plan = serve.request("POST", f"/projects/{slug}/plans", {"body": "# Plan"})
    page = visit(f"plans/{plan['id']}")
    page.route("**/edit/", lambda route: route.abort())
    text = page.get_by_label("Plan in Markdown")
    text.fill("# Plan\n\nTyped while the server was away.")
    expect(page.locator("#saved")).to_contain_text("trying again")
    assert page.locator(".toast").count() == 0
    page.reload()
    expect(text).to_have_value("# Plan\n\nTyped while the server was away.")
    expect(page.get_by_text("What you had typed before came back.")).to_be_visible()
    url, context = page.url, page.context
    page.close()
    page = context.new_page()
    page.goto(url)
    expect(page.locator("#saved")).to_contain_text(re.compile(r"^\s*saved "))
    assert serve.request("GET", f"/projects/{slug}/plans/{plan['id']}")["body"].endswith("was away.")


def test_an_idle_plan_follows_and_a_changed_one_ends_in_a_conflict_that_loses_nothing(
    visit: Callable[..., Page], serve: ServeProcess, slug: str, complaints: Complaints
) -> None:
    complaints.expect("status of 409")
    path = f"/projects/{slug}/plans"
    plan = serve.request("POST", path, {"body": "# Plan\n\nOne.\n\nTwo.\n"})
    page = visit(f"plans/{plan['id']}")
    text = page.get_by_label("Plan in Markdown")
    text.focus()
    serve.request("PUT", f"{path}/{plan['id']}", {"body": "# Plan\n\nOne, changed.\n\nTwo.\n"})
    expect(text).to_have_value("# Plan\n\nOne, changed.\n\nTwo.\n", timeout=FOLLOWS)
    expect(text).to_be_focused()

    page.route("**/pulse/*", lambda route: route.abort())
    serve.request("PUT", f"{path}/{plan['id']}", {"body": "# Plan\n\nOne, changed twice.\n\nTwo.\n"})
    text.fill("# Plan\n\nOne, changed.\n\nTwo, by me.\n")
    expect(page.get_by_role("heading", name="Changed while you were writing")).to_be_visible()
    expect(page.locator("ins", has_text="twice")).to_be_visible()
    expect(page.get_by_role("textbox", name="Or put both together")).to_have_value(
        "# Plan\n\nOne, changed twice.\n\nTwo, by me.\n"
    )
    page.get_by_role("button", name="Save this text").click()
    expect(text).to_have_value("# Plan\n\nOne, changed twice.\n\nTwo, by me.\n")
    complaints.expect("ERR_FAILED|Failed to fetch")


def test_a_conflict_stands_until_one_has_chosen_whatever_else_changes(
    visit: Callable[..., Page], serve: ServeProcess, slug: str, complaints: Complaints
) -> None:
    complaints.expect("status of 409")
    path = f"/projects/{slug}/notes"
    note = serve.request("POST", path, {"body": "One."})
    page = visit("notes")
    page.get_by_role("link", name="Edit").click()
    page.get_by_label("Note", exact=True).fill("One, by me.")
    serve.request("PATCH", f"{path}/{note['id']}", {"body": "One, by another."})
    page.get_by_role("button", name="Save", exact=True).click()
    conflict = page.get_by_role("heading", name="Changed while you were writing")
    expect(conflict).to_be_visible()
    expect(page.locator(".conflict textarea:visible")).to_have_count(1)
    serve.request("POST", path, {"body": "Something else."})
    with page.expect_response("**/pulse/*"):
        pass
    page.wait_for_timeout(2500)
    expect(conflict).to_be_visible()
    page.get_by_role("button", name="Replace with yours").click()
    expect(page.locator("article", has_text="One, by me.")).to_be_visible()
    expect(page.locator("article", has_text="Something else.")).to_be_visible()


def test_a_plans_conflict_stands_too_and_the_page_says_that_nothing_is_saved(
    visit: Callable[..., Page], serve: ServeProcess, slug: str, complaints: Complaints
) -> None:
    complaints.expect("status of 409")
    path = f"/projects/{slug}/plans"
    plan = serve.request("POST", path, {"body": "# Plan\n\nOne.\n"})
    page = visit(f"plans/{plan['id']}")

    def first(route: Route) -> None:
        serve.request("PUT", f"{path}/{plan['id']}", {"body": "# Plan\n\nOne, by another.\n"})
        route.continue_()

    page.route("**/edit/", first)
    page.get_by_label("Plan in Markdown").fill("# Plan\n\nOne, by me.\n")
    conflict = page.get_by_role("heading", name="Changed while you were writing")
    expect(conflict).to_be_visible()
    expect(page.locator("#saved")).to_contain_text("not saved: changed elsewhere")
    expect(page.get_by_role("button", name="Save", exact=True)).to_be_hidden()
    page.unroute("**/edit/")
    serve.request("POST", path, {"body": "# Something else\n"})
    page.wait_for_timeout(2500)
    expect(conflict).to_be_visible()
    expect(page.get_by_role("button", name="Pin")).to_have_count(1)


def test_every_page_fits_320_pixels_and_is_accessible(
    visit: Callable[..., Page],
    serve: ServeProcess,
    slug: str,
    accessibility: Callable[[Page], list[str]],
    overflows: Callable[[Page], list[str]],
) -> None:
    path = f"/projects/{slug}"
    note = serve.request("POST", f"{path}/notes", {"body": "# Note\n\n" + "a-very-long-word" * 20})
    serve.request("PUT", f"{path}/pins/note/{note['id']}")
    for text in ("one", "unbroken" * 40):
        serve.request("POST", f"{path}/todos", {"text": text})
    plan = serve.request(
        "POST", f"{path}/plans", {"title": "Plan", "body": "| a | b |\n|---|---|\n| 1 | 2 |\n\n```\nx\n```"}
    )
    wrong = []
    pages = [
        "notes",
        f"notes/{note['id']}/edit",
        "todos",
        "plans",
        f"plans/{plan['id']}",
        f"plans/{plan['id']}/history",
        "bin",
    ]
    for section in pages:
        for options in ({"width": 320}, {"width": 1440, "scheme": "dark"}):
            page = visit(section, **options)
            wrong += [f"{section} {options}: {what}" for what in [*overflows(page), *accessibility(page)]]
            page.context.close()
    assert wrong == []


def test_files_are_dropped_on_the_list_one_by_one_with_their_refusals(
    visit: Callable[..., Page], serve: ServeProcess, slug: str, tmp_path: Path
) -> None:
    page = visit("plans")
    files = {"one.md": b"# One", "bad.md": b"\x00", "two.txt": b"Two\r\nlines"}
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    page.get_by_label("Import files").set_input_files([tmp_path / name for name in files])
    expect(page.locator("article", has_text="Two")).to_have_count(1)
    expect(page.locator("article", has_text="One")).to_have_count(1)
    expect(page.locator(".toast", has_text="bad.md: This is no text")).to_have_count(1)
    expect(page.locator("#plan-import progress")).to_be_hidden()
    drop = """(data) => {
        const transfer = new DataTransfer();
        transfer.items.add(new File([data], "dropped.md", {type: "text/markdown"}));
        document.querySelector("#plans").dispatchEvent(new DragEvent("drop", {bubbles: true, dataTransfer: transfer}));
    }"""
    page.evaluate(drop, "# Dropped")
    expect(page.locator("article", has_text="Dropped")).to_have_count(1)
    titles = {plan["title"] for plan in serve.request("GET", f"/projects/{slug}/plans")["results"]}
    assert titles == {"One", "Two", "Dropped"}


def test_the_search_is_a_key_away_finds_while_typing_and_opens_at_the_match(
    visit: Callable[..., Page], serve: ServeProcess, slug: str
) -> None:
    serve.request("POST", f"/projects/{slug}/notes", {"body": "Harbour <b>codes</b> & more"})
    body = "# Winter\n\n" + "words and words\n" * 2000 + "the needle is here\n" + "more words\n" * 500
    serve.request("POST", f"/projects/{slug}/plans", {"body": body})
    page = visit("notes")
    page.keyboard.press("/")
    page.keyboard.type("harb")
    page.keyboard.press("Enter")
    box = page.get_by_role("searchbox").last
    expect(page.locator(".hit mark")).to_have_text(["Harbour", "Harbour"])
    box.fill("need")
    expect(page.locator(".hit", has_text="Winter")).to_have_count(1)
    expect(page).to_have_url(re.compile("q=need"))
    expect(box).to_be_focused()
    page.locator(".hit a").click()
    text = page.get_by_label("Plan in Markdown")
    selected = "(field) => field.value.slice(field.selectionStart, field.selectionEnd)"
    expect(text).to_be_focused()
    assert text.evaluate(selected) == "needle"
