"""What search looks through: every live text in passages, as terms, and the words that there are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from django.db import models, transaction

from openchamber.search.terms import Terms, terms

if TYPE_CHECKING:
    from knowledge.models.written import Written

PASSAGE = 4_000  # characters, about
WORDS_AT_ONCE = 500


class SearchText(models.Model):
    """A passage of something that the user wrote. The database keeps an index of it by triggers (0002_search)."""

    project = models.ForeignKey("openchamber.Project", models.CASCADE, related_name="+")
    kind = models.CharField(max_length=8)
    item = models.BigIntegerField()
    # What is shown of it: the title of the whole, where in the whole it begins, and itself.
    label = models.CharField(max_length=200)
    start = models.IntegerField()
    passage = models.TextField()
    # What it is found by: terms joined by spaces.
    scope = models.CharField(max_length=40)
    title = models.TextField()
    body = models.TextField()
    more = models.TextField()
    changed_at = models.DateTimeField()

    class Meta:
        indexes = [
            models.Index(fields=["kind", "item"], name="search_texts_of_item"),
            models.Index(fields=["project", "id"], name="search_texts_of_project"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.item} from {self.start}"


class SearchWord(models.Model):
    """A word that stands in some text: what a mistyped one may have been meant to be. Kept by triggers as well."""

    word = models.CharField(max_length=64, unique=True)

    def __str__(self) -> str:
        return self.word

    @classmethod
    def add(cls, words: Iterable[str]) -> None:
        """Remember words; those that are known already cost a look only."""
        # In one order everywhere, so that two writers wait for each other and never in a circle.
        ordered = sorted({word for word in words if len(word) > 3 and word.isalpha()})
        for start in range(0, len(ordered), WORDS_AT_ONCE):
            some = ordered[start : start + WORDS_AT_ONCE]
            known = set(cls.objects.filter(word__in=some).values_list("word", flat=True))
            new = [SearchWord(word=word) for word in some if word not in known]
            SearchWord.objects.bulk_create(new, ignore_conflicts=True)


def passages(text: str) -> Iterator[tuple[int, str]]:
    """(start, passage) of a text, in order: about `PASSAGE` characters each, ending at a line or a word."""
    start = 0
    while len(text) - start > PASSAGE:
        end = start + PASSAGE
        for mark in ("\n\n", "\n", " "):
            place = text.rfind(mark, start + PASSAGE // 2, end)
            if place > 0:
                end = place + len(mark)
                break
        yield start, text[start:end]
        start = end
    yield start, text[start:]


def rows_for(item: Written) -> list[SearchText]:
    """The rows that `item` is found by. Takes its time for a long text."""
    # A single line is a text without a title, and counts as one.
    lines = item.typed.strip()
    title = terms(item.title if "\n" in lines or item.kind == "plan" else "")
    return [row_for(item, start, text, title) for start, text in passages(item.typed)]


def row_for(item: Written, start: int, passage: str, title: Terms) -> SearchText:
    """One passage of `item` as a row."""
    body = terms(passage)
    return SearchText(
        project_id=item.project_id,
        kind=item.kind,
        item=item.pk or 0,
        label=item.title,
        start=start,
        passage=passage,
        scope=f"p{item.project_id} k{item.kind}",
        title=" ".join(title.ordered),
        body=" ".join(body.ordered),
        more=" ".join(sorted(body.more | title.more)),
        changed_at=item.updated_at,
    )


def find_by(item: Written, rows: list[SearchText]) -> None:
    """Let `rows` be all that `item` is found by, and remember their words once that is certain."""
    SearchText.objects.filter(kind=item.kind, item=item.pk).delete()
    for row in rows:
        row.item = item.pk
    SearchText.objects.bulk_create(rows)
    transaction.on_commit(partial(SearchWord.add, words_of(rows)))


def words_of(rows: Iterable[SearchText]) -> set[str]:
    """Every word that stands in `rows`."""
    return {word for row in rows for words in (row.title, row.body, row.more) for word in words.split()}
