"""Verdicts reach every place of a content, collide with nothing, and a broken row breaks its own scope alone."""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client

from memory.models import Author, Entry, Judgement, Scope, Taken
from memory.reading import read, read_lines
from memory.threats import SCANNER_VERSION
from memory.tool import memory_list
from tests.memory.test_tool import THREAT, sqlite_only


def outdated(entry: Entry, **fields: Any) -> None:
    """Let an older scanner have judged it."""
    Entry.objects.filter(pk=entry.pk).update(scanned_with="0-old", **fields)


def twins(write: Callable[..., Entry]) -> tuple[Entry, Entry]:
    """A clean entry, and one of the same title that an older scanner withheld without need."""
    clean = write("Deploys on Monday", "At nine.")
    Entry.objects.filter(pk=clean.pk).update(flagged=True)
    twin = write("Deploys on Monday", "At ten.")
    Entry.objects.filter(pk=twin.pk).update(flagged=True)
    Entry.objects.filter(pk=clean.pk).update(flagged=False)
    outdated(twin)
    return clean, Entry.objects.select_related("scope__agent").get(pk=twin.pk)


# ------------------------------------------------------------------------- collisions


def test_a_scan_that_would_give_a_title_twice_leaves_it_withheld_for_a_person(
    write: Callable[..., Entry], user_scope: Scope
) -> None:
    clean, twin = twins(write)
    for _again in range(2):
        lines = read_lines("user", user_scope)
        assert not lines.failed
        assert [line.pk for line in lines.told] == [clean.pk]
    twin.refresh_from_db()
    assert (twin.flagged, twin.conflicting) == (True, True)


def test_a_safe_verdict_for_a_twin_does_not_break_reading_either(
    write: Callable[..., Entry], user_scope: Scope
) -> None:
    write("Release notes", "At nine.")
    twin = write("Release notes", THREAT)
    Judgement.record(twin, "safe", by=None)
    outdated(twin)
    reading = read("user", user_scope)
    assert not reading.failed
    assert [entry.body for entry in reading.told] == ["At nine."]


def test_the_one_becomes_clean_when_the_other_is_withheld_in_the_same_scan(
    write: Callable[..., Entry], user_scope: Scope
) -> None:
    clean, twin = twins(write)
    outdated(clean, body=THREAT)
    assert [line.pk for line in read_lines("user", user_scope).told] == [twin.pk]


def test_scanning_goes_on_past_a_collision_and_says_it(write: Callable[..., Entry]) -> None:
    _clean, twin = twins(write)
    outdated(write("Uses make"))
    out = StringIO()
    call_command("scan_memory", stdout=out)
    assert "2 scanned" in out.getvalue()
    assert f"{twin.title} (its title is another entry’s)" in out.getvalue()


def test_a_person_can_free_a_conflicting_entry_once_the_title_is(
    write: Callable[..., Entry], user_scope: Scope, by: Author, owner: Any
) -> None:
    clean, twin = twins(write)
    read("user", user_scope)
    twin = Entry.objects.select_related("scope__agent").get(pk=twin.pk)
    with pytest.raises(Taken):
        twin.judge("safe", by=owner, through=by)
    clean.bin(by=by)
    twin = Entry.objects.select_related("scope__agent").get(pk=twin.pk)
    twin.judge("safe", by=owner, through=by)
    twin.judge("", by=owner, through=by)
    twin.refresh_from_db()
    assert (twin.flagged, twin.conflicting, twin.judgement) == (False, False, "")


# ------------------------------------------------------------------------- the same content elsewhere


def test_a_verdict_reaches_the_same_content_elsewhere(
    write: Callable[..., Entry], workspace: Scope, by: Author, owner: Any
) -> None:
    here, there = write("Release notes", THREAT), write("Release notes", THREAT, scope=workspace)
    other = write("Release notes two", THREAT)
    revision = Scope.objects.get(pk=workspace.pk).revision
    for verdict, flagged in (("safe", False), ("threat", True), ("", True)):
        here.judge(verdict, by=owner, through=by)
        there.refresh_from_db()
        assert (there.judgement, there.flagged) == (verdict, flagged)
    other.refresh_from_db()
    assert (other.judgement, other.flagged) == ("", True)
    assert there.history.first().history_change_reason == "judged"
    assert Scope.objects.get(pk=workspace.pk).revision > revision
    assert Judgement.objects.count() == 3


def test_a_verdict_leaves_an_entry_elsewhere_withheld_whose_title_is_taken_there(
    write: Callable[..., Entry], workspace: Scope, by: Author, owner: Any
) -> None:
    here, there = write("Release notes", THREAT), write("Release notes", THREAT, scope=workspace)
    write("Release notes", "Every Friday.", scope=workspace)
    here.judge("safe", by=owner, through=by)
    there.refresh_from_db()
    assert (there.judgement, there.flagged, there.conflicting) == ("safe", True, True)
    assert not Entry.objects.get(pk=here.pk).flagged


def in_conflict(write: Callable[..., Entry], workspace: Scope, by: Author, owner: Any) -> Entry:
    """An entry that was judged safe elsewhere while another has its title here."""
    here, there = write("Release notes", THREAT), write("Release notes", THREAT, scope=workspace)
    write("Release notes", "Every Friday.", scope=workspace)
    here.judge("safe", by=owner, through=by)
    return Entry.objects.select_related("scope__agent").get(pk=there.pk)


