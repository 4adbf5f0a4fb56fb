"""Review in the admin: what is deleted, changed meanwhile, or not what it seems."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from memory.models import Agent, Author, Entry, Judgement
from tests.memory.conftest import changed_meanwhile
from tests.memory.test_tool import THREAT

LIST = "/admin/memory/entry/"
Write = Callable[..., Entry]


def act(panel: Client, action: str, entry: Entry, **fields: str) -> str:
    """The list after an action."""
    answer = panel.post(LIST, {"_selected_action": [entry.pk], "action": action, **fields}, follow=True)
    assert answer.status_code == 200
    return answer.content.decode()


def test_the_list_says_what_is_deleted_and_can_leave_it_out(panel: Client, write: Write, by: Author) -> None:
    write("Prefers tabs")
    write("Prefers spaces").bin(by=by)
    page = panel.get(LIST).content.decode()
    assert "column-deleted_at" in page
    assert "Prefers spaces" in page
    assert "Prefers spaces" not in panel.get(f"{LIST}?deleted_at__isempty=1").content.decode()


@pytest.mark.parametrize("action", ["judge_safe", "judge_threat", "approve"])
def test_what_is_in_the_bin_is_refused_with_a_sentence(panel: Client, write: Write, by: Author, action: str) -> None:
    entry = write("Notes", THREAT if action == "judge_safe" else "A text.", awaiting=True)
    entry.bin(by=by)
    assert "It is in the bin. Take it out first." in act(panel, action, entry)
    assert not Judgement.objects.exists()


@pytest.mark.parametrize("action", ["judge_safe", "judge_threat", "approve", "delete_entries", "bring_back"])
def test_what_changes_just_then_is_refused_with_a_sentence(
    panel: Client, write: Write, by: Author, action: str
) -> None:
    entry = write("Notes", THREAT if action == "judge_safe" else "A text.", awaiting=True)
    if action == "bring_back":
        entry.bin(by=by)
    with changed_meanwhile(entry):
        page = act(panel, action, entry)
    assert "is in the bin" in page or "changed in the meantime" in page
    assert not Judgement.objects.exists()


@pytest.mark.parametrize("action", ["judge_safe", "judge_threat", "approve", "delete_entries"])
def test_an_old_page_decides_nothing_about_another_text(panel: Client, write: Write, by: Author, action: str) -> None:
    entry = write("Notes", THREAT, awaiting=True)
    seen = entry.revision
    assert f'name="seen-{entry.pk}" value="{seen}"' in panel.get(LIST).content.decode()
    entry.edit(by=by, body=f"{THREAT} Again.")
    assert "changed in the meantime" in act(panel, action, entry, **{f"seen-{entry.pk}": seen})
    entry.refresh_from_db()
    assert (entry.awaiting, entry.judgement, entry.deleted_at) == (True, "", None)
    act(panel, action, entry, **{f"seen-{entry.pk}": entry.revision})
    assert entry.history.first().through == "admin"


def test_what_cannot_be_seen_is_made_visible_in_every_field(panel: Client, write: Write) -> None:
    entry = write("Notes\u202e of release", f"{THREAT} \u202eevil", description="so\u200b so")
    for page in (panel.get(LIST), panel.get(f"{LIST}{entry.pk}/change/")):
        assert "Notes⟨U+202E⟩ of release" in page.content.decode()
    page: Any = panel.get(f"{LIST}{entry.pk}/change/").content.decode()
    assert "so⟨U+200B⟩ so" in page
    assert "⟨U+202E⟩evil" in page
    assert "\u202eevil" not in page
    act(panel, "judge_safe", entry)
    judged = panel.get(f"/admin/memory/judgement/{Judgement.objects.get().pk}/change/").content.decode()
    assert "Notes⟨U+202E⟩ of release" in judged


def test_an_agent_is_read_there_and_set_on_its_page_which_reaches_running_sessions(panel: Client, agent: Agent) -> None:
    page = panel.get(f"/admin/memory/agent/{agent.pk}/change/")
    assert page.status_code == 200
    assert 'name="memory_enabled"' not in page.content.decode()
    assert panel.post(f"/admin/memory/agent/{agent.pk}/change/", {"slug": "default", "name": "X"}).status_code == 403
    assert panel.get("/admin/memory/agent/add/").status_code == 403
    agent.refresh_from_db()
    assert (agent.name, agent.memory_enabled, agent.memory_prompt) == ("Default", True, None)
