"""Pictures of every page, for the documentation: `python -m tests.browser.screenshots DIRECTORY`."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from tests.agent_server.opencode_process import OpenCodeProcess, git_project
from tests.agent_server.scripted_model import ScriptedModel
from tests.agent_server.serve_process import Installation, ServeProcess
from tests.browser.fixtures import CHROMIUM, SCHEMES, SWITCHES, WIDTHS
from tests.browser.showcase import Showcase, fill


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


def main(target: Path) -> None:
    """Start everything on temporary directories, take the pictures, stop everything."""
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name, ScriptedModel() as model, sync_playwright() as playwright:
        directory = Path(name).resolve()
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=SWITCHES)
        opencode = OpenCodeProcess(home=directory / "opencode", model_url=model.url).start()
        serve = ServeProcess(Installation(directory / "installation", opencode=opencode)).start()
        try:
            project = git_project(directory / "harbour")
            take(fill(serve, opencode, model, project, chromium), chromium, target)
        finally:
            serve.stop()
            opencode.close()
            chromium.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
