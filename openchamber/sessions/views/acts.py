"""What one does with a session as a whole. Each act says what is wanted, and is done once however often it is said."""

from __future__ import annotations

from contextlib import suppress

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST
from django_htmx.http import HttpResponseClientRedirect, trigger_client_event

from openchamber.errors import Invalid, NotFound
from openchamber.models import Session
from openchamber.panel import PanelRequest
from openchamber.sessions import attempts, reading, rows
from openchamber.sessions.delivery import Prompt, send_message
from openchamber.sessions.forms import TitleForm
from openchamber.sessions.opencode import AgentServerError, Message
from openchamber.sessions.views import client_of, message_named, session_of
from openchamber.sessions.views.pages import url_of
from openchamber.signals import choice_made


def done(request: PanelRequest, session: Session) -> HttpResponse:
    """Back to the conversation; with htmx it is there already, and looks again."""
    if not request.htmx:
        return redirect(url_of(session))
    return trigger_client_event(HttpResponse(status=204), "conversation-changed")


def go_to(request: PanelRequest, url: str) -> HttpResponse:
    """Another page."""
    return HttpResponseClientRedirect(url) if request.htmx else redirect(url)


@require_POST
def compact_session(request: PanelRequest, slug: str, session_id: str) -> HttpResponse:
    """Replace the conversation by a summary, as the agent server does when it grows too long."""
    session = session_of(request, slug, session_id)
    rows.compact(session)
    messages.success(request, _("Compacted. What was pinned and stored is told again."))
    return done(request, session)


@require_POST
def stop_session(request: PanelRequest, slug: str, session_id: str) -> HttpResponse:
    """Stop the running turn."""
    session = session_of(request, slug, session_id)
    client_of(session).abort(session.pk)
    return done(request, session)


@require_POST
def retry_session(request: PanelRequest, slug: str, session_id: str) -> HttpResponse:
    """Send the last message again, where it got no answer.

    It is taken back first, unless that would take a compaction's summary with it.
    """
    session = session_of(request, slug, session_id)
    client = client_of(session)
    found = reading.look(session, client)
    last = found.last_said
    if last is None or not found.unanswered:
        raise Invalid(_("The last message was answered. Write a new one."))
    with attempts.once(f"retry:{last.id}"):
        if not found.compacted_since:
            client.revert(session.pk, last.id)
            session.disturb()
        try:
            send_message(session, said_again(last.message))
        except AgentServerError:
            with suppress(AgentServerError):
                client.unrevert(session.pk)
            raise
    return done(request, session)


def said_again(message: Message) -> Prompt:
    """The prompt that a message was, what was attached to it included."""
    attached = [part.attached for part in message.parts if part.attached]
    return Prompt(message.own_text, message.agent, message.model, message.variant, attached=attached)


@require_http_methods(["GET", "POST"])
def rename_session(request: PanelRequest, slug: str, session_id: str) -> HttpResponse:
    """Give the session another title."""
    session = session_of(request, slug, session_id)
    form = TitleForm(request.POST or None, initial={"title": session.title})
    if request.method == "POST" and form.is_valid():
        client = client_of(session)
        client.rename(session.pk, form.cleaned_data["title"])
        rows.session_row(session.server, client.session(session.pk))
        return go_to(request, url_of(session))
    context = {"form": form, "session": session, "project": session.project}
    return render(request, "openchamber/session_form.html", context, status=422 if form.errors else 200)


@require_POST
def fork_session(request: PanelRequest, slug: str, session_id: str) -> HttpResponse:
    """Copy the session, up to and without the message `before` ("": all of it), and go to the copy."""
    session = session_of(request, slug, session_id)
    before = request.POST.get("before", "")
    info = client_of(session).fork(session.pk, message_named(before) if before else "")
    copy = rows.session_row(session.server, info)
    messages.success(request, _("This is the copy. The other session stays as it is."))
    # A worktree that stands apart may be another project, or none; the copy is shown where it belongs.
    return go_to(request, url_of(copy) if copy.project else url_of(session))


@require_POST
def revert_session(request: PanelRequest, slug: str, session_id: str) -> HttpResponse:
    """Take back a message and everything after it; the next message makes it final."""
    session = session_of(request, slug, session_id)
    client_of(session).revert(session.pk, message_named(request.POST.get("message", "")))
    session.disturb()
    return done(request, session)


@require_POST
def unrevert_session(request: PanelRequest, slug: str, session_id: str) -> HttpResponse:
    """Bring back what was taken back."""
    session = session_of(request, slug, session_id)
    client_of(session).unrevert(session.pk)
    session.disturb()
    return done(request, session)


@require_POST
def archive_session(request: PanelRequest, slug: str, session_id: str) -> HttpResponse:
    """Put the session into the archive (`archived=on`), or take it out."""
    session = session_of(request, slug, session_id)
    archived = bool(request.POST.get("archived"))
    client_of(session).archive(session.pk, archived=archived)
    if not archived:
        messages.success(request, _("The session is back."))
        return go_to(request, url_of(session))
    undo = reverse("openchamber:archive-session", args=[slug, session.pk])
    messages.success(request, _("“%(title)s” was archived.") % {"title": session}, extra_tags=undo)
    return go_to(request, reverse("openchamber:sessions", args=[slug]))


@require_POST
def choose_item(request: PanelRequest, slug: str, session_id: str) -> HttpResponse:
    """Let one thing (`key`) ride in this session (`attached=on`), or not, whatever the project says."""
    session = session_of(request, slug, session_id)
    choice = {"session": session, "key": request.POST.get("key", ""), "attached": request.POST.get("attached") == "on"}
    answers = choice_made.send_robust(Session, **choice)
    if not any(answer is True for _receiver, answer in answers):
        raise NotFound(_("That does not ride here any more."))
    if not request.htmx:
        return redirect(url_of(session))
    return trigger_client_event(HttpResponse(status=204), "riding-changed")


@require_POST
def answer_permission(request: PanelRequest, slug: str, session_id: str, request_id: str) -> HttpResponse:
    """Let the agent do it once or always, or refuse it."""
    session = session_of(request, slug, session_id)
    reply = request.POST.get("reply", "")
    if reply not in ("once", "always", "reject"):
        raise Invalid(_("Answer with once, always or reject."))
    client_of(session).reply_permission(request_id, reply, session.directory)
    return done(request, session)


@require_POST
def answer_question(request: PanelRequest, slug: str, session_id: str, request_id: str) -> HttpResponse:
    """Answer each part of a question: the chosen labels `answer-0`, or words of one's own `other-0`."""
    session = session_of(request, slug, session_id)
    client = client_of(session)
    question = next((one for one in client.questions(session.directory) if one.id == request_id), None)
    if question is None:
        raise Invalid(_("This question waits no longer."))
    answers = [_answer(request, number) for number in range(len(question.questions))]
    if not all(answers):
        raise Invalid(_("Choose an answer to each question, or write one."))
    client.reply_question(request_id, answers, session.directory)
    return done(request, session)


def _answer(request: PanelRequest, number: int) -> list[str]:
    own = request.POST.get(f"other-{number}", "").strip()
    return [*request.POST.getlist(f"answer-{number}"), *([own] if own else [])]
