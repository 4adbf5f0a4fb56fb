"""What the tests of agents' memory start from. What needs the app runs only where it is installed.

`OPENCHAMBER_TEST_MEMORY=off pytest` and `=on` run the suite with it; without, only what is pure is tested here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from django.apps import apps
from django.db import connection

from tests.environment import MEMORY

INSTALLED = apps.is_installed("memory") if apps.ready else bool(MEMORY)
PURE = {"__init__.py", "conftest.py", "test_threats.py", "test_dark.py"}
collect_ignore = [] if MEMORY else [path.name for path in Path(__file__).parent.glob("*.py") if path.name not in PURE]

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.test import Client

    from memory.holders import Holder
    from memory.models import Agent, Author, Entry, Scope
    from openchamber.models import Project


@contextmanager
def changed_meanwhile(entry: Entry, **fields: Any) -> Iterator[None]:
    """Somebody else's change of the entry lands just before the first write to it of what is done in here."""
    changes = [fields or {"revision": "f" * 16}]

    def first(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if sql.startswith('UPDATE "memory_entry"') and changes:
            type(entry).objects.filter(pk=entry.pk).update(**changes.pop())
        return execute(sql, params, many, context)

    with connection.execute_wrapper(first):
        yield


@pytest.fixture
def on(db: None) -> None:
    """Memory is switched on."""
    from memory.models import Switches

    Switches.change(enabled=True)


@pytest.fixture
def off(db: None) -> None:
    """Memory is installed and switched off."""
    from memory.models import Switches

    Switches.change(enabled=False)


@pytest.fixture
def agent(on: None) -> Agent:
    """The default agent."""
    from memory.models import Agent

    return Agent.objects.default()


@pytest.fixture
def holder(agent: Agent, project: Project) -> Holder:
    """The default agent in the project's directory."""
    from memory.holders import Holder

    return Holder.of("build", project.directory)


@pytest.fixture
def by() -> Author:
    """An agent's tool."""
    from memory.models import Author, Through

    return Author(Through.TOOL, session="ses_1", agent="build", client="opencode")


@pytest.fixture
def user_scope(agent: Agent) -> Scope:
    """What the default agent keeps about the user."""
    from memory.holders import user_scope

    return user_scope(agent)


@pytest.fixture
def workspace(holder: Holder) -> Scope:
    """What the default agent keeps about the project."""
    scope = holder.scope("workspace")
    assert scope
    return scope


@pytest.fixture
def write(user_scope: Scope, by: Author) -> Callable[..., Entry]:
    """Write an entry: `write("title", "body", scope=...)`; about the user unless told otherwise."""
    from memory.models import Entry

    def make(title: str = "Prefers tabs", body: str = "In every language.", **more: Any) -> Entry:
        return Entry.write(by=by, title=title, body=body, **{"scope": user_scope, **more})

    return make


@pytest.fixture
def save(holder: Holder, by: Author) -> Callable[..., Any]:
    """Save through the tool: `save("title", "body", "user")`."""
    from memory.saving import Draft, memory_save

    def make(title: str, body: str = "It is so.", scope: str = "user", **more: str) -> Any:
        return memory_save(holder, scope, Draft(title, body, **more), by=by)

    return make


@pytest.fixture
def api(panel: Client, owner: User) -> Client:
    """The owner's program, with a token."""
    from django.test import Client

    from openchamber.models import ApiToken

    _token, secret = ApiToken.make(user=owner, name="tests", scope="all", projects=[])
    return Client(headers={"Authorization": f"Bearer {secret}"})
