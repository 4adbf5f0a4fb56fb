"""Many scopes: what pages cost with them, and what was kept below a project before it was one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.test import Client
from django.utils import timezone

from memory.holders import ensure
from memory.models import Agent, Scope
from openchamber.models import Project
from tests.memory.conftest import changed_meanwhile
from tests.memory.test_tool import break_scope, sqlite_only


def kept_below(agent: Agent, project: Project, write: Any, numbers: range) -> list[Scope]:
    """Scopes of directories below the project, each with an entry."""
    scopes = [ensure(agent, f"d{number}-aaaaaaaa", f"{project.directory}/d{number}") for number in numbers]
    for scope in scopes:
        write(f"Fact of {scope.key}", scope=scope)
    return scopes


def test_a_project_s_memory_costs_the_same_for_2_and_40_scopes_below_it(
    panel: Client, agent: Agent, project: Project, write: Any, count_queries: Callable[..., int]
) -> None:
    kept_below(agent, project, write, range(2))
    panel.get("/projects/shop/memory/")  # the first makes the user's scope
    two = count_queries(lambda: panel.get("/projects/shop/memory/"))
    kept_below(agent, project, write, range(2, 40))
    assert count_queries(lambda: panel.get("/projects/shop/memory/")) == two


def test_what_belongs_to_a_project_inside_is_not_offered(
    panel: Client, agent: Agent, project: Project, write: Any
) -> None:
    [_outer, inner] = kept_below(agent, project, write, range(2))
    Project.objects.create(name="Inner", slug="inner", directory=inner.directory)
    assert [scope.key for scope in panel.get("/projects/shop/memory/").context["below"]] == ["d0-aaaaaaaa"]


def test_what_changes_while_it_is_moved_to_the_project_stays_and_is_counted(
    panel: Client, agent: Agent, project: Project, write: Any
) -> None:
    [scope] = kept_below(agent, project, write, range(1))
    with changed_meanwhile(scope.entries.get()):
        answer = panel.post(f"/projects/shop/memory/gather/{scope.pk}/", follow=True)
    assert "0 entries were moved. 1 stayed" in answer.content.decode()


@sqlite_only
def test_what_cannot_be_read_is_not_moved(panel: Client, agent: Agent, project: Project, write: Any) -> None:
    [scope] = kept_below(agent, project, write, range(1))
    break_scope(scope)
    assert panel.get("/projects/shop/memory/").status_code == 200
    assert panel.post(f"/projects/shop/memory/gather/{scope.pk}/").status_code == 503


def test_any_number_of_scopes_can_be_seen(htmx: Client, agent: Agent) -> None:
    seen = {"until": timezone.now().isoformat(), "scopes": ",".join(str(100_000 + number) for number in range(600))}
    assert htmx.post("/agents/default/memory/seen/", seen).status_code == 204
