"""Who is asking, and what they may see: the one page of access policy.

People come with a session, programs with a bearer token. Both become a `Caller`, and every
lookup begins at its `projects()`.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _
from ninja.security import APIKeyCookie, HttpBearer
from ninja.utils import check_csrf

from openchamber.errors import Conflict, Forbidden, NotFound, Unauthenticated
from openchamber.models import ApiToken, Project, SignInLink
from openchamber.models.projects import ProjectQuerySet
from openchamber.sessions.rows import gather

# What a token of scope `agent` reaches; a prefix ends with a slash.
AGENT_PATHS = ("/api/context/", "/api/hooks/", "/api/knowledge/tool", "/api/memory/tool", "/mcp", "/mcp/")


@dataclass(frozen=True, slots=True)
class Caller:
    """A user, and the token that speaks for them when a program asks."""

    user: User
    token: ApiToken | None = None

    def projects(self) -> ProjectQuerySet:
        """The projects that this caller sees: the user's, and of those only the token's if it is bound."""
        visible = Project.objects.visible_to(self.user)
        if self.token is None or not self.token.bound:
            return visible
        return visible.filter(pk__in=self.token.projects.values("pk"))

    def project(self, key: str) -> Project:
        """The visible project with this slug or id; `NotFound` for any other."""
        project = self.projects().named(key)
        if project is None:
            raise NotFound(_("There is no such project, or it is not yours."))
        return project

    def all_projects(self) -> ProjectQuerySet:
        """The caller's projects and those that were removed and can come back."""
        return Project.everything.visible_to(self.user)

    def add_project(self, *, directory: str, name: str) -> tuple[Project, bool]:
        """The project at `directory` (a real path), and whether this call made it or brought it back.

        Only for staff: a directory's project speaks to every session below that directory, whoever runs it.
        """
        self.check_staff()
        project, new = Project.add(directory=directory, name=name, by=self.user)
        if not self.projects().filter(pk=project.pk).exists():
            raise Conflict(_("This directory is a project of somebody else’s. Ask to be made a member."))
        if new:
            gather(project)
        return project, new

    def sees(self, project: Project | None) -> bool:
        """Whether what belongs to `project` is this caller's; what belongs to none is the owner's."""
        if self.user.is_superuser and not (self.token and self.token.bound):
            return project is None or project.deleted_at is None
        return project is not None and self.projects().filter(pk=project.pk).exists()

    def check_staff(self) -> None:
        """Refuse what concerns the whole machine to those who do not administer it."""
        if not self.user.is_staff:
            raise Forbidden(_("Only staff may do that."))

    def check_path(self, path: str) -> None:
        """Refuse what a token of scope `agent` must not reach."""
        if self.token is None or self.token.scope != ApiToken.Scope.AGENT:
            return
        if not any(path == allowed or (allowed.endswith("/") and path.startswith(allowed)) for allowed in AGENT_PATHS):
            raise Forbidden(_("This token is for agents and their hooks only. Use one of scope “all”."))


class ApiRequest(HttpRequest):
    """A request that an API operation gets: somebody is known to ask."""

    auth: Caller


def caller_with(secret: str) -> Caller | None:
    """The caller that a bearer token speaks for, or None when it is unknown or revoked."""
    expected = settings.ENVIRONMENT_TOKEN
    if expected and secrets.compare_digest(secret.encode(), expected.encode()):
        return Caller(owner())
    token = ApiToken.find(secret)
    if token is None or not token.user.is_active:
        return None
    token.seen()
    return Caller(token.user, token)


class Bearer(HttpBearer):
    """`Authorization: Bearer <token>`."""

    openapi_name = "token"

    def authenticate(self, request: HttpRequest, token: str) -> Caller | None:
        """The token's caller. A wrong token is refused; it never falls back to the session."""
        caller = caller_with(token)
        if caller is None:
            raise Unauthenticated(_("This token is not known or was revoked."))
        caller.check_path(request.path_info)
        return caller


class SignedIn(APIKeyCookie):
    """The panel's own session, with the CSRF token for what changes something."""

    param_name = settings.SESSION_COOKIE_NAME
    openapi_name = "session"

    def authenticate(self, request: HttpRequest, key: str | None) -> Caller | None:
        """The signed-in user as a caller."""
        if not request.user.is_authenticated:
            return None
        if check_csrf(request) is not None:
            raise Forbidden(_("The X-CSRFToken header is missing or wrong."), code="csrf_failed")
        return Caller(request.user)


# CSRF is checked in `authenticate`, with an answer of our own.
API_DOORS = [Bearer(), SignedIn(csrf=False)]


def api_caller(request: HttpRequest) -> Caller | None:
    """Who asks, where an operation answers anybody; None for a stranger, and for whom the API would refuse."""
    for door in API_DOORS:
        try:
            caller: Caller | None = door(request)
        except (Unauthenticated, Forbidden):
            return None
        if caller:
            return caller
    return None


def signed_in(request: HttpRequest) -> Caller:
    """The caller of a panel page."""
    if not request.user.is_authenticated:
        raise Unauthenticated
    return Caller(request.user)


def owner() -> User:
    """The user who owns the installation; made when there is none, without a password."""
    owners = User.objects.filter(is_superuser=True, is_active=True).order_by("pk")
    found = owners.first()
    if found is not None:
        return found
    try:
        with transaction.atomic():
            return User.objects.create_superuser("owner")
    except IntegrityError:
        # Another process was first, or an ordinary user has that name and keeps it.
        return owners.first() or User.objects.create_superuser(f"owner-{secrets.token_hex(3)}")


def sign_in_url(base_url: str, *, user: User | None = None) -> str:
    """A new one-time link below `base_url` that signs `user` (the owner) in within ten minutes."""
    path = reverse("openchamber:sign-in-link", args=[SignInLink.make(user or owner())])
    return base_url.rstrip("/") + path
