"""Review of what users wrote: everything to read, nothing that would bypass a rule of the models."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from knowledge.models import Author, Note, Plan, SessionPin, Through, Todo, Written


class BinFilter(admin.SimpleListFilter):
    """Live ones, those in the bin, or all."""

    title = _("place")
    parameter_name = "place"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        """The two places."""
        return [("live", _("live")), ("bin", _("in the bin"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Those in the chosen place."""
        if self.value() is None:
            return queryset
        return queryset.filter(deleted_at__isnull=self.value() == "live")


class ReadOnly(admin.ModelAdmin):  # type: ignore[type-arg]
    """Looked at here, changed in the panel."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Nothing is written here."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Opening shows; only the list's actions change something."""
        return obj is None and super().has_change_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Things go through the bin; the purge command empties it."""
        return False


class WrittenAdmin(ReadOnly):
    """Texts are edited in the panel, where revisions and history are minded."""

    list_filter = [BinFilter, "project", "created_at"]
    list_select_related = ["project"]
    list_per_page = 50
    show_full_result_count = False
    date_hierarchy = "created_at"
    actions = ["move_to_bin", "take_from_bin"]
    readonly_fields = ["past"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """The list needs no texts: they may be a million characters each."""
        rows: QuerySet[Any] = super().get_queryset(request)
        is_list = request.resolver_match is not None and str(request.resolver_match.url_name).endswith("_changelist")
        return rows.defer("body") if is_list and self.model is Plan and not request.POST else rows

    @admin.display(description=_("history"))
    def past(self, row: Written) -> SafeString:
        """The entries of the row's history, the newest first, and the page that compares and restores them."""
        entries = row.history.select_related("history_user").defer(row.text_field)[:20]
        lines = [
            format_html(
                "<li>{} · {} · {} · {}</li>",
                entry.history_date.strftime("%Y-%m-%d %H:%M"),
                entry.change_words,
                entry.history_user or "—",
                entry.get_through_display(),
            )
            for entry in entries
        ]
        link = format_html('<a href="{}">{}</a>', row.history_url(), gettext("Compare and restore"))
        return format_html("{}<ul>{}</ul>", link, SafeString("").join(lines))

    @admin.action(description=_("Move to the bin"), permissions=["change"])
    def move_to_bin(self, request: HttpRequest, queryset: QuerySet[Written]) -> None:
        """Put the chosen rows into the bin, each with its history entry."""
        for row in queryset.select_related("project"):
            row.bin(by=Author(request.user, Through.ADMIN))  # type: ignore[arg-type]

    @admin.action(description=_("Take out of the bin"), permissions=["change"])
    def take_from_bin(self, request: HttpRequest, queryset: QuerySet[Written]) -> None:
        """Bring the chosen rows back."""
        for row in queryset.select_related("project"):
            row.undelete(by=Author(request.user, Through.ADMIN))  # type: ignore[arg-type]


@admin.register(Note)
class NoteAdmin(WrittenAdmin):
    """Notes."""

    list_display = ["title", "project", "source", "pinned", "updated_at", "deleted_at"]
    list_filter = [*WrittenAdmin.list_filter, "source", "pinned"]
    search_fields = ["body"]


@admin.register(Plan)
class PlanAdmin(WrittenAdmin):
    """Plans."""

    list_display = ["title", "project", "source", "pinned", "updated_at", "deleted_at"]
    list_filter = [*WrittenAdmin.list_filter, "source", "pinned"]
    search_fields = ["heading", "body"]


@admin.register(Todo)
class TodoAdmin(WrittenAdmin):
    """Todos."""

    list_display = ["title", "project", "done", "updated_at", "deleted_at"]
    list_filter = [*WrittenAdmin.list_filter, "done"]
    search_fields = ["text"]
    ordering = ["project", "position", "pk"]


@admin.register(SessionPin)
class SessionPinAdmin(ReadOnly):
    """What sessions chose for themselves."""

    list_display = ["session", "note", "plan", "attached"]
    list_filter = ["attached"]
    list_select_related = ["note", "plan"]
    search_fields = ["session"]
