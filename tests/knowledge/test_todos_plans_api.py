"""Todos and plans over the API."""

from __future__ import annotations

import pytest

from knowledge.models import Plan, Todo

TODOS, PLANS = "/projects/shop/todos", "/projects/shop/plans"


def test_a_todo_is_added_changed_moved_deleted_and_undeleted(api, project):
    first = api("POST", TODOS, {"text": "first"})
    assert first.status_code == 201
    assert set(first.json()) == {"id", "text", "done", "position", "revision", "created_at", "updated_at"}
    assert first.headers["ETag"] == f'"{first.json()["revision"]}"'
    second = api("POST", TODOS, {"text": "second"}).json()
    first = first.json()

    done = api("PATCH", f"{TODOS}/{first['id']}", {"done": True}, **{"If-Match": f'"{first["revision"]}"'}).json()
    assert (done["text"], done["done"]) == ("first", True)
    assert api("PATCH", f"{TODOS}/{first['id']}", {"text": "1st"}).json()["done"] is True

    moved = api("POST", f"{TODOS}/{second['id']}/move", {"before": first["id"]}).json()
    assert moved["position"] < done["position"]
    assert [todo["text"] for todo in api("GET", TODOS).json()["results"]] == ["second", "1st"]
    assert api("POST", f"{TODOS}/{second['id']}/move", {"before": None}).status_code == 200
    assert [todo["text"] for todo in api("GET", TODOS).json()["results"]] == ["1st", "second"]
    assert api("POST", f"{TODOS}/{second['id']}/move", {"before": second["id"]}).status_code == 200

    assert api("DELETE", f"{TODOS}/{first['id']}").status_code == 204
    assert [todo["text"] for todo in api("GET", TODOS).json()["results"]] == ["second"]
    assert api("POST", f"{TODOS}/{first['id']}/undelete").json()["text"] == "1st"
    assert [todo["text"] for todo in api("GET", TODOS).json()["results"]] == ["1st", "second"]


def test_todos_are_paged_in_their_order(api, write_todo):
    for number in range(5):
        write_todo(str(number))
    Todo.objects.update(position=3)
    seen, cursor = [], ""
    while cursor is not None:
        answer = api("GET", f"{TODOS}?limit=2&cursor={cursor}").json()
        seen += [todo["text"] for todo in answer["results"]]
        cursor = answer["next"]
    assert seen == ["0", "1", "2", "3", "4"]


def test_a_stale_todo_is_answered_with_412_and_what_is_stored(api, write_todo, by):
    todo = write_todo()
    seen = todo.revision
    todo.edit(done=True, by=by)
    answer = api("PATCH", f"{TODOS}/{todo.pk}", {"text": "mine"}, **{"If-Match": f'"{seen}"'})
    assert (answer.status_code, answer.json()["current"]["done"]) == (412, True)


@pytest.mark.parametrize("sent", [{}, {"text": ""}, {"text": "x" * 2001}, {"text": None}, {"text": ["x"]}])
def test_a_todo_that_breaks_a_rule_is_refused(api, project, sent):
    assert api("POST", TODOS, sent).status_code == 422
    assert not Todo.objects.exists()


@pytest.mark.parametrize("before", ["999", "abc", ""])
def test_a_todo_is_moved_before_nothing_that_is_not_there(api, write_todo, before):
    todo = write_todo()
    assert api("POST", f"{TODOS}/{todo.pk}/move", {"before": before}).status_code == 404
    assert api("POST", f"{TODOS}/{todo.pk}/move", {}).status_code == 422


def test_a_plan_is_written_read_replaced_deleted_and_undeleted(api, project):
    written = api("POST", PLANS, {"title": "Winter", "body": "Go live."})
    assert written.status_code == 201
    plan = written.json()
    assert (plan["title"], plan["body"], plan["pinned"]) == ("Winter", "# Winter\n\nGo live.", False)
    assert written.headers["ETag"] == f'"{plan["revision"]}"'
    assert api("GET", f"{PLANS}/{plan['id']}").json() == plan

    replaced = api("PUT", f"{PLANS}/{plan['id']}", {"body": "# Summer"}, **{"If-Match": f'"{plan["revision"]}"'})
    assert replaced.json()["title"] == "Summer"
    stale = api("PUT", f"{PLANS}/{plan['id']}", {"body": "# Mine"}, **{"If-Match": f'"{plan["revision"]}"'})
    assert (stale.status_code, stale.json()["current"]["body"]) == (412, "# Summer")

    assert api("PUT", f"/projects/shop/pins/plan/{plan['id']}").status_code == 204
    assert api("GET", f"{PLANS}/{plan['id']}").json()["pinned"] is True
    assert api("DELETE", f"{PLANS}/{plan['id']}").status_code == 204
    assert api("GET", PLANS).json() == {"results": [], "next": None}
    assert api("PUT", f"{PLANS}/{plan['id']}", {"body": "x"}).status_code == 404
    assert api("POST", f"{PLANS}/{plan['id']}/undelete").json()["pinned"] is True


@pytest.mark.parametrize(
    "sent", [{"body": 1}, {"body": "x" * 1_000_001}, {"body": "\x00"}, {"body": "x", "source": "?"}]
)
def test_a_plan_that_breaks_a_rule_is_refused(api, project, sent):
    assert api("POST", PLANS, sent).status_code == 422
    assert not Plan.objects.exists()


def test_a_page_of_very_long_plans_ends_early_and_the_next_goes_on(api, write_plan):
    for number in range(6):
        write_plan(f"# {number}\n" + "x" * 999_000)
    first = api("GET", PLANS).json()
    assert [plan["title"] for plan in first["results"]] == ["5", "4", "3", "2"]
    assert [plan["title"] for plan in api("GET", f"{PLANS}?cursor={first['next']}").json()["results"]] == ["1", "0"]


@pytest.mark.parametrize("path", [TODOS, PLANS])
def test_listing_asks_as_often_for_200_rows_as_for_2(api, path, write_todo, write_plan, count_queries):
    for _number in range(2):
        write_todo(), write_plan()
    api("GET", path)
    few = count_queries(lambda: api("GET", path))
    for _number in range(198):
        write_todo(), write_plan()
    assert count_queries(lambda: api("GET", path)) == few


def test_a_stranger_reaches_nothing(sign_in, stranger, write_todo, write_plan):
    client = sign_in(stranger)
    for path in (TODOS, PLANS, f"{TODOS}/{write_todo().pk}", f"{PLANS}/{write_plan().pk}"):
        assert client.get(f"/api{path}").status_code == 404
