"""The ASGI application: static files, large bodies, start-up and shutdown."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User

from openchamber import asgi
from openchamber.models import ApiToken

Messages = list[dict[str, Any]]


def ask(scope: dict[str, Any], incoming: Iterable[dict[str, Any]] = ()) -> Messages:
    """What the application sends; `incoming` is what it may receive, then the client stays silent."""

    async def run() -> Messages:
        sent: Messages = []
        waiting = iter(incoming)

        async def receive() -> dict[str, Any]:
            for message in waiting:
                return message
            await asyncio.sleep(30)
            raise TimeoutError

        async def send(message: Any) -> None:
            sent.append(dict(message))

        await asgi.application({"headers": [], **scope}, receive, send)
        return sent

    return asyncio.run(run())


def get(
    path: str, method: str = "GET", body: Iterable[bytes] = (b"",), **headers: str
) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body of one HTTP request."""
    *first, last = body
    incoming = [{"type": "http.request", "body": part, "more_body": True} for part in first]
    pairs = [
        (name.replace("_", "-").encode(), value.encode()) for name, value in {"host": "127.0.0.1", **headers}.items()
    ]
    scope = {"type": "http", "method": method, "path": path, "query_string": b"", "headers": pairs, "scheme": "http"}
    start, *rest = ask(scope, [*incoming, {"type": "http.request", "body": last, "more_body": False}])
    answered = {name.decode().lower(): value.decode() for name, value in start["headers"]}
    return start["status"], answered, b"".join(message.get("body", b"") for message in rest)


def test_a_static_file_comes_with_its_type_its_tag_and_the_policy() -> None:
    status, headers, body = get("/static/openchamber/app.css")
    assert status == 200
    assert headers["content-type"].startswith("text/css")
    assert int(headers["content-length"]) == len(body) > 1000
    assert headers["content-security-policy"].startswith("default-src 'self'")
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "max-age=0, public"


def test_a_file_that_the_browser_has_is_304() -> None:
    _status, headers, _body = get("/static/openchamber/app.css")
    status, _headers, body = get("/static/openchamber/app.css", if_none_match=headers["etag"])
    assert (status, body) == (304, b"")


def test_a_file_whose_name_says_its_version_is_kept_for_ever() -> None:
    _status, headers, _body = get("/static/vendor/htmx-4.0.1.min.js")
    assert "immutable" in headers["cache-control"]


def test_a_file_of_text_travels_in_fewer_bytes_where_the_browser_takes_them(tmp_path: Path) -> None:
    asgi.files.add_files(str(tmp_path), prefix="/static/")
    for content in ("a" * 9000, "b" * 5000):  # what was compressed before is not what is sent after a change
        (tmp_path / "long.css").write_text(content)
        status, headers, body = get("/static/long.css", accept_encoding="gzip, br")
        assert (status, headers["content-encoding"], headers["vary"]) == (200, "gzip", "Accept-Encoding")
        assert int(headers["content-length"]) == len(body) < 200
        assert gzip.decompress(body).decode() == content
        assert get("/static/long.css", accept_encoding="gzip", if_none_match=headers["etag"])[0] == 304
    _status, headers, body = get("/static/long.css", accept_encoding="gzip", method="HEAD")
    assert body == b""
    status, headers, body = get("/static/long.css", accept_encoding="gzip", range="bytes=0-9")
    assert (status, body, "content-encoding" in headers) == (206, b"b" * 10, False)


def test_a_file_that_was_changed_meanwhile_is_sent_as_it_is_now(tmp_path: Path) -> None:
    asgi.files.add_files(str(tmp_path), prefix="/static/")
    for content in ("a", "another"):
        (tmp_path / "changing.css").write_text(content)
        _status, headers, body = get("/static/changing.css")
        assert (headers["content-length"], body) == (str(len(content)), content.encode())


def test_the_admin_s_files_are_served_too() -> None:
    assert get("/static/admin/css/base.css")[0] == 200


def test_head_has_no_body_and_post_is_refused() -> None:
    assert get("/static/openchamber/app.css", "HEAD")[0::2] == (200, b"")
    assert get("/static/openchamber/app.css", "POST")[0] == 405


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    "path", ["/static/nothing.css", "/static/../manage.py", "/static/%2e%2e/manage.py", "/static/"]
)
def test_nothing_else_is_a_static_file(path: str) -> None:
    status, _headers, body = get(path)
    assert status == 404
    assert b"execute_from_command_line" not in body


@pytest.mark.django_db(transaction=True)
def test_pages_and_the_api_are_django_s() -> None:
    assert json.loads(get("/api/health")[2])["status"] == "ok"
    assert b"openchamber login" in get("/login/")[2]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("declared", [True, False])
def test_a_flood_is_stopped_before_it_is_stored(settings: Any, declared: bool) -> None:
    settings.UPLOAD_LIMIT = 1000
    length = {"content_length": "5000"} if declared else {}
    status, headers, body = get("/api/projects", "POST", [b"x" * 500] * 10, **length)
    assert (status, headers["content-type"]) == (413, "application/json")
    assert json.loads(body)["error"]["code"] == "too_large"


@pytest.mark.django_db(transaction=True)
def test_a_body_within_the_limit_arrives_whole(owner: User, tmp_path: Any) -> None:
    _token, secret = ApiToken.make(name="test", user=owner)
    body = json.dumps({"directory": str(tmp_path)}).encode()
    parts = [body[:5], body[5:]]
    status, _headers, answer = get("/api/projects", "POST", parts, authorization=f"Bearer {secret}")
    assert status == 201, answer


def test_start_up_and_shutdown_are_answered() -> None:
    sent = ask({"type": "lifespan"}, [{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}])
    assert [message["type"] for message in sent] == ["lifespan.startup.complete", "lifespan.shutdown.complete"]


def test_a_web_socket_is_closed() -> None:
    assert ask({"type": "websocket", "path": "/"})[0]["type"] == "websocket.close"
