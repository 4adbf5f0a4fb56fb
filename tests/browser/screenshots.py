"""Pictures for the documentation, of a real OpenCode and a real Chromium.

`python -m tests.browser.screenshots DIRECTORY` takes those that the documentation shows; with `--every`, every page
and every state that matters in every width and colour scheme, with `--language uk` in that language and with
`--only NAME` only what has NAME in its name.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from playwright.sync_api import Browser, Page, sync_playwright

from tests.agent_server.chamber import wait_for
from tests.agent_server.fresh_machine import FRESH, Talk
from tests.agent_server.opencode_process import OpenCodeProcess, git_project
from tests.agent_server.scripted_model import ScriptedModel
from tests.agent_server.serve_process import Installation, ServeProcess
from tests.browser.exhibits import Exhibit, exhibits, unreached
from tests.browser.fixtures import CHROMIUM, SCHEMES, SWITCHES, WIDTHS
from tests.browser.showcase import Showcase, fill, sign_in

DESK = {"width": 1440, "height": 900}
SHOWN = ("session", "notes", "memory")  # in docs/delivery.md, docs/knowledge.md, docs/memory.md


@dataclass(frozen=True)
class Camera:
    """Takes every form of what has `only` in its name, as `<name>-<width>-<scheme>.png`."""

    chromium: Browser
    target: Path
    language: str
    only: str

    def take(self, url: str, signed_in: Any, shown: dict[str, Exhibit]) -> None:
        """What is shown at `url`, in every width and colour scheme."""
        chosen = {name: exhibit for name, exhibit in shown.items() if self.only in name}
        for scheme in SCHEMES:
            for width in WIDTHS:
                for state in (signed_in, None):
                    page = self._page(width, scheme, state)
                    for name, exhibit in chosen.items():
                        if exhibit.upto >= width and exhibit.signed_in == bool(state):
                            page.goto(url + exhibit.path)
                            exhibit.act(page)
                            page.screenshot(path=self.target / f"{name}-{width}-{scheme}.png")
                    page.context.close()

    def _page(self, width: int, scheme: Literal["light", "dark"], state: Any) -> Page:
        context = self.chromium.new_context(
            viewport={"width": width, "height": WIDTHS[width]},
            color_scheme=scheme,
            reduced_motion="reduce",
            has_touch=width == min(WIDTHS),  # fingers need more room than a mouse
            locale=self.language,
            storage_state=state,
        )
        context.set_default_timeout(10_000)
        return context.new_page()


def take_every(showcase: Showcase, camera: Camera, directory: Path) -> None:
    """Every page and state; at last the demo, and what is seen when the agent server is gone."""
    pages = {name: Exhibit(path) for name, path in showcase.pages.items()}
    camera.take(showcase.serve.url, showcase.signed_in, pages | exhibits(showcase))
    if camera.only in "demo":
        with demo(directory) as talk:
            shown = {"demo": Exhibit(address(talk))}
            camera.take(talk.serve.url, sign_in(camera.chromium, talk.serve), shown)
    showcase.chamber.opencode.stop()
    camera.take(showcase.serve.url, showcase.signed_in, unreached(showcase))


def take_shown(showcase: Showcase, chromium: Browser, target: Path) -> None:
    """The pages that the documentation shows, as `<page>.png`."""
    context = chromium.new_context(viewport=DESK, reduced_motion="reduce", storage_state=showcase.signed_in)
    page = context.new_page()
    for name in SHOWN:
        page.goto(showcase.address(name))
        page.screenshot(path=target / f"{name}.png")
    context.close()


@contextmanager
def demo(directory: Path) -> Iterator[Talk]:
    """A talk with the demo's model that was compacted."""
    serve = ServeProcess(Installation(directory / "fresh", environment=FRESH), "--demo").start()
    try:
        talk = Talk(serve, git_project(directory / "ferry"))
        talk.note("Berths are named by four letters, never three.")
        talk.begin()
        talk.answer_to("Hello, what do you know?")
        talk.request("POST", f"/sessions/{talk.session}/compact", status=204)
        wait_for(talk.restored, within=60, what="the restore")
        talk.answer_to("Do you still know?")
        yield talk
        talk.close()
    finally:
        serve.stop()


def address(talk: Talk) -> str:
    """The path of the talk's page."""
    return f"/projects/{talk.slug}/sessions/{talk.session}/"


def take_demo(chromium: Browser, target: Path, directory: Path) -> None:
    """The README's first picture, as `demo.png`."""
    with demo(directory) as talk:
        cookies = sign_in(chromium, talk.serve)
        context = chromium.new_context(viewport=DESK, reduced_motion="reduce", storage_state=cookies)
        page = context.new_page()
        page.goto(talk.serve.url + address(talk))
        page.screenshot(path=target / "demo.png")
        context.close()


def main(target: Path, *, every: bool, language: str, only: str) -> None:
    """Start everything on temporary directories, take the pictures, stop everything."""
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name, ScriptedModel() as model, sync_playwright() as playwright:
        directory = Path(name).resolve()
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=SWITCHES)
        asking = {"permission": {"*": "allow", "bash": "ask"}}
        opencode = OpenCodeProcess(home=directory / "opencode", model_url=model.url, config=asking).start()
        memory = {"OPENCHAMBER_MEMORY_ENABLE": "1"}
        serve = ServeProcess(Installation(directory / "installation", opencode=opencode, environment=memory)).start()
        try:
            showcase = fill(serve, opencode, model, git_project(directory / "harbour"), chromium, memory=True)
            if every:
                take_every(showcase, Camera(chromium, target, language, only), directory)
            else:
                take_shown(showcase, chromium, target)
                take_demo(chromium, target, directory)
        finally:
            serve.stop()
            opencode.close()
            chromium.close()


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("target", type=Path)
    arguments.add_argument("--every", action="store_true")
    arguments.add_argument("--language", default="en")
    arguments.add_argument("--only", default="", metavar="NAME")
    main(**vars(arguments.parse_args()))
