"""Agent servers, the sessions on them, and the messages pinned in those."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from openchamber.models.leases import alive

LATEST = 253_402_214_400_000  # ms; the last day that a `datetime` holds in every zone
HEARTBEAT_LOST = timedelta(seconds=25)
HOOK_REMEMBERED = timedelta(days=1)  # a plugin that rode in a session so lately is taken to be there still


class AgentServerQuerySet(models.QuerySet["AgentServer"]):
    """Questions about agent servers."""

    def usable(self) -> AgentServerQuerySet:
        """Those that were not switched off, the one used last first."""
        return self.filter(enabled=True).order_by("-used_at", "-pk")


class AgentServer(models.Model):
    """A running OpenCode server: where it is, and since when its events are followed without a gap."""

    class Source(models.TextChoices):
        ENVIRONMENT = "environment", _("from the environment")
        FOUND = "found", _("found running")
        STARTED = "started", _("started by serve")
        SETTINGS = "settings", _("added in Settings")

    url = models.URLField(_("URL"), unique=True)
    password = models.CharField(_("password"), max_length=200, blank=True)
    source = models.CharField(_("source"), max_length=16, choices=Source.choices, default=Source.SETTINGS)
    enabled = models.BooleanField(_("enabled"), default=True)
    version = models.CharField(_("version"), max_length=40, blank=True, editable=False)
    model_contexts = models.JSONField(default=dict, editable=False)  # {provider/model: tokens of context}
    used_at = models.DateTimeField(_("last used"), default=timezone.now, editable=False)
    # The watcher's record: who listens and since when without a gap ("" and null while nobody does), and when an
    # event was last heard.
    started_by = models.CharField(max_length=200, blank=True, editable=False)  # the `serve` that stops it, as a holder
    watched_by = models.CharField(max_length=200, blank=True, editable=False)
    unbroken_since = models.DateTimeField(null=True, editable=False)
    heard_at = models.DateTimeField(null=True, editable=False)

    objects = AgentServerQuerySet.as_manager()

    class Meta:
        verbose_name = _("agent server")
        verbose_name_plural = _("agent servers")

    def __str__(self) -> str:
        return self.url

    def moved(self, *, url: str, password: str) -> None:
        """The same store is served at another address now; a row that had this address makes room."""
        type(self).objects.filter(url=url).exclude(pk=self.pk).delete()
        self.url, self.password, self.unbroken_since = url, password, None
        self.save(update_fields=["url", "password", "unbroken_since"])

    def switch_off(self) -> None:
        """Make no new sessions there and follow it no longer."""
        self.enabled = False
        self.save(update_fields=["enabled"])

    @property
    def listening(self) -> bool:
        """Whether a process is listening to the server's events right now, as far as this machine can tell.

        A watcher on another machine cannot be seen dying, so it proves nothing here: conversations are read.
        """
        if self.heard_at is None or timezone.now() - self.heard_at > HEARTBEAT_LOST:
            return False
        return alive(self.watched_by)

    @property
    def owned(self) -> bool:
        """Whether the `serve` that started this server still runs on this machine."""
        return alive(self.started_by)

    def belongs_to(self, holder: str) -> None:
        """The `serve` that `holder` names started this server, and stops it with itself."""
        self.started_by = holder
        self.save(update_fields=["started_by"])

    def has_models(self, contexts: dict[str, int]) -> None:
        """Remember how much each model can hold."""
        if contexts and contexts != self.model_contexts:
            self.model_contexts = contexts
            self.save(update_fields=["model_contexts"])

    def connected(self, *, by: str) -> None:
        """A watcher's stream is open: from here on nothing is missed."""
        now = timezone.now()
        self.watched_by, self.unbroken_since, self.heard_at = by, now, now
        self.save(update_fields=["watched_by", "unbroken_since", "heard_at"])

    def heard(self, *, by: str) -> bool:
        """The stream is alive; False when another watcher has taken over."""
        return type(self).objects.filter(pk=self.pk, watched_by=by).update(heard_at=timezone.now()) == 1

    def disconnected(self, *, by: str) -> None:
        """The stream ended: whatever comes now may be missed."""
        mine = type(self).objects.filter(pk=self.pk, watched_by=by)
        mine.update(watched_by="", unbroken_since=None)


