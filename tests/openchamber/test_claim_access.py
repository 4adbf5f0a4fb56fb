"""A hook is told of its caller's projects only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from openchamber.models import ApiToken, Delivery, Project
from openchamber.sessions.context import Item
from openchamber.signals import context_wanted

pytestmark = pytest.mark.django_db(transaction=True)  # a block is assembled in a thread of its own


@pytest.fixture(autouse=True)
def _wanted() -> Iterator[None]:
    """Every session of a project is to hold one thing."""

    def wanted(project: Project | None, **_arguments: object) -> tuple[list[Item], list[str]]:
        found = Item("test:note:1", "note", "Fridays", "No deploys on Friday.", "Notes", timezone.now())
        return [found] if project else [], []

    context_wanted.connect(wanted)
    yield
    context_wanted.disconnect(wanted)


def hook(user: User, **options: Any) -> Client:
    _token, secret = ApiToken.make(name="hook", user=user, scope="agent", **options)
    return Client(headers={"Authorization": f"Bearer {secret}"})


def claim(client: Client, project: Project, session: str = "ses_1") -> Any:
    body = {
        "client": "opencode",
        "session": session,
        "directory": project.directory,
        "event": "prompt",
        "deadline_ms": 5000,
        "conversation": {"messages": []},
    }
    answer = client.post("/api/context/claim", body, content_type="application/json")
    assert answer.status_code == 200
    return answer.json()


def confirm(client: Client, delivery: str) -> int:
    body = {"delivery": delivery, "message_id": "msg_1", "accepted": True}
    return client.post("/api/context/confirm", body, content_type="application/json").status_code


def test_the_owner_s_hook_is_told(owner: User, project: Project) -> None:
    client = hook(owner)
    told = claim(client, project)
    assert "No deploys on Friday." in told["text"]
    assert confirm(client, told["delivery"]) == 204


def test_a_hook_bound_to_the_project_is_told(owner: User, project: Project) -> None:
    assert claim(hook(owner, projects=[project]), project)["delivery"]


def test_a_hook_bound_to_another_project_is_told_nothing(owner: User, project: Project) -> None:
    other = Project.objects.create(name="Other", slug="other", directory="/other")
    assert claim(hook(owner, projects=[other]), project) == {"delivery": None, "text": ""}
    assert not Delivery.objects.exists()


def test_a_stranger_s_hook_is_told_nothing_and_settles_nothing(owner: User, stranger: User, project: Project) -> None:
    assert claim(hook(stranger), project) == {"delivery": None, "text": ""}
    told = claim(hook(owner), project)
    assert confirm(hook(stranger), told["delivery"]) == 404
    assert Delivery.objects.get().state == "claimed"
