"""The rules of the house that a machine can check: each takes text, and answers with a line per offence."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
APPS = ("openchamber", "knowledge", "memory")
# Who may know whom. `openchamber` is the ground the others stand on, and they know nothing of each other.
FORBIDDEN = {
    "openchamber": ("knowledge", "memory"),
    "knowledge": ("memory",),
    "memory": ("knowledge",),
}
EMPTY_NAMES = {"utils", "util", "helpers", "services", "managers", "common", "core", "base", "mixins", "constants"}
LONGEST_FUNCTION = 40
LONGEST_MODULE = 350
NAMING_CALLS = {"reverse", "reverse_lazy", "redirect", "render", "render_to_string", "get_template", "select_template"}

# ---------------------------------------------------------------------------- reading


def sources(app: str) -> list[Path]:
    """The Python files of an app, migrations apart."""
    return sorted(path for path in (ROOT / app).rglob("*.py") if "migrations" not in path.parts)


def templates() -> list[Path]:
    """Every template of ours."""
    return sorted((ROOT / "templates").rglob("*.html"))


def scripts() -> list[Path]:
    """The panel's JavaScript, without what others wrote."""
    return sorted(path for path in (ROOT / "static").rglob("*.js") if "vendor" not in path.parts)


def stylesheets() -> list[Path]:
    """The panel's CSS, without what others wrote."""
    return sorted(path for path in (ROOT / "static").rglob("*.css") if "vendor" not in path.parts)


def template_owner(path: Path) -> str:
    """The app that a template belongs to; what stands outside an app's folder is the ground's."""
    first = path.relative_to(ROOT / "templates").parts[0]
    return first if first in APPS else "openchamber"


def line_of(text: str, position: int) -> int:
    """The line number of a position."""
    return text.count("\n", 0, position) + 1


def matches(pattern: str | re.Pattern[str], text: str) -> list[str]:
    """Every place where `pattern` stands."""
    return [f"line {line_of(text, match.start())}: {match[0]}" for match in re.finditer(pattern, text)]


def functions(text: str) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Every function of a module, methods and nested ones too."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def called(node: ast.AST) -> str:
    """The last name of what is called or decorated with: `reverse` of `urls.reverse(...)`."""
    if isinstance(node, ast.Call):
        return called(node.func)
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


# ---------------------------------------------------------------------------- Python


