"""Emptying the bin: the answer to `purge_wanted`. What is purged is gone, with its history and from the search."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import transaction
from django.dispatch import receiver

from knowledge.models import LISTS, SearchText, SearchWord, rows_of
from knowledge.models.search import words_of
from openchamber.signals import purge_wanted

# Few rows at a time: nobody else can write to SQLite meanwhile, and a plan has a long history.
BATCH = 20


@receiver(purge_wanted)
def empty_bin(before: datetime, **_more: Any) -> dict[str, int]:
    """Remove for good what was put into the bin before that time; how many of each list."""
    counts = {name: empty_list(name, before) for name in LISTS}
    if any(counts.values()):
        forget_words()
    return counts


def empty_list(name: str, before: datetime) -> int:
    """Remove what was binned before that time from one list, a few rows at a time."""
    keys = list(rows_of(name).filter(deleted_at__lt=before).values_list("pk", flat=True))
    removed = 0
    for start in range(0, len(keys), BATCH):
        with transaction.atomic():
            # Again by time: somebody may have taken one out of the bin since.
            rows = rows_of(name).filter(pk__in=keys[start : start + BATCH], deleted_at__lt=before)
            removed += rows.count()
            rows.delete()
    return removed


def forget_words() -> None:
    """Forget the words that stand in no text any more, so that a purged secret is not kept as a correction."""
    used: set[str] = set()
    for row in SearchText.objects.only("title", "body", "more").iterator(chunk_size=200):
        used |= words_of([row])
    unused = [pk for pk, word in SearchWord.objects.values_list("pk", "word") if word not in used]
    for start in range(0, len(unused), 500):
        SearchWord.objects.filter(pk__in=unused[start : start + 500]).delete()
