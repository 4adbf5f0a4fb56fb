"""The JSON API: its frame, its errors, and the routers of whatever is installed."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from functools import wraps
from http import HTTPStatus
from importlib import import_module
from typing import Any

from django.apps import apps
from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError, connection
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import URLPattern
from django.utils.module_loading import import_string, module_has_submodule
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe
from ninja import NinjaAPI, Schema
from ninja.errors import AuthenticationError, HttpError, ValidationError
from ninja.openapi.schema import OpenAPISchema
from ninja.parser import Parser

from openchamber import __version__
from openchamber.errors import Invalid, Malformed, NotFound, Problem, Unauthenticated, Unavailable, problem_of
from openchamber.middleware import answer
from openchamber.models import AgentServer
from openchamber.projects.access import API_DOORS, api_caller
from openchamber.sessions.opencode import AgentServerError, client_for

# Packages whose `api.router` joins when they are there; the order decides which path wins.
PARTS = ("openchamber.projects", "openchamber.sessions", "openchamber.clients", "openchamber.search")
APPS = ("knowledge", "memory")
# How any operation may answer besides its own answers: refused by the frame, by the rules of what is stored,
# or for want of what stands behind it. A 500 is a bug and no answer that anybody should reckon with.
PROBLEMS = (400, 401, 403, 404, 405, 409, 412, 413, 422, 429, 502, 503)


class JsonParser(Parser):
    """Reads JSON bodies; refuses what no database of ours can store."""

    def parse_body(self, request: HttpRequest) -> Any:
        """The body as plain data."""
        return json.loads(request.body.decode(), parse_constant=_no_constant, parse_float=_finite)


def _no_constant(name: str) -> None:
    raise ValueError(name)  # NaN and Infinity are not JSON


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):  # 1e999 is JSON, and no number that anybody could mean
        raise ValueError(digits)
    return number


class ErrorOut(Schema):
    """What went wrong: a code for programs, a sentence for people, and the refused fields."""

    code: str
    message: str
    fields: dict[str, list[str]] | None = None


class ProblemOut(Schema):
    """Every answer that is no success."""

    error: ErrorOut
    current: dict[str, Any] | None = None


class Api(NinjaAPI):
    """The API, which says of every operation how it answers when it does not succeed."""

    def get_openapi_schema(self, **options: Any) -> OpenAPISchema:
        """The OpenAPI document."""
        schema = super().get_openapi_schema(**options)
        components = schema["components"]["schemas"]
        problem = ProblemOut.model_json_schema(ref_template="#/components/schemas/{model}")
        components |= problem.pop("$defs")
        components["ProblemOut"] = problem
        content = {"application/json": {"schema": {"$ref": "#/components/schemas/ProblemOut"}}}
        schema["components"]["responses"] = {
            f"Problem{status}": {"description": HTTPStatus(status).phrase, "content": content} for status in PROBLEMS
        }
        refusals = {str(status): {"$ref": f"#/components/responses/Problem{status}"} for status in PROBLEMS}
        for path in schema["paths"].values():
            for operation in path.values():
                operation["responses"] |= refusals
        return schema


api = Api(
    title="OpenChamber",
    version=__version__,
    description="What a coding agent must know, owned by the user and told on time.",
    docs_url=None,
    auth=API_DOORS,
    parser=JsonParser(),
    urls_namespace="api",
)


class AgentServerHealth(Schema):
    """The agent server in use."""

    url: str
    reachable: bool
    version: str


class Health(Schema):
    """Whether the server works, and with what."""

    status: str
    version: str
    database: str
    agent_server: AgentServerHealth | None = None


@api.get("/health", auth=None, response=Health, exclude_unset=True, tags=["health"])
def health(request: HttpRequest) -> dict[str, Any]:
    """Answers anybody; the agent server is shown to signed-in callers only."""
    try:
        connection.ensure_connection()
    except DatabaseError as error:
        raise Unavailable(_("The database cannot be reached.")) from error
    answered = {"status": "ok", "version": __version__, "database": connection.vendor}
    if api_caller(request) is None:
        return answered
    return {**answered, "agent_server": agent_server_health()}


def agent_server_health() -> dict[str, Any] | None:
    """What the agent server in use says of itself; None when there is none."""
    server = AgentServer.objects.usable().first()
    if server is None:
        return None
    try:
        return {"url": server.url, "reachable": True, "version": client_for(server).health()}
    except AgentServerError:
        return {"url": server.url, "reachable": False, "version": server.version}


def answer_error(request: HttpRequest, error: Exception | type[Exception]) -> HttpResponse:
    """Any error of an operation, in the one shape; a bug goes on to Django, which logs it."""
    assert isinstance(error, Exception)
    problem = problem_of(error) or ninja_problem(error)
    if problem is None:
        raise error
    return answer(request, problem)


def ninja_problem(error: Exception) -> Problem | None:
    """What the framework itself refuses."""
    match error:
        case ValidationError():
            return invalid(error.errors)
        case AuthenticationError():
            return Unauthenticated()
        case HttpError(status_code=400):
            return Malformed(_("The body is not valid JSON."))
        case HttpError():
            return Problem(status=error.status_code)
    return None


def invalid(errors: list[dict[str, Any]]) -> Invalid:
    """Field rules that were broken: `{field: [sentences]}`, nested fields joined by dots."""
    fields: dict[str, list[str]] = {}
    for error in errors:
        # loc is (source, parameter, field...) for a schema and (source, field) for a single value.
        place = error["loc"]
        name = ".".join(str(step) for step in (place[2:] if len(place) > 2 else place[1:]))
        fields.setdefault(name or str(place[0]), []).append(str(error["msg"]))
    return Invalid(fields=fields)


# Ninja takes the nearest class that has a handler, and has handlers of its own for these.
for _error in (Exception, Http404, HttpError, ValidationError):
    api.add_exception_handler(_error, answer_error)


def add_router_of(dotted_name: str) -> None:
    """Add the router of the package `dotted_name`, if it has an `api` module."""
    if module_has_submodule(import_module(dotted_name), "api"):
        api.add_router("", import_string(f"{dotted_name}.api.router"))


for _part in (*PARTS, *(app for app in APPS if apps.is_installed(app))):
    add_router_of(_part)


def head_as_get(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """HEAD is GET without the body; the framework knows only the methods that an operation names."""

    @wraps(view)
    def answered(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.method != "HEAD":
            return view(request, *args, **kwargs)
        request.method = "GET"
        response = view(request, *args, **kwargs)
        request.method = "HEAD"
        response.headers["Content-Length"] = str(len(response.content))
        response.content = b""
        return response

    return answered


@login_not_required
@require_safe
def root(request: HttpRequest) -> HttpResponse:
    """`/api` itself, which Django would answer with a redirect to a page."""
    raise NotFound


def patterns() -> list[URLPattern]:
    """The API's urls. Its own doors decide who comes in, so the panel's sign-in lets them through."""
    found: list[URLPattern] = [pattern for pattern in api.urls[0] if isinstance(pattern, URLPattern)]
    for pattern in found:
        pattern.callback = login_not_required(head_as_get(pattern.callback))
    return found
