"""Markdown of unknown origin to HTML that cannot act.

CommonMark by markdown-it-py and not by Python-Markdown: agents write CommonMark (a list right
after its sentence, nested by two spaces), and every input is linear here, where 20,000 opening
brackets took the other one 94 seconds. Raw HTML is text. Images are links, so that nothing is
fetched from elsewhere without a click.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from io import StringIO
from typing import Any
from urllib.parse import unquote, urlsplit

import bleach
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markdown_it.utils import OptionsDict
from mdit_py_plugins.footnote import footnote_plugin
from pygments.formatters.html import HtmlFormatter
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

from openchamber.references import KEY, References, references_plugin
from openchamber.templatetags.panel import icon

# Longer texts are shown as they were written: nobody reads a megabyte of formatted text at once.
LIMIT = 200_000  # characters
HIGHLIGHT_LIMIT = 20_000  # characters of one code block
# Some lexers are quadratic: 20,000 characters took Java's 5 s and C#'s 10 s.
HIGHLIGHT_SECONDS = 0.1
REL = "noopener noreferrer nofollow"
TASK = re.compile(r"\[([ xX])\] ")
SCHEMES = ("http", "https", "mailto")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


TAGS = _words(
    "a blockquote br code del div em figure h1 h2 h3 h4 h5 h6 hr input li ol p pre section strong sup"
    " table tbody td th thead tr ul"
)
CLASSES = _words(
    "align-center align-right footnote-backref footnote-item footnote-ref footnotes footnotes-list footnotes-sep"
    " image table task"
)
PLAIN_ATTRIBUTES: dict[str, frozenset[str]] = {
    "a": frozenset({"title"}),
    "div": frozenset({"aria-label", "role", "tabindex"}),
    "figure": frozenset({"data-code"}),
    "input": frozenset({"aria-label", "checked", "disabled", "type"}),
    "ol": frozenset({"start"}),
}
OPENING = re.compile(r'<([a-z][a-z0-9]*)((?: [a-z-]+="[^"<>]*"| disabled| checked)*)>')
ATTRIBUTE = re.compile(r' ([a-z-]+)(?:="([^"<>]*)")?')
CLOSING = re.compile(r"</([a-z][a-z0-9]*)>")


def render(text: str, *, prefix: str = "", references: References | None = None) -> SafeString:
    """`text` as HTML: CommonMark with tables, task lists, footnotes, highlighted code, and `references` as links.

    `prefix` keeps footnotes of two texts on one page apart. The work is linear in the length of
    the text, and past `LIMIT` characters it is only shown as written.
    """
    if len(text) > LIMIT:
        return format_html('<pre class="text" tabindex="0">{}</pre>', text)
    return _rendered(text, prefix, references, get_language() or "")


@lru_cache(maxsize=1024)
def _rendered(text: str, prefix: str, references: References | None, language: str) -> SafeString:
    # The language is a key because code blocks carry translated words.
    figures: list[SafeString] = []
    environment = {"figures": figures, "docId": prefix, KEY: references}
    html = _parser().render(text.replace("\0", "\N{REPLACEMENT CHARACTER}"), environment)
    html = cleaned(html)
    return mark_safe(FIGURE.sub(lambda match: _figure(figures, int(match[1])), html))  # noqa: S308


FIGURE = re.compile(r'<figure data-code="(\d+)"></figure>')


def _figure(figures: Sequence[SafeString], number: int) -> str:
    return figures[number] if number < len(figures) else ""


def cleaned(html: str) -> str:
    """`html` if every tag in it is one that we write, else what bleach leaves of it.

    The renderer writes nothing else by construction, so this is the second lock on one door.
    Bleach alone would be enough, and three times the price of all the rest.
    """
    return html if harmless(html) else _bleached(html)


def harmless(html: str) -> bool:
    """Whether every `<` in `html` begins one of our tags, with nothing but our attributes."""
    position = html.find("<")
    while position != -1:
        opening = OPENING.match(html, position)
        found = opening or CLOSING.match(html, position)
        if not found or found[1] not in TAGS:
            return False
        if opening and not all(_allowed(found[1], *pair) for pair in ATTRIBUTE.findall(opening[2])):
            return False
        position = html.find("<", found.end())
    return True


def _allowed(tag: str, name: str, value: str) -> bool:
    """Whether our renderer writes this attribute, with this value, on this tag."""
    match name:
        case "href" if tag == "a":
            return value.startswith("#") or _reaches(value)
        case "rel" if tag == "a":
            return "noopener" in value.split()
        case "id":
            return re.fullmatch(r"fn(ref)?[\w:-]*", value) is not None
        case "class":
            return set(value.split()) <= CLASSES
    return name in PLAIN_ATTRIBUTES.get(tag, ())


def _reaches(url: str) -> bool:
    """Whether a link may lead there: the web and mail, or a place relative to nothing that acts."""
    scheme = url.partition(":")[0].lower()
    return scheme in SCHEMES if ":" in url.split("/")[0] else True


def _bleached(html: str) -> str:
    cleaned_html: str = bleach.clean(
        html, tags=TAGS, attributes=_allowed, protocols=SCHEMES, strip=True, strip_comments=True
    )
    return cleaned_html


class _Renderer(RendererHTML):
    """Markdown-it's own, except where the panel shows something better."""

    def fence(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Any) -> str:
        """Code with its language and a way to copy it; put in after cleaning, since it holds a button."""
        token = tokens[idx]
        language = token.info.strip().split(maxsplit=1)[0][:40] if token.info.strip() else ""
        env["figures"].append(code(token.content, language))
        return f'<figure data-code="{len(env["figures"]) - 1}"></figure>\n'

    def code_block(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Any) -> str:
        """Indented code is code like any other."""
        return self.fence(tokens, idx, options, env)

    def image(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Any) -> str:
        """A link to the image: loading it would tell another host that it was read."""
        token = tokens[idx]
        source = str(token.attrGet("src") or "")
        label = self.renderInlineAsText(token.children, options, env) or _file_name(source)
        words = escape(_("image: %(name)s") % {"name": label})
        if env.get("linked") or not _reaches(source):  # a link cannot stand inside a link
            return words
        return f'<a class="image" href="{escape(source)}" rel="{REL}">{words}</a>'

    def link_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Any) -> str:
        """A link that tells the other side nothing of this page."""
        env["linked"] = True
        tokens[idx].attrSet("rel", REL)
        return self.renderToken(tokens, idx, options, env)

    def link_close(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Any) -> str:
        """The end of a link."""
        env["linked"] = False
        return "</a>"

    def table_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Any) -> str:
        """A table in a box that scrolls by itself where it is too wide, also by keyboard."""
        words = escape(_("Table"))
        return f'<div class="table" role="group" tabindex="0" aria-label="{words}"><table>\n'

    def table_close(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Any) -> str:
        """Its end."""
        return "</table></div>\n"

    def task(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Any) -> str:
        """The box of a task list's item, which shows and does nothing."""
        done = tokens[idx].meta["done"]
        words = escape(_("done") if done else _("open"))
        return f'<input type="checkbox" aria-label="{words}"{" checked" if done else ""} disabled>'


