"""Messages: sending one, reading earlier ones, reading one whole, pinning."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST
from django_htmx.http import trigger_client_event

from openchamber.errors import Invalid, NotFound
from openchamber.models import Session
from openchamber.panel import Act, PanelRequest
from openchamber.sessions import choices, delivery, pinned, reading, thread
from openchamber.sessions.forms import MessageForm
from openchamber.sessions.mirror import MirrorBusy
from openchamber.sessions.opencode import AgentServerError
from openchamber.sessions.views import client_of, messages_url, session_of
from openchamber.sessions.views.pages import composer, session_page, url_of
from openchamber.sessions.wire import Message
from openchamber.signals import message_actions


@require_POST
def send_message(request: PanelRequest, slug: str, session_id: str) -> HttpResponse:
    """Send a message with what the session is owed. What was typed comes back unless it was taken."""
    session = session_of(request, slug, session_id)
    form = MessageForm(request.POST)
    if not form.is_valid():
        return refused(request, session, form, status=422)
    prompt = form.prompt()
    try:
        choices.check(client_of(session), session.directory, agent=prompt.agent, model=prompt.model)
        sent = delivery.send_message(session, prompt)
    except Invalid as error:
        for reasons in (error.fields or {}).values():
            form.add_error(None, list(reasons))
        return refused(request, session, form, status=422)
    except AgentServerError as error:
        return failed(request, session, form, error)
    if sent.error:
        messages.warning(request, sent.error)
    if not request.htmx:
        return redirect(f"{url_of(session)}#newest")
    chosen = {name: form.cleaned_data[name] for name in ("agent", "model")}
    answer = composer_alone(request, session, MessageForm(initial=chosen))
    return trigger_client_event(answer, "conversation-changed")


def failed(request: PanelRequest, session: Session, form: MessageForm, error: AgentServerError) -> HttpResponse:
    """The composer with the same text, and the id under which a retry is the same message."""
    retry = MessageForm({**request.POST.dict(), "attempt": form.attempted()})
    retry.is_valid()
    retry.add_error(None, _("Not sent: %(reason)s What rides with it stays owed.") % {"reason": f"{error}"})
    return refused(request, session, retry, status=502)


def refused(request: PanelRequest, session: Session, form: MessageForm, *, status: int) -> HttpResponse:
    """The composer as it was typed, with what is wrong."""
    if request.htmx:
        return composer_alone(request, session, form, status=status)
    return session_page(request, session, form, status=status)


def composer_alone(request: PanelRequest, session: Session, form: MessageForm, *, status: int = 200) -> HttpResponse:
    """The composer as a fragment."""
    context = {**composer(session, None, form), "project": session.project, "session": session}
    return render(request, "openchamber/session.html#composer", context, status=status)


@require_GET
def earlier(request: PanelRequest, slug: str, session_id: str) -> HttpResponse:
    """The messages before a cursor: a page of their own, or for htmx the rows that go on top."""
    session = session_of(request, slug, session_id)
    client = client_of(session)
    page = client.messages(session.pk, limit=reading.PAGE, before=request.GET.get("before", ""))
    shown = reading.rows_of(session, client.session(session.pk), page.messages)
    context = {
        "rows": shown,
        "earlier": page.next,
        "reached": session.reached,
        "project": session.project,
        "session": session,
    }
    context["messages_url"] = messages_url(session)
    part = "#rows" if request.htmx else ""
    return render(request, f"openchamber/messages.html{part}", context)


@require_GET
def message(request: PanelRequest, slug: str, session_id: str, message_id: str) -> HttpResponse:
    """One message whole, with all its hidden parts and outputs; `?part=` is one of those alone."""
    session = session_of(request, slug, session_id)
    found = client_of(session).message(session.pk, message_id)
    if "part" in request.GET:
        return whole_part(request, found, request.GET["part"])
    is_pinned = session.pinned_messages.filter(message_id=message_id).exists()
    (row,) = thread.rows([found], pinned=[message_id] if is_pinned else [])
    context = {"row": row, "all": True, "reached": True, "project": session.project, "session": session}
    context |= {"acts": acts_for(session, found), "address": request.path}
    part = "#menu" if request.htmx else ""
    return render(request, f"openchamber/message.html{part}", context)


def whole_part(request: PanelRequest, found: Message, part_id: str) -> HttpResponse:
    """The whole text of a hidden part, or of a tool's output."""
    part = next((part for part in found.parts if part.id == part_id), None)
    if part is None:
        raise NotFound(_("This message has no such part."))
    text = part.output or part.error if part.type == "tool" else part.text
    return render(request, "openchamber/message.html#whole", {"text": text, "part": part.id})


def acts_for(session: Session, found: Message) -> list[Act]:
    """What the installed apps can do with a message; Django logs one that raises."""
    answers = message_actions.send_robust(Session, project=session.project, session=session, message=found)
    return [act for _receiver, answer in answers if not isinstance(answer, Exception) for act in answer]


@require_POST
def pin_message(request: PanelRequest, slug: str, session_id: str, message_id: str) -> HttpResponse:
    """Let a message survive compaction (`pinned=on`), or no more."""
    session = session_of(request, slug, session_id)
    wanted = bool(request.POST.get("pinned"))
    try:
        pinned.pin(session, message_id) if wanted else pinned.unpin(session, message_id)
    except MirrorBusy as error:
        raise AgentServerError(_("The session is being written to. Try again in a moment.")) from error
    if not request.htmx:
        return redirect(f"{url_of(session)}#message-{message_id}")
    address = f"{messages_url(session)}{message_id}/"
    context = {"message_id": message_id, "pinned": wanted, "reached": True, "address": address}
    answer = render(request, "openchamber/message.html#pin", context)
    return trigger_client_event(trigger_client_event(answer, "riding-changed"), "conversation-changed")
