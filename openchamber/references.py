"""References in Markdown: `[[name]]` as a link, and words that lead a line in bold. Rules for the parser, so that code
stays as it was written: `[[` begins a test in a shell and a table in TOML."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _
from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

# Not "references": the parser keeps its own there.
KEY = "openchamber-references"
REFERENCE = re.compile(r"\[\[([^\[\]\n]{1,120})\]\]")


@dataclass(frozen=True, slots=True)
class References:
    """Where names lead (another name is a dead link), and which words are `leads`."""

    targets: tuple[tuple[str, str], ...] = ()
    leads: tuple[str, ...] = ()


def names(text: str) -> list[str]:
    """What a text may refer to, each once; in code it does not."""
    return list(dict.fromkeys(found.strip() for found in REFERENCE.findall(text)))


def references_plugin(parser: MarkdownIt) -> None:
    """Follow the `References` under `KEY` in the environment, where there are any."""
    parser.inline.ruler.before("link", "reference", _reference)
    parser.core.ruler.after("inline", "leads", _leads)


def _reference(state: StateInline, silent: bool) -> bool:
    references: References | None = state.env.get(KEY)
    found = REFERENCE.match(state.src, state.pos) if state.src[state.pos] == "[" else None
    if references is None or found is None or state.linkLevel:  # a link cannot stand inside a link
        return False
    if not silent:
        _push(state, found[1].strip(), references)
    state.pos = found.end()
    return True


def _push(state: StateInline, name: str, references: References) -> None:
    if target := dict(references.targets).get(name):
        state.push("link_open", "a", 1).attrs = {"href": target}
        state.push("text", "", 0).content = name
        state.push("link_close", "a", -1)
        return
    state.push("code_inline", "code", 0).content = f"[[{name}]]"
    words = _("dead link")
    state.push("text", "", 0).content = f" ({words})"


def _leads(state: StateCore) -> None:
    """`Why: because`: the first word of a line and its colon in bold."""
    references: References | None = state.env.get(KEY)
    if references is None:
        return
    for inline in state.tokens:
        if inline.type == "inline" and inline.children:
            before = [None, *inline.children]
            pairs = zip(before, inline.children, strict=False)
            inline.children = [part for last, token in pairs for part in _led(last, token, references.leads)]


def _led(before: Token | None, token: Token, leads: Sequence[str]) -> list[Token]:
    begins = before is None or before.type in ("softbreak", "hardbreak")
    lead = next((lead for lead in leads if begins and token.content.startswith(f"{lead}:")), None)
    if token.type != "text" or lead is None:
        return [token]
    rest = Token("text", "", 0, content=token.content[len(lead) + 1 :], level=token.level)
    strong = [Token("strong_open", "strong", 1, markup="**"), Token("text", "", 0, content=f"{lead}:")]
    return [*strong, Token("strong_close", "strong", -1, markup="**"), rest]
