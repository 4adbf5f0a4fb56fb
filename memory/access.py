"""Who may ask what of agents' memory, beyond what a project's members may: agents are shared by all projects."""

from __future__ import annotations

from django.utils.translation import gettext as _

from memory.models import Scope
from memory.models.scopes import ScopeQuerySet
from openchamber.errors import Forbidden
from openchamber.projects.access import Caller


def has_a_place(caller: Caller) -> bool:
    """Whether agents work for this caller anywhere. What they keep about the user is told in all those places."""
    return caller.sees(None) or caller.projects().exists()


def visible_scopes(caller: Caller) -> ScopeQuerySet:
    """The scopes that this caller sees; none at all without a project."""
    scopes = Scope.objects.visible_to(caller)
    return scopes if has_a_place(caller) else scopes.none()


def check_speaks_to_all(caller: Caller) -> None:
    """Refuse what every session of every project would be told, but to staff and with a token that is not bound."""
    caller.check_staff()
    if caller.token is not None and caller.token.bound:
        raise Forbidden(_("This token is bound to projects and cannot change what all projects share."))
