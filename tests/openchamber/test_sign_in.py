"""Signing in by one-time link and by password, and out."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from datetime import timedelta
from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.utils import timezone

from openchamber.models import SignInLink
from openchamber.projects import access

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _no_guesses_yet() -> None:
    cache.clear()


@pytest.fixture
def link(owner: User) -> str:
    """The path of a fresh link of the owner's."""
    return access.sign_in_url("").removeprefix("http://")


def signed_in(client: Client) -> bool:
    return "_auth_user_id" in client.session


def test_a_link_shows_a_page_and_signs_in_by_post(client: Client, link: str) -> None:
    page = client.get(link)
    assert page.status_code == 200
    assert b'<form method="post"' in page.content
    assert not signed_in(client)
    answer = client.post(link)
    assert (answer.status_code, answer.headers["Location"]) == (302, "/")
    assert signed_in(client)


def test_looking_at_a_link_does_not_use_it_up(client: Client, link: str) -> None:
    for _ in range(3):
        client.get(link)
        client.head(link)
    client.post(link)
    assert signed_in(client)


def test_a_link_works_once(client: Client, link: str) -> None:
    Client().post(link)
    answer = client.post(link)
    assert answer.status_code == 410
    assert not signed_in(client)


def test_a_link_is_too_old_after_ten_minutes(client: Client, link: str) -> None:
    SignInLink.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert client.post(link).status_code == 410
    assert timezone.now() + timedelta(minutes=9) < expiry_of_a_new_link() <= timezone.now() + timedelta(minutes=10)


def expiry_of_a_new_link() -> object:
    SignInLink.make(access.owner())
    return SignInLink.objects.latest("pk").expires_at


def test_unknown_used_and_old_links_get_the_same_answer(owner: User, link: str) -> None:
    Client().post(link)
    old = access.sign_in_url("")
    SignInLink.objects.filter(used_at=None).update(expires_at=timezone.now() - timedelta(seconds=1))
    answers = [Client().post(path) for path in (link, old, "/login/unknown", "/login/" + "x" * 3000)]
    bodies = {re.sub(rb'name="csrfmiddlewaretoken" value="\w+"|"X-CSRFToken": "\w+"', b"", a.content) for a in answers}
    assert {answer.status_code for answer in answers} == {410}
    assert len(bodies) == 1


def test_the_page_of_an_unknown_link_is_that_of_a_good_one(client: Client, link: str) -> None:
    assert client.get("/login/unknown").status_code == client.get(link).status_code == 200


def test_only_a_hash_of_the_link_is_stored(link: str) -> None:
    secret = link.rpartition("/")[2]
    assert secret not in str(list(SignInLink.objects.values()))


def test_a_link_of_a_user_who_was_switched_off_signs_nobody_in(client: Client, stranger: User) -> None:
    path = access.sign_in_url("", user=stranger)
    stranger.is_active = False
    stranger.save()
    assert client.post(path).status_code == 410


def test_a_link_needs_the_csrf_token(owner: User, link: str) -> None:
    client = Client(enforce_csrf_checks=True)
    assert client.post(link).status_code == 403
    page = client.get(link).content.decode()
    token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page)
    assert token is not None
    assert client.post(link, {"csrfmiddlewaretoken": token[1]}).status_code == 302


