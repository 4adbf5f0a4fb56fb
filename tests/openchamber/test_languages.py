"""Languages: every text can be translated and is, people read theirs, and agents are told the same in each."""

from __future__ import annotations

import ast
import gettext
import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client, override_settings
from django.utils import timezone
from django.utils.translation import get_language_info, ngettext, override

from knowledge.models import Author, Note, Plan, Through
from openchamber import settings
from openchamber.models import AgentServer, ApiToken, PinnedMessage, Project, Session
from openchamber.sessions import assembly, riding
from openchamber.sessions.carriers import Conversation
from openchamber.sessions.status import Entry, Status
from tests import house

LOCALE = house.ROOT / "locale"
CODES = [code for code, _name in settings.LANGUAGES if code != "en"]
PLACEHOLDER = re.compile(r"%(?:\(\w+\))?[sd]")
EAGER = {"gettext", "ngettext", "pgettext", "npgettext"}

Key = str | tuple[str, int]


def catalogue(language: str) -> Path:
    """The texts of a language as translators write them."""
    return LOCALE / language / "LC_MESSAGES" / "django.po"


def compiled(texts: Path, target: Path, *options: str) -> Mapping[Key, str]:
    """What msgfmt makes of `texts`: by text, plural forms by text and number. Doubtful (fuzzy) ones are left out."""
    subprocess.run(["msgfmt", *options, "-o", str(target), str(texts)], check=True)
    return read(target)


def read(catalogue_file: Path) -> Mapping[Key, str]:
    """A compiled catalogue; the names of the plural forms are kept by the package under `_catalog` alone."""
    with catalogue_file.open("rb") as file:
        return dict(gettext.GNUTranslations(file)._catalog)  # type: ignore[attr-defined]


@pytest.fixture(scope="session", autouse=True)
def gettext_tools() -> None:
    """The tools, or a word about how to get them: without them nothing here says anything."""
    missing = [name for name in ("xgettext", "msgmerge", "msguniq", "msgfmt", "msgen") if shutil.which(name) is None]
    assert not missing, f"{', '.join(missing)} missing: run .ci/system-packages, or install gettext"


@pytest.fixture(scope="module")
def extracted(tmp_path_factory: pytest.TempPathFactory) -> Mapping[Key, str]:
    """Every text that `make messages` would collect now, each translated as itself; from a copy, as it writes."""
    place = tmp_path_factory.mktemp("extracted")
    for name in (*house.APPS, "templates"):
        shutil.copytree(house.ROOT / name, place / name, ignore=shutil.ignore_patterns("__pycache__", "migrations"))
    (place / "locale").mkdir()
    with pytest.MonkeyPatch.context() as patch, override_settings(LOCALE_PATHS=[str(place / "locale")]):
        patch.chdir(place)
        call_command("makemessages", locale=["en"], verbosity=0)
    subprocess.run(["msgen", "-o", str(place / "all.po"), str(place / "locale/en/LC_MESSAGES/django.po")], check=True)
    return compiled(place / "all.po", place / "all.mo")


def texts_of(found: Mapping[Key, str]) -> set[str]:
    """The texts themselves, the header apart."""
    return {key if isinstance(key, str) else key[0] for key in found} - {""}


# Every text can be translated -----------------------------------------------------------


def gettext_calls(tree: ast.AST) -> Iterator[tuple[ast.Call, str]]:
    """The calls of Django's gettext functions in a module, whatever it calls them, and which one each is."""
    names = {
        alias.asname or alias.name: alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "django.utils.translation"
        for alias in node.names
        if "gettext" in alias.name
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names:
            yield node, names[node.func.id]


def unseen(text: str, known: set[str]) -> list[str]:
    """Marked texts that xgettext does not see: inside an f-string, say, or under another name of the function."""
    calls = [call for call, _name in gettext_calls(ast.parse(text))]
    said = [(call.lineno, call.args[0].value) for call in calls if isinstance(call.args[0], ast.Constant)]
    return [f"line {line}: {words!r}" for line, words in said if words not in known]


def too_early(text: str) -> list[str]:
    """Texts that are translated when the module is imported, and so for nobody."""
    tree = ast.parse(text)
    functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    late = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, functions)
        for part in (node.body if isinstance(node.body, list) else [node.body])
        for inner in ast.walk(part)
    }
    return [f"line {call.lineno}" for call, name in gettext_calls(tree) if name in EAGER and id(call) not in late]


