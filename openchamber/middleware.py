"""What every answer passes: security headers, errors in the right shape, and toasts."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib import messages
from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.contrib.messages import get_messages
from django.contrib.messages.storage.base import Message
from django.core.exceptions import DisallowedHost
from django.http import (
    HttpRequest,
    HttpResponse,
    HttpResponseBadRequest,
    HttpResponseBase,
    HttpResponsePermanentRedirect,
    JsonResponse,
)
from django.http.request import split_domain_port
from django.shortcuts import render, resolve_url
from django.utils.cache import patch_vary_headers
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django_htmx.http import HttpResponseClientRedirect, reswap, trigger_client_event

from openchamber.errors import Forbidden, Malformed, NotFound, Problem, problem_of, sentence

GetResponse = Callable[[HttpRequest], HttpResponseBase]

# One policy for pages, admin and static files: everything from here, nothing inline.
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'; object-src 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}
LOOPBACK = {"127.0.0.1", "localhost", "[::1]"}


def security_headers(get_response: GetResponse) -> GetResponse:
    """Add the policy to every answer, and keep answers out of shared caches."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        for name, value in HEADERS.items():
            response.headers.setdefault(name, value)
        response.headers.setdefault("Cache-Control", "private, no-cache")
        return response

    return middleware


def encrypted_transport(get_response: GetResponse) -> GetResponse:
    """Send named hosts to https, and leave plain http on the loopback address working.

    Django's own redirect and cookie flags know no exception by host, and without one neither
    the sign-in link that `serve` prints nor a health check on 127.0.0.1 would work.
    """

    def middleware(request: HttpRequest) -> HttpResponseBase:
        if request.is_secure():
            return get_response(request)
        if not on_loopback(request):
            return HttpResponsePermanentRedirect(f"https://{request.get_host()}{request.get_full_path()}")
        response = get_response(request)
        if isinstance(response, HttpResponse):
            for cookie in response.cookies.values():
                cookie["secure"] = ""
        return response

    return middleware


def on_loopback(request: HttpRequest) -> bool:
    """Whether the request names this machine itself as its host."""
    return split_domain_port(request.get_host())[0] in LOOPBACK


def json_errors(get_response: GetResponse) -> GetResponse:
    """Give every error under `/api` the one JSON shape, also those that Django answers by itself."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        # No text of ours holds NUL and PostgreSQL refuses it: a bad request, not a bug.
        nul = "\0" in request.path_info or "%00" in request.META.get("QUERY_STRING", "")
        response = HttpResponseBadRequest() if nul else get_response(request)
        plain = response.status_code >= 400 and "json" not in response.headers.get("Content-Type", "")
        if not (plain and under_api(request)):
            return response
        shaped = answer(request, Problem(status=response.status_code))
        if "Allow" in response.headers:
            shaped.headers["Allow"] = response.headers["Allow"]
        return shaped

    return middleware


def under_api(request: HttpRequest) -> bool:
    """Whether a program asks."""
    return request.path_info == "/api" or request.path_info.startswith("/api/")


class Problems:
    """Answer a `Problem` that a view raised: JSON under `/api`, a toast for htmx, else a page."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if response.status_code != 405 or under_api(request) or request.method not in ("GET", "HEAD"):
            return response
        # Django's own is empty, and a browser makes an error of its own of that: for a visitor nothing is here.
        page = answer(request, Problem(sentence(404), status=405))
        page.headers["Allow"] = response.headers.get("Allow", "")
        return page

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """The answer, or None for a bug, which Django logs and answers with 500."""
        problem = problem_of(error)
        return answer(request, problem) if problem else None


def answer(request: HttpRequest, problem: Problem) -> HttpResponse:
    """The response for `problem`, in the form that the caller reads."""
    if under_api(request):
        return JsonResponse(problem.body(), status=problem.status)
    if getattr(request, "htmx", False):
        messages.error(request, problem.message)
        # Some statuses swap (422, 409); there is nothing to swap in here.
        return reswap(HttpResponse(status=problem.status), "none")
    return render(request, "openchamber/problem.html", {"problem": problem}, status=problem.status)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """The answer to a request that Django finds suspicious; as bare text, since nothing about it is known."""
    if isinstance(exception, DisallowedHost):
        message = _("This host name is not served here. Name it in OPENCHAMBER_ALLOWED_HOSTS.")
        problem = Problem(message, code="unknown_host")
    else:
        problem = problem_of(exception) or Malformed()
    if under_api(request):
        return answer(request, problem)
    return HttpResponse(problem.message, status=problem.status, content_type="text/plain; charset=utf-8")


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """The page for 403."""
    return answer(request, Forbidden())


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """The page for an address that is none of ours."""
    return answer(request, NotFound())


def csrf_failed(request: HttpRequest, reason: str = "") -> HttpResponse:
    """The answer to a form whose token is missing or old (`CSRF_FAILURE_VIEW`)."""
    message = _("This page was open for too long, or cookies are blocked. Load it again and repeat what you did.")
    return answer(request, Problem(message, status=403, code="csrf_failed"))


class SignInRequired(LoginRequiredMiddleware):
    """Django's, and for htmx a redirect of the whole page instead of a sign-in form inside a fragment."""

    def handle_no_permission(  # type: ignore[override]
        self, request: HttpRequest, view_func: Callable[..., HttpResponseBase]
    ) -> HttpResponseBase:
        """Send the visitor to sign in, and back to the page that they were on."""
        if not getattr(request, "htmx", False):
            return super().handle_no_permission(request, view_func)
        page = request.htmx.current_url_abs_path or "/"  # type: ignore[attr-defined]
        return HttpResponseClientRedirect(f"{resolve_url('openchamber:sign-in')}?{urlencode({'next': page})}")


def notice(message: Message) -> dict[str, str]:
    """A message as a toast. Its extra tag, if it has one, is the address that takes the act back."""
    told = {"level": message.level_tag, "text": str(message)}
    return {**told, "undo": message.extra_tags} if message.extra_tags else told


def toasts(get_response: GetResponse) -> GetResponse:
    """Hand Django's messages to the page as one `toast` event on htmx answers; redirects keep them."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        # Page and fragment share a URL: without this the back button shows a bare fragment.
        patch_vary_headers(response, ["HX-Request"])
        htmx = getattr(request, "htmx", False)
        if htmx and isinstance(response, HttpResponse) and not 300 <= response.status_code < 400:
            notices = [notice(message) for message in get_messages(request)]
            if notices and "HX-Redirect" not in response.headers:
                trigger_client_event(response, "toast", {"notices": notices})
        return response

    return middleware
