"""Finding entries by words: the same ranking as the rest of the product's search, over entries that are at hand."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils import timezone

from memory.models import Entry
from openchamber.search import ranking
from openchamber.search.terms import terms, wishes


def matching(entries: Sequence[Entry], query: str) -> list[tuple[float, Entry]]:
    """(score, entry) of those that match, the best first."""
    wanted = wishes(query)
    texts = [searched(entry) for entry in entries]
    having = [sum(1 for text in texts if ranking.occurrences(text, wish)) for wish in wanted]
    rarity = [ranking.rareness(count, len(texts)) for count in having]
    return ranking.ranked(texts, wanted, rarity=rarity, now=timezone.now())


def searched(entry: Entry) -> ranking.Text[Entry]:
    """An entry as a text that a query may match."""
    title, body = terms(entry.title), terms(f"{entry.name} {entry.description}\n{entry.body}")
    more = " ".join(title.more | body.more)
    return ranking.Text(entry, " ".join(title.ordered), " ".join(body.ordered), more, entry.updated_at)
