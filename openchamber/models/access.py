"""Ways in: one-time sign-in links for people, tokens for programs. Only hashes are stored."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable
from datetime import timedelta
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models, transaction
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from openchamber.texts import validate_line

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from openchamber.models.projects import Project

LINK_LIFETIME = timedelta(minutes=10)


def hashed(secret: str) -> str:
    """The stored form of a secret. Secrets are long and random, so a plain hash is enough."""
    return hashlib.sha256(secret.encode()).hexdigest()


class SignInLink(models.Model):
    """A link that signs one user in, once, within ten minutes."""

    secret_hash = models.CharField(max_length=64, unique=True)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.user} {self.expires_at}"

    @classmethod
    def make(cls, user: User) -> str:
        """A new link's secret for `user`; it cannot be read again. Links that ran out go."""
        cls.objects.filter(expires_at__lt=timezone.now()).delete()
        secret = secrets.token_urlsafe(24)
        cls.objects.create(secret_hash=hashed(secret), user=user, expires_at=timezone.now() + LINK_LIFETIME)
        return secret

    @classmethod
    def use(cls, secret: str) -> User | None:
        """The user that `secret` signs in, or None when it is unknown, used or too old.

        Compare-and-set, so that of two requests with one link only one signs in.
        """
        now = timezone.now()
        unused = cls.objects.filter(secret_hash=hashed(secret), used_at=None, expires_at__gt=now)
        if unused.update(used_at=now) != 1:
            return None
        link = cls.objects.select_related("user").filter(secret_hash=hashed(secret)).first()
        return link.user if link and link.user.is_active else None


class ApiTokenQuerySet(models.QuerySet["ApiToken"]):
    """Questions about tokens."""

    def live(self) -> ApiTokenQuerySet:
        """Those that were not revoked."""
        return self.filter(revoked_at=None)

    def of(self, user: User) -> ApiTokenQuerySet:
        """The tokens that `user` may see and revoke: their own; the owner of the installation sees all."""
        return self if user.is_superuser else self.filter(user=user)


class ApiToken(models.Model):
    """A program's way in. `agent` tokens reach only what agents and their hooks need."""

    class Scope(models.TextChoices):
        ALL = "all", _("everything")
        AGENT = "agent", _("agents and hooks")

    name = models.CharField(_("name"), max_length=100, validators=[validate_line])
    secret_hash = models.CharField(max_length=64, unique=True, editable=False)
    hint = models.CharField(_("begins with"), max_length=8, editable=False)
    scope = models.CharField(_("scope"), max_length=8, choices=Scope.choices, default=Scope.ALL)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="tokens", verbose_name=_("user"))
    # A flag of its own: a bound token whose last project is gone must reach nothing, not everything.
    bound = models.BooleanField(_("bound to projects"), default=False)
    projects = models.ManyToManyField("openchamber.Project", blank=True, verbose_name=_("only these projects"))
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    used_at = models.DateTimeField(_("last used"), null=True, editable=False)
    revoked_at = models.DateTimeField(_("revoked"), null=True, editable=False)

    objects = ApiTokenQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "-pk"]
        verbose_name = _("API token")
        verbose_name_plural = _("API tokens")

    def __str__(self) -> str:
        return self.name

    @classmethod
    @transaction.atomic
    def make(
        cls, *, name: str, user: User, scope: str = Scope.ALL, projects: Iterable[Project] = ()
    ) -> tuple[ApiToken, str]:
        """A new token and its secret, which cannot be read again; bound to `projects` if any are named."""
        secret = "oc_" + secrets.token_urlsafe(32)
        only = list(projects)
        token = cls.objects.create(
            name=name, user=user, scope=scope, bound=bool(only), secret_hash=hashed(secret), hint=secret[:8]
        )
        token.projects.set(only)
        return token, secret

    @classmethod
    def find(cls, secret: str) -> ApiToken | None:
        """The live token with this secret, if there is one."""
        return cls.objects.live().select_related("user").filter(secret_hash=hashed(secret)).first()

    def seen(self) -> None:
        """Note that the token was used. To the minute, so that a busy token does not write on every request."""
        now = timezone.now()
        if self.used_at is None or now - self.used_at > timedelta(minutes=1):
            type(self).objects.filter(pk=self.pk).update(used_at=now)

    def revoke(self) -> None:
        """Refuse the token from now on; revoking twice changes nothing."""
        type(self).objects.live().filter(pk=self.pk).update(revoked_at=timezone.now())
