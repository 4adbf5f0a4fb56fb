"""Texts that reach us through the API and the panel: names are one line, and nothing is stored that cannot be."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.exceptions import ValidationError
from django.test import Client
from django.urls import reverse
from pydantic import TypeAdapter

from openchamber.models import Project, Session
from openchamber.projects.forms import name_of
from openchamber.texts import Line, Said, Text, is_key, validate_line
from tests.openchamber.test_api_frame import bearer, error_of

NO_LINES = [
    "a\x00b",
    "half \ud800",
    "two\nlines",
    "a\rb",
    "\x1b[31mred",
    "a\x7fb",
    "a\x85b",
    "a\u2028b",
    "\u202egnp.exe",
    "\u2067x",
]


@pytest.fixture
def api(owner) -> Client:
    return bearer(owner)


@pytest.mark.parametrize("text", NO_LINES)
def test_a_line_holds_nothing_that_is_not_shown_as_one(text: str) -> None:
    with pytest.raises(ValidationError):
        validate_line(text)
    with pytest.raises(ValueError, match=r"one line|cannot be stored|lone surrogate"):
        TypeAdapter(Line).validate_python(text)


@pytest.mark.parametrize("text", ["", "Shop", "Café №1 — {braces} %s", "חנות", "👩‍💻 at work", "a\u200fb"])
def test_a_line_holds_the_words_of_any_language(text: str) -> None:
    validate_line(text)
    assert TypeAdapter(Line).validate_python(text) == text


def test_a_text_has_lines_and_what_is_said_has_words() -> None:
    assert TypeAdapter(Text).validate_python("two\n\tlines") == "two\n\tlines"
    for text in ("", "  ", "\n\t", "x\x00"):
        with pytest.raises(ValueError, match=r"empty|Null"):
            TypeAdapter(Said).validate_python(text)


@pytest.mark.parametrize("name", NO_LINES)
def test_a_project_has_a_name_of_one_line(
    api: Client, panel: Client, project: Project, directory: Path, name: str
) -> None:
    (directory / "other").mkdir()
    body = {"name": name, "directory": str(directory / "other")}
    for answer in (
        api.patch("/api/projects/shop", {"name": name}, content_type="application/json"),
        api.post("/api/projects", body, content_type="application/json"),
    ):
        assert "name" in error_of(answer, 422)["fields"]
    if "\ud800" not in name:  # a browser cannot send it
        assert panel.post(reverse("openchamber:edit-project", args=["shop"]), {"name": name}).status_code == 422
    assert Project.objects.get().name == "Shop"


def test_a_directory_with_an_unprintable_name_gives_a_printable_one() -> None:
    assert name_of("/srv/a\nb\u202ec") == "a b c"


@pytest.mark.parametrize("name", ["a\nb", "\u202eb", "x" * 101])
def test_a_token_has_a_name_of_one_line(panel: Client, name: str) -> None:
    assert panel.post(reverse("openchamber:create-token"), {"name": name, "scope": "all"}).status_code == 422


@pytest.mark.parametrize(
    "body",
    [
        {"text": "   "},
        {"text": "\n"},
        {"text": ""},
        {"text": "a\x00b"},
        {"text": "\ud800"},
        {"text": "x", "agent": "a\x00"},
    ],
)
def test_a_message_says_something_that_can_be_stored(api: Client, project: Project, body: dict[str, str]) -> None:
    Session.objects.create(id="ses_1", project=project)
    answer = api.post("/api/sessions/ses_1/messages", body, content_type="application/json")
    assert error_of(answer, 422)["fields"]


@pytest.mark.parametrize("title", ["a\x00b", "a\nb", "\ud800", "\u202e"])
def test_a_session_has_a_title_of_one_line(api: Client, project: Project, title: str) -> None:
    answer = api.post("/api/projects/shop/sessions", {"title": title}, content_type="application/json")
    assert "title" in error_of(answer, 422)["fields"]


def test_ids_of_any_length_are_no_bug(panel: Client, api: Client, project: Project) -> None:
    endless = "9" * 23
    assert panel.post(f"/projects/shop/members/{endless}/remove/").status_code == 302
    assert api.get(f"/api/projects/{'9' * 5000}").status_code == 404
    assert api.get(f"/api/projects/{endless}").status_code == 404


def test_who_is_no_member_is_removed_already_and_a_member_is_removed(panel: Client, project: Project, member) -> None:
    panel.post(reverse("openchamber:remove-member", args=["shop", 10**9]))
    assert project.members.get() == member
    panel.post(reverse("openchamber:remove-member", args=["shop", member.pk]))
    assert not project.members.exists()


@pytest.mark.parametrize(("text", "can_be"), [("1", True), ("0" * 18, True), ("9" * 18, True), ("9" * 19, False)])
def test_a_key_is_a_number_that_every_database_holds(text: str, can_be: bool) -> None:
    assert is_key(text) is can_be


@pytest.mark.parametrize("text", ["", " 1", "1\n", "-1", "1.0", "²", "١", "a"])
def test_other_signs_are_no_key(text: str) -> None:
    assert not is_key(text)
