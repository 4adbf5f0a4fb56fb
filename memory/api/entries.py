"""Scopes and entries over the API: reading, deleting, and what changes no text."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Literal

from django.db import transaction
from django.http import HttpResponse
from django.utils.translation import gettext as _
from ninja import Field, Query, Router, Schema, Status

from memory.access import check_speaks_to_all, visible_scopes
from memory.api.agents import agent_named
from memory.holders import user_scope
from memory.index import sizes
from memory.models import Agent, Author, Entry, Scope, Stale, Taken, Through
from memory.models.scopes import ScopeQuerySet
from memory.prompts import has_memory, with_memory
from memory.reading import LineReading, judge, read_all_lines, sound
from memory.refusals import readable
from openchamber.bodies import Body
from openchamber.errors import Conflict, Invalid, NotFound
from openchamber.errors import Stale as StaleEdit
from openchamber.paging import Page, Paging, page
from openchamber.projects.access import ApiRequest
from openchamber.revisions import etag, seen_revision
from openchamber.texts import Line

router = Router(tags=["memory"])
BASE = "/projects/{p}/agents/{a}/memory"
# What the index of one scope may take: lines, and characters of all scopes together.
LINES, CHARACTERS = 200, 25_000
# The default of a field that may be left out and not be null; only what was sent is looked at.
LEFT_OUT: Any = None


class ScopeOut(Schema):
    """A scope: how many entries it has, and how full its index is."""

    key: str
    kind: str
    label: str
    path: str | None = None
    count: int
    flagged: int
    index: dict[str, Any]
    updated_at: datetime | None
    unavailable: bool = False


class Overview(Schema):
    """An agent's memory: user first, then workspaces by newest activity."""

    enabled: bool
    template_has_memory: bool
    scopes: list[ScopeOut]


class EntryOut(Schema):
    """An entry; `body` only where one entry is asked for."""

    id: str
    name: str
    title: str
    description: str
    type: str
    scope: str
    revision: str
    flagged: bool
    verdict: str | None
    matches: list[dict[str, str]]
    awaiting: bool
    conflicting: bool
    origin: dict[str, str]
    created_at: datetime
    updated_at: datetime
    body: str | None = None


class EntryChange(Body):
    """What changes no text. Only a verdict can be null: as the scanner says."""

    type: Literal["fact", "preference", "reference"] = LEFT_OUT
    verdict: Literal["safe", "threat"] | None = None
    move_to: Line = Field(LEFT_OUT, min_length=1)
    approved: Literal[True] = LEFT_OUT


def scopes_of(request: ApiRequest, p: str, a: str) -> tuple[Agent, ScopeQuerySet]:
    """The agent, and its scopes that the caller sees; the user scope is made on demand."""
    request.auth.project(p)
    agent = agent_named(a)
    user_scope(agent)
    return agent, visible_scopes(request.auth).filter(agent=agent).select_related("agent")


def scope_named(request: ApiRequest, p: str, a: str, key: str) -> Scope:
    """The scope with this key."""
    scope = scopes_of(request, p, a)[1].filter(key=key).first()
    if scope is None:
        raise NotFound(_("This agent has no scope of that key here."))
    return scope


def entry_named(request: ApiRequest, place: tuple[str, str, str], name: str) -> Entry:
    """The live entry with this name in a scope."""
    scope = scope_named(request, *place)
    with readable():
        found = scope.entries.live().select_related("scope__agent").filter(name=name).first()
        entry = found and sound(found)
    if entry is None:
        raise NotFound(_("There is no entry of that name in this scope, or it was deleted."))
    return entry


def state(entry: Entry) -> str:
    """What stands for an entry and what people said of it: a verdict or an approval must not be overlooked either."""
    return "-".join(filter(None, [entry.revision, entry.judgement, "awaiting" if entry.awaiting else ""]))


def shown(entry: Entry, *, body: bool = False) -> dict[str, Any]:
    """An entry as the API tells it."""
    names = ("name", "title", "description", "type", "revision", "flagged", "matches", "awaiting", "conflicting")
    origin = {"session": entry.origin_session, "agent": entry.origin_agent, "client": entry.origin_client}
    told = {name: getattr(entry, name) for name in (*names, "created_at", "updated_at")}
    told |= {"id": str(entry.pk), "scope": entry.scope.key, "origin": origin, "verdict": entry.judgement or None}
    return {**told, **({"body": entry.body} if body else {})}


def overview(agent: Agent, scopes: ScopeQuerySet) -> dict[str, Any]:
    """What the overview tells."""
    return {
        "enabled": agent.memory_enabled,
        "template_has_memory": has_memory(agent.system_prompt),
        "scopes": [scope_shown(reading) for reading in read_all_lines(list(scopes.counted().in_order()))],
    }


def scope_shown(reading: LineReading) -> dict[str, Any]:
    """A scope with the size of its index; one that cannot be read says so."""
    scope: Any = reading.scope
    characters = sum(sizes(scope, reading.told))
    full = len(reading.told) > LINES or characters > CHARACTERS
    return {
        **{name: getattr(scope, name) for name in ("key", "kind", "label", "count", "flagged", "updated_at")},
        "path": scope.directory or None,
        "index": {"lines": len(reading.told), "characters": characters, "over_budget": full},
        "unavailable": reading.failed,
    }


@router.get(BASE, response=Overview, exclude_none=False)
def read_overview(request: ApiRequest, p: str, a: str) -> dict[str, Any]:
    """The scopes of an agent that the caller sees."""
    return overview(*scopes_of(request, p, a))


