"""Rendering: an entry's body for people, its links followed, and what they would not see made visible."""

from __future__ import annotations

from django.utils.html import format_html
from django.utils.safestring import SafeString

from memory.models import Entry
from memory.threats import visible
from openchamber import markup
from openchamber.references import References, names

# Lines that entries are taught to have.
LEADS = ("Why", "How to apply")
# How many of its references are looked up.
MOST_LINKS = 200


def body_html(entry: Entry) -> SafeString:
    """The body as HTML that cannot act; of what is withheld for what it says, the plain characters."""
    if entry.flagged:
        return format_html('<pre class="text" tabindex="0">{}</pre>', visible(entry.body))
    # Only what a link needs: one whose text cannot be read is named all the same.
    others = entry.scope.entries.live().filter(name__in=names(entry.body)[:MOST_LINKS]).only("name", "scope")
    for other in others:
        other.scope = entry.scope
    targets = tuple((other.name, other.get_absolute_url()) for other in others)
    return markup.render(entry.body, prefix=f"entry-{entry.pk}-", references=References(targets, LEADS))


def shown_characters(entry: Entry) -> str:
    """The text with its invisible characters made visible; "" where it has none that is out of place."""
    text = "\n".join(filter(None, [entry.title, entry.description, entry.body]))
    made_visible = visible(text)
    return "" if made_visible == text else made_visible
