"""The pages of project knowledge, grouped per thing."""

from django.urls import path, register_converter
from django.urls.converters import StringConverter

from knowledge.views import bin, history, importing, items, keeping, notes, plans, pulse, riding, sending, todos
from openchamber.sessions import ids  # noqa: F401  registers the converter of messages' ids


class ListName(StringConverter):
    """The name of one of the lists, as it stands in addresses."""

    regex = "notes|todos|plans"


register_converter(ListName, "list")

app_name = "knowledge"

note_urls = [
    path("projects/<slug:slug>/notes/", notes.notes, name="notes"),
    path("projects/<slug:slug>/notes/write/", notes.write_note, name="write-note"),
    path("projects/<slug:slug>/notes/<int:pk>/", notes.note, name="note"),
    path("projects/<slug:slug>/notes/<int:pk>/edit/", notes.edit_note, name="edit-note"),
]

todo_urls = [
    path("projects/<slug:slug>/todos/", todos.todos, name="todos"),
    path("projects/<slug:slug>/todos/write/", todos.write_todo, name="write-todo"),
    path("projects/<slug:slug>/todos/clear/", todos.clear_todos, name="clear-todos"),
    path("projects/<slug:slug>/todos/undelete/", todos.undo_todo_clearing, name="undo-clearing"),
    path("projects/<slug:slug>/todos/take-back/", todos.take_todos_back, name="take-todos-back"),
    path("projects/<slug:slug>/todos/<int:pk>/edit/", todos.edit_todo, name="edit-todo"),
    path("projects/<slug:slug>/todos/<int:pk>/mark/", todos.mark_todo, name="mark-todo"),
    path("projects/<slug:slug>/todos/<int:pk>/move/", todos.move_todo, name="move-todo"),
    path("projects/<slug:slug>/todos/<int:pk>/send/", sending.send_todo, name="send-todo"),
    path("projects/<slug:slug>/todos/<int:pk>/plan/", importing.todo_to_plan, name="todo-to-plan"),
]

plan_urls = [
    path("projects/<slug:slug>/plans/", plans.plans, name="plans"),
    path("projects/<slug:slug>/plans/write/", plans.write_plan, name="write-plan"),
    path("projects/<slug:slug>/plans/import/", importing.import_plans, name="import-plans"),
    path("projects/<slug:slug>/plans/<int:pk>/", plans.plan, name="plan"),
    path("projects/<slug:slug>/plans/<int:pk>/todos/", importing.plan_to_todos, name="plan-to-todos"),
    path("projects/<slug:slug>/plans/<int:pk>/edit/", plans.edit_plan, name="edit-plan"),
    path("projects/<slug:slug>/plans/<int:pk>/export/", plans.export_plan, name="export-plan"),
]

# What all of them do the same way.
item_urls = [
    path("projects/<slug:slug>/<list:kind>/<int:pk>/pin/", items.pin_item, name="pin-item"),
    path("projects/<slug:slug>/<list:kind>/<int:pk>/delete/", items.delete_item, name="delete-item"),
    path("projects/<slug:slug>/<list:kind>/<int:pk>/undelete/", items.undelete_item, name="undelete-item"),
]

history_urls = [
    path("projects/<slug:slug>/bin/", bin.deleted_items, name="bin"),
    path("projects/<slug:slug>/<list:kind>/<int:pk>/history/", history.item_history, name="item-history"),
    path(
        "projects/<slug:slug>/<list:kind>/<int:pk>/history/<int:entry>/restore/",
        history.restore_entry,
        name="restore-entry",
    ),
]

riding_urls = [
    path("projects/<slug:slug>/riding/", riding.project_riding, name="riding"),
    path("projects/<slug:slug>/<list:kind>/<int:pk>/sessions/", riding.item_sessions, name="item-sessions"),
    path(
        "projects/<slug:slug>/<list:kind>/<int:pk>/sessions/<str:session_id>/",
        riding.choose_session,
        name="choose-session",
    ),
]

keep_urls = [
    path(
        "projects/<slug:slug>/sessions/<str:session_id>/messages/<message:message_id>/keep/",
        keeping.keep_message,
        name="keep-message",
    ),
]

pulse_urls = [path("projects/<slug:slug>/pulse/", pulse.pulse, name="pulse")]

urlpatterns = [*note_urls, *todo_urls, *plan_urls, *item_urls, *history_urls, *keep_urls, *riding_urls, *pulse_urls]
