"""The pages and acts of sessions, grouped per thing (inside the `openchamber` namespace)."""

from django.urls import path

from openchamber.sessions import ids  # noqa: F401  registers the converters of the addresses below
from openchamber.sessions.views import acts, live, messages, pages

session_urls = [
    path("settings/servers/look/", pages.look_again, name="look-again"),
    path("projects/<slug:slug>/sessions/", pages.sessions, name="sessions"),
    path("projects/<slug:slug>/sessions/new/", pages.create_session, name="create-session"),
    path("projects/<slug:slug>/sessions/<str:session_id>/", pages.session, name="session"),
    path("projects/<slug:slug>/sessions/<str:session_id>/status/", pages.status, name="session-status"),
    path("projects/<slug:slug>/sessions/<str:session_id>/told/<uuid:pk>/", pages.told, name="told"),
    path("projects/<slug:slug>/sessions/<str:session_id>/live/", live.live, name="session-live"),
    path("projects/<slug:slug>/sessions/<str:session_id>/events", live.events, name="session-events"),
]

message_urls = [
    path("projects/<slug:slug>/sessions/<str:session_id>/messages/", messages.earlier, name="messages"),
    path("projects/<slug:slug>/sessions/<str:session_id>/messages/send/", messages.send_message, name="send-message"),
    path(
        "projects/<slug:slug>/sessions/<str:session_id>/messages/<message:message_id>/",
        messages.message,
        name="message",
    ),
    path(
        "projects/<slug:slug>/sessions/<str:session_id>/messages/<message:message_id>/pin/",
        messages.pin_message,
        name="pin-message",
    ),
]

act_urls = [
    path("projects/<slug:slug>/sessions/<str:session_id>/compact/", acts.compact_session, name="compact-session"),
    path("projects/<slug:slug>/sessions/<str:session_id>/stop/", acts.stop_session, name="stop-session"),
    path("projects/<slug:slug>/sessions/<str:session_id>/retry/", acts.retry_session, name="retry-session"),
    path("projects/<slug:slug>/sessions/<str:session_id>/rename/", acts.rename_session, name="rename-session"),
    path("projects/<slug:slug>/sessions/<str:session_id>/fork/", acts.fork_session, name="fork-session"),
    path("projects/<slug:slug>/sessions/<str:session_id>/revert/", acts.revert_session, name="revert-session"),
    path("projects/<slug:slug>/sessions/<str:session_id>/unrevert/", acts.unrevert_session, name="unrevert-session"),
    path("projects/<slug:slug>/sessions/<str:session_id>/archive/", acts.archive_session, name="archive-session"),
    path("projects/<slug:slug>/sessions/<str:session_id>/choose/", acts.choose_item, name="choose-item"),
    path(
        "projects/<slug:slug>/sessions/<str:session_id>/permissions/<permission:request_id>/",
        acts.answer_permission,
        name="answer-permission",
    ),
    path(
        "projects/<slug:slug>/sessions/<str:session_id>/questions/<question:request_id>/",
        acts.answer_question,
        name="answer-question",
    ),
]

urlpatterns = [*session_urls, *message_urls, *act_urls]
