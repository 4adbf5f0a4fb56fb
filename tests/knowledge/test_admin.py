"""The admin reviews everything, and changes nothing behind the models' back."""

from __future__ import annotations

import pytest
from django.urls import reverse

from knowledge.models import LISTS, SessionPin, rows_of

MODELS = {"notes": "note", "todos": "todo", "plans": "plan"}


def address(name, kind, *args):
    return reverse(f"admin:knowledge_{MODELS[kind]}_{name}", args=args)


@pytest.fixture
def everything(write_note, write_todo, write_plan):
    return {
        "notes": write_note("a **needle**"),
        "todos": write_todo("a needle"),
        "plans": write_plan("# Planning\n\nneedle"),
    }


@pytest.mark.parametrize("kind", LISTS)
def test_the_list_is_searched_and_filtered(panel, everything, kind, by):
    assert everything[kind].title in panel.get(address("changelist", kind), {"q": "needle"}).text
    assert "0 " in panel.get(address("changelist", kind), {"q": "nothing"}).text
    everything[kind].bin(by=by)
    assert everything[kind].title not in panel.get(address("changelist", kind), {"place": "live"}).text
    assert everything[kind].title in panel.get(address("changelist", kind), {"place": "bin"}).text


@pytest.mark.parametrize("kind", LISTS)
def test_a_row_is_shown_with_its_history_and_cannot_be_edited(panel, everything, kind):
    row = everything[kind]
    page = panel.get(address("change", kind, row.pk))
    assert "Compare and restore" in page.text
    assert "Created" in page.text or "created" in page.text
    assert f'name="{row.text_field}"' not in page.text
    answer = panel.post(address("change", kind, row.pk), {row.text_field: "smuggled", "_save": "Save"})
    assert answer.status_code == 403
    assert panel.post(address("delete", kind, row.pk), {"post": "yes"}).status_code == 403
    assert panel.get(address("add", kind)).status_code == 403
    assert rows_of(kind).get().typed == row.typed


@pytest.mark.parametrize("kind", LISTS)
def test_many_are_moved_to_the_bin_and_back_each_with_its_entry(panel, everything, kind, owner):
    row = everything[kind]
    for action, deleted in [("move_to_bin", True), ("take_from_bin", False)]:
        panel.post(address("changelist", kind), {"action": action, "_selected_action": [row.pk]})
        row.refresh_from_db()
        assert bool(row.deleted_at) is deleted
    assert [(entry.change, entry.through, entry.history_user) for entry in row.history.all()[:2]] == [
        ("undeleted", "admin", owner),
        ("deleted", "admin", owner),
    ]


@pytest.mark.parametrize("kind", LISTS)
def test_the_list_asks_as_often_for_200_rows_as_for_2(panel, write_note, write_todo, write_plan, kind, count_queries):
    write = {"notes": write_note, "todos": write_todo, "plans": write_plan}[kind]
    write(), write()
    panel.get(address("changelist", kind))
    few = count_queries(lambda: panel.get(address("changelist", kind)))
    for _number in range(198):
        write()
    assert count_queries(lambda: panel.get(address("changelist", kind))) == few


def test_who_is_no_staff_sees_no_admin(sign_in, member, everything):
    assert sign_in(member).get(address("changelist", "notes")).status_code == 302


def test_the_choices_of_sessions_are_listed(panel, everything):
    SessionPin.choose("ses_1", everything["notes"], attached=False)
    assert "ses_1" in panel.get(reverse("admin:knowledge_sessionpin_changelist")).text