def foreign_imports(app: str, text: str) -> list[str]:
    """Imports of apps that `app` must not know, and their URL and template names."""
    found = []
    for node in ast.walk(ast.parse(text)):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module or ""]
        elif isinstance(node, ast.Call) and called(node) in NAMING_CALLS | {"import_module"}:
            names = [arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
        heads = {re.split(r"[.:/]", name)[0] for name in names}
        found += [f"line {node.lineno}: knows {head}" for head in sorted(heads & set(FORBIDDEN[app]))]  # type: ignore[attr-defined]
    return found


def long_functions(text: str) -> list[str]:
    """Functions over the hard stop, their decorators and docstrings not counted."""
    found = []
    for function in functions(text):
        first = function.body[0]
        documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
        words = (first.end_lineno or 0) - first.lineno + 1 if documented else 0
        length = (function.end_lineno or 0) - function.lineno + 1 - words
        if length > LONGEST_FUNCTION:
            found.append(f"line {function.lineno}: {function.name} has {length} lines")
    return found


def too_long(text: str) -> list[str]:
    """Whether a module wants to be two: the aim is 300 lines, this is the stop."""
    length = text.count("\n")
    return [f"has {length} lines: split it by idea"] if length > LONGEST_MODULE else []


def routed(text: str) -> set[str]:
    """The names of the views that a URL module routes to."""
    return {
        called(node.args[1])
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and called(node) in {"path", "re_path"} and len(node.args) > 1
    }


# Django's decorators, and those of the API's routers.
SAYS_METHODS = re.compile(r"require_|get$|post$|put$|patch$|delete$|api_operation$")


def unguarded_views(text: str, names: set[str]) -> list[str]:
    """Views of these names that do not say which methods they take."""
    return [
        f"line {function.lineno}: {function.name} takes any method"
        for function in functions(text)
        if function.name in names
        and [argument.arg for argument in function.args.args[:1]] == ["request"]
        and not any(SAYS_METHODS.match(called(decorator)) for decorator in function.decorator_list)
    ]


def hidden_effects(text: str) -> list[str]:
    """What happens behind a reader's back: `post_save` receivers, overridden `save`, classes as views."""
    return matches(r"\b(?:post_save|pre_save|post_delete|pre_delete)\b|def (?:save|delete)\(self|\.as_view\(", text)


def second_schemas(directory: Path) -> list[str]:
    """Migrations after the first that change the schema: until release there is one, raw SQL apart."""
    found = []
    for path in sorted(directory.glob("[0-9]*.py")):
        operations = {
            called(node)
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _is_migrations(node.func.value)
        }
        schema = operations - {"RunSQL", "RunPython", "SeparateDatabaseAndState", "swappable_dependency"}
        if path.stem != "0001_initial" and schema:
            found.append(f"{path.name}: {', '.join(sorted(schema))}")
    return found


def _is_migrations(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "migrations"


# ---------------------------------------------------------------------------- templates


def without_template_language(text: str) -> str:
    """The HTML of a template: every tag and value replaced, so that `>` in a condition ends nothing."""
    text = re.sub(r"\{%\s*comment.*?endcomment\s*%\}", _blank, text, flags=re.DOTALL)
    return re.sub(r"\{%.*?%\}|\{\{.*?\}\}|\{#.*?#\}", lambda match: "¤" + _blank(match), text, flags=re.DOTALL)


def _blank(match: re.Match[str]) -> str:
    return "\n" * match[0].count("\n")


def foreign_names(app: str, text: str) -> list[str]:
    """URL names, includes and tag libraries in a template of `app` that belong to apps it must not know."""
    others = "|".join(FORBIDDEN[app])
    quoted = rf"\{{%\s*(?:url|include|extends|static)\s+[\"'](?:{others})[:/]"
    return matches(rf"{quoted}|\{{%\s*load\s[^%]*\b(?:{others})\b", text)


OLD_HTMX = re.compile(
    r"hx-(?:on|vars|params|prompt|ext|disinherit|inherit|request|history|disabled-elt|swap-oob)\b"
    r"|\b(?:sse|ws)-(?:connect|swap|close|send)="
    r"|htmx:[a-z]+[A-Z]\w*|htmx:load\b|htmx:xhr"
    r"|\bhtmx\.(?:defineExtension|addClass|removeClass|toggleClass|closest|off|logAll|logger)\b"
    r"|includeIndicatorStyles|responseHandling|defaultSwapStyle|HX-Trigger-After-\w+"
)


def old_htmx(text: str) -> list[str]:
    """Spellings of htmx 2, which htmx 4 ignores without a word."""
    return matches(OLD_HTMX, text)


INLINE = {
    "a style attribute": r"<[a-z][^<>]*\sstyle\s*=",
    "an event attribute": r"<[a-z][^<>]*\son[a-z]+\s*=",
    "a style element": r"<style\b",
    "a script in the page": r"<script(?![^<>]*\s(?:src\s*=|type\s*=\s*[\"']?application/(?:ld\+)?json))[^<>]*>",
    "a javascript: address": r"[\"'=\s]javascript:",
    "a data: address": r"(?:src|href)\s*=\s*[\"']?data:",
    "something from another host": (
        r"<(?:script|link|img|iframe|source|form|use)\b[^<>]*(?:src|href|action)\s*=\s*[\"']?(?:https?:)?//"
    ),
    "an expression that needs eval": (
        r"hx-(?:vals|headers|trigger)[\w:]*\s*=\s*"
        r"(?:\"(?:js:|[^\"]*\[[^\"]*\])|'(?:js:|[^']*\[[^']*=[^']*\]))"
    ),
}


def inline_code(text: str) -> list[str]:
    """What the content security policy refuses."""
    html = without_template_language(text)
    return [
        f"line {line_of(html, match.start())}: {what}"
        for what, pattern in INLINE.items()
        for match in re.finditer(pattern, html, re.IGNORECASE)
    ]


def acts_without_a_form(text: str) -> list[str]:
    """Elements that only work with JavaScript: a form without its address, a link without its href.

    What stands in a <template> is only ever used by JavaScript.
    """
    html = re.sub(r"<template\b.*?</template>", _blank, without_template_language(text), flags=re.DOTALL)
    found = []
    for match in re.finditer(r"<(form|a)\b([^<>]*)>", html):
        element, attributes = match[1], match[2]
        if "hx-" not in attributes:
            continue
        wanted = ["href="] if element == "a" else ["action="]
        wanted += ['method="post"'] if "hx-post" in attributes else []
        found += [f"line {line_of(html, match.start())}: <{element}> lacks {w}" for w in wanted if w not in attributes]
    return found


# Names and what is the same in every language.
UNTRANSLATED = re.compile(
    r"OpenChamber|OpenCode|Claude Code|Codex|Markdown|JavaScript|API|URL|Ctrl|Esc|Enter|&\w+;|MCP"
)
SPOKEN_ATTRIBUTES = re.compile(r"\s(?:aria-label|title|placeholder|alt|hx-confirm)\s*=\s*\"([^\"]*)\"")


def untranslated(text: str) -> list[str]:
    """Words that a person reads and that no translation reaches."""
    text = re.sub(r"\{%-?\s*blocktrans.*?endblocktrans\w*\s*%\}", lambda match: "¤" + _blank(match), text, flags=re.S)
    html = without_template_language(text)
    html = re.sub(r"<(code|kbd|pre|script)\b.*?</\1>|<!.*?>", _blank, html, flags=re.DOTALL)
    spoken = [(match.start(1), match[1]) for match in SPOKEN_ATTRIBUTES.finditer(html)]
    spoken += [(match.start(), match[0]) for match in re.finditer(r"[^<>]+", re.sub(r"<[^<>]*>", _hide, html))]
    return [
        f"line {line_of(html, position + where.start())}: {where[0]!r}"
        for position, words in spoken
        for where in re.finditer(r"[^\W\d_]{2,}", UNTRANSLATED.sub(lambda match: " " * len(match[0]), words))
    ]


def _hide(match: re.Match[str]) -> str:
    """As many characters, so that positions stay."""
    return re.sub(r"[^\n]", " ", match[0])
