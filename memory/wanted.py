"""Which index lines a session must hold: the answer to `context_wanted`."""

from __future__ import annotations

from typing import Any

from django.dispatch import receiver

from memory import index
from memory.holders import Holder
from memory.models import Agent, Detachment, Entry, Scope, Switches
from memory.reading import read_lines
from memory.scopes import is_temporary, real_path
from memory.threats import SCANNER_VERSION
from openchamber.models import Project, Session
from openchamber.sessions.context import Choice, Item
from openchamber.signals import choice_made, choices_wanted, context_version_wanted, context_wanted
from openchamber.texts import is_key


def is_offered(directory: str, agent: str) -> bool:
    """Whether an agent in this directory has memory at all just now."""
    return Switches.current().enabled and Agent.objects.of(agent).memory_enabled


def holder_in(project: Project | None, session: Session, agent: Agent) -> Holder:
    """The agent in a session, whose project is known."""
    if not session.directory and project is None:
        return Holder(agent, "")
    if session.directory and is_temporary(session.directory):
        return Holder(agent, "")
    return Holder(agent, project.directory if project else real_path(session.directory))


@receiver(context_wanted)
def index_items(project: Project | None, session: Session, agent: str, **_more: Any) -> tuple[list[Item], list[str]]:
    """A line for everything that the session's agent may be told of. As many queries for ten entries as for ten
    thousand; a scope that cannot be read is a failure under its name."""
    if not Switches.current().enabled:
        return [], []
    row = Agent.objects.of(agent)
    # An agent with a template is told by its {{MEMORY}} alone.
    if not row.memory_enabled or row.system_prompt.strip():
        return [], []
    holder = holder_in(project, session, row)
    detached = Entry.objects.filter(detachments__session=session.pk)
    scopes = holder.scopes()
    readings = [read_lines(kind, scope, without=detached) for kind in holder.keys if (scope := scopes.get(kind))]
    items = [item for one in readings if one.scope for item in index.items(one.scope, one.told)]
    return items, [one.scope.source for one in readings if one.failed and one.scope]


@receiver(context_version_wanted)
def memory_version(project: Project | None, session: Session, agent: str, **_more: Any) -> str:
    """What stands for the answer above without reading an entry: counters of all that it depends on."""
    switches = Switches.current()
    if not switches.enabled:
        return f"off:{switches.revision}"
    row = Agent.objects.of(agent)
    scopes = holder_in(project, session, row).scopes().values()
    counted = ",".join(f"{scope.pk}.{scope.revision}" for scope in scopes)
    return f"{SCANNER_VERSION}:{switches.revision}:{row.pk}.{row.revision}:{counted}"


@receiver(choices_wanted)
def detached_entries(session: Session, **_more: Any) -> list[Choice]:
    """What could ride in the session and was detached there."""
    if not Switches.current().enabled:
        return []
    entries = Entry.objects.told().filter(detachments__session=session.pk).select_related("scope__agent")
    return [
        Choice(entry.key, "index", entry.title, len(index.text_of(entry)), entry.get_absolute_url())
        for entry in entries.newest_first()
    ]


@receiver(choice_made)
def choose_entry(session: Session, key: str, attached: bool, **_more: Any) -> bool | None:
    """Keep what a person chose for `session` about one entry."""
    app, _colon, rest = key.partition(":")
    source, _colon, number = rest.rpartition(":")
    if app != "memory" or not is_key(number):
        return None
    entry = Entry.objects.live().filter(pk=number).select_related("scope__agent").first()
    if entry is None or entry.scope.source != f"memory:{source}" or not may_ride(session, entry.scope):
        return None
    Detachment.choose(session.pk, entry, attached=attached)
    return True


def may_ride(session: Session, scope: Scope) -> bool:
    """Whether the session could be told of this scope."""
    holder = holder_in(session.project, session, scope.agent)
    return scope.key in holder.keys.values()
