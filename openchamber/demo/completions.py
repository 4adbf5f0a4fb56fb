"""The demo's model on the wire: chat completions as OpenCode asks for them, for this machine's OpenCode alone."""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponseBase, JsonResponse, StreamingHttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from openchamber.demo import answering, provider

PIECES = 24  # an answer arrives in as many, so that one sees it being written
PAUSE_SECONDS = 0.02
CHARACTERS_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Completion:
    """One answer and what it cost."""

    id: str
    created: int
    text: str
    usage: Mapping[str, int]

    @classmethod
    def of(cls, body: Any) -> Completion:
        """The answer to a request's body. Raises `ValueError` when that is none."""
        messages = body.get("messages") if isinstance(body, dict) else None
        if not isinstance(messages, list) or not all(_readable(message) for message in messages):
            raise ValueError("`messages` must be a list of objects with a role and a text.")
        text = answering.answer(messages)
        told = len(json.dumps(messages, ensure_ascii=False)) // CHARACTERS_PER_TOKEN
        answered = len(text) // CHARACTERS_PER_TOKEN + 1
        usage = {"prompt_tokens": told, "completion_tokens": answered, "total_tokens": told + answered}
        return cls(f"chatcmpl-{secrets.token_hex(8)}", int(time.time()), text, usage)

    def head(self, kind: str) -> dict[str, Any]:
        """What every frame of the answer begins with."""
        return {"id": self.id, "object": kind, "created": self.created, "model": provider.MODEL}

    def whole(self) -> dict[str, Any]:
        """The answer in one piece."""
        message = {"role": "assistant", "content": self.text}
        choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
        return {**self.head("chat.completion"), "choices": choices, "usage": self.usage}

    def chunks(self) -> Iterator[dict[str, Any]]:
        """The answer in pieces, in the protocol's order: role, text, end, usage."""
        head = self.head("chat.completion.chunk")
        size = max(1, -(-len(self.text) // PIECES))
        deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
        deltas += [{"content": self.text[start : start + size]} for start in range(0, len(self.text), size)]
        for delta in deltas:
            yield {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        yield {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
        # Without usage OpenCode would count no tokens.
        yield {**head, "choices": [], "usage": self.usage}


def _readable(message: Any) -> bool:
    if not isinstance(message, dict) or not isinstance(message.get("role"), str):
        return False
    content = message.get("content")
    return isinstance(content, str | None) or (
        isinstance(content, list) and all(isinstance(part, dict) for part in content)
    )


@csrf_exempt
@login_not_required
@require_POST
def chat_completions(request: HttpRequest) -> HttpResponseBase:
    """Answer OpenCode as a model would. Errors have the protocol's shape, so that OpenCode can show them."""
    if not (from_this_machine(request) and has_key(request)):
        return refused(401, "This model answers the OpenCode that OpenChamber started, and nobody else.")
    try:
        body = json.loads(request.body)
        completion = Completion.of(body)
    except ValueError as error:
        return refused(400, str(error))
    if not body.get("stream"):
        return JsonResponse(completion.whole())
    return StreamingHttpResponse(stream(completion), content_type="text/event-stream")


def from_this_machine(request: HttpRequest) -> bool:
    """Whether the connection comes from the loopback address."""
    try:
        return ip_address(request.META.get("REMOTE_ADDR", "")).is_loopback
    except ValueError:
        return False


def has_key(request: HttpRequest) -> bool:
    """Whether the caller knows this process's key."""
    given = request.headers.get("Authorization", "").encode()
    return secrets.compare_digest(given, f"Bearer {provider.KEY}".encode())


def refused(status: int, message: str) -> JsonResponse:
    """An error as the protocol has it; the type keeps OpenCode from trying again."""
    return JsonResponse({"error": {"message": message, "type": "invalid_request_error"}}, status=status)


async def stream(completion: Completion) -> AsyncIterator[str]:
    """The answer as server-sent events, at the pace of a quick writer."""
    for chunk in completion.chunks():
        yield f"data: {json.dumps(chunk)}\n\n"
        await asyncio.sleep(PAUSE_SECONDS)
    yield "data: [DONE]\n\n"
