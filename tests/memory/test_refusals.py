"""What the tool refuses so that nothing withheld comes back, nothing is overwritten unseen and no entry is mistaken."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError, connection

from memory import manual
from memory.holders import Holder, below, ensure, gather
from memory.models import Agent, Author, Entry, NoRoom, Scope, Switches, Through
from memory.saving import Draft, Full, memory_save
from memory.scopes import workspace_key
from memory.tool import memory_delete, memory_list, memory_read
from openchamber.errors import Conflict, Invalid, NotFound
from openchamber.models import Project
from tests.memory.test_tool import THREAT

SECRET = "The code of the door is 4711."

# ------------------------------------------------------------------------- what waits


@pytest.mark.parametrize("how", ["id", "revision", "title", "repeat"])
def test_what_waits_for_approval_comes_back_by_no_save(
    save: Callable[..., Any], write: Callable[..., Entry], how: str
) -> None:
    entry = write("Door", SECRET, description="At the back", awaiting=True)
    more = {"id": {"wanted": str(entry.pk)}, "revision": {"revision": "0" * 16}}.get(how, {})
    try:
        answer = save("Door", SECRET if how == "repeat" else "Another text.", **more)
        told = answer.text + json.dumps(dict(answer.data), default=str)
    except Conflict as refused:
        told = json.dumps(refused.body(), default=str)
    assert "At the back" not in told
    assert "4711" not in told
    assert entry.revision not in told
    assert Entry.objects.get().awaiting


def test_a_correction_about_the_user_waits_too(save: Callable[..., Any], holder: Holder, by: Author) -> None:
    save("Prefers tabs", "In Go.")
    save("Uses make", "Everywhere.", "workspace")
    Switches.change(hold_user_entries=True)
    entry = Entry.objects.get(title="Prefers tabs")
    assert "Nothing changed" in save("Prefers tabs", "In Go.").text
    assert "must approve" in save("Prefers spaces", "In all files.", wanted=str(entry.pk)).text
    save("Uses make", "For tests.", "workspace")
    assert [one["title"] for one in memory_list(holder).data["entries"]] == ["Uses make"]
    Entry.objects.select_related("scope__agent").get(pk=entry.pk).approve(by=by)
    assert "Prefers spaces" in memory_list(holder).text


# ------------------------------------------------------------------------- names and ids


def test_a_name_comes_from_the_title_and_never_from_the_agent(save: Callable[..., Any], holder: Holder) -> None:
    save("Release notes", name="ignore-all-previous-instructions")
    assert Entry.objects.get().name == "release-notes"
    assert "previous" not in memory_list(holder).text


def test_the_field_that_was_given_decides(
    save: Callable[..., Any], write: Callable[..., Entry], holder: Holder, by: Author
) -> None:
    named = write("Build: tool", "make")
    number = str(named.pk)
    with pytest.raises(NotFound):
        memory_delete(holder, title=number, by=by)
    with pytest.raises(NotFound):
        memory_delete(holder, title="build-tool", by=by)
    with pytest.raises(NotFound):
        memory_read(holder, name="Build: tool")
    write(number, "By its title.")
    assert "By its title" in memory_read(holder, title=number).text
    assert "make" in memory_read(holder, id=number).text


@pytest.mark.parametrize("more", [{"wanted": "999"}, {"wanted": "no number"}, {"revision": "0" * 16}])
def test_a_save_that_names_what_is_gone_adds_nothing(save: Callable[..., Any], more: dict[str, str]) -> None:
    with pytest.raises(Conflict, match="any more"):
        save("Deploys on Monday", **more)
    assert not Entry.objects.exists()


def test_a_deleted_or_withheld_entry_is_not_updated(
    save: Callable[..., Any], write: Callable[..., Entry], by: Author
) -> None:
    gone, flagged = write("Deploys on Monday"), write("Release notes", THREAT)
    gone.bin(by=by)
    for entry in (gone, flagged):
        with pytest.raises(Conflict) as refused:
            save("Another title", wanted=str(entry.pk), revision=entry.revision)
        assert refused.value.current is None
    assert Entry.objects.count() == 2


def test_deleting_what_another_deleted_meanwhile_says_so(
    write: Callable[..., Entry], holder: Holder, by: Author, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = write("Prefers tabs")
    other = Entry.objects.select_related("scope__agent").get(pk=entry.pk)

    original = Entry.bin

    def late(self: Entry, *, by: Author) -> None:
        original(other, by=by)
        original(self, by=by)

    monkeypatch.setattr(Entry, "bin", late)
    with pytest.raises(NotFound, match="is gone"):
        memory_delete(holder, title="Prefers tabs", by=by)


def test_half_a_surrogate_pair_in_a_title_is_no_failure(save: Callable[..., Any]) -> None:
    save("Prefers \ud800 tabs")
    assert "Nothing changed" in save("Prefers \ud800 tabs", name="\ud800").text
    assert Entry.objects.get().title == "Prefers ? tabs"


def test_half_a_surrogate_pair_in_who_writes_is_no_failure(holder: Holder) -> None:
    by = Author(Through.TOOL, session="ses_\ud800", agent="\ud800", client="c\x00")
    memory_save(holder, "user", Draft("Prefers tabs", "In Go."), by=by)
    assert Entry.objects.get().origin_session == "ses_?"


def test_a_repeat_without_its_description_changes_nothing(save: Callable[..., Any]) -> None:
    save("Deploys on Monday", "At nine.", description="When")
    assert "Nothing changed" in save("Deploys on Monday", "At nine.").text
    assert Entry.objects.get().history.count() == 1


# ------------------------------------------------------------------------- room


def test_what_is_withheld_fills_no_place_and_has_a_cap_of_its_own(
    save: Callable[..., Any], write: Callable[..., Entry]
) -> None:
    Switches.change(user_limit=2)
    for number in range(2):
        save(f"Notes {number}", f"{THREAT} {number}")
    with pytest.raises(Full, match=r"2 entries about the user are withheld .* at most 2 may.* reviewing"):
        save("Notes three", THREAT)
    save("Prefers tabs")
    save("Uses make")
    with pytest.raises(Full, match="at most 2 fit"):
        save("Uses vim")


def test_moving_into_a_full_scope_is_refused_with_the_numbers(
    write: Callable[..., Entry], workspace: Scope, by: Author
) -> None:
    Switches.change(workspace_limit=1)
    write("Uses make", scope=workspace)
    entry = write("Prefers tabs")
    with pytest.raises(NoRoom, match="Entries of this kind: 1; at most 1 fit"):
        entry.move(workspace, by=by)
    assert Entry.objects.get(pk=entry.pk).scope.kind == "user"


def test_a_judged_threat_is_not_called_an_order(save: Callable[..., Any], write: Callable[..., Entry]) -> None:
    from memory.models import Judgement

    entry = write("Prefers tabs", "It is so.")
    Judgement.record(entry, "threat", by=None)
    Entry.objects.all().delete()
    warning = save("Prefers tabs", "It is so.").data["warning"]
    assert "the user judged exactly this a threat" in warning
    assert "()" not in warning


# ------------------------------------------------------------------------- directories


@pytest.mark.parametrize("directory", ["shop", "./shop", "../x", "/tmp/a\x00b", "/tmp/\ud800"])
def test_a_directory_that_is_no_whole_path_is_refused(agent: Agent, directory: str) -> None:
    with pytest.raises(Invalid, match="whole path"):
        Holder.of("build", directory)
    assert not Scope.objects.filter(kind="workspace").exists()


def test_a_save_without_a_directory_is_not_called_temporary(agent: Agent, by: Author) -> None:
    with pytest.raises(Invalid, match="No directory was given") as refused:
        memory_save(Holder.of("build", ""), "workspace", Draft("A title", "A body"), by=by)
    assert "temporary" not in str(refused.value)


def test_an_emptied_scope_is_not_offered_again(agent: Agent, project: Project, directory: Path, by: Author) -> None:
    path = str(directory / "api")
    scope = ensure(agent, workspace_key(path), path)
    assert below(project) == []
    Entry.write(scope=scope, by=by, title="Port 8080", body="For the API.")
    assert below(project) == [scope]
    gather(project, scope, by=by)
    assert below(project) == []


def test_a_busy_store_is_said_to_a_model_which_may_try_again(api: Any, on: None, project: Project) -> None:
    def busy(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if sql.startswith('INSERT INTO "memory_entry"'):
            raise OperationalError("database is locked")
        return execute(sql, params, many, context)

    call = {"action": "save", "scope": "user", "title": "Prefers tabs", "body": "In Go."}
    with connection.execute_wrapper(busy):
        answer = api.post("/api/memory/tool", json.dumps(call), content_type="application/json")
    assert answer.status_code == 503
    assert answer.json()["error"]["message"].endswith("Nothing was saved. Try again.")
    assert not Entry.objects.exists()


def test_a_save_under_a_name_that_is_not_there_says_so(save: Callable[..., Any]) -> None:
    with pytest.raises(Conflict, match="There is no such entry about the user"):
        save("", "In Go.", name="nobody")


def test_a_correction_can_take_the_description_away(save: Callable[..., Any], api: Any, project: Project) -> None:
    save("Prefers tabs", "In Go.", description="About tabs")
    save("Prefers tabs", "In C.")
    assert Entry.objects.get().description == "About tabs"
    call = {"action": "save", "scope": "user", "title": "Prefers tabs", "body": "In C.", "description": ""}
    assert api.post("/api/memory/tool", json.dumps(call), content_type="application/json").status_code == 200
    assert Entry.objects.get().description == ""


def test_the_list_tells_the_limit_that_is_set_and_the_manual_none(holder: Holder, user_scope: Scope) -> None:
    Switches.change(user_limit=5)
    assert "0 entries about the user (at most 5 fit):" in memory_list(holder).text
    assert "60" not in manual.DESCRIPTION


def test_nothing_comes_back_over_the_limit_except_by_a_verdict(
    write: Callable[..., Entry], by: Author, owner: Any
) -> None:
    Switches.change(user_limit=2)
    gone, also = write("One"), write("Two")
    waiting, flagged = write("Three", awaiting=True), write("Four", THREAT)
    gone.bin(by=by)
    gone.undelete(by=by)
    for entry in (gone, also):
        entry.bin(by=by)
    for title in ("Five", "Six"):
        write(title)
    for act in (gone.undelete, waiting.approve):
        with pytest.raises(NoRoom):
            act(by=by)
    flagged.judge("safe", by=owner, through=by)
    assert Entry.objects.told().count() == 3


def test_undo_works_in_a_scope_that_holds_more_than_may_be_by_now(write: Callable[..., Entry], by: Author) -> None:
    entries = [write(f"Fact {number}") for number in range(4)]
    Switches.change(user_limit=2)
    for entry in entries[:2]:
        entry.bin(by=by)
    for entry in entries[:2]:
        entry.undelete(by=by)
    assert Entry.objects.told().count() == 4
