"""The ASGI application: Django for pages and the API, static files beside it.

WhiteNoise's middleware hands Django a synchronous iterator, which costs a warning and a thread
under ASGI, so its files are sent from here.
"""

from __future__ import annotations

import asyncio
import gzip
import io
import json
import os
import re
from collections.abc import Awaitable, Callable, Mapping
from functools import lru_cache
from http import HTTPStatus
from pathlib import Path
from typing import Any
from wsgiref.headers import Headers

import django
from asgiref.sync import sync_to_async

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "openchamber.settings")
django.setup(set_prefix=False)

from django.apps import apps  # noqa: E402
from django.conf import settings  # noqa: E402
from django.core.handlers.asgi import ASGIHandler  # noqa: E402
from django.core.handlers.base import BaseHandler  # noqa: E402
from django.http import HttpRequest, HttpResponseBase  # noqa: E402
from whitenoise import WhiteNoise  # noqa: E402
from whitenoise.responders import Response, StaticFile  # noqa: E402

from openchamber.errors import TooLarge  # noqa: E402
from openchamber.middleware import HEADERS  # noqa: E402

Message = Mapping[str, Any]
Scope = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Mapping[str, Any]], Awaitable[None]]

CHUNK = 64 * 1024
TEXTS = {"text/css", "text/javascript", "application/javascript", "image/svg+xml"}
# The file name says the version, so its content never changes: vendor/htmx-4.0.1.min.js.
VERSIONED = re.compile(r"-\d+\.\d+\.\d+[^/]*$")


class Pages(ASGIHandler):
    """Django's handler with the whole chain in one thread.

    Django's own hops between the loop and a thread twice for every middleware; ours are all
    synchronous, so one hop does.
    """

    def __init__(self) -> None:
        BaseHandler.__init__(self)
        self.load_middleware(is_async=False)

    async def run_get_response(self, request: HttpRequest) -> HttpResponseBase:
        """The answer to one request, made in the request's own thread."""
        response: HttpResponseBase = await sync_to_async(self.get_response, thread_sensitive=True)(request)
        response._handler_class = type(self)  # type: ignore[attr-defined]
        return response


def _static_headers(headers: Headers, path: str, url: str) -> None:
    for name, value in HEADERS.items():
        headers[name] = value


def static_files() -> WhiteNoise:
    """The static files of the apps and, before them, our own.

    Looked up on each request: a copy of their sizes would be wrong from an update until the next start.
    """
    found = WhiteNoise(
        None,
        autorefresh=True,
        max_age=0,  # asked for again with its ETag, so that an update shows at once
        allow_all_origins=False,
        immutable_file_test=lambda path, url: bool(VERSIONED.search(url)),
        add_headers_function=_static_headers,
    )
    folders = [Path(app.path) / "static" for app in apps.get_app_configs()]
    for folder in [*folders, *map(Path, settings.STATICFILES_DIRS)]:
        if folder.is_dir():
            found.add_files(str(folder), prefix=settings.STATIC_URL)
    return found


pages = Pages()
files = static_files()


def find_file(path: str) -> StaticFile | None:
    """The static file at the URL path, if there is one."""
    found: StaticFile | None = files.find_file(path) if path.startswith(settings.STATIC_URL) else None
    return found


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer one connection."""
    if scope["type"] == "lifespan":
        await lifespan(receive, send)
    elif scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1000})
    elif file := find_file(scope["path"]):
        await send_file(file, scope, send)
    else:
        await limited(scope, receive, send)


async def lifespan(receive: Receive, send: Send) -> None:
    """Say that start-up and shutdown are done; nothing of ours hangs on them."""
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return


async def send_file(file: StaticFile, scope: Scope, send: Send) -> None:
    """One static file, or 304 when the browser has it."""
    asked = {
        f"HTTP_{name.decode('latin-1').upper().replace('-', '_')}": value.decode("latin-1")
        for name, value in scope["headers"]
    }
    response: Response = file.get_response(scope["method"], asked)
    if smaller := compressed(response, asked.get("HTTP_ACCEPT_ENCODING", "")):
        response = smaller
    headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in response.headers]
    await send({"type": "http.response.start", "status": int(response.status), "headers": headers})
    if response.file is not None:
        with response.file:
            while chunk := await asyncio.to_thread(response.file.read, CHUNK):
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


def compressed(response: Response, accepted: str) -> Response | None:
    """The same file in fewer bytes, where the browser takes that and the file is text that was asked for whole."""
    headers = Headers(list(response.headers))
    kind = headers.get("Content-Type", "").partition(";")[0]
    if response.file is None or response.status != HTTPStatus.OK or kind not in TEXTS or "gzip" not in accepted:
        return None
    with response.file as file:
        path, written = Path(file.name), os.fstat(file.fileno()).st_mtime_ns
    body = gzipped(path, written)
    headers["Content-Encoding"], headers["Content-Length"] = "gzip", str(len(body))
    headers["Vary"] = "Accept-Encoding"
    return Response(response.status, headers.items(), io.BytesIO(body))


@lru_cache(maxsize=64)
def gzipped(path: Path, written: int) -> bytes:
    """A file's content, compressed; once for each time that it was written."""
    return gzip.compress(path.read_bytes(), mtime=0)


async def limited(scope: Scope, receive: Receive, send: Send) -> None:
    """Hand the request to Django unless its body is too large.

    Django stores the whole body before it looks at the request, so this is where a flood ends.
    """
    declared = dict(scope["headers"]).get(b"content-length", b"")
    left = settings.UPLOAD_LIMIT
    if declared.isdigit() and int(declared) > left:
        await refuse_body(send)
        return

    async def counted() -> Message:
        nonlocal left
        message = await receive()
        left -= len(message.get("body", b""))
        # To Django the client has gone: it drops what it stored, and answers nothing.
        return message if left >= 0 else {"type": "http.disconnect"}

    await pages(scope, counted, send)
    if left < 0:
        await refuse_body(send)


async def refuse_body(send: Send) -> None:
    """413 in the API's shape; `HX-Reswap` keeps htmx from swapping it into a page."""
    body = json.dumps(TooLarge().body()).encode()
    headers = [(b"content-type", b"application/json"), (b"hx-reswap", b"none"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": body})
