"""Hostile text in every field that is shown: nothing acts, nothing is fetched from elsewhere."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Request

from tests.agent_server.serve_process import Installation, ServeProcess

# After OWASP's cheat sheets on cross-site scripting and its filters, and what Markdown adds.
PAYLOADS = [
    "<script>pwned()</script>",
    "<img src=x onerror=pwned()>",
    "<svg onload=pwned()>",
    "<body onload=pwned()>",
    "<iframe src=javascript:pwned()></iframe>",
    "<a href=javascript:pwned()>click</a>",
    "<details open ontoggle=pwned()>x</details>",
    "<input autofocus onfocus=pwned()>",
    "<math><mtext><table><mglyph><style><img src=x onerror=pwned()>",
    "<form action=https://evil.example/><button>go</button></form>",
    '"><script>pwned()</script>',
    "'-pwned()-'",
    '" onmouseover="pwned()" x="',
    "</textarea><script>pwned()</script>",
    "</title><script>pwned()</script>",
    "<!--><script>pwned()</script>-->",
    "<scr<script>ipt>pwned()</scr</script>ipt>",
    "&lt;script&gt;pwned()&lt;/script&gt;",
    "\u003cscript\u003epwned()\u003c/script\u003e",
    "[click](javascript:pwned())",
    "[click](JaVaScRiPt:pwned())",
    "[click](data:text/html;base64,PHNjcmlwdD5wd25lZCgpPC9zY3JpcHQ+)",
    "[click](vbscript:pwned)",
    "[x]: javascript:pwned()\n\n[click][x]",
    "![x](https://evil.example/pixel.png)",
    '![x](x"onerror="pwned())',
    "<https://evil.example/>",
    "<link rel=stylesheet href=https://evil.example/x.css>",
    "<style>@import 'https://evil.example/x.css';</style>",
    "<meta http-equiv=refresh content='0;url=https://evil.example/'>",
    "<base href=https://evil.example/>",
    "<div hx-get=https://evil.example/ hx-trigger=load>x</div>",
    "<div hx-on:load='pwned()'>x</div>",
    "<hx-partial hx-target='#toasts'>x</hx-partial>",
    "{{ 7*7 }} {% load x %} ${7*7} <%= 7*7 %>",
    "```html\n<script>pwned()</script>\n```",
    "| <img src=x onerror=pwned()> | b |\n|---|---|\n| 1 | 2 |",
    "# <img src=x onerror=pwned()>",
    "[^1]\n\n[^1]: <img src=x onerror=pwned()>",
    "- [ ] <img src=x onerror=pwned()>",
    "\u202egnp.exe\u202c",
    "<mark onclick=pwned()>x</mark>",
]


@pytest.fixture(scope="module")
def serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServeProcess]:
    """One OpenChamber without an agent server for this module."""
    process = ServeProcess(Installation(tmp_path_factory.mktemp("payloads") / "installation")).start()
    try:
        yield process
    finally:
        process.stop()


@pytest.fixture(scope="module")
def signed_in(serve: ServeProcess, chromium: Browser) -> Any:
    """The cookies of the owner's browser."""
    context = chromium.new_context()
    page = context.new_page()
    page.goto(serve.link)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(re.compile(r"/$"))
    state = context.storage_state()
    context.close()
    return state


def everything_hostile(serve: ServeProcess, directory: Path) -> list[str]:
    """Put every payload into every field; the pages that show them."""
    api, name, body = serve.request, "<img src=x onerror=pwned()>", "\n\n".join(PAYLOADS)
    slug = api("POST", "/projects", {"directory": str(directory), "name": name})["slug"]
    path = f"/projects/{slug}"
    origin = {"session": name, "message": name}
    for payload in PAYLOADS:
        api("POST", f"{path}/notes", {"body": payload, "source": "message", "origin": origin})
        api("POST", f"{path}/todos", {"text": payload})
        title = "".join(filter(str.isprintable, " ".join(payload.split())))  # a title is one line of visible letters
        api("POST", f"{path}/plans", {"title": title, "body": payload})
    plan = api("POST", f"{path}/plans", {"body": body})["id"]
    api("PUT", f"{path}/plans/{plan}", {"body": body.replace("pwned()", "pwned( )")})
    api("PUT", f"{path}/pins/plan/{plan}")
    api("DELETE", f"{path}/notes/{api('POST', f'{path}/notes', {'body': name})['id']}")
    sections = ["notes/", "notes/?page=2", "notes/?page=3", "todos/", "plans/", "bin/", "riding/"]
    sections += [f"plans/{plan}/", f"plans/{plan}/history/", f"plans/{plan}/sessions/", "search/?q=pwned"]
    sections += ["search/?q=%3Cscript%3Epwned()%3C%2Fscript%3E", "search/?q=zzz%3Csvg+onload%3Dpwned()%3E"]
    admin = ["note/", "plan/", f"plan/{plan}/change/", "todo/"]
    return ["/", *(f"{path}/{section}" for section in sections), *(f"/admin/knowledge/{page}" for page in admin)]


def test_nothing_acts_and_nothing_is_fetched_from_elsewhere(
    serve: ServeProcess, open_page: Callable[..., Page], signed_in: Any, tmp_path: Path
) -> None:
    directory = tmp_path.resolve() / "hostile"
    directory.mkdir()
    pages = everything_hostile(serve, directory)
    page = open_page(storage_state=signed_in)
    acted: list[str] = []
    foreign: list[str] = []

    def asked(request: Request) -> None:
        if not request.url.startswith((serve.url, "data:", "blob:", "about:")):
            foreign.append(request.url)

    page.on("request", asked)
    page.on("dialog", lambda dialog: (acted.append(dialog.message), dialog.dismiss()))
    page.expose_function("pwned", lambda *_: acted.append(page.url))
    for address in pages:
        answer = page.goto(f"{serve.url}{address}")
        assert answer is not None
        assert answer.status == 200, address
        for element in page.locator("main a:has-text('click'), main summary").all()[:10]:
            if (element.get_attribute("href") or "#").startswith("#"):
                element.click(no_wait_after=True, trial=False, timeout=2000)
        script = "() => [...document.querySelectorAll('main a[href]')].map((link) => new URL(link.href).protocol)"
        assert set(page.evaluate(script)) <= {"http:", "https:", "mailto:"}, address
        brought = "main iframe, main link, main style, main meta, main :is(img, script):not([src^='/static/'])"
        assert page.locator(brought).count() == 0, address
        page.wait_for_timeout(50)
    assert acted == []
    assert foreign == []


def test_what_is_exported_is_what_was_typed_and_told_as_a_download(serve: ServeProcess, tmp_path: Path) -> None:
    directory = tmp_path.resolve() / "exported"
    directory.mkdir()
    slug = serve.request("POST", "/projects", {"directory": str(directory)})["slug"]
    body = "\n\n".join(PAYLOADS)
    plan = serve.request("POST", f"/projects/{slug}/plans", {"body": body})
    answer = serve.installation.manage("export_knowledge", slug, str(tmp_path / "out"))
    assert answer.returncode == 0, answer.stderr
    (file,) = (tmp_path / "out" / "plans").iterdir()
    assert file.read_bytes() == body.encode()
    assert re.fullmatch(r"[a-z0-9-]+\.md", file.name)
    assert plan["id"] in file.name
