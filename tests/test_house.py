"""The rules of the house hold for every file; and each rule is shown an offence, so that it cannot go blind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests import house

EXISTING = [app for app in house.APPS if (house.ROOT / app).is_dir()]


def offences(paths: list[Path], rule: Callable[[str], list[str]]) -> list[str]:
    """What `rule` finds in files, each line with its file."""
    return [f"{path.relative_to(house.ROOT)} {line}" for path in paths for line in rule(path.read_text())]


PYTHON = [path for app in EXISTING for path in house.sources(app)]


# ---------------------------------------------------------------------------- Python


@pytest.mark.parametrize("app", EXISTING)
def test_imports_go_in_one_direction(app: str) -> None:
    assert offences(house.sources(app), lambda text: house.foreign_imports(app, text)) == []


@pytest.mark.parametrize(
    ("app", "text"),
    [
        ("openchamber", "import knowledge.models"),
        ("openchamber", "from memory import scopes"),
        ("openchamber", "def f():\n    from knowledge.models import Note"),
        ("openchamber", "reverse('knowledge:notes', args=[1])"),
        ("openchamber", "render(request, 'memory/tab.html')"),
        ("knowledge", "from memory.models import Entry"),
        ("memory", "from knowledge.models import Note"),
    ],
)
def test_an_import_against_the_direction_is_found(app: str, text: str) -> None:
    assert house.foreign_imports(app, text)


def test_what_merely_sounds_like_an_app_may_be_imported() -> None:
    text = "from openchamber.signals import knowledge_changed\nimport memoryview_tools\nreverse('openchamber:project')"
    assert house.foreign_imports("openchamber", text) == []


def test_functions_are_short() -> None:
    assert offences(PYTHON, house.long_functions) == []
    assert house.long_functions("def long():\n" + "    x = 1\n" * 40)
    assert not house.long_functions('def told():\n    """One.\n\n    Two.\n    """\n' + "    x = 1\n" * 39)


def test_a_module_has_a_name_that_says_something() -> None:
    # Django looks for a database backend in a module called `base`.
    named = [path for path in PYTHON if path.parts[-2:] != ("sqlite", "base.py")]
    assert [path for path in named if {path.stem, path.parent.name} & house.EMPTY_NAMES] == []


def test_a_module_is_one_idea() -> None:
    assert offences(PYTHON, house.too_long) == []
    assert house.too_long("x = 1\n" * 400)


def test_every_view_says_which_methods_it_takes() -> None:
    urls = [path for path in PYTHON if path.stem == "urls"]
    names = set().union(*(house.routed(path.read_text()) for path in urls))
    assert offences(PYTHON, lambda text: house.unguarded_views(text, names)) == []


def test_a_view_that_takes_any_method_is_found() -> None:
    names = house.routed('urlpatterns = [path("notes/", views.notes, name="notes"), path("x/", include("x.urls"))]')
    assert house.unguarded_views("def notes(request):\n    pass", names)
    assert not house.unguarded_views("@require_GET\ndef notes(request):\n    pass", names)
    assert not house.unguarded_views("def what_a_view_calls(request):\n    pass", names)


def test_nothing_happens_behind_a_readers_back() -> None:
    assert offences(PYTHON, house.hidden_effects) == []
    assert house.hidden_effects("@receiver(post_save, sender=Note)")
    assert house.hidden_effects("    def save(self, *args):")


@pytest.mark.parametrize("app", EXISTING)
def test_until_release_there_is_one_schema_migration(app: str) -> None:
    assert house.second_schemas(house.ROOT / app / "migrations") == []


def test_a_second_schema_migration_is_found_and_raw_sql_is_not(tmp_path: Path) -> None:
    (tmp_path / "0001_initial.py").write_text("operations = [migrations.CreateModel(name='A')]")
    (tmp_path / "0002_search.py").write_text("operations = [migrations.RunSQL('SELECT 1', 'SELECT 1')]")
    assert house.second_schemas(tmp_path) == []
    (tmp_path / "0003_more.py").write_text("operations = [migrations.AddField('a', 'b', models.TextField())]")
    assert house.second_schemas(tmp_path) == ["0003_more.py: AddField"]


# ---------------------------------------------------------------------------- templates, JavaScript, CSS


@pytest.mark.parametrize("path", house.templates(), ids=lambda path: str(path.relative_to(house.ROOT / "templates")))
def test_templates_name_only_what_their_app_may_know(path: Path) -> None:
    assert house.foreign_names(house.template_owner(path), path.read_text()) == []


def test_a_foreign_name_in_a_template_is_found() -> None:
    assert house.foreign_names("openchamber", '<a href="{% url "knowledge:notes" 1 %}">')
    assert house.foreign_names("knowledge", '{% include "memory/tab.html" %}')
    assert house.foreign_names("openchamber", "{% load knowledge %}")
    assert not house.foreign_names("openchamber", '{% url "openchamber:project" knowledge.pk %}')


def test_htmx_is_spelled_as_version_four() -> None:
    assert offences([*house.templates(), *house.scripts()], house.old_htmx) == []


@pytest.mark.parametrize(
    "text",
    [
        '<a hx-on:click="x">',
        '<div hx-ext="sse" sse-connect="/events">',
        'document.addEventListener("htmx:afterSwap", f)',
        '<div hx-swap-oob="true">',
        '{"includeIndicatorStyles": false}',
        '<button hx-disabled-elt="this">',
    ],
)
def test_a_spelling_of_htmx_two_is_found(text: str) -> None:
    assert house.old_htmx(text)


def test_the_spellings_of_htmx_four_pass() -> None:
    text = """<body hx-headers:inherited='{"a": "b"}'><div hx-sse:connect="/x" hx-disable="this">
        document.addEventListener("htmx:before:request", f); document.addEventListener("htmx:error", f)"""
    assert house.old_htmx(text) == []


def test_there_is_nothing_inline() -> None:
    assert offences(house.templates(), house.inline_code) == []


@pytest.mark.parametrize(
    "text",
    [
        '<p style="color: red">',
        '<p class="{% if a > b %}x{% endif %}" style="color: red">',
        '<button onclick="go()">',
        "<style>p {}</style>",
        "<script>go()</script>",
        '<a href="javascript:go()">',
        '<link rel="icon" href="data:image/svg+xml,">',
        '<script src="https://example.org/x.js"></script>',
        '<img src="//example.org/x.png">',
        '<div hx-vals="js:{a: 1}">',
        """<div hx-trigger="keyup[key=='n']">""",
    ],
)
def test_what_the_policy_refuses_is_found(text: str) -> None:
    assert house.inline_code(text)


def test_what_the_policy_permits_passes() -> None:
    text = """<script src="{% static "app.js" %}" defer></script><a href="https://example.org">out</a>
        <script type="application/json" id="x">{}</script><meta name="htmx-config" content='{"noSwap": [204]}'>"""
    assert house.inline_code(text) == []


def test_every_act_works_as_a_plain_form() -> None:
    assert offences(house.templates(), house.acts_without_a_form) == []
    assert house.acts_without_a_form('<form hx-post="/x" action="/x">')
    assert house.acts_without_a_form('<a hx-get="/x" hx-target="#y">')
    assert not house.acts_without_a_form('<form method="post" action="/x" hx-post="/x"><a href="/y" hx-get="/y">')


def test_every_text_can_be_translated() -> None:
    assert offences(house.templates(), house.untranslated) == []
    assert house.untranslated("<p>Hello</p>") == ["line 1: 'Hello'"]
    assert house.untranslated('<a title="Hello">{% translate "x" %}</a>')
    assert not house.untranslated('<p class="note">{% translate "Hello" %} · <code>make</code> OpenChamber</p>')


def test_the_panels_javascript_stays_small() -> None:
    lines = {path.name: path.read_text().count("\n") for path in house.scripts()}
    assert lines["app.js"] < 300
    assert sum(lines.values()) < 440  # with the editors: they save by themselves, lose nothing, drag, take files


def test_styles_and_scripts_take_nothing_from_elsewhere() -> None:
    elsewhere = r"url\(\s*[\"']?(?:https?:)?//|@import|fetch\(\s*[\"']https?:"
    assert offences([*house.stylesheets(), *house.scripts()], lambda text: house.matches(elsewhere, text)) == []
    assert house.matches(elsewhere, "@font-face { src: url(https://example.org/x.woff2) }")