PYTHON = [path for app in house.APPS if (house.ROOT / app).is_dir() for path in house.sources(app)]


def offences(rule: Callable[[str], list[str]]) -> list[str]:
    """What `rule` finds in our modules, each line with its file."""
    return [f"{path.relative_to(house.ROOT)} {line}" for path in PYTHON for line in rule(path.read_text())]


def test_whoever_collects_the_texts_sees_every_one(extracted: Mapping[Key, str]) -> None:
    assert offences(lambda text: unseen(text, texts_of(extracted))) == []
    aside = "from django.utils.translation import gettext as _now\n_now('Never collected')"
    assert unseen(aside, texts_of(extracted)) == ["line 2: 'Never collected'"]


def test_no_text_is_translated_before_somebody_reads_it() -> None:
    assert offences(too_early) == []
    begun = "from django.utils.translation import gettext as _\n"
    assert too_early(begun + "NAMES = {'a': _('A')}") == ["line 2"]
    assert not too_early(begun + "def name():\n    return _('A')")


# Every text is translated ---------------------------------------------------------------


@pytest.mark.parametrize("language", CODES)
def test_every_text_is_translated(language: str, extracted: Mapping[Key, str], tmp_path: Path) -> None:
    done = compiled(catalogue(language), tmp_path / "texts.mo")
    missing = sorted(texts_of(extracted) - texts_of(done))
    assert not missing, f"Run make messages, translate in {catalogue(language)}, run make compile-messages: {missing}"


@pytest.mark.parametrize("language", CODES)
def test_the_compiled_catalogue_is_that_of_the_texts(language: str, tmp_path: Path) -> None:
    fresh = compiled(catalogue(language), tmp_path / "texts.mo", "--check-format", "--check-domain")
    assert read(catalogue(language).with_suffix(".mo")) == fresh, "Run make compile-messages."


@pytest.mark.parametrize("language", CODES)
def test_what_is_filled_in_stands_in_every_translation(
    language: str, extracted: Mapping[Key, str], tmp_path: Path
) -> None:
    for key, words in compiled(catalogue(language), tmp_path / "texts.mo").items():
        form = (key[0], min(key[1], 1)) if isinstance(key, tuple) else key
        if key and form in extracted:
            assert sorted(PLACEHOLDER.findall(words)) == sorted(PLACEHOLDER.findall(extracted[form])), key


@pytest.mark.parametrize("language", CODES)
def test_markup_stands_in_every_translation(language: str, tmp_path: Path) -> None:
    for key, words in compiled(catalogue(language), tmp_path / "texts.mo").items():
        text = key if isinstance(key, str) else key[0]
        assert sorted(re.findall(r"<[^>]+>[^<]*</", text)) == sorted(re.findall(r"<[^>]+>[^<]*</", words)), key


@pytest.mark.parametrize(("number", "words"), [(1, "1 сеансу"), (2, "2 сеансів"), (5, "5 сеансів"), (21, "21 сеансу")])
def test_a_number_has_its_form(number: int, words: str) -> None:
    told = ngettext("held by %(held)s of %(counter)s session", "held by %(held)s of %(counter)s sessions", number)
    assert told.startswith("held")
    with override("uk"):
        told = ngettext("held by %(held)s of %(counter)s session", "held by %(held)s of %(counter)s sessions", number)
    assert (told % {"held": 0, "counter": number}).endswith(words)


# People read their language -------------------------------------------------------------


@pytest.mark.django_db
def test_the_page_speaks_as_the_browser_asks(panel: Client) -> None:
    page = panel.get("/settings/", headers={"Accept-Language": "uk-UA,uk;q=0.9,en;q=0.8"})
    assert '<html lang="uk">' in page.content.decode()
    assert "<title>Налаштування" in page.content.decode()
    assert page.headers["Content-Language"] == "uk"
    page = panel.get("/settings/", headers={"Accept-Language": "sw"})
    assert '<html lang="en">' in page.content.decode()


