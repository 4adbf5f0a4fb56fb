"""The plans page and a plan's own page."""

from __future__ import annotations

import pytest
from django.urls import reverse

from knowledge.models import Plan


def act(name, plan=None):
    return reverse(f"knowledge:{name}", args=["shop"] if plan is None else ["shop", plan.pk])


def test_the_list_shows_titles_and_sizes_and_reads_no_bodies(panel, write_plan):
    write_plan("# Winter\n\nsecret words")
    html = panel.get(act("plans")).text
    assert "Winter</a>" in html
    assert "22 characters" in html
    assert "secret words" not in html


def test_beginning_a_plan_leads_to_its_page(panel, htmx, project):
    answer = panel.post(act("write-plan"), {"title": "Winter"})
    plan = Plan.objects.get()
    assert answer.url == act("plan", plan)
    assert plan.body == "# Winter\n"
    assert "HX-Redirect" in htmx.post(act("write-plan"), {"title": ""}).headers
    assert Plan.objects.count() == 2


def test_a_plan_that_is_too_long_is_refused_and_comes_back(panel, htmx, project):
    for client in (panel, htmx):
        answer = client.post(act("write-plan"), {"title": "T", "body": "x" * 1_000_001})
        assert answer.status_code == 422
        assert "1000001 characters" in answer.text.replace(",", "")
        assert "x" * 1_000_001 in answer.text


def test_a_plan_that_its_title_makes_too_long_is_refused_and_comes_back(panel, htmx, project):
    for client in (panel, htmx):
        answer = client.post(act("write-plan"), {"title": "Winter", "body": "x" * 1_000_000})
        assert answer.status_code == 422
        assert "1000010 characters" in answer.text.replace(",", "")
        assert "x" * 1_000_000 in answer.text
        assert 'value="Winter"' in answer.text
    assert not Plan.objects.exists()


def test_the_page_of_a_plan_shows_its_text_and_its_preview(panel, write_plan):
    plan = write_plan(
        "\n# Winter\n\n- [x] done\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```sh\nls\n```\nfoot[^1]\n\n[^1]: note"
    )
    html = panel.get(act("plan", plan)).text
    assert "<table>" in html
    assert 'type="checkbox"' in html
    assert "footnote" in html
    assert '<h1 id="plan-title">Winter</h1>' in html
    # The first newline after the tag is the browser's, the second the plan's.
    assert ">\n\n# Winter" in html
    assert plan.revision in html


def test_saving_with_htmx_tells_the_new_revision_title_and_preview(htmx, write_plan):
    plan = write_plan()
    answer = htmx.post(
        act("edit-plan", plan), {"body": "# Summer\r\n\r\n**bold**", "seen": plan.revision, "sitting": "s"}
    )
    plan.refresh_from_db()
    assert plan.body == "# Summer\n\n**bold**"
    assert plan.revision in answer.text
    assert "Summer</h1>" in answer.text
    assert "<strong>bold</strong>" in answer.text


def test_saving_works_without_javascript(panel, write_plan):
    plan = write_plan()
    answer = panel.post(act("edit-plan", plan), {"body": "# Summer", "seen": plan.revision})
    assert answer.url == act("plan", plan)


def test_the_saves_of_one_sitting_follow_each_other_even_when_their_revisions_were_not_heard_of(htmx, write_plan):
    plan = write_plan()
    seen = plan.revision
    for body in ["# S", "# Su", "# Summer"]:
        assert htmx.post(act("edit-plan", plan), {"body": body, "seen": seen, "sitting": "one"}).status_code == 200
    assert plan.history.count() == 2
    assert htmx.post(act("edit-plan", plan), {"body": "# X", "seen": seen, "sitting": "two"}).status_code == 409
    assert Plan.objects.get().body == "# Summer"