@router.post(BASE + "/template-placeholder", response=Overview)
def insert_placeholder(request: ApiRequest, p: str, a: str) -> dict[str, Any]:
    """Let the agent's template tell its memory. Twice is once; an agent without a template stays without."""
    agent, scopes = scopes_of(request, p, a)
    check_speaks_to_all(request.auth)
    wanted = with_memory(agent.system_prompt)
    if wanted != agent.system_prompt:
        agent.configure(system_prompt=wanted)
    return overview(agent, scopes)


@router.get(BASE + "/{scope}", response=Page[EntryOut])
def list_entries(request: ApiRequest, p: str, a: str, scope: str, paging: Query[Paging]) -> dict[str, Any]:
    """The entries of a scope, the newest first, without their bodies."""
    found = scope_named(request, p, a, scope)
    with readable():
        listed = page(found.entries.live(), paging, by=("-updated_at", "-pk"))
        for entry in listed["results"]:
            entry.scope = found
        judge(found, listed["results"])
    return {**listed, "results": [shown(entry) for entry in listed["results"]]}


@router.get(BASE + "/{scope}/{name}", response=EntryOut)
def read_entry(request: ApiRequest, p: str, a: str, scope: str, name: str, response: HttpResponse) -> dict[str, Any]:
    """One entry with its body."""
    entry = entry_named(request, (p, a, scope), name)
    response.headers["ETag"] = etag(state(entry))
    return shown(entry, body=True)


@router.delete(BASE + "/{scope}/{name}", response={204: None})
def delete_entry(request: ApiRequest, p: str, a: str, scope: str, name: str) -> Status[None]:
    """Delete an entry, with `If-Match` if it stands; it can be brought back."""
    entry = entry_named(request, (p, a, scope), name)
    with refusals(request, entry):
        entry.bin(by=Author(Through.API, request.auth.user))
    return Status(204, None)


@router.post(BASE + "/{scope}/{name}/undelete", response=EntryOut)
def undelete_entry(request: ApiRequest, p: str, a: str, scope: str, name: str) -> dict[str, Any]:
    """Bring a deleted entry back; 409 when its name or title is taken again."""
    rows = scope_named(request, p, a, scope).entries.select_related("scope__agent").filter(name=name)
    with readable():
        found = rows.filter(deleted_at__isnull=False).order_by("-deleted_at").first() or rows.first()
        entry = found and sound(found)
    if entry is None:
        raise NotFound(_("There was no entry of that name in this scope."))
    with refusals(request, entry):
        entry.undelete(by=Author(Through.API, request.auth.user))
    return shown(entry, body=True)


@router.patch(BASE + "/{scope}/{name}", response=EntryOut)
def change_entry(
    request: ApiRequest, p: str, a: str, scope: str, name: str, sent: EntryChange, response: HttpResponse
) -> dict[str, Any]:
    """Set the type, the verdict (null: as the scanner says), the scope, or approve; with `If-Match` if it stands."""
    entry = entry_named(request, (p, a, scope), name)
    wanted = sent.model_dump(exclude_unset=True)
    there = target(request, (p, a), wanted)
    with refusals(request, entry, there):
        apply(entry, wanted, request, there)
    response.headers["ETag"] = etag(state(entry))
    return shown(entry, body=True)


@contextmanager
def refusals(request: ApiRequest, entry: Entry, there: Scope | None = None) -> Iterator[None]:
    """Do something with an entry (perhaps move it `there`) if what `If-Match` names still stands, also while it is
    done; else 412.

    Without `If-Match`, what somebody else changes just then is 409, and 404 when they deleted it.
    """
    seen = seen_revision(request, state(entry))
    try:
        with transaction.atomic():
            if seen:
                entry.lock(*([there.pk] if there else []))
                check_stands(entry, seen)
            yield
    except Stale as stale:
        if stale.current.deleted_at is not None:
            raise NotFound(_("There is no entry of that name in this scope, or it was deleted.")) from stale
        raise (StaleEdit if seen else Conflict)(str(stale), current=shown(stale.current, body=True)) from stale
    except Taken as taken:
        raise Conflict(str(taken)) from taken


def check_stands(entry: Entry, seen: str) -> None:
    """Refuse what `If-Match` does not name any more: another text, verdict or approval."""
    current = Entry.objects.select_related("scope__agent").get(pk=entry.pk)
    if current.deleted_at != entry.deleted_at:
        raise Stale(current)
    if state(current) != seen:
        raise StaleEdit(current=shown(current, body=True))


def target(request: ApiRequest, place: tuple[str, str], wanted: dict[str, Any]) -> Scope | None:
    """Where the entry is to stand, if anywhere else."""
    return scope_named(request, *place, wanted["move_to"]) if "move_to" in wanted else None


def apply(entry: Entry, wanted: dict[str, Any], request: ApiRequest, scope: Scope | None) -> None:
    """Each change that was asked for, in an order in which none undoes another; all or none."""
    by = Author(Through.API, request.auth.user)
    if not wanted:
        raise Invalid(_("Say what to change: type, verdict, move_to or approved."))
    if "type" in wanted:
        entry.edit(by=by, seen=entry.revision, type=wanted["type"])
    if "verdict" in wanted:
        entry.judge(wanted["verdict"] or "", by=request.auth.user, through=by)
    if "approved" in wanted:
        entry.approve(by=by)
    if scope is not None:
        entry.move(scope, by=by)
