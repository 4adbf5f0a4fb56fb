"""What the tests of pages, acts and domain code start from: people, a project, signed-in clients."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from django.contrib.auth import get_user_model
from django.db import connection, connections
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import translation

from tests.environment import AGAIN, DATA_DIRECTORY, MEMORY, ROUNDS

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from openchamber.models import Project


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """In a run of everything, what waits for other programs may fail once: it is tried again, and named. Not so the
    rounds that look for rare races."""
    for item in items if AGAIN else ():
        if {"real", "browser"} & (marks := {mark.name for mark in item.iter_markers()}) and "soak" not in marks:
            item.add_marker(pytest.mark.flaky(reruns=1))


@pytest.fixture(scope="session", autouse=True)
def memory_is_on() -> None:
    """In the third state of the suite agents' memory is switched on wherever a test does not say otherwise."""
    if MEMORY == "on":
        from memory.models import Switches

        Switches._meta.get_field("enabled").default = True


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None) -> None:
    """A database for each of the processes that test side by side; SQLite's in a file.

    In memory there is neither WAL nor a second connection, and both are what runs for real.
    """
    if connection.vendor == "sqlite":
        connections["default"].settings_dict["TEST"]["NAME"] = str(DATA_DIRECTORY / "test.sqlite3")


@pytest.fixture(autouse=True)
def language() -> Iterator[None]:
    """Whoever asked in another language leaves none behind in this thread."""
    yield
    translation.deactivate()


@pytest.fixture
def owner(db: None) -> User:
    """The owner of the installation: sees everything."""
    return get_user_model().objects.create_superuser("owner", password=None)


@pytest.fixture
def member(db: None, project: Project) -> User:
    """A user who is a member of `project` and owns nothing else."""
    user = get_user_model().objects.create_user("member", password=None)
    project.members.add(user)
    return user


@pytest.fixture
def stranger(db: None) -> User:
    """A user who is a member of no project."""
    return get_user_model().objects.create_user("stranger", password=None)


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A real directory that a project can stand in."""
    path = tmp_path.resolve() / "shop"
    path.mkdir()
    return path


@pytest.fixture
def project(db: None, directory: Path) -> Project:
    """The project Shop in `directory`."""
    from openchamber.models import Project

    return Project.objects.create(name="Shop", slug="shop", directory=str(directory))


@pytest.fixture
def sign_in() -> Callable[..., Client]:
    """Make a client that is signed in as a user: `sign_in(user)`, or `sign_in(user, htmx=True)` as htmx asks."""

    def make(user: User, *, htmx: bool = False, **options: Any) -> Client:
        client = Client(headers={"HX-Request": "true"} if htmx else None, **options)
        client.force_login(user)
        return client

    return make


@pytest.fixture
def panel(sign_in: Callable[..., Client], owner: User) -> Client:
    """The owner's browser, without JavaScript."""
    return sign_in(owner)


@pytest.fixture
def htmx(sign_in: Callable[..., Client], owner: User) -> Client:
    """The owner's browser, asking for a fragment."""
    return sign_in(owner, htmx=True)


@pytest.fixture
def count_queries(db: None) -> Callable[[Callable[[], Any]], int]:
    """How many queries a call makes: compare the number for 2 rows with that for 20."""

    def count(call: Callable[[], Any]) -> int:
        with CaptureQueriesContext(connection) as queries:
            call()
        return len(queries)

    return count


@pytest.fixture
def rounds() -> range:
    """The rounds of a test that looks for a race: 5, and many in `make soak`."""
    return range(ROUNDS)
