"""The demo shows the main job on a machine without an account and without a network."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx2
import pytest

from tests.agent_server.chamber import wait_for
from tests.agent_server.fresh_machine import FRESH, Talk, words
from tests.agent_server.serve_process import Installation, ServeProcess

pytestmark = pytest.mark.real


@pytest.fixture
def begin_talk(
    install: Callable[..., Installation], start_serve: Callable[..., ServeProcess], git_directory: Path
) -> Iterator[Callable[..., Talk]]:
    """Start `serve` on a fresh machine (with `environment` besides) and make a project there."""
    with ExitStack() as stack:

        def begin(*arguments: str, **environment: str) -> Talk:
            serve = start_serve(install(environment={**FRESH, **environment}), *arguments)
            talk = Talk(serve, git_directory)
            stack.callback(talk.close)
            return talk

        yield begin


@contextmanager
def signed_in(serve: ServeProcess) -> Iterator[httpx2.Client]:
    """A browser without JavaScript, signed in by the printed link."""
    with httpx2.Client(base_url=serve.url, trust_env=False, follow_redirects=True, timeout=90) as person:
        person.get(serve.link)
        post(person, serve.link)
        yield person


def post(person: httpx2.Client, url: str, **fields: str) -> httpx2.Response:
    form = {"csrfmiddlewaretoken": person.cookies["openchamber_csrf"], **fields}
    return person.post(url, data=form, headers={"Referer": str(person.base_url)})


def found_at_its_usual_address() -> bool:
    """Whether `serve` would find an OpenCode instead of starting one."""
    try:
        return httpx2.get("http://127.0.0.1:4096/global/health", timeout=2, trust_env=False).is_success
    except httpx2.TransportError:
        return False


def test_the_demo_reads_out_what_rides_what_changed_and_what_compaction_lost_and_regained(
    begin_talk: Callable[..., Talk],
) -> None:
    talk = begin_talk("--demo")
    note = talk.note("Berths are named by four letters.")
    talk.begin()

    first = talk.answer_to("Hello there")
    assert "no language model" in first
    assert "new: note `Berths are named by four letters.`" in first
    assert "`Hello there`" in first

    second = talk.answer_to("And again")
    assert "With this message OpenChamber told me nothing" in second
    assert "- note `Berths are named by four letters.`" in second

    talk.request("PATCH", f"/projects/{talk.project}/notes/{note}", {"body": "Berths are named by five letters."})
    third = talk.answer_to("Anything new?")
    assert "changed: note `Berths are named by five letters.`" in third

    talk.request("POST", f"/sessions/{talk.session}/compact", status=204)
    wait_for(talk.restored, within=60, what="the restore")
    summary = next(message for message in talk.messages() if message["info"].get("summary") is True)
    assert "Summary by OpenChamber’s demo" in words(summary)
    assert "letters" not in words(summary)

    fourth = talk.answer_to("Do you remember?")
    assert "since the conversation was compacted" in fourth
    assert "told again: note `Berths are named by five letters.`" in fourth

    talk.request("DELETE", f"/projects/{talk.project}/pins/note/{note}")
    fifth = talk.answer_to("And now?")
    assert "no longer applies: note `Berths are named by five letters.`" in fifth

    examined = json.loads(talk.serve.installation.manage("doctor", "--json").stdout)
    found = {finding["topic"]: finding["level"] for finding in examined["findings"]}
    assert (found["Agent server"], found["Plugin of OpenCode"], found["Watcher"]) == ("ok", "ok", "ok")
    assert examined["healthy"]


def test_without_a_model_the_panel_says_so_and_starts_the_demo_with_one_click(
    begin_talk: Callable[..., Talk],
) -> None:
    if found_at_its_usual_address():
        pytest.skip("an OpenCode of somebody else’s runs on 127.0.0.1:4096, and would be used")
    talk = begin_talk("--opencode-url", "", OPENCODE_CONFIG_CONTENT='{"username": "somebody"}')
    talk.note("Berths are named by four letters.")
    with signed_in(talk.serve) as person:
        listed = f"/projects/{talk.slug}/sessions/"
        assert 'id="start-demo"' in person.get(listed).text

        after = post(person, "/demo/", next=listed)

        assert after.url.path == listed
        assert "The demo is ready" in after.text
        assert 'id="no-model"' not in after.text
    assert talk.opencode.get("/config").json()["username"] == "somebody"
    talk.begin()
    assert "`Berths are named by four letters.`" in talk.answer_to("Hello there")