def _file_name(url: str) -> str:
    return unquote(urlsplit(url).path.rsplit("/", 1)[-1])[:80] or url[:80]


def _mark_tasks(state: StateCore) -> None:
    """`- [x] text`: the item's first three characters become a box."""
    for item, paragraph, inline in zip(state.tokens, state.tokens[1:], state.tokens[2:], strict=False):
        first = inline.children[0] if inline.children else None
        box = TASK.match(first.content) if first is not None and first.type == "text" else None
        if item.type == "list_item_open" and paragraph.type == "paragraph_open" and first is not None and box:
            item.attrSet("class", "task")
            first.content = first.content[box.end() :]
            inline.children = [Token("task", "", 0, meta={"done": box[1] != " "}), *(inline.children or [])]


def _cell(self: RendererHTML, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Any) -> str:
    """A table cell's alignment by class: the policy refuses the inline style that it comes with."""
    token = tokens[idx]
    style = str(token.attrs.pop("style", ""))
    align = style.removeprefix("text-align:")
    if align in ("center", "right"):
        token.attrSet("class", f"align-{align}")
    return self.renderToken(tokens, idx, options, env)


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "xhtmlOut": False}, renderer_cls=_Renderer).enable(
        ["table", "strikethrough"]
    )
    parser.use(footnote_plugin)
    parser.use(references_plugin)
    parser.core.ruler.after("inline", "tasks", _mark_tasks)
    for name in ("td_open", "th_open"):
        parser.add_render_rule(name, _cell)
    parser.add_render_rule("s_open", lambda *_: "<del>")
    parser.add_render_rule("s_close", lambda *_: "</del>")
    return parser


def code(source: str, language: str = "", *, name: str = "") -> SafeString:
    """One code figure: what it is (`name`, else its language), a copy button, highlighted text.

    Highlighting is classes only; what is too long or unknown stays plain.
    """
    source = source.removesuffix("\n")
    label = name or language or _("text")
    return format_html(
        '<figure class="code"><figcaption><span class="path title">{}</span>'
        '<button type="button" class="quiet push" data-copy>{}<span>{}</span></button></figcaption>'
        '<pre tabindex="0" role="group" aria-label="{}"><code>{}</code></pre></figure>',
        label,
        icon("copy"),
        _("Copy"),
        _("Code, %(label)s") % {"label": label},
        highlighted(source, language),
    )


def highlighted(source: str, language: str) -> SafeString:
    """`source` as HTML with pygments' classes, or just escaped when that is unknown, long or slow."""
    lexer = _lexer(language) if len(source) <= HIGHLIGHT_LIMIT else None
    if lexer is None:
        return escape(source)
    html = StringIO()
    try:
        _FORMATTER.format(_in_time(lexer.get_tokens(source)), html)
    except TimeoutError:
        return escape(source)
    return mark_safe(html.getvalue().removesuffix("\n"))  # noqa: S308


_FORMATTER = HtmlFormatter(nowrap=True)


def _in_time(tokens: Iterable[tuple[Any, str]]) -> Iterator[tuple[Any, str]]:
    """The same tokens, as long as the lexer is quick. This thread's own time: a busy machine is no reason."""
    end = time.thread_time() + HIGHLIGHT_SECONDS
    for token in tokens:
        if time.thread_time() > end:
            raise TimeoutError
        yield token


@lru_cache(maxsize=64)
def _lexer(language: str) -> Lexer | None:
    if not language:
        return None
    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None