class Session(models.Model):
    """An agent's session, as far as delivery needs to know it. Its conversation stays with the agent."""

    class Client(models.TextChoices):
        OPENCODE = "opencode", "OpenCode"
        CLAUDE_CODE = "claude-code", "Claude Code"
        CODEX = "codex", "Codex"

    id = models.CharField(primary_key=True, max_length=200)
    server = models.ForeignKey(AgentServer, models.SET_NULL, null=True, blank=True, related_name="sessions")
    project = models.ForeignKey("openchamber.Project", models.SET_NULL, null=True, blank=True, related_name="sessions")
    parent = models.CharField(max_length=200, blank=True)
    directory = models.CharField(max_length=4096, blank=True)
    client = models.CharField(max_length=16, choices=Client.choices, default=Client.OPENCODE)
    title = models.CharField(max_length=500, blank=True)
    # When a compaction, revert, unrevert or removed message was last seen: rows older than that prove nothing.
    disturbed_at = models.DateTimeField(null=True, blank=True)
    # What the conversation was found to hold (`carriers.Carried.stored`), when it was looked at, and the newest
    # delivery that is counted in. The rows' half of the rule: trusted only while nothing can have been missed.
    carried = models.JSONField(default=dict, blank=True)
    carried_at = models.DateTimeField(null=True, blank=True)
    carried_sequence = models.PositiveIntegerField(default=0)
    # Counts changes of the pinned messages; the state of all that is wanted when nothing was owed (`assembly.stamp`).
    pins_revision = models.PositiveIntegerField(default=0)
    owed_nothing_at = models.CharField(max_length=500, blank=True)
    # provider/model of the last turn that we know of: its context bounds a block.
    model = models.CharField(max_length=200, blank=True)
    # The newest compaction that was dealt with (the summary's id).
    restored_compaction = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        verbose_name = _("session")
        verbose_name_plural = _("sessions")

    def __str__(self) -> str:
        return self.title or self.id

    @property
    def reached(self) -> bool:
        """Whether something of ours acts in it after a compaction: a watcher, or the plugin, lately heard from here."""
        if self.server and self.server.listening:
            return True
        lately = {"cause": "hook", "state": "confirmed", "settled_at__gt": timezone.now() - HOOK_REMEMBERED}
        return self.deliveries.filter(**lately).exists()

    def owes_nothing(self, *, stamp: str) -> None:
        """Nothing was owed when everything wanted stood at `stamp`."""
        if self.owed_nothing_at != stamp and len(stamp) <= 500:
            self.owed_nothing_at = stamp
            self.save(update_fields=["owed_nothing_at"])

    def uses(self, *, model: str) -> None:
        """The next turn is the work of this model; "" says nothing."""
        if model and model != self.model:
            self.model = model
            self.save(update_fields=["model"])

    def pins_changed(self) -> None:
        """A pinned message came, went or changed."""
        type(self).objects.filter(pk=self.pk).update(pins_revision=models.F("pins_revision") + 1)

    def disturb(self) -> None:
        """The conversation lost or regained messages: read it before trusting rows again."""
        self.disturbed_at = timezone.now()
        self.save(update_fields=["disturbed_at"])


class PinnedMessage(models.Model):
    """A user or assistant message that must survive compaction, with its own text."""

    session = models.ForeignKey(Session, models.CASCADE, related_name="pinned_messages")
    message_id = models.CharField(max_length=200)
    role = models.CharField(max_length=16, choices=[("user", _("user")), ("assistant", _("assistant"))])
    text = models.TextField(blank=True)
    written_at = models.DateTimeField()
    missing = models.BooleanField(default=False)
    pinned_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["written_at", "message_id"]
        constraints = [
            models.UniqueConstraint(fields=["session", "message_id"], name="message_pinned_once"),
            models.CheckConstraint(condition=models.Q(role__in=["user", "assistant"]), name="pinned_message_role"),
        ]
        verbose_name = _("pinned message")
        verbose_name_plural = _("pinned messages")

    def __str__(self) -> str:
        return f"{self.role} {self.message_id}"

    def found(self, text: str) -> bool:
        """The message was fetched again: its text, or "" when it is gone (what was kept stays). True if that is new."""
        if (text or self.text, not text) == (self.text, self.missing):
            return False
        self.text, self.missing = text or self.text, not text
        self.save(update_fields=["text", "missing"])
        return True

    def metadata(self) -> dict[str, Any]:
        """The shape in the session's metadata: `{id, createdAt (ms), role}`."""
        return {"id": self.message_id, "createdAt": round(self.written_at.timestamp() * 1000), "role": self.role}

    @staticmethod
    def time_of(milliseconds: float) -> datetime:
        """The agent server's milliseconds as a time with zone; what lies outside of all calendars, at their edge."""
        seconds = min(max(milliseconds, 0), LATEST) / 1000
        return datetime.fromtimestamp(seconds, tz=timezone.get_default_timezone())
