"""Files, todos and plans become one another on the pages."""

from __future__ import annotations

import json
import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from knowledge import checklists
from knowledge.models import Plan, Todo


def upload(name, data):
    return SimpleUploadedFile(name, data)


@pytest.fixture
def address(project):
    return reverse("knowledge:import-plans", args=["shop"])


def test_several_files_become_plans_with_their_origin_named(panel, htmx, address):
    files = [upload("one.md", b"# One\r\n"), upload("two.txt", b"\xef\xbb\xbfTwo")]
    assert panel.post(address, {"files": files}).status_code == 302
    assert [(plan.body, plan.source) for plan in Plan.objects.order_by("pk")] == [
        ("# One\n", "import"),
        ("Two", "import"),
    ]
    assert Plan.objects.first().history.get().through == "file"
    answer = htmx.post(address, {"files": [upload("three.markdown", "# Drei é".encode("utf-16"))]})
    assert answer.status_code == 204
    assert "knowledge-changed" in answer.headers["HX-Trigger"]
    assert Plan.objects.first().title == "Drei é"


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("empty.md", b"", "empty"),
        ("picture.md", b"\x89PNG\x00", "null bytes"),
        ("latin.md", "é".encode("latin-1"), "UTF-8"),
        ("picture.png", b"text", "Only Markdown"),
        ("long.md", b"x" * 1_000_001, "at most 1000000"),
        ("huge.md", b"x" * 4_000_001, "larger than a plan"),
        ("<script>.md", b"", "empty"),
    ],
)
def test_a_refused_file_is_named_with_its_reason_and_leaves_nothing_behind(htmx, address, name, data, reason):
    answer = htmx.post(address, {"files": [upload(name, data), upload("good.md", b"good")]})
    told = json.loads(answer.headers["HX-Trigger"])["toast"]["notices"]
    assert told[0]["level"] == "error"
    assert reason in told[0]["text"].replace(",", "").replace("\xa0", "")
    assert name in told[0]["text"]
    assert [plan.body for plan in Plan.objects.all()] == ["good"]


def test_task_items_of_a_plan_become_todos_once(panel, write_plan, write_todo):
    write_todo("known")
    plan = write_plan("# P\n- [ ] one\n- [x] two\n- [ ] known\n- [ ] one\n")
    for added in (2, 0):
        answer = panel.post(reverse("knowledge:plan-to-todos", args=["shop", plan.pk]), follow=True)
        assert f"{added} todos were added" in answer.text
    assert [(todo.text, todo.done) for todo in Todo.objects.all()] == [("known", False), ("one", False), ("two", True)]


def test_a_task_item_that_is_too_long_for_a_todo_is_named_and_never_cut(panel, write_plan):
    plan = write_plan("# P\n- [ ] one\n" + "".join(f"- [ ] {number} {'long ' * 420}\n" for number in range(7)))
    for added in ("1 todo was", "0 todos were"):
        answer = panel.post(reverse("knowledge:plan-to-todos", args=["shop", plan.pk]), follow=True)
        assert f"{added} added" in answer.text
        assert answer.text.count("was not added. It has 2101 characters") == 5
        assert "“0 long long" in answer.text
        assert "2 more were refused" in answer.text
    assert [todo.text for todo in Todo.objects.all()] == ["one"]


def test_a_task_item_is_known_whatever_space_is_around_its_todo(panel, write_plan, write_todo):
    write_todo(" one ")
    plan = write_plan("- [ ] one\n")
    assert "0 todos" in panel.post(reverse("knowledge:plan-to-todos", args=["shop", plan.pk]), follow=True).text


def test_the_further_lines_of_a_task_item_are_part_of_its_todo(panel, write_plan):
    plan = write_plan("# P\n- [ ] one\n  and more\n  * [x] two\n1. [X] three\n- four\n+ [ ]   \n- [y] five")
    panel.post(reverse("knowledge:plan-to-todos", args=["shop", plan.pk]))
    assert list(Todo.objects.in_order().values_list("text", "done")) == [
        ("one\nand more", False),
        ("two", True),
        ("three", True),
    ]


def test_todos_from_a_plan_are_taken_back_together(panel, htmx, write_plan, write_todo):
    write_todo("before")
    plan = write_plan("# P\n- [ ] one\n- [ ] two\n")
    answer = panel.post(reverse("knowledge:plan-to-todos", args=["shop", plan.pk]), follow=True)
    write_todo("after")
    (undo,) = re.findall(r'action="([^"]+take-back[^"]+)"', answer.text)
    for count in (2, 0):
        assert f"{count} todos were deleted" in panel.post(undo, follow=True).text
        assert list(Todo.objects.live().values_list("text", flat=True)) == ["before", "after"]
    assert htmx.post(undo).status_code == 204
    for refused in ("", "?at=", "?at=never", "?at=2026-01-01"):
        assert panel.post(reverse("knowledge:take-todos-back", args=["shop"]) + refused).status_code == 404


def test_a_todo_becomes_a_plan(panel, write_todo):
    todo = write_todo("First line\nsecond line", done=True)
    answer = panel.post(reverse("knowledge:todo-to-plan", args=["shop", todo.pk]))
    plan = Plan.objects.get()
    assert answer.url == plan.get_absolute_url()
    assert (plan.title, plan.body) == ("First line", "# First line\n\n- [x] First line\n  second line\n")
    (item,), _ = checklists.read(plan.body)
    assert (item.text, item.done) == (todo.text, True)


def test_a_stranger_imports_nothing(sign_in, stranger, address):
    assert sign_in(stranger).post(address, {"files": [upload("a.md", b"a")]}).status_code == 404


def test_sending_a_todo_without_an_agent_server_says_so_and_keeps_the_todo(panel, write_todo):
    todo = write_todo("Ask <b>them</b>")
    address = reverse("knowledge:send-todo", args=["shop", todo.pk])
    assert "Ask &lt;b&gt;them" in panel.get(address).text
    for to, name in [("new", ""), ("worktree", "ask")]:
        answer = panel.post(address, {"to": to, "name": name})
        assert answer.status_code == 502
        assert "the todo is unchanged" in answer.text
    assert panel.post(address, {"to": "nowhere"}).status_code == 502
    assert Todo.objects.live().get() == todo


def test_a_todo_is_opened_in_the_composer_of_a_session_of_the_project(panel, write_todo, project):
    from openchamber.models import Session

    Session.objects.create(id="ses_1", project=project, title="Talk")
    todo = write_todo("Ask & wait")
    address = reverse("knowledge:send-todo", args=["shop", todo.pk])
    assert "Talk" in panel.get(address).text
    assert panel.post(address, {"to": "ses_1"}).url == "/projects/shop/sessions/ses_1/?text=Ask+%26+wait"
