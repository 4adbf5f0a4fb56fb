"""Deliveries: our record of every block that a session was told."""

from __future__ import annotations

import uuid
from collections.abc import Collection
from typing import Any

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _


class DeliveryQuerySet(models.QuerySet["Delivery"]):
    """Questions about deliveries."""

    def open(self) -> DeliveryQuerySet:
        """Those whose fate is not known yet."""
        return self.filter(state__in=Delivery.OPEN)

    def newest(self) -> Delivery | None:
        """The newest one in this set, whatever became of it."""
        return self.order_by("-sequence").first()

    def last_sequence(self) -> int:
        """The number of the newest one in this set; 0 where there is none."""
        newest = self.newest()
        return newest.sequence if newest else 0

    def told_after(self, sequence: int) -> bool:
        """Whether something was told, or is on its way, after the delivery of that number."""
        return self.filter(sequence__gt=sequence).exclude(state=Delivery.State.RELEASED).exists()

    def titles(self, keys: Collection[str]) -> dict[str, str]:
        """What the things with these keys were called when one of this set told them last."""
        found: dict[str, str] = {}
        if not keys:
            return found
        for lines in self.order_by("-sequence").values_list("lines", flat=True).iterator():
            told = {line["key"]: line["title"] for line in lines if line["change"] != "removed"}
            found = {key: told[key] for key in keys if key in told} | found
            if len(found) == len(keys):
                break
        return found

    def confirmed(self) -> DeliveryQuerySet:
        """Those that are known to have arrived."""
        return self.filter(state=Delivery.State.CONFIRMED)


class Delivery(models.Model):
    """One block: what it held, on which message it travelled, and what became of it."""

    class State(models.TextChoices):
        CLAIMED = "claimed", _("claimed")
        SENT = "sent", _("sent")
        CONFIRMED = "confirmed", _("confirmed")
        RELEASED = "released", _("released")

    class Cause(models.TextChoices):
        MESSAGE = "message", _("a message")
        RESTORE = "restore", _("compaction")
        HOOK = "hook", _("a hook")

    OPEN = (State.CLAIMED, State.SENT)

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    session = models.ForeignKey("openchamber.Session", models.CASCADE, related_name="deliveries")
    # Position in the session. A claim takes the number after the newest that its assembly saw,
    # so a delivery that came between makes the claim fail.
    sequence = models.PositiveIntegerField()
    cause = models.CharField(_("cause"), max_length=16, choices=Cause.choices)
    state = models.CharField(_("state"), max_length=16, choices=State.choices, default=State.CLAIMED)
    carrier = models.CharField(_("carrier"), max_length=200, blank=True)
    compaction = models.CharField(_("restores after"), max_length=200, blank=True)
    agent = models.CharField(_("agent"), max_length=200, blank=True)
    full = models.BooleanField(_("full block"), default=True)
    text = models.TextField(_("text"))
    signature = models.CharField(_("signature"), max_length=64, blank=True)
    # What the carrier's part metadata says: {key: revision}, [key], [key].
    items = models.JSONField(_("items"), default=dict)
    cut = models.JSONField(_("cut"), default=list)
    removed = models.JSONField(_("removed"), default=list)
    # For people: [{"key", "title", "change": added/changed/removed, "characters"}].
    lines = models.JSONField(_("lines"), default=list)
    claimed_at = models.DateTimeField(_("claimed"), default=timezone.now)
    expires_at = models.DateTimeField(_("sender gives up"))
    settled_at = models.DateTimeField(_("settled"), null=True, blank=True)

    objects = DeliveryQuerySet.as_manager()

    class Meta:
        ordering = ["-claimed_at", "-sequence"]
        verbose_name = _("delivery")
        verbose_name_plural = _("deliveries")
        constraints = [
            models.UniqueConstraint(fields=["session", "sequence"], name="delivery_sequence"),
            models.UniqueConstraint(
                fields=["session"], condition=models.Q(state__in=["claimed", "sent"]), name="one_open_claim"
            ),
            models.UniqueConstraint(
                fields=["session", "compaction"],
                condition=~models.Q(compaction="") & ~models.Q(state="released"),
                name="one_restore_per_compaction",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.cause} {self.session_id} #{self.sequence} {self.state}"

    def metadata(self) -> dict[str, Any]:
        """What the carrier's part says of itself, under `metadata` of the part."""
        return {
            "openchamber": {
                "delivery": str(self.pk),
                "signature": self.signature,
                "items": self.items,
                "cut": self.cut,
                "removed": self.removed,
            }
        }

    @property
    def overdue(self) -> bool:
        """Whether the sender's own time-out has passed."""
        return timezone.now() >= self.expires_at

    def _settle(self, *, state: str, among: tuple[str, ...], **fields: Any) -> bool:
        """Compare-and-set into `state`; True when this call did it."""
        changed = type(self).objects.filter(pk=self.pk, state__in=among).update(state=state, **fields)
        if changed:
            self.state = state
        return changed == 1

    def sent(self) -> bool:
        """The agent server took the message."""
        return self._settle(state=self.State.SENT, among=(self.State.CLAIMED,))

    def confirm(self, *, carrier: str = "") -> bool:
        """The message can be read back: the session holds what it carried."""
        self.carrier = carrier or self.carrier
        return self._settle(
            state=self.State.CONFIRMED, among=self.OPEN, settled_at=timezone.now(), carrier=self.carrier
        )

    def release(self) -> bool:
        """The message was refused or never arrived: what it carried is owed again."""
        return self._settle(state=self.State.RELEASED, among=self.OPEN, settled_at=timezone.now())
