"""Ways in: one-time sign-in links for people, tokens for programs. Only hashes are stored."""

from __future__ import annotations

import hashlib
import secrets
from datetime import timedelta
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from django.contrib.auth.models import User

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

    @classmethod
    def make(cls, user: User) -> str:
        """A new link's secret for `user`; it cannot be read again."""
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
        return cls.objects.select_related("user").get(secret_hash=hashed(secret)).user


class ApiToken(models.Model):
    """A program's way in. `agent` tokens reach only what agents and their hooks need."""

    class Scope(models.TextChoices):
        ALL = "all", _("everything")
        AGENT = "agent", _("agents and hooks")

    name = models.CharField(_("name"), max_length=100)
    secret_hash = models.CharField(max_length=64, unique=True, editable=False)
    hint = models.CharField(_("begins with"), max_length=8, editable=False)
    scope = models.CharField(_("scope"), max_length=8, choices=Scope.choices, default=Scope.ALL)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="tokens", verbose_name=_("user"))
    projects = models.ManyToManyField("openchamber.Project", blank=True, verbose_name=_("only these projects"))
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    used_at = models.DateTimeField(_("last used"), null=True, editable=False)
    revoked_at = models.DateTimeField(_("revoked"), null=True, editable=False)

    class Meta:
        ordering = ["-created_at", "-pk"]
        verbose_name = _("API token")
        verbose_name_plural = _("API tokens")

    def __str__(self) -> str:
        return self.name

    @classmethod
    def make(cls, *, name: str, user: User, scope: str = Scope.ALL) -> tuple[ApiToken, str]:
        """A new token and its secret, which cannot be read again."""
        secret = "oc_" + secrets.token_urlsafe(32)
        token = cls.objects.create(name=name, user=user, scope=scope, secret_hash=hashed(secret), hint=secret[:8])
        return token, secret

    @classmethod
    def find(cls, secret: str) -> ApiToken | None:
        """The live token with this secret, if there is one."""
        return cls.objects.select_related("user").filter(secret_hash=hashed(secret), revoked_at=None).first()

    def revoke(self) -> None:
        """Refuse the token from now on; revoking twice changes nothing."""
        type(self).objects.filter(pk=self.pk, revoked_at=None).update(revoked_at=timezone.now())