@pytest.mark.django_db
def test_who_is_not_signed_in_is_understood_too(client: Client) -> None:
    assert '<html lang="uk">' in client.get("/login/", headers={"Accept-Language": "uk"}).content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize("browser", ["panel", "htmx"])
def test_a_chosen_language_stays_until_another_is_chosen(browser: str, request: pytest.FixtureRequest) -> None:
    client = request.getfixturevalue(browser)
    answer = client.post("/settings/language/", {"language": "uk"})
    assert (answer.status_code, answer.headers["Location"]) == (302, "/settings/")
    assert answer.cookies["openchamber_language"]["httponly"]
    page = client.get("/", headers={"Accept-Language": "en"}).content.decode()
    assert '<html lang="uk">' in page
    assert '<option value="uk" selected>Українська</option>' in client.get("/settings/").content.decode()
    client.post("/settings/language/", {"language": ""})
    assert '<html lang="en">' in client.get("/").content.decode()


@pytest.mark.django_db
def test_a_language_that_is_not_complete_cannot_be_chosen(panel: Client) -> None:
    assert panel.post("/settings/language/", {"language": "de"}).status_code == 422
    assert "openchamber_language" not in panel.cookies


@pytest.mark.django_db
def test_looking_changes_no_language(panel: Client) -> None:
    assert panel.get("/settings/language/?language=uk").status_code == 405


def test_a_language_is_offered_in_its_own_words() -> None:
    assert [(code, get_language_info(code)["name_local"]) for code, _name in settings.LANGUAGES] == settings.LANGUAGES


# Agents are told the same ---------------------------------------------------------------


@pytest.fixture
def session(owner: User, project: Project) -> Session:
    """A session of a project with a pinned note and plan, and with a pinned message of its own."""
    by = Author(owner, Through.PANEL)
    Note.write(project=project, by=by, body="No deploys on Friday.", pinned=True)
    Plan.write(project=project, by=by, body="# Berths\n\n" + "Every berth. " * 400, pinned=True)
    server = AgentServer.objects.create(url="http://127.0.0.1:9")
    session = Session.objects.create(id="ses_1", server=server, project=project, directory=project.directory)
    said = {"role": "user", "text": "Speak plainly.", "written_at": timezone.now()}
    PinnedMessage.objects.create(session=session, message_id="msg_1", **said)
    return session


TERMS = [
    assembly.PLAIN,
    assembly.Terms(restore=True),
    assembly.Terms(budget=2_000),
    assembly.Terms(titles_only=True),
]


@pytest.mark.django_db
@pytest.mark.parametrize("terms", TERMS, ids=["plain", "restore", "cut", "titles"])
def test_the_agent_is_told_the_same_in_every_language(session: Session, terms: assembly.Terms) -> None:
    blocks = []
    for language in ("en", *CODES):
        with override(language):
            told = assembly.assemble(session, "", conversation=Conversation(messages=()), can_read=False, terms=terms)
        assert told.block is not None
        blocks.append(told.block.text)
    assert "Pinned messages" in blocks[0]
    assert set(blocks) == {blocks[0]}


@pytest.mark.django_db
@pytest.mark.parametrize("call", [{"query": "berth"}, {"query": "zzz"}, {"query": ""}])
def test_the_tool_answers_the_same_in_every_language(
    client: Client, session: Session, owner: User, call: dict[str, str]
) -> None:
    _token, secret = ApiToken.make(name="agent", user=owner, scope=ApiToken.Scope.AGENT)
    body = json.dumps({"action": "search", "directory": session.directory, **call})

    def answer(language: str) -> Any:
        headers = {"Authorization": f"Bearer {secret}", "Accept-Language": language}
        return client.post("/api/knowledge/tool", body, content_type="application/json", headers=headers).json()

    answers = [answer(language) for language in ("en", *CODES)]
    assert all(one == answers[0] for one in answers)


def test_work_status_translates_what_agents_read_in_english() -> None:
    headings = ["Pinned messages", "Notes", "About the user (titles only)", ""]
    entries = [Entry(f"{number}", "note", heading, "T", "held") for number, heading in enumerate(headings)]
    with override("uk"):
        names = [group.name for group in riding.groups(Status(entries, "", "", 1000, []))]
    assert names == ["Закріплені повідомлення", "Нотатки", "Про користувача", "Інше"]
