"""What an agent server can do wrong, each as one sentence for a person: played by real sockets."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from openchamber.sessions.opencode import Missing, NotConnected, OpenCode, Refused, Unreachable

Answer = tuple[int, str, bytes]


@pytest.fixture
def answering() -> Iterator[Callable[[int, str, bytes], OpenCode]]:
    """A server that gives one answer to everything."""
    servers: list[ThreadingHTTPServer] = []

    def start(status: int, kind: str, body: bytes) -> OpenCode:
        class Handler(BaseHTTPRequestHandler):
            def log_message(self, format: str, *args: object) -> None:
                """Quiet."""

            def do_GET(self) -> None:
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_POST = do_PATCH = do_GET

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return OpenCode(f"http://127.0.0.1:{server.server_address[1]}")

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def test_nobody_there_means_that_nothing_was_sent() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        client = OpenCode(f"http://127.0.0.1:{unused.getsockname()[1]}")
        with pytest.raises(NotConnected, match="No agent server can be reached"):
            client.session("ses_1")


def test_a_page_with_status_200_is_no_answer(answering: Callable[..., OpenCode]) -> None:
    with pytest.raises(Unreachable, match="a page instead of data"):
        answering(200, "text/html", b"<!doctype html>").session("ses_1")


def test_broken_data_is_no_answer(answering: Callable[..., OpenCode]) -> None:
    with pytest.raises(Unreachable, match="broken data"):
        answering(200, "application/json", b"{").session("ses_1")


def test_a_wrong_password_is_named(answering: Callable[..., OpenCode]) -> None:
    with pytest.raises(Refused, match="password"):
        answering(401, "text/plain", b"").session("ses_1")


def test_another_program_on_the_port_is_not_an_agent_server(answering: Callable[..., OpenCode]) -> None:
    with pytest.raises(Unreachable, match="not as an OpenCode server does"):
        answering(200, "application/json", b'{"hello": "world"}').health()


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"name": "NotFoundError", "data": {"message": "Session not found"}}', "Session not found"),
        (b'{"_tag": "McpServerNotFoundError"}', "McpServerNotFoundError"),
        (b'{"message": "gone"}', "gone"),
        (b"<html>", "knows nothing"),
        (b"[]", "knows nothing"),
    ],
)
def test_every_shape_of_a_missing_thing_is_read(answering: Callable[..., OpenCode], body: bytes, said: str) -> None:
    with pytest.raises(Missing, match=said):
        answering(404, "application/json", body).session("ses_1")


def test_a_server_error_is_a_refusal_with_its_status(answering: Callable[..., OpenCode]) -> None:
    with pytest.raises(Refused, match="500"):
        answering(500, "text/plain", b"oops").prompt("ses_1", message="msg_1", parts=[])


def test_a_stream_that_is_a_page_is_refused(answering: Callable[..., OpenCode]) -> None:
    client = answering(200, "text/html", b"<!doctype html>")
    with pytest.raises(Refused), client.events() as events:
        next(events)


def test_an_id_that_is_none_is_of_nothing(answering: Callable[..., OpenCode]) -> None:
    body = b'{"name": "BadRequest", "data": {"message": "Expected a string", "kind": "Params"}}'
    with pytest.raises(Missing, match="Expected a string"):
        answering(400, "application/json", body).reply_permission("0", "once", "/")
    with pytest.raises(Refused):
        answering(400, "application/json", b'["BadRequest"]').reply_permission("0", "once", "/")


@pytest.mark.parametrize(
    "odd", ["", ".", "..", "../../../config", "msg_1?directory=/etc#x%2e y", "ses_\n", "ы", "m" * 201]
)
def test_an_id_stays_inside_its_path(answering: Callable[..., OpenCode], odd: str) -> None:
    client = answering(200, "application/json", b'{"id": "ses_1", "info": {"id": "msg_1", "role": "user"}}')
    assert client.message("ses_1", "msg_1").id == "msg_1"
    for ask in (
        lambda: client.session(odd),
        lambda: client.message("ses_1", odd),
        lambda: client.messages(odd),
        lambda: client.prompt(odd, message="msg_1", parts=[]),
        lambda: client.write_metadata(odd, {}),
        lambda: client.reply_question(odd, [], "/"),
        lambda: client.reply_permission(odd, "once", "/"),
    ):
        with pytest.raises(Missing, match="knows nothing"):
            ask()
    assert not client.carries("ses_1", odd, "a delivery")


@pytest.mark.parametrize("body", [b"[]", b"{}", b"null", b'{"info": []}', b'{"info": {"id": "msg_1"}}', b"3"])
def test_an_answer_of_another_shape_is_said_in_a_sentence(answering: Callable[..., OpenCode], body: bytes) -> None:
    client = answering(200, "application/json", body)
    with pytest.raises(Unreachable, match="does not know"):
        client.message("ses_1", "msg_1")
    with pytest.raises(Unreachable, match="does not know"):
        client.session("ses_1")


def test_halves_of_characters_and_null_come_as_marks_that_can_be_kept(answering: Callable[..., OpenCode]) -> None:
    info = b'{"id": "msg_1", "role": "user", "time": {"created": 1}}'
    parts = b'[{"type": "text", "text": "\\ud83d\\ude00 \\uD83D! \\u0000"}]'
    client = answering(200, "application/json", b'{"info": ' + info + b', "parts": ' + parts + b"}")
    assert client.message("ses_1", "msg_1").own_text == "\U0001f600 \ufffd! \ufffd"


def test_a_sessions_metadata_comes_letter_for_letter(answering: Callable[..., OpenCode]) -> None:
    row = b'{"id": "ses_1", "title": "half \\ud83d", "metadata": {"theirs": "\\ud83d\\u0000"}}'
    info = answering(200, "application/json", row).session("ses_1")
    assert info.metadata == {"theirs": "\ud83d\0"}
    assert info.title == "half \ufffd"


def test_data_without_end_is_no_answer(answering: Callable[..., OpenCode]) -> None:
    with pytest.raises(Unreachable, match="broken data"):
        answering(200, "application/json", b"[" * 100_000).session("ses_1")
