"""Review in the admin: what people own can be corrected, what the product recorded can only be read."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from openchamber.models import AgentServer, ApiToken, Delivery, PinnedMessage, Project, Session


class ReadOnly(admin.ModelAdmin):  # type: ignore[type-arg]
    """Rows that only the product writes."""

    def has_add_permission(self, request: HttpRequest, obj: object = None) -> bool:
        """Nobody makes one by hand."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        """Nobody changes one by hand."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        """Nobody takes one away by hand."""
        return False


@admin.register(Project)
class ProjectAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Projects, the removed ones included."""

    list_display = ["name", "slug", "directory", "worktrees_apart", "created_at", "deleted_at"]
    list_filter = ["worktrees_apart", ("deleted_at", admin.EmptyFieldListFilter)]
    search_fields = ["name", "slug", "directory"]
    readonly_fields = ["created_at", "deleted_at"]
    filter_horizontal = ["members"]
    actions = ["remove_projects", "restore_projects"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Project]:
        """All of them."""
        return Project.everything.all()

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        """Removing goes through the action, which can be taken back."""
        return False

    @admin.action(description=_("Remove the chosen projects (can be brought back)"), permissions=["change"])
    def remove_projects(self, request: HttpRequest, projects: QuerySet[Project]) -> None:
        """Take the chosen projects off every list."""
        for project in projects:
            project.remove()

    @admin.action(description=_("Bring the chosen projects back"), permissions=["change"])
    def restore_projects(self, request: HttpRequest, projects: QuerySet[Project]) -> None:
        """Put the chosen projects back on the lists."""
        for project in projects:
            project.restore()


@admin.register(ApiToken)
class ApiTokenAdmin(ReadOnly):
    """Tokens: made in Settings, where the secret is shown once; revoked here or there."""

    list_display = ["name", "hint", "user", "scope", "bound", "created_at", "used_at", "revoked_at"]
    list_filter = ["scope", ("revoked_at", admin.EmptyFieldListFilter)]
    search_fields = ["name", "user__username"]
    list_select_related = ["user"]
    fields = ["name", "hint", "user", "scope", "bound", "projects", "created_at", "used_at", "revoked_at"]
    actions = ["revoke_tokens"]

    @admin.action(description=_("Revoke the chosen tokens"), permissions=["view"])
    def revoke_tokens(self, request: HttpRequest, tokens: QuerySet[ApiToken]) -> None:
        """Refuse the chosen tokens from now on."""
        for token in tokens:
            token.revoke()


@admin.register(AgentServer)
class AgentServerAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Agent servers. Address and password are given in Settings, which asks the server first."""

    list_display = ["url", "source", "enabled", "version", "used_at", "heard_at"]
    list_filter = ["source", "enabled"]
    search_fields = ["url"]
    fields = ["url", "source", "enabled", "version", "used_at", "watched_by", "unbroken_since", "heard_at"]
    readonly_fields = ["url", "source", "version", "used_at", "watched_by", "unbroken_since", "heard_at"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Servers are added in Settings."""
        return False


class PinnedMessages(admin.TabularInline):  # type: ignore[type-arg]
    """What is pinned in a session."""

    model = PinnedMessage
    fields = ["role", "message_id", "text", "written_at", "missing", "pinned_at"]
    readonly_fields = ["role", "message_id", "text", "written_at", "missing", "pinned_at"]
    extra = 0
    can_delete = False

    def has_add_permission(self, request: HttpRequest, obj: object = None) -> bool:
        """Messages are pinned where they are read."""
        return False


@admin.register(Session)
class SessionAdmin(ReadOnly):
    """Sessions, as far as delivery knows them."""

    list_display = ["id", "title", "project", "client", "server", "created_at"]
    list_filter = ["client", "project"]
    search_fields = ["id", "title", "directory"]
    list_select_related = ["project", "server"]
    inlines = [PinnedMessages]


@admin.register(Delivery)
class DeliveryAdmin(ReadOnly):
    """The ledger: what was told, when, on which message."""

    list_display = ["claimed_at", "session", "cause", "state", "carrier"]
    list_filter = ["state", "cause"]
    search_fields = ["=session__id", "=carrier", "text"]
    list_select_related = ["session"]
    date_hierarchy = "claimed_at"
