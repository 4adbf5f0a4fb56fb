"""Plans: titles, sizes, and what is kept."""

from __future__ import annotations

import pytest
from django.core.exceptions import ValidationError

from knowledge.models import Plan, Stale
from knowledge.models.plans import PLAN_LENGTH
from knowledge.wanted import plan_item
from openchamber.models import Project
from openchamber.search import ask, with_passages
from openchamber.sessions.context import write


def test_the_title_follows_the_first_heading(write_plan, by):
    plan = write_plan("# Winter\n\ntext")
    assert plan.title == "Winter"
    plan.edit(body="intro\n\n## Summer\n", by=by)
    assert Plan.objects.get().title == "Summer"


@pytest.mark.parametrize(
    ("title", "body", "stored"),
    [
        ("Winter", "", "# Winter\n"),
        ("Winter", "text", "# Winter\n\ntext"),
        ("Winter", "# Winter\n\ntext", "# Winter\n\ntext"),
        ("Winter", "# Summer", "# Winter\n\n# Summer"),
        ("two\nlines", "text", "# two lines\n\ntext"),
        ("", "text", "text"),
    ],
)
def test_a_title_becomes_the_first_heading_once(write_plan, title, body, stored):
    assert write_plan(body, title=title).body == stored


def test_a_blank_plan_is_called_something_and_kept(write_plan):
    plan = write_plan("")
    assert plan.title == "Untitled plan"
    assert str(plan) == "Untitled plan"


def test_a_million_characters_fit_and_one_more_is_refused_with_the_number(write_plan):
    body = "# Long\n" + "wörd " * 199_998 + "abc"
    assert len(body) == PLAN_LENGTH
    plan = write_plan(body)
    plan.refresh_from_db()
    assert plan.body == body
    with pytest.raises(ValidationError) as refused:
        write_plan(body + "x")
    assert "1000001" in refused.value.messages[0].replace(",", "")


def test_every_byte_of_a_plan_is_kept(write_plan):
    body = "\n\n# T \n\n  indented\t\n| a | b |\n\n\n"
    write_plan(body)
    assert Plan.objects.get().body == body


def test_a_stale_plan_is_not_overwritten(write_plan, by):
    plan = write_plan()
    seen = plan.revision
    Plan.objects.get(pk=plan.pk).edit(body="# Theirs", by=by)
    with pytest.raises(Stale):
        plan.edit(body="# Mine", by=by, seen=seen)
    assert Plan.objects.get().body == "# Theirs"


def test_an_edit_never_brings_a_deleted_plan_back(write_plan, by):
    plan = write_plan()
    Plan.objects.get(pk=plan.pk).bin(by=by)
    with pytest.raises(Stale):
        plan.edit(body="# Mine", by=by)
    assert not Plan.objects.live().exists()


def test_a_plan_of_a_million_characters_is_found_by_its_last_word_and_rides_cut(write_plan, project, settings):
    plan = write_plan("# Long\n" + "word and another\n" * 58_000 + "needle", pinned=True)
    (hit,) = with_passages(ask(Project.objects.all(), "needle").hits)
    assert (hit.kind, hit.id) == ("plan", str(plan.pk))
    assert "<mark>needle</mark>" in hit.snippet
    text, cut = write([plan_item(plan)], settings.CONTEXT_BUDGET)
    assert len(text) <= settings.CONTEXT_BUDGET
    assert cut == {f"knowledge:plan:{plan.pk}"}
    assert f'openchamber_knowledge {{"action":"read","kind":"plan","id":"{plan.pk}"' in text