def test_a_stale_save_shows_both_texts_and_puts_them_together(panel, htmx, write_plan, by):
    plan = write_plan("# Winter\n\nOne line.\n\nAnother line.\n")
    seen = plan.revision
    plan.edit(body="# Winter\n\nOne changed line.\n\nAnother line.\n", by=by)
    yours = "# Winter\n\nOne line.\n\nAnother line of mine.\n"
    for client in (panel, htmx):
        answer = client.post(act("edit-plan", plan), {"body": yours, "seen": seen})
        assert answer.status_code == 409
        assert "One changed line.\n\nAnother line of mine." in answer.text
    answer = panel.post(act("edit-plan", plan), {"body": "both", "seen": plan.revision})
    assert answer.status_code == 302
    assert Plan.objects.get().body == "both"


def test_a_save_that_breaks_a_rule_says_why_and_keeps_the_text(panel, htmx, write_plan):
    plan = write_plan()
    for client in (panel, htmx):
        answer = client.post(act("edit-plan", plan), {"body": "a\x00b", "seen": plan.revision})
        assert answer.status_code == 422
        assert "Null characters" in answer.text
    assert Plan.objects.get().body == plan.body


def test_an_open_page_hears_of_a_change_and_of_nothing_else(htmx, write_plan, by):
    plan = write_plan()
    assert htmx.get(act("plan", plan), {"seen": plan.revision}).status_code == 204
    seen = plan.revision
    plan.edit(body="# Changed elsewhere", by=by)
    answer = htmx.get(act("plan", plan), {"seen": seen})
    assert answer.text.strip().startswith("<form")
    assert "Changed elsewhere" in answer.text


def test_a_plan_is_exported_byte_for_byte(panel, write_plan):
    body = "# Wïnter / plan\n\n\ttext  \n"
    plan = write_plan(body)
    answer = panel.get(act("export-plan", plan))
    assert answer.content == body.encode()
    assert answer.headers["Content-Type"] == "text/markdown; charset=utf-8"
    assert answer.headers["Content-Disposition"] == 'attachment; filename="winter-plan.md"'


def test_pinning_answers_with_the_button_alone(htmx, write_plan):
    plan = write_plan()
    answer = htmx.post(reverse("knowledge:pin-item", args=["shop", "plans", plan.pk]), {"pinned": "on"})
    assert answer.text.strip().startswith("<button")
    assert 'aria-pressed="true"' in answer.text


def test_a_todo_cannot_be_pinned(panel, write_todo):
    assert panel.post(reverse("knowledge:pin-item", args=["shop", "todos", write_todo().pk])).status_code == 404


def test_deleting_a_plan_is_undone(panel, write_plan):
    plan = write_plan()
    panel.post(reverse("knowledge:delete-item", args=["shop", "plans", plan.pk]))
    assert panel.get(act("plan", plan)).status_code == 404
    panel.post(reverse("knowledge:undelete-item", args=["shop", "plans", plan.pk]))
    assert panel.get(act("plan", plan)).status_code == 200


def test_a_plan_of_a_million_characters_opens_and_is_saved(panel, write_plan):
    plan = write_plan("# Long\n" + "word " * 199_990)
    html = panel.get(act("plan", plan)).text
    assert "too long for a formatted preview" in html
    assert panel.post(act("edit-plan", plan), {"body": plan.body + "x", "seen": plan.revision}).status_code == 302
    assert Plan.objects.get().body.endswith("x")


def test_the_list_asks_as_often_for_200_plans_as_for_2(panel, write_plan, count_queries):
    for _number in range(2):
        write_plan()
    panel.get(act("plans"))
    few = count_queries(lambda: panel.get(act("plans")))
    for _number in range(198):
        write_plan(pinned=True)
    assert count_queries(lambda: panel.get(act("plans"))) == few


@pytest.mark.parametrize("name", ["plan", "edit-plan", "export-plan"])
def test_a_stranger_reaches_no_plan(sign_in, stranger, write_plan, name):
    plan = write_plan()
    client = sign_in(stranger)
    answer = client.post(act(name, plan), {"body": "x"}) if name == "edit-plan" else client.get(act(name, plan))
    assert answer.status_code == 404
