"""Review of what users wrote: everything to read, nothing that would bypass a rule of the models."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from knowledge.models import Author, Note, Through, Written


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


class WrittenAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Read-only: texts are edited in the panel, where revisions and history are minded."""

    list_filter = [BinFilter, "project", "created_at"]
    list_select_related = ["project"]
    date_hierarchy = "created_at"
    actions = ["move_to_bin", "take_from_bin"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Nothing is written here."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Opening shows; only the list's actions change something."""
        return obj is None and super().has_change_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Things go through the bin; the purge command empties it."""
        return False

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
