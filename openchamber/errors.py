"""Problems: what went wrong, as a sentence for a person and a status and code for a program.

Raise one from anywhere below a view. Under `/api` it becomes the JSON error, in the panel an
error page or, for htmx, a toast.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.core.exceptions import ObjectDoesNotExist, PermissionDenied, RequestDataTooBig
from django.forms import BaseForm
from django.http import Http404
from django.utils.translation import gettext as _

from openchamber.sessions.opencode import AgentServerError, Missing, Unreachable

Fields = Mapping[str, Sequence[str]]

# What an answer is called that carries no code of its own.
CODES = {
    400: "malformed",
    401: "unauthenticated",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    409: "conflict",
    412: "stale",
    413: "too_large",
    422: "invalid",
    429: "too_many_requests",
    500: "internal_error",
    502: "bad_gateway",
    503: "unavailable",
}


class Problem(Exception):
    """Something that the caller is told. `message` says what is wrong and what to do.

    `fields` are the refused fields with their sentences; `current` is what is stored now, as
    the API shows it.
    """

    status = 400

    def __init__(
        self,
        message: str = "",
        *,
        code: str = "",
        fields: Fields | None = None,
        current: Mapping[str, Any] | None = None,
        status: int = 0,
    ) -> None:
        self.status = status or self.status
        self.message = str(message) or sentence(self.status)
        self.code = code or CODES.get(self.status, "malformed")
        self.fields = fields
        self.current = current
        super().__init__(self.message)

    def told(self) -> str:
        """The sentence and those of its fields, for a person at a command line."""
        return " ".join([self.message, *(str(text) for texts in (self.fields or {}).values() for text in texts)])

    def body(self) -> dict[str, Any]:
        """The JSON body of the answer."""
        error: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.fields:
            error["fields"] = {name: [str(text) for text in texts] for name, texts in self.fields.items()}
        if self.current is None:
            return {"error": error}
        return {"error": error, "current": self.current}


class Malformed(Problem):
    """The request cannot be read at all."""


class Unauthenticated(Problem):
    """Nobody is signed in, or the token is not known."""

    status = 401


class Forbidden(Problem):
    """The caller is known and may not do this."""

    status = 403


class NotFound(Problem):
    """There is no such thing, or none that the caller may see."""

    status = 404


class Conflict(Problem):
    """The wish contradicts what is stored."""

    status = 409


class Stale(Problem):
    """The edit names a revision that is no longer the stored one."""

    status = 412


class TooLarge(Problem):
    """The request is larger than the server takes."""

    status = 413


class Invalid(Problem):
    """A field breaks a rule."""

    status = 422

    @classmethod
    def form(cls, form: BaseForm) -> Invalid:
        """What a form refused, for a program; what concerns the whole form is under `__all__`."""
        return cls(fields={name: [str(text) for text in texts] for name, texts in form.errors.items()})


class TooManyRequests(Problem):
    """Too many attempts in too short a time."""

    status = 429


class AgentServerUnreachable(Problem):
    """The agent server cannot be asked."""

    status = 502

    def __init__(self, message: str = "", **more: Any) -> None:
        super().__init__(message, **{"code": "agent_server_unreachable", **more})


class Unavailable(Problem):
    """The server cannot answer now and may later."""

    status = 503


def sentence(status: int) -> str:
    """What a bare status means, for a person."""
    sentences = {
        400: _("The request could not be read. Check its syntax."),
        401: _("Sign in, or send a valid API token."),
        403: _("You are not allowed to do that."),
        404: _("There is nothing at this address."),
        405: _("This address does not answer that method."),
        409: _("The request contradicts what is stored. Load it again."),
        412: _("It was changed in the meantime. Load it again and repeat your change."),
        413: _("The request is too large."),
        422: _("Some fields need another value."),
        429: _("Too many attempts. Wait a moment and try again."),
        502: _("The agent server cannot be reached."),
        503: _("The server cannot answer right now. Try again in a moment."),
    }
    return sentences.get(status, _("Something went wrong on the server. It was written to its log."))


def problem_of(error: Exception) -> Problem | None:
    """The problem that `error` is, or None when it is a bug."""
    match error:
        case Problem():
            return error
        case Unreachable():
            return AgentServerUnreachable(str(error))
        case Missing():
            return NotFound(str(error))
        case AgentServerError():
            return AgentServerUnreachable(str(error), code="agent_server_refused")
        case Http404() | ObjectDoesNotExist():  # the latter: purged between two looks at it
            return NotFound()
        case PermissionDenied():
            return Forbidden()
        case RequestDataTooBig():
            return TooLarge()
    return None
