"""Rendering: an entry's body for people, its links followed, and what they would not see made visible."""

from __future__ import annotations

import re

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from memory.models import Entry
from memory.texts import LINK, title_key
from memory.threats import visible
from openchamber import markup

# Lines that entries are taught to have.
LEADS = re.compile(r"^(Why|How to apply):(?!\*)", re.MULTILINE)


def body_html(entry: Entry) -> SafeString:
    """The body as HTML that cannot act; of what is withheld for what it says, the plain characters."""
    if entry.flagged:
        return format_html('<pre class="text" tabindex="0">{}</pre>', visible(entry.body))
    # Only what a link needs: one whose text cannot be read is named all the same.
    others = entry.scope.entries.live().filter(name__in=linked(entry.body)).only("name", "scope")
    known = {other.name: other for other in others}
    for other in known.values():
        other.scope = entry.scope
    body = LINK.sub(lambda link: _followed(link[1].strip(), known), LEADS.sub(r"**\1:**", entry.body))
    return markup.render(body, prefix=f"entry-{entry.pk}-")


def linked(body: str) -> list[str]:
    """The names that a body refers to."""
    return [found.strip() for found in LINK.findall(body)][:200]


def _followed(name: str, known: dict[str, Entry]) -> str:
    """A link to an entry as Markdown; one that leads nowhere as it was written, with a word about it."""
    if name in known:
        return f"[{name}]({known[name].get_absolute_url()})"
    words = _("dead link")
    return f"`[[{name}]]` ({words})"


def dead_links(entry: Entry, names: set[str]) -> list[str]:
    """What the entry refers to and is not there."""
    return [name for name in linked(entry.body) if name not in names and title_key(name) not in names]


def shown_characters(entry: Entry) -> str:
    """The text with its invisible characters made visible; "" where it has none that is out of place."""
    text = "\n".join(filter(None, [entry.title, entry.description, entry.body]))
    made_visible = visible(text)
    return "" if made_visible == text else made_visible
