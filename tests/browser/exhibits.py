"""Every page and state worth a look beyond the showcase's pages: what waits, stands open, is empty, or went wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import monotonic
from typing import Any
from urllib.parse import quote

from playwright.sync_api import Page, Route

from tests.agent_server.chamber import Chamber, wait_for
from tests.agent_server.opencode_process import git_project
from tests.agent_server.scripted_model import Reply
from tests.browser.showcase import Showcase

PLAN = """# Add the station DOCK

The table of the port authority names it since March.

- [x] Ask the harbour office for its coordinates
- [ ] Read the rows in `tides.py`
- [ ] Convert the times **at the edge**, never inside

| step | who |
|---|---|
| read | build |
| check | a person |
"""
TODOS = (
    "Ask the harbour office for next year's file",
    "Write down how a leap second is handled, if it is handled at all, and say in the README which of the two it is",
    "Рахувати збори за довжиною судна",
    "Name the berths by four letters",
)
QUESTION = {
    "questions": [
        {
            "question": "Which station should the table begin with?",
            "header": "Station",
            "options": [
                {"label": "KAIS", "description": "the oldest, and the one that everybody compares with"},
                {"label": "DOCK", "description": "the new one"},
            ],
        }
    ]
}
COMMAND = {"command": "git push --force origin main", "description": "Push the table"}


def stay(page: Page) -> None:
    """Do nothing: the page is seen as it comes."""


@dataclass(frozen=True)
class Exhibit:
    """A page and what is done on it before one looks; `upto` is the widest window in which it differs."""

    path: str
    act: Callable[[Page], Any] = stay
    upto: int = 1440
    signed_in: bool = True


def opened(selector: str) -> Callable[[Page], Any]:
    """Press the button that opens the popover or drawer `selector`, by hand or by a link in the page."""
    return lambda page: page.locator(f"{selector}:visible").first.click()


def exhibits(showcase: Showcase) -> dict[str, Exhibit]:
    """All by name; making them fills the showcase further."""
    project = showcase.pages["project"]
    return dict(
        [
            *_knowledge(showcase, project),
            *_found(project),
            *_sessions(showcase, project),
            *_memory(showcase, project),
            *_empty(showcase),
            ("signed-out", Exhibit("/login/", signed_in=False)),
            ("used-link", Exhibit("/login/no-such-link", signed_in=False)),
            ("not-found", Exhibit("/projects/no-such-project/")),
            ("import-projects", Exhibit("/projects/import/")),
            ("refused-project", Exhibit("/", lambda page: page.locator("#project-form-add").click())),
            ("keyboard", Exhibit(f"{project}notes/", lambda page: page.keyboard.press("?"))),
            ("menu", Exhibit(f"{project}notes/", opened('[popovertarget="menu"]'), upto=1000)),
            ("projects-menu", Exhibit(f"{project}notes/", opened('[popovertarget="projects"]'))),
        ]
    )


def unreached(showcase: Showcase) -> dict[str, Exhibit]:
    """What is seen while the agent server does not answer, and a message that cannot be sent."""
    told = showcase.pages["session"]
    return {
        "unreached-session": Exhibit(told),
        "unreached-send": Exhibit(told, _send),
        "unreached-sessions": Exhibit(f"{showcase.pages['project']}sessions/"),
        "unreached-health": Exhibit(showcase.pages["health"]),
    }


def _send(page: Page) -> None:
    page.locator("#composer-text").fill("Is anybody there?")
    page.locator("#composer-send").click()
    page.locator("#composer .failure").wait_for()


def _knowledge(showcase: Showcase, project: str) -> Iterator[tuple[str, Exhibit]]:
    chamber, told = showcase.chamber, f"/projects/{showcase.chamber.project}"
    for text in TODOS:
        todo = chamber.api("POST", f"{told}/todos", {"text": text})["id"]
    chamber.api("PATCH", f"{told}/todos/{todo}", {"done": True})
    for title in ("Move the table to the database", "Retire the old reader"):
        body = f"# {title}\n\nLater, and only with a reason."
        other = chamber.api("POST", f"{told}/plans", {"title": title, "body": body})["id"]
    plan = chamber.api("POST", f"{told}/plans", {"title": "Add the station DOCK", "body": "# Add the station DOCK\n"})
    chamber.api("PUT", f"{told}/plans/{plan['id']}", {"body": PLAN.replace("March", "May")})
    chamber.api("PUT", f"{told}/plans/{plan['id']}", {"body": PLAN})
    chamber.api("PUT", f"{told}/pins/plan/{plan['id']}")
    note = chamber.note("Deploys happen on Mondays.", pinned=False)
    chamber.edit_note(note, "Deploys happen on **Monday** mornings.")
    gone = chamber.note("The old reader is kept until the summer.", pinned=False)
    chamber.api("DELETE", f"{told}/notes/{gone}", status=204)
    notes, plans, todos = (f"{project}{name}/" for name in ("notes", "plans", "todos"))
    yield "todos", Exhibit(todos)
    yield "todo-menu", Exhibit(todos, opened('.todo [id$="-more"]'))
    yield "edit-todo", Exhibit(f"{todos}{todo}/edit/")
    yield "plans", Exhibit(plans)
    yield "plan", Exhibit(f"{plans}{plan['id']}/")
    yield "plan-menu", Exhibit(f"{plans}{plan['id']}/", opened('[popovertarget="plan-menu"]'))
    yield "plan-history", Exhibit(f"{plans}{plan['id']}/history/")
    yield "plan-sessions", Exhibit(f"{plans}{plan['id']}/sessions/")
    yield "edit-note", Exhibit(f"{notes}{note}/edit/")
    yield "note-history", Exhibit(f"{notes}{note}/history/")
    yield "note-conflict", Exhibit(f"{notes}{note}/edit/", lambda page: _conflict(page, chamber, note))
    yield "plan-conflict", Exhibit(f"{plans}{other}/", lambda page: _plan_conflict(page, chamber, other))
    yield "notes-riding", Exhibit(notes, opened('[popovertarget="riding-pane"]'), upto=1024)
    yield "note-deleted", Exhibit(notes, lambda page: _delete(page, chamber))
    yield "riding", Exhibit(f"{project}riding/")
    yield "bin", Exhibit(f"{project}bin/")


def _conflict(page: Page, chamber: Chamber, note: Any) -> None:
    """Save what somebody else has changed meanwhile."""
    page.locator(f"#note-{note}-body").fill("Deploys happen on **Tuesday** mornings, never before noon.")
    chamber.edit_note(note, f"Deploys happen on **Monday** mornings. Seen at {monotonic():.0f}.")
    page.locator(f"#note-{note}-save").click()
    page.locator(".conflict").wait_for()


def _plan_conflict(page: Page, chamber: Chamber, plan: Any) -> None:
    """The same of a plan, whose editor saves by itself."""
    body = f"# Retire the old reader\n\nIn the summer, and only with a reason. {monotonic():.0f}"

    def first(route: Route) -> None:
        chamber.api("PUT", f"/projects/{chamber.project}/plans/{plan}", {"body": body})
        route.continue_()

    page.route("**/edit/", first)
    page.locator("#plan-edit textarea").fill("# Retire the old reader\n\nLater, and only with two reasons.")
    page.locator('#saved[data-state="failed"]').wait_for()
    page.unroute("**/edit/")


def _delete(page: Page, chamber: Chamber) -> None:
    """See a toast with its way back."""
    chamber.note("The lighthouse is painted every other year.", pinned=False)
    page.reload()
    page.locator('article [id$="-delete"]').first.click()
    page.locator(".toast").wait_for()


def _found(project: str) -> Iterator[tuple[str, Exhibit]]:
    yield "search", Exhibit(f"{project}search/?q=tide")
    yield "search-nothing", Exhibit(f"{project}search/?q=zeppelin")
    yield "search-empty", Exhibit(f"{project}search/")


def _sessions(showcase: Showcase, project: str) -> Iterator[tuple[str, Exhibit]]:
    told = showcase.pages["session"]
    question, permission = (_asks(showcase.chamber, name) for name in ("question", "permission"))
    deliveries = showcase.chamber.context(told.rstrip("/").rsplit("/", 1)[1])["deliveries"]
    yield "session-question", Exhibit(f"{project}sessions/{question}/")
    yield "session-permission", Exhibit(f"{project}sessions/{permission}/")
    yield "session-failed", Exhibit(f"{project}sessions/{_fails(showcase.chamber)}/")
    yield "session-status", Exhibit(told, opened('[popovertarget="status-pane"]'), upto=390)
    yield "session-list", Exhibit(told, opened('[popovertarget="sessions-pane"]'), upto=1024)
    yield "session-menu", Exhibit(told, opened('[popovertarget="session-menu"]'))
    yield "message-menu", Exhibit(told, opened("[data-menu]"))
    yield "confirm", Exhibit(told, _compact)
    yield "told", Exhibit(f"{told}told/{deliveries[0]['id']}/")
    yield "rename-session", Exhibit(f"{told}rename/")
    yield "archived-sessions", Exhibit(f"{project}sessions/?archived=1")


def _fails(chamber: Chamber) -> str:
    """A session whose answer is an error of the model's."""
    session = chamber.session("One that got no answer")
    chamber.model.when(Reply("You have no credit left at this provider.", status=400), session=session)
    chamber.send(session, "Does anybody hear me?")
    return session


