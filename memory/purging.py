"""Emptying the bin: the answer to `purge_wanted`. What is purged is gone, with its history."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import transaction
from django.dispatch import receiver

from memory.models import Entry
from openchamber.signals import purge_wanted

# Few rows at a time: nobody else can write to SQLite meanwhile.
BATCH = 50


@receiver(purge_wanted)
def empty_bin(before: datetime, **_more: Any) -> dict[str, int]:
    """Remove for good what was deleted before that time. Who judged it stays on record."""
    keys = list(Entry.objects.filter(deleted_at__lt=before).values_list("pk", flat=True))
    removed = 0
    for start in range(0, len(keys), BATCH):
        with transaction.atomic():
            rows = Entry.objects.filter(pk__in=keys[start : start + BATCH], deleted_at__lt=before)
            removed += rows.count()
            Entry.history.filter(id__in=rows.values("pk")).delete()
            rows.delete()
    return {"memory": removed}
