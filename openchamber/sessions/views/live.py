"""What an open page asks again and again: whether anything is new, and only then what."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET
from django_htmx.http import retarget, trigger_client_event

from openchamber.errors import NotFound
from openchamber.models import Session
from openchamber.panel import PanelRequest
from openchamber.sessions import reading
from openchamber.sessions.following import Follower, ending, followers
from openchamber.sessions.views import client_of, messages_url, session_of

# A look at the newest messages; one that does not reach back far enough looks again at a whole page.
GLANCE = 20
BEAT_SECONDS = 15
TICK_SECONDS = 0.4  # how soon a stream notices that the process is ending
# At most four looks a second, however fast the agent writes.
PAUSE_SECONDS = 0.25


@require_GET
def live(request: PanelRequest, slug: str, session_id: str) -> HttpResponse:
    """The running turn, if it is not as the page shows it (`seen`), else 204.

    `turn` is the message that the page's live part begins with. When another turn has begun since,
    what lies between goes to the settled rows; when that message is gone, the thread is new.
    """
    session = session_of(request, slug, session_id)
    turn, seen = request.GET.get("turn", ""), request.GET.get("seen", "")
    found = look(session, turn)
    revision = reading.revision(session, found)
    if revision == seen:
        return HttpResponse(status=204)
    context = {
        "look": found,
        "seen": revision,
        "reached": session.reached,
        "session": session,
        "project": session.project,
    }
    context["messages_url"] = messages_url(session)
    ids = [row.id for row in found.settled]
    if (turn == found.first_live or turn in ids) and same_thread(request, found, seen, revision):
        context["passed"] = found.settled[ids.index(turn) :] if turn in ids else []
        answer = render(request, "openchamber/session.html#news", context)
    else:
        answer = retarget(render(request, "openchamber/session.html#anew", context), "#thread")
        answer["HX-Reswap"] = "outerMorph"
    if riding_half(seen) != riding_half(revision):
        trigger_client_event(answer, "riding-changed")
    return answer


def riding_half(revision: str) -> str:
    """What a page's revision says of Work status."""
    return revision.partition(".")[2]


def same_thread(request: PanelRequest, found: reading.Look, seen: str, revision: str) -> bool:
    """Whether the settled rows are still as the page shows them: nothing taken back, nothing pinned elsewhere."""
    pins = [half.rpartition("-")[2] for half in (seen, revision)]
    return request.GET.get("reverted", "") == found.info.reverted_from and pins[0] == pins[1]


def look(session: Session, turn: str) -> reading.Look:
    """The newest messages, back to where the page's live part begins."""
    client = client_of(session)
    found = reading.look(session, client, limit=GLANCE)
    reaches = turn in {row.id for row in (*found.settled, *found.live)}
    return found if reaches else reading.look(session, client)


@require_GET
def events(request: PanelRequest, slug: str, session_id: str) -> StreamingHttpResponse:
    """A stream that says by name that something is new; the page then asks what. Never more than the name."""
    session = session_of(request, slug, session_id)
    if session.server is None:
        raise NotFound(_("No agent server can be asked about this session."))
    names = _names(followers.of(session.server), session.pk)
    response = StreamingHttpResponse(names, content_type="text/event-stream")
    response["Cache-Control"] = "no-cache"
    response["X-Accel-Buffering"] = "no"
    return response


async def _names(follower: Follower, session: str) -> AsyncIterator[str]:
    new = asyncio.Event()
    loop = asyncio.get_running_loop()

    def wake() -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(new.set)

    leave = follower.listen(session, wake)
    try:
        yield ": listening\n\n"
        quiet = 0.0
        while not ending.is_set():
            try:
                await asyncio.wait_for(new.wait(), TICK_SECONDS)
            except TimeoutError:
                quiet += TICK_SECONDS
                if quiet >= BEAT_SECONDS:
                    quiet = 0.0
                    yield ": beat\n\n"
                continue
            new.clear()
            yield "event: conversation-changed\ndata:\n\n"
            await asyncio.sleep(PAUSE_SECONDS)
    finally:
        leave()