def test_a_conflict_about_a_title_says_so_and_what_to_do(
    panel: Client, write: Callable[..., Entry], workspace: Scope, by: Author, owner: Any
) -> None:
    page = panel.get(in_conflict(write, workspace, by, owner).get_absolute_url()).content.decode()
    assert "another entry here has its title" in page
    assert "Withheld: another entry has its title" in page
    assert "two places at once" not in page
    assert "Withheld: it reads like an order" not in page


def test_what_stays_withheld_stays_in_the_queue(
    panel: Client, write: Callable[..., Entry], workspace: Scope, by: Author, owner: Any
) -> None:
    entry = in_conflict(write, workspace, by, owner)
    entry.settle(by=by)
    queue = panel.get("/memory/review/?show=flagged")
    assert [one.pk for one in queue.context["rows"]] == [entry.pk]
    assert (queue.context["counts"]["flagged"], queue.context["unanswered"]) == (1, 1)


def test_a_verdict_ends_a_conflict(write: Callable[..., Entry], workspace: Scope, by: Author, owner: Any) -> None:
    entry = in_conflict(write, workspace, by, owner)
    entry.judge("threat", by=owner, through=by)
    entry.refresh_from_db()
    assert (entry.flagged, entry.conflicting) == (True, False)
    assert not Entry.objects.unanswered().exists()


# ------------------------------------------------------------------------- broken rows


@sqlite_only
@pytest.mark.parametrize("damage", ["updated_at = 'garbage'", "updated_at = ''", "body = x'fffe'"])
def test_a_broken_row_makes_only_its_scope_unavailable(
    panel: Client, api: Client, write: Callable[..., Entry], workspace: Scope, damage: str, project: Any
) -> None:
    write("Prefers tabs")
    write("Uses make", scope=workspace)
    flagged = write("Release notes", THREAT, scope=workspace)
    with connection.cursor() as cursor:
        cursor.execute(f"UPDATE memory_entry SET {damage} WHERE title = 'Prefers tabs'")
    overview = api.get(f"/api/projects/{project.slug}/agents/default/memory")
    assert overview.status_code == 200
    assert [scope["unavailable"] for scope in overview.json()["scopes"]] == [True, False]
    page = panel.get("/agents/default/memory/")
    assert page.status_code == 200
    assert "Uses make" in page.content.decode()
    out = StringIO()
    call_command("scan_memory", "--all", stdout=out)
    assert "2 scanned" in out.getvalue()
    assert flagged.title in out.getvalue()
    assert "Default: User cannot be read" in out.getvalue()


# ------------------------------------------------------------------------- what people say meanwhile


def test_what_was_judged_a_threat_meanwhile_comes_out_of_the_bin_withheld_and_the_other_way_round(
    write: Callable[..., Entry], workspace: Scope, holder: Any, by: Author, owner: Any
) -> None:
    for title, body, verdict, flagged in (("Uses make", "For all.", "threat", True), ("Notes", THREAT, "safe", False)):
        here, there = write(title, body), write(title, body, scope=workspace)
        there.bin(by=by)
        here.judge(verdict, by=owner, through=by)
        Entry.objects.select_related("scope__agent").get(pk=there.pk).undelete(by=by)
        there.refresh_from_db()
        assert (there.deleted_at, there.flagged, there.judgement) == (None, flagged, verdict)
    assert "Uses make" not in memory_list(holder).text


def test_what_an_older_scanner_saw_is_judged_when_it_comes_out_of_the_bin(
    write: Callable[..., Entry], by: Author
) -> None:
    entry = write("Notes", THREAT)
    outdated(entry, flagged=False, matches=[])
    entry = Entry.objects.select_related("scope__agent").get(pk=entry.pk)
    entry.bin(by=by)
    entry.undelete(by=by)
    entry.refresh_from_db()
    assert (entry.flagged, entry.scanned_with) == (True, SCANNER_VERSION)


def test_a_scan_does_not_overwrite_what_somebody_said_while_it_ran(
    write: Callable[..., Entry], user_scope: Scope, by: Author, owner: Any
) -> None:
    entry = write("Uses make")
    outdated(entry)
    [read_before] = user_scope.entries.live()
    read_before.scope = user_scope
    read_before.judge_content()
    Entry.objects.select_related("scope__agent").get(pk=entry.pk).judge("threat", by=owner, through=by)
    assert read_before.store_verdict()
    entry.refresh_from_db()
    assert (entry.flagged, entry.judgement) == (True, "threat")


def test_the_same_verdict_about_many_that_say_the_same_is_no_conflict(
    write: Callable[..., Entry], workspace: Scope, by: Author, owner: Any
) -> None:
    for scope in (None, workspace):
        write("Notes", THREAT, **({"scope": scope} if scope else {}))
    for entry in list(Entry.objects.select_related("scope__agent")):  # as the admin's list judges them
        entry.judge("safe", by=owner, through=by)
    assert set(Entry.objects.values_list("flagged", "judgement")) == {(False, "safe")}
