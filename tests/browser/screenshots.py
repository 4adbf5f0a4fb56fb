"""Pictures for the documentation, of a real OpenCode and a real Chromium.

`python -m tests.browser.screenshots DIRECTORY` takes those that the documentation shows; with `--every`, every page
in every width and colour scheme.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from tests.agent_server.chamber import wait_for
from tests.agent_server.fresh_machine import FRESH, Talk
from tests.agent_server.opencode_process import OpenCodeProcess, git_project
from tests.agent_server.scripted_model import ScriptedModel
from tests.agent_server.serve_process import Installation, ServeProcess
from tests.browser.fixtures import CHROMIUM, SCHEMES, SWITCHES, WIDTHS
from tests.browser.showcase import Showcase, fill, sign_in

DESK = {"width": 1440, "height": 900}
SHOWN = ("session", "notes", "memory")  # in docs/delivery.md, docs/knowledge.md, docs/memory.md


def take(showcase: Showcase, chromium: Browser, target: Path) -> None:
    """Every page in every width and colour scheme, as `<page>-<width>-<scheme>.png`."""
    for scheme in SCHEMES:
        for width, height in WIDTHS.items():
            context = chromium.new_context(
                viewport={"width": width, "height": height},
                color_scheme=scheme,
                reduced_motion="reduce",
                storage_state=showcase.signed_in,
            )
            page = context.new_page()
            for name in showcase.pages:
                page.goto(showcase.address(name))
                page.screenshot(path=target / f"{name}-{width}-{scheme}.png")
            context.close()


def take_shown(showcase: Showcase, chromium: Browser, target: Path) -> None:
    """The pages that the documentation shows, as `<page>.png`."""
    context = chromium.new_context(viewport=DESK, reduced_motion="reduce", storage_state=showcase.signed_in)
    page = context.new_page()
    for name in SHOWN:
        page.goto(showcase.address(name))
        page.screenshot(path=target / f"{name}.png")
    context.close()


def take_demo(chromium: Browser, target: Path, directory: Path) -> None:
    """A talk with the demo's model that was compacted: the README's first picture, as `demo.png`."""
    serve = ServeProcess(Installation(directory / "fresh", environment=FRESH), "--demo").start()
    try:
        talk = Talk(serve, git_project(directory / "ferry"))
        talk.note("Berths are named by four letters, never three.")
        talk.begin()
        talk.answer_to("Hello, what do you know?")
        talk.request("POST", f"/sessions/{talk.session}/compact", status=204)
        wait_for(talk.restored, within=60, what="the restore")
        talk.answer_to("Do you still know?")
        context = chromium.new_context(viewport=DESK, reduced_motion="reduce", storage_state=sign_in(chromium, serve))
        page = context.new_page()
        page.goto(f"{serve.url}/projects/{talk.slug}/sessions/{talk.session}/")
        page.screenshot(path=target / "demo.png")
        context.close()
        talk.close()
    finally:
        serve.stop()


def main(target: Path, *, every: bool) -> None:
    """Start everything on temporary directories, take the pictures, stop everything."""
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name, ScriptedModel() as model, sync_playwright() as playwright:
        directory = Path(name).resolve()
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=SWITCHES)
        opencode = OpenCodeProcess(home=directory / "opencode", model_url=model.url).start()
        memory = {"OPENCHAMBER_MEMORY_ENABLE": "1"}
        serve = ServeProcess(Installation(directory / "installation", opencode=opencode, environment=memory)).start()
        try:
            showcase = fill(serve, opencode, model, git_project(directory / "harbour"), chromium, memory=True)
            if every:
                take(showcase, chromium, target)
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
    main(**vars(arguments.parse_args()))
