"""Ids of OpenCode's in addresses and forms: those of another form are 404 before anybody is asked."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from openchamber.models import AgentServer, Project, Session
from tests.agent_server.opencode_process import free_port
from tests.openchamber.test_api_frame import bearer, error_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def api(owner) -> Client:
    return bearer(owner)


@pytest.fixture
def session(project: Project) -> Session:
    """A session whose agent server is gone: who asks it gets 502."""
    gone = AgentServer.objects.create(url=f"http://127.0.0.1:{free_port()}")
    return Session.objects.create(id="ses_gone", server=gone, project=project, directory=project.directory)


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PUT", "pinned-messages/{}", None),
        ("DELETE", "pinned-messages/{}", None),
        ("POST", "permissions/{}", {"reply": "once"}),
        ("POST", "questions/{}", {"answers": [["Yes"]]}),
    ],
)
def test_the_api_does_not_ask_about_ids_of_another_form(api, session, method, path, body):
    prefix = {"pinned": "msg", "permis": "per", "questi": "que"}[path[:6]]
    for key in ("nope", "msx_1", "ses_1", prefix, f"{prefix}_" + "x" * 300, f"{prefix}_1%0A"):
        answer = api.generic(method, f"/api/sessions/ses_gone/{path.format(key)}", "", "application/json")
        assert "xpected" not in error_of(answer, 404)["message"]
    address = f"/api/sessions/ses_gone/{path.format(prefix + '_0123abc')}"
    asked = getattr(api, method.lower())(address, body, content_type="application/json")
    error_of(asked, 502)


@pytest.mark.parametrize("path", ["messages/nope/", "messages/nope/pin/", "permissions/nope/", "questions/nope/"])
def test_the_panel_does_not_ask_about_ids_of_another_form(panel, session, path):
    assert panel.post(f"/projects/shop/sessions/ses_gone/{path}").status_code == 404


@pytest.mark.parametrize("key", ["nope", "msg", "msg_" + "x" * 300, "msg_1\n"])
def test_a_form_names_messages_by_their_ids(panel, session, key):
    for name, field in (("revert-session", "message"), ("fork-session", "before")):
        answer = panel.post(reverse(f"openchamber:{name}", args=["shop", "ses_gone"]), {field: key})
        assert answer.status_code == 404, name
        assert "There is no such message" in answer.content.decode()


def test_reverting_to_no_message_is_404(panel, session):
    assert panel.post(reverse("openchamber:revert-session", args=["shop", "ses_gone"])).status_code == 404


@pytest.mark.parametrize("path", ["context", "pinned-messages"])
def test_an_unknown_session_is_said_to_be_one(api, project, path):
    assert error_of(api.get(f"/api/sessions/nope/{path}"), 404)["message"] == (
        "There is no such session, or it is not yours."
    )
