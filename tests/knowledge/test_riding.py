"""What rides with every message: its size, what is cut, who holds it, and what single sessions chose."""

from __future__ import annotations

import json

import pytest
from django.urls import reverse
from django.utils import timezone

from knowledge.models import SessionPin
from knowledge.riding import riding
from openchamber.models import Session


def act(name, item, *args):
    return reverse(f"knowledge:{name}", args=["shop", item.list_name, item.pk, *args])


def test_what_rides_is_told_with_its_size_and_who_holds_it(panel, htmx, project, write_note, write_plan):
    note, plan = write_note("No deploys.", pinned=True), write_plan("# Plan", pinned=True)
    write_note("unpinned"), write_plan("", pinned=True)
    key = f"knowledge:note:{note.pk}"
    for number, told in enumerate([{key: note.revision}, {key: "another"}, {}]):
        Session.objects.create(id=f"ses_{number}", project=project, carried={"told": told}, carried_at=timezone.now())
    Session.objects.create(id="ses_new", project=project)
    found = riding(project)
    assert [(rider.item.title, rider.held, rider.cut) for rider in found.riders] == [
        ("No deploys.", 1, False),
        ("Plan", 0, False),
    ]
    assert (found.sessions, found.characters) == (3, len("No deploys.") + len("# Plan"))
    html = panel.get(reverse("knowledge:riding", args=["shop"])).text
    assert "held by 1 of 3 sessions" in html
    assert htmx.get(reverse("knowledge:riding", args=["shop"])).text.strip().startswith('<div class="budget"')
    assert plan.get_absolute_url() in html


def test_pinning_more_than_fits_names_what_will_be_cut(htmx, panel, write_note, write_plan):
    write_plan("# Long plan\n" + "word " * 8000, pinned=True)
    note = write_note("x " * 9000)
    answer = htmx.post(act("pin-item", note), {"pinned": "on"})
    (told,) = json.loads(answer.headers["HX-Trigger"])["toast"]["notices"]
    assert told["level"] == "warning"
    assert "Long plan" in told["text"]
    assert "will be cut" in panel.get(reverse("knowledge:riding", args=["shop"])).text


def test_pinning_what_fits_says_nothing(htmx, note):
    assert "HX-Trigger" not in htmx.post(act("pin-item", note), {"pinned": "on"}).headers


@pytest.mark.parametrize(("choice", "attached"), [("with", True), ("without", False), ("follow", None)])
def test_a_session_is_given_its_own_choice_on_the_item(panel, htmx, project, note, choice, attached):
    Session.objects.create(id="ses_1", project=project, title="Talk")
    assert "Talk" in panel.get(act("item-sessions", note)).text
    for client in (panel, htmx):
        answer = client.post(act("choose-session", note, "ses_1"), {"choice": choice})
        assert answer.status_code == (302 if client is panel else 200)
        assert list(SessionPin.objects.values_list("attached", flat=True)) == ([] if attached is None else [attached])
    assert f'value="{choice}" selected' in panel.get(act("item-sessions", note)).text


def test_what_cannot_be_chosen_is_refused(panel, project, note, write_todo):
    Session.objects.create(id="ses_1", project=project)
    Session.objects.create(id="ses_foreign")
    assert panel.post(act("choose-session", note, "ses_1"), {"choice": "perhaps"}).status_code == 404
    assert panel.post(act("choose-session", note, "ses_foreign"), {"choice": "with"}).status_code == 404
    assert panel.get(act("item-sessions", write_todo())).status_code == 404
    assert not SessionPin.objects.exists()


def test_asking_what_rides_costs_the_same_for_200_as_for_2(panel, project, write_note, count_queries):
    page = reverse("knowledge:riding", args=["shop"])
    for number in range(2):
        write_note(pinned=True)
        Session.objects.create(id=f"ses_{number}", project=project, carried_at=timezone.now())
    panel.get(page)
    few = count_queries(lambda: panel.get(page))
    for number in range(2, 200):
        write_note(pinned=True)
        Session.objects.create(id=f"ses_{number}", project=project, carried_at=timezone.now())
    assert count_queries(lambda: panel.get(page)) == few
