"""The pulse of memory's pages: nothing while nothing changed, and word to the lists when something did."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from memory.models import Agent, Author, Entry, Switches

Write = Callable[..., Entry]


def beat_of(page: str) -> str:
    """The beat that a page was drawn at."""
    return page.partition("/memory/pulse/?beat=")[2].partition('"')[0]


@pytest.mark.parametrize("path", ["/agents/default/memory/", "/memory/review/", "/projects/shop/memory/"])
def test_a_page_follows_what_agents_do(htmx: Client, panel: Client, project: object, write: Write, path: str) -> None:
    write("Prefers tabs")
    beat = beat_of(panel.get(path).content.decode())
    assert htmx.get("/memory/pulse/", {"beat": beat}).status_code == 204
    write("Uses make")
    answer = htmx.get("/memory/pulse/", {"beat": beat})
    assert "memory-changed" in answer.headers["HX-Trigger"]
    assert htmx.get("/memory/pulse/", {"beat": beat_of(answer.content.decode())}).status_code == 204


def test_every_change_is_one_and_asking_costs_the_same_whatever_there_is(
    panel: Client, agent: Agent, write: Write, by: Author, count_queries: Callable[..., int]
) -> None:
    def beat() -> str:
        return beat_of(panel.get("/memory/pulse/").content.decode())

    empty = count_queries(beat)
    beats = [beat()]
    entry = write("Prefers tabs", awaiting=True)
    for act in (
        lambda: entry.edit(by=by, body="In Go."),
        lambda: entry.approve(by=by),
        lambda: entry.judge("threat", by=None, through=by),
        lambda: entry.bin(by=by),
        lambda: entry.undelete(by=by),
        lambda: Switches.change(enabled=False),
    ):
        act()
        beats.append(beat())
    assert len(set(beats)) == len(beats)
    assert count_queries(beat) == empty