def _compact(page: Page) -> None:
    page.locator('[popovertarget="session-menu"]').click()
    page.locator('#session-menu form[action$="/compact/"] button').click()


def _asks(chamber: Chamber, what: str) -> str:
    """A session whose agent waits for a person: `question` or `permission`."""
    session = chamber.session(f"One that waits for a {what}")
    call = ("question", QUESTION) if what == "question" else ("bash", COMMAND)
    chamber.model.when(Reply(tool_calls=(call,)), said=f"Wait for a {what}", last_role="user", session=session)
    chamber.api("POST", f"/sessions/{session}/messages", {"text": f"Wait for a {what}, please."}, status=202)
    directory = str(chamber.directory)
    wait_for(lambda: chamber.opencode.request("GET", f"/{what}", directory=directory), what=f"the {what}")
    return session


def _memory(showcase: Showcase, project: str) -> Iterator[tuple[str, Exhibit]]:
    memory, api = showcase.pages["memory"], showcase.chamber.api
    told = f"/projects/{showcase.chamber.project}/agents/default/memory"
    scopes = [scope["key"] for scope in api("GET", told)["scopes"]]
    entries = [entry for key in scopes for entry in api("GET", f"{told}/{quote(key, safe='')}")["results"]]
    flagged = next(entry for entry in entries if entry["flagged"])
    kept = next(entry for entry in entries if not entry["flagged"])
    yield "memory-entry", Exhibit(f"{memory}{kept['id']}/")
    yield "memory-flagged", Exhibit(f"{memory}{flagged['id']}/")
    yield "memory-history", Exhibit(f"{memory}{kept['id']}/history/")
    yield "memory-review", Exhibit("/memory/review/")
    yield "memory-waiting", Exhibit("/memory/review/?show=awaiting")
    yield "memory-project", Exhibit(f"{project}memory/")
    yield "agents", Exhibit("/agents/")


def _empty(showcase: Showcase) -> Iterator[tuple[str, Exhibit]]:
    directory = git_project(showcase.chamber.directory.parent / "quay")
    slug = showcase.chamber.api("POST", "/projects", {"directory": str(directory)})["slug"]
    for name in ("notes", "todos", "plans", "bin", "sessions", "memory"):
        yield f"empty-{name}", Exhibit(f"/projects/{slug}/{name}/")
