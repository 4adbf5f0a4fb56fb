"""Review of what agents keep, and the audit of who judged what."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.html import format_html
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from memory.models import Agent, Author, Entry, Judgement, Scope, Stale, Switches, Taken, Through
from memory.reading import sound
from memory.refusals import readable
from memory.threats import visible
from openchamber.texts import is_key


def words_of(matches: list[dict[str, str]]) -> str:
    """What the scanner found, a line each, character by character."""
    lines = (f"{gettext(match['category'])}: {match['words']} {match['way']}".strip() for match in matches)
    return visible("\n".join(lines))


def drawn(answer: HttpResponse) -> HttpResponse:
    """A page of the admin, which else reads its rows only when it has left the view."""
    return answer.render() if isinstance(answer, TemplateResponse) else answer


class ReadOnlyAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Everything to read; what changes goes through acts that mind history and verdicts."""

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """The list; said to be unavailable where a row cannot be read."""
        with readable():
            return drawn(super().changelist_view(request, extra_context))

    def changeform_view(self, *args: Any, **kwargs: Any) -> HttpResponse:
        """One of them, or that it cannot be read."""
        with readable():
            return drawn(super().changeform_view(*args, **kwargs))

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Nothing is written here."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Opening shows; only the list's actions change something."""
        return obj is None and super().has_change_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Things go through the bin; the purge command empties it."""
        return False


@admin.register(Entry)
class EntryAdmin(ReadOnlyAdmin):
    """Entries, with bulk verdicts."""

    list_display = [
        *("titled", "agent", "scope", "type", "flagged", "judgement", "awaiting", "categories"),
        *("updated_at", "deleted_at", "stands"),
    ]
    list_filter = [
        ("deleted_at", admin.EmptyFieldListFilter),
        *("flagged", "judgement", "awaiting", "conflicting", "type", "scope__kind", "scope__agent"),
    ]
    list_select_related = ["scope__agent"]
    search_fields = ["title", "name", "description", "body"]
    date_hierarchy = "updated_at"
    actions = ["judge_safe", "judge_threat", "unjudge", "approve", "delete_entries", "bring_back"]
    # Nowhere the text itself: what cannot be seen, or turns the direction of reading, is made visible.
    fields = [
        *("titled", "described", "made_visible", "matched", "scope", "name", "type", "flagged", "judgement"),
        *("awaiting", "conflicting", "origin_session", "origin_agent", "origin_client"),
        *("created_at", "updated_at", "deleted_at", "revision", "scanned_with"),
    ]

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Entry | None:
        """The entry; 503 where it cannot be read, which else is taken for one that is not there."""
        with readable():
            found = self.get_queryset(request).filter(pk=object_id).first() if is_key(object_id) else None
            return found and sound(found)

    @admin.display(description=_("title"), ordering="title")
    def titled(self, entry: Entry) -> str:
        """The title, character by character."""
        return visible(entry.title)

    @admin.display(description=_("description"))
    def described(self, entry: Entry) -> str:
        """The description, character by character."""
        return visible(entry.description)

    @admin.display(description=_("agent"))
    def agent(self, entry: Entry) -> str:
        """Whose it is."""
        return str(entry.scope.agent)

    @admin.display(description=_("categories"))
    def categories(self, entry: Entry) -> str:
        """What the scanner found."""
        return ", ".join(gettext(match["category"]) for match in entry.matches)

    @admin.display(description=_("matched words"))
    def matched(self, entry: Entry) -> str:
        """The words that matched, and how they were spelled."""
        return words_of(entry.matches)

    @admin.display(description=_("with invisible characters made visible"))
    def made_visible(self, entry: Entry) -> str:
        """The body as it is, character by character."""
        return visible(entry.body)

    @admin.display(description=_("revision"))
    def stands(self, entry: Entry) -> str:
        """Which text the page shows; sent back with every action, which is refused when another stands by then."""
        return format_html(
            '<code>{0}</code><input type="hidden" name="seen-{1}" value="{0}">', entry.revision, entry.pk
        )

    def _each(self, request: HttpRequest, queryset: QuerySet[Entry], act: Callable[[Entry, Author], None]) -> None:
        """Do something with every chosen entry; what cannot be done is said, and the others go on."""
        by = Author(Through.ADMIN, request.user)  # type: ignore[arg-type]
        for entry in queryset.select_related("scope__agent"):
            try:
                if request.POST.get(f"seen-{entry.pk}", entry.revision) != entry.revision:
                    raise Stale(entry)
                act(entry, by)
            except (Stale, Taken) as error:
                binned = isinstance(error, Stale) and error.current.deleted_at is not None
                told = _("It is in the bin. Take it out first.") if binned else error
                self.message_user(request, f"{visible(entry.title)}: {told}", messages.ERROR)

    def _judge(self, request: HttpRequest, queryset: QuerySet[Entry], verdict: str) -> None:
        self._each(request, queryset, lambda entry, by: entry.judge(verdict, by=by.user, through=by))

    @admin.action(description=_("Judge safe"), permissions=["change"])
    def judge_safe(self, request: HttpRequest, queryset: QuerySet[Entry]) -> None:
        """Give the chosen contents back to their agents."""
        self._judge(request, queryset, Entry.Judgement.SAFE)

    @admin.action(description=_("Judge a threat"), permissions=["change"])
    def judge_threat(self, request: HttpRequest, queryset: QuerySet[Entry]) -> None:
        """Withhold the chosen contents."""
        self._judge(request, queryset, Entry.Judgement.THREAT)

    @admin.action(description=_("Leave it to the scanner"), permissions=["change"])
    def unjudge(self, request: HttpRequest, queryset: QuerySet[Entry]) -> None:
        """Take verdicts back."""
        self._judge(request, queryset, Entry.Judgement.NONE)

    @admin.action(description=_("Approve"), permissions=["change"])
    def approve(self, request: HttpRequest, queryset: QuerySet[Entry]) -> None:
        """Let sessions be told of the chosen entries."""
        self._each(request, queryset, lambda entry, by: entry.approve(by=by))

    @admin.action(description=_("Move to the bin"), permissions=["change"])
    def delete_entries(self, request: HttpRequest, queryset: QuerySet[Entry]) -> None:
        """Delete the chosen entries, each with its history entry."""
        self._each(request, queryset, lambda entry, by: entry.bin(by=by))

    @admin.action(description=_("Take out of the bin"), permissions=["change"])
    def bring_back(self, request: HttpRequest, queryset: QuerySet[Entry]) -> None:
        """Bring the chosen entries back."""
        self._each(request, queryset, lambda entry, by: entry.undelete(by=by))


@admin.register(Judgement)
class JudgementAdmin(ReadOnlyAdmin):
    """The audit: who judged what, when, and what the scanner had found."""

    list_display = ["titled", "verdict", "by", "at", "scanner"]
    list_filter = ["verdict", "by", "at"]
    list_select_related = ["by"]
    search_fields = ["title", "content_hash"]
    date_hierarchy = "at"
    fields = ["titled", "verdict", "matched", "by", "at", "scanner", "content_hash"]

    @admin.display(description=_("title then"), ordering="title")
    def titled(self, judgement: Judgement) -> str:
        """The title, character by character."""
        return visible(judgement.title)

    @admin.display(description=_("matched words"))
    def matched(self, judgement: Judgement) -> str:
        """The words that matched then."""
        return words_of(judgement.matches)


@admin.register(Agent)
class AgentAdmin(ReadOnlyAdmin):
    """Agents, which their pages set: so running sessions are reached."""

    list_display = ["name", "slug", "memory_enabled", "created_at"]


@admin.register(Scope)
class ScopeAdmin(ReadOnlyAdmin):
    """Scopes."""

    list_display = ["key", "agent", "kind", "directory", "created_at"]
    list_filter = ["kind", "agent"]
    list_select_related = ["agent"]
    search_fields = ["key", "directory"]


@admin.register(Switches)
class SwitchesAdmin(ReadOnlyAdmin):
    """The switches, which the settings page sets."""

    list_display = ["enabled", "hold_user_entries", "user_limit", "workspace_limit"]