def test_links_that_ran_out_are_cleared_away(owner: User, link: str) -> None:
    SignInLink.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    SignInLink.make(owner)
    assert SignInLink.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_of_many_who_use_one_link_at_once_one_gets_in(owner: User, rounds: range) -> None:
    for _ in rounds:
        secret, users = SignInLink.make(owner), []

        def use(secret: str = secret, users: list[object] = users) -> None:
            users.append(SignInLink.use(secret))
            connection.close()

        threads = [threading.Thread(target=use) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(users) == 6
        assert sum(user is not None for user in users) == 1


@pytest.mark.parametrize("wanted", ["/settings/", "/projects/shop/notes/?q=a%20b"])
def test_signing_in_leads_back_to_the_page_that_was_wanted(client: Client, link: str, wanted: str) -> None:
    assert client.post(link, {"next": wanted}).headers["Location"] == wanted


@pytest.mark.parametrize(
    "wanted",
    [
        "https://evil.example/",
        "//evil.example",
        "/\\evil.example",
        "javascript:alert(1)",
        "http:///evil.example",
        "\t//x",
    ],
)
def test_signing_in_never_leads_to_another_host(client: Client, link: str, wanted: str) -> None:
    assert client.post(link, {"next": wanted}).headers["Location"] == "/"


def test_every_page_asks_a_visitor_to_sign_in(client: Client) -> None:
    for path in ("/", "/settings/", "/projects/shop/", "/projects/shop/edit/"):
        answer = client.get(path)
        assert answer.status_code == 302
        assert answer.headers["Location"].startswith("/login/?next=")


def test_a_fragment_sends_the_whole_page_to_sign_in_and_back(client: Client) -> None:
    headers = {"HX-Request": "true", "HX-Current-URL": "http://testserver/projects/shop/notes/"}
    answer = client.get("/settings/", headers=headers)
    assert answer.headers["HX-Redirect"] == "/login/?next=%2Fprojects%2Fshop%2Fnotes%2F"


def test_the_admin_sends_visitors_to_the_same_page(client: Client) -> None:
    answer = client.get("/admin/", follow=True)
    assert answer.request["PATH_INFO"] == "/login/"
    assert b"openchamber login" in answer.content


def test_the_sign_in_page_says_how_to_get_a_link_and_hides_the_password(client: Client, owner: User) -> None:
    page = client.get("/login/")
    assert b"openchamber login" in page.content
    assert b'type="password"' not in page.content


def test_a_user_with_a_password_can_use_it(client: Client) -> None:
    User.objects.create_user("ada", password="correct horse battery")
    assert b'type="password"' in client.get("/login/").content
    answer = client.post("/login/", {"username": "ada", "password": "correct horse battery", "next": "/settings/"})
    assert answer.headers["Location"] == "/settings/"
    assert signed_in(client)


def test_a_wrong_password_and_an_unknown_name_get_the_same_answer(client: Client) -> None:
    User.objects.create_user("ada", password="correct horse battery")
    wrong = client.post("/login/", {"username": "ada", "password": "x"})
    unknown = client.post("/login/", {"username": "bob", "password": "x"})
    assert wrong.status_code == unknown.status_code == 422
    assert wrong.context["form"].errors == unknown.context["form"].errors


def test_guessing_passwords_is_stopped(client: Client, settings) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    User.objects.create_user("ada", password="correct horse battery")
    for number in range(10):
        client.post("/login/", {"username": "ada", "password": str(number)})
    answer = client.post("/login/", {"username": "ada", "password": "correct horse battery"})
    assert answer.status_code == 422
    assert b"Too many wrong passwords" in answer.content


def test_signing_out_is_a_post(panel: Client) -> None:
    assert panel.get("/logout/").status_code == 405
    assert signed_in(panel)
    assert panel.post("/logout/").headers["Location"] == "/login/"
    assert not signed_in(panel)


def test_signing_in_changes_the_session_s_key(client: Client, link: str) -> None:
    session = client.session
    session["seen"] = True
    session.save()
    client.cookies["openchamber_session"] = session.session_key or ""
    client.post(link)
    assert client.session.session_key != session.session_key


def test_the_owner_is_made_once_and_has_no_password() -> None:
    first = access.owner()
    assert (first.username, first.is_superuser, first.has_usable_password()) == ("owner", True, False)
    assert access.owner() == first


def test_an_ordinary_user_called_owner_stays_ordinary() -> None:
    ordinary = User.objects.create_user("owner")
    assert access.owner() != ordinary
    ordinary.refresh_from_db()
    assert not ordinary.is_superuser


def test_login_prints_a_link_that_works(client: Client) -> None:
    out = StringIO()
    call_command("login", "--port", "9000", stdout=out)
    link = out.getvalue().strip()
    assert link.startswith("http://127.0.0.1:9000/login/")
    client.post(link.removeprefix("http://127.0.0.1:9000"))
    assert client.session["_auth_user_id"] == str(access.owner().pk)


def test_login_for_a_named_user_behind_a_proxy(client: Client, stranger: User) -> None:
    out = StringIO()
    call_command("login", "--url", "https://box.example/", "--user", "stranger", stdout=out)
    link = out.getvalue().strip()
    assert link.startswith("https://box.example/login/")
    client.post(link.removeprefix("https://box.example"))
    assert client.session["_auth_user_id"] == str(stranger.pk)
    with pytest.raises(CommandError):
        call_command("login", "--user", "nobody")


def test_signed_in_pages_are_for_the_signed_in_only(sign_in: Callable[..., Client], stranger: User) -> None:
    assert sign_in(stranger).get("/").status_code == 200
