"""Search over the API."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Literal

from django.conf import settings
from ninja import Field, Query, Router, Schema

from openchamber.paging import Page, Paging, page_of
from openchamber.projects.access import ApiRequest
from openchamber.search import Hit, ask, with_passages

router = Router(tags=["search"])


if TYPE_CHECKING:
    Kind = str
else:
    # Dark by default: where agents have no memory, the schema knows of none.
    Kind = Literal[("", "note", "todo", "plan", *(["memory"] if settings.MEMORY_INSTALLED else []))]


class Search(Schema):
    """What to look for, and where."""

    q: str = ""
    project: str = Field("", description="Id or slug; every project that you see, when left out.")
    kind: Kind = ""


class HitOut(Schema):
    """Something that was found. The snippet is HTML: escaped text with `<mark>`."""

    kind: str
    id: str
    project: str
    title: str
    snippet: str
    score: float
    url: str


class HitPage(Page[HitOut]):
    """Hits, the best first. Of each app the best 100 are told and counted; `failed` names the apps that could not be
    searched, or not everywhere, so that hits of theirs may be missing."""

    total: int
    took_ms: float
    failed: list[str]


@router.get("/search", response=HitPage)
def search(request: ApiRequest, asked: Query[Search], paging: Query[Paging]) -> dict[str, Any]:
    """Find notes, todos (done ones too), plans and whatever else is kept by any of their words."""
    started = time.perf_counter()
    projects = request.auth.projects()
    if asked.project:
        projects = projects.filter(pk=request.auth.project(asked.project).pk)
    found = ask(projects, asked.q, kind=asked.kind)
    listed = page_of(found.hits, paging)
    results = [shown(hit) for hit in with_passages(listed["results"])]
    took = round((time.perf_counter() - started) * 1000, 1)
    return {**listed, "results": results, "total": len(found.hits), "took_ms": took, "failed": found.failed}


def shown(hit: Hit) -> dict[str, Any]:
    """A hit as the API tells it."""
    return {name: getattr(hit, name) for name in ("kind", "id", "project", "title", "snippet", "score", "url")}
