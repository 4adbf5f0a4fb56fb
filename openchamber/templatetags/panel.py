"""What templates say again and again: icons, marks, sizes and Markdown."""

from __future__ import annotations

from collections.abc import Hashable
from datetime import date, datetime
from functools import lru_cache
from typing import TYPE_CHECKING

from django import template
from django.template import Context
from django.template.loader import get_template
from django.templatetags.static import static
from django.utils.formats import date_format, number_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import get_language, ngettext
from django.utils.translation import gettext as _

from openchamber.sessions import program

if TYPE_CHECKING:
    from openchamber.sessions.thread import Row

register = template.Library()
MOST_ROWS = 3000
_rows: dict[Hashable, SafeString] = {}


@register.simple_tag
def icon(name: str) -> SafeString:
    """One icon of the sprite; decoration only, the words stand beside it."""
    return _icon(name, static("openchamber/icons.svg"))


@lru_cache(maxsize=256)
def _icon(name: str, sprite: str) -> SafeString:
    return format_html('<svg class="icon" aria-hidden="true"><use href="{}#{}"/></svg>', sprite, name)


@register.simple_tag
def opencode() -> str:
    """What to type in a terminal to call OpenCode."""
    return program.called()


@register.simple_tag
def install_opencode() -> str:
    """What to type in a terminal to install it."""
    return program.way_to_install()


@register.simple_tag
def mark(state: str, text: str, shape: str = "") -> SafeString:
    """A state: its shape and a word. `shape` names another icon than the state's own."""
    return format_html('<span class="mark" data-state="{}">{}{}</span>', state, icon(shape or state), text)


@register.simple_tag(takes_context=True)
def message_row(context: Context, row: Row) -> SafeString:
    """One message of the thread. Rows hardly ever change and take a millisecond each, so they are kept."""
    waiting = row.writing and bool(getattr(context.get("look"), "asks", ()))
    key = (row.digest, context["messages_url"], context["reached"], waiting, get_language(), date.today())
    html = _rows.get(key)
    if html is None:
        if len(_rows) > MOST_ROWS:
            _rows.clear()
        values = {"row": row, "reached": context["reached"], "waiting": waiting}
        values["address"] = f"{context['messages_url']}{row.id}/"
        html = _rows[key] = SafeString(get_template("openchamber/message.html#row").render(values))
    return html


@register.filter
def markdown(text: str, prefix: str = "") -> SafeString:
    """Markdown as HTML that cannot act; `prefix` keeps the footnotes of two texts apart."""
    from openchamber import markup  # it needs `icon` from here

    return markup.render(text, prefix=prefix)


@register.filter
def size(characters: int) -> str:
    """A size as people read it: `1,240 characters · ~413 tokens`."""
    tokens = round(characters / 3)
    count = ngettext("%(count)s character", "%(count)s characters", characters) % {"count": grouped(characters)}
    return f"{count} · ~" + ngettext("%(count)s token", "%(count)s tokens", tokens) % {"count": grouped(tokens)}


@register.filter
def short_size(characters: int) -> str:
    """The same for a narrow pane: `1,240 chars · ~413 tokens`."""
    return _("%(characters)s chars · ~%(tokens)s tokens") % {
        "characters": grouped(characters),
        "tokens": grouped(round(characters / 3)),
    }


@register.filter
def grouped(number: int) -> str:
    """A number with its thousands apart."""
    return number_format(number, use_l10n=True, force_grouping=True)


@register.simple_tag
def moment(at: datetime | None) -> SafeString | str:
    """A point in time, for the machine's own zone; scripts put it into the reader's."""
    if at is None:
        return ""
    local = at.astimezone()  # the machine's zone: the panel usually runs where its reader sits
    today = local.date() == datetime.now().astimezone().date()
    return format_html('<time datetime="{}">{}</time>', at.isoformat(), date_format(local, "H:i" if today else "j M"))
