"""Signing in, by one-time link or by password, and out."""

from __future__ import annotations

from django.contrib.auth import login, logout
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme, urlencode
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from openchamber.models import SignInLink
from openchamber.projects.forms import SignInForm

BACKEND = "django.contrib.auth.backends.ModelBackend"


@login_not_required
@never_cache
@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in(request: HttpRequest) -> HttpResponse:
    """How to get a link; and a form, when some user has a password."""
    form = SignInForm(request, request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        login(request, form.get_user())
        return redirect(next_page(request))
    context = {"form": form if someone_has_a_password() else None, "next": next_page(request)}
    return render(request, "openchamber/sign_in.html", context, status=422 if form.errors else 200)


@login_not_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in_link(request: HttpRequest, secret: str) -> HttpResponse:
    """The page of a one-time link. Looking at it changes nothing, so a preview cannot use the link up."""
    if request.method != "POST":
        return render(request, "openchamber/sign_in_link.html", {"next": next_page(request)})
    user = SignInLink.use(secret)
    if user is None:
        # One answer for unknown, used and old: it tells a guesser nothing.
        return render(request, "openchamber/sign_in_link.html", {"refused": True}, status=410)
    login(request, user, backend=BACKEND)
    return redirect(next_page(request))


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    """End this browser's session."""
    logout(request)
    return redirect("openchamber:sign-in")


@login_not_required
@require_safe
def admin_sign_in(request: HttpRequest) -> HttpResponse:
    """The admin's own form knows no links: send the visitor to ours, and back."""
    return redirect(f"{reverse('openchamber:sign-in')}?{urlencode({'next': next_page(request)})}")


def someone_has_a_password() -> bool:
    """Whether signing in by password can work at all."""
    return User.objects.filter(is_active=True).exclude(password__startswith=UNUSABLE_PASSWORD_PREFIX).exists()


def next_page(request: HttpRequest) -> str:
    """Where the visitor wanted to go: only ever on this host."""
    wanted = request.POST.get("next") or request.GET.get("next") or ""
    own = url_has_allowed_host_and_scheme(wanted, {request.get_host()}, require_https=request.is_secure())
    return wanted if own else "/"
