"""Search over what the user wrote: the same hits, and the same first one, on every database."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from knowledge.models import SearchText
from openchamber.models import Project
from openchamber.search import ask, with_passages


@pytest.fixture
def find(project):
    """The titles of what a query finds, the best first."""

    def search(query, **more):
        found = ask(Project.objects.all(), query, **more)
        assert found.failed == []
        return [hit.title for hit in found.hits]

    return search


@pytest.fixture
def library(write_note, write_todo, write_plan):
    """Something of everything."""
    write_note("Harbour codes are four letters, never three.")
    write_note("The berth of the ferry is named in the timetable.")
    write_todo("Ask the harbour office about winter", done=True)
    write_plan(
        "# Winter timetable\n\nThe importer reads main.py and writes berths.\n\n"
        + "filler words here. " * 600
        + "needle"
    )


def test_a_word_finds_notes_todos_done_ones_and_the_bodies_of_plans(find, library):
    assert set(find("harbour")) == {
        "Harbour codes are four letters, never three.",
        "Ask the harbour office about winter",
    }
    assert find("importer") == ["Winter timetable"]
    assert find("needle") == ["Winter timetable"]


def test_a_word_in_the_title_counts_more_than_one_in_the_text(find, library):
    assert find("timetable")[0] == "Winter timetable"


@pytest.mark.parametrize("query", ["berths", "berth", "BERTH", "named", "naming"])
def test_a_word_is_found_in_all_its_forms(find, library, query):
    assert "The berth of the ferry is named in the timetable." in find(query)


@pytest.mark.parametrize("query", ["harb", "harbo", "timeta", "impor", "running", "runni", "runn"])
def test_a_word_is_found_while_it_is_typed(find, library, write_note, query):
    write_note("It was running all night.")
    assert find(query)


def test_any_of_the_words_is_enough_and_all_of_them_are_best(find, library):
    assert find("winter harbour nonsense")[0] == "Ask the harbour office about winter"
    assert len(find("winter harbour nonsense")) == 3


def test_a_phrase_is_found_in_its_order_only(find, library):
    assert find('"four letters"') == ["Harbour codes are four letters, never three."]
    assert find('"letters four"') == []


@pytest.mark.parametrize(
    ("text", "queries"),
    [
        ("Read main.py first", ["main.py", "main", "MAIN.PY", "py"]),
        ("Written in C++ and C#", ["C++", "c++", "C#"]),
        ("You don’t say", ["don't", "dont", "don’t", "say"]),
        ("Run ask-codex now", ["ask-codex", "codex", "ask codex"]),
        ("Call getUserName or foo_bar", ["getUserName", "getusername", "user", "foo_bar", "bar"]),
        ("We ship 🚀 today", ["🚀"]),
        ("Un cafe\u0301 s’il vous plaît", ["café", "cafe", "plait", "CAFE\u0301"]),
        ("Straße und Ærø", ["strasse", "STRASSE", "straße", "aero"]),
        ("Їжак і йод", ["їжак", "ЙОД", "їж"]),
        ("我们使用Django框架", ["使用", "用", "Django", "框架", "使用django", "我们使用"]),
        ("東京都に行きました", ["東京", "京都に", "行きました", "都"]),
        ("안녕하세요 세계", ["안녕", "하세요", "세계", "계"]),
        ("ยินดีต้อนรับ", ["ยินดี", "ต้อนรับ"]),
        ("Version v1.2.3 of 3e5", ["v1.2.3", "v1.2", "3e5"]),
        ("A word-" + "x" * 100, ["x" * 100, "x" * 70]),
    ],
)
def test_what_is_written_is_found(find, write_note, text, queries):
    write_note(text)
    write_note("Something else entirely")
    title = SearchText.objects.order_by("pk").first().label
    for query in queries:
        assert find(query) == [title], query


@pytest.mark.parametrize(
    ("text", "queries"),
    [
        ("Written in C only", ["C++"]),
        ("东京 and 京東", ["東京都"]),
        ("codex and ask", ["ask-codex"]),
        ("main of py", ["main.py"]),
    ],
)
def test_what_is_not_written_is_not_found(find, write_note, text, queries):
    write_note(text)
    for query in queries:
        assert find(query) == [], query


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("query", ["timetabel", "timtable", "harbuor", "imprter", "Harborr"])
def test_a_mistyped_word_finds_what_was_meant_when_nothing_else_matches(find, library, query):
    assert find(query)


@pytest.mark.django_db(transaction=True)
def test_what_is_nothing_like_anything_finds_nothing(find, library):
    assert find("zzzzqqq") == []
    assert find("xyz") == []


def test_a_changed_text_is_found_by_its_new_words_only(find, write_note, by):
    note = write_note("before")
    note.edit(body="after", by=by)
    assert find("before") == []
    assert find("after") == ["after"]


def test_what_is_in_the_bin_is_not_found_until_it_comes_back(find, write_note, by):
    note = write_note("needle")
    note.bin(by=by)
    assert find("needle") == []
    assert not SearchText.objects.exists()
    note.undelete(by=by)
    assert find("needle") == ["needle"]


def test_of_two_alike_the_recent_one_is_first(find, write_note, by):
    old, new = write_note("berth number one"), write_note("berth number two")
    assert find("berth number") == ["berth number two", "berth number one"]
    old.edit(body="berth number one!", by=by)
    assert find("berth number")[0] == "berth number one!"
    assert new.title


def test_only_the_chosen_kind_and_projects_are_searched(find, library, write_note, tmp_path):
    other = Project.objects.create(name="Other", slug="other", directory=str(tmp_path))
    write_note("harbour elsewhere", project=other)
    assert find("harbour", kind="todo") == ["Ask the harbour office about winter"]
    found = ask(Project.objects.filter(pk=other.pk), "harbour", limit=5)
    assert [(hit.title, hit.project) for hit in found.hits] == [("harbour elsewhere", "other")]
    assert ask(Project.objects.none(), "harbour", limit=5).hits == []


def test_counts_are_told_per_kind(library, project):
    assert ask(Project.objects.all(), "the harbour winter").counts == {"note": 2, "todo": 1, "plan": 1}


def test_a_snippet_shows_and_marks_why(library, project):
    (hit,) = with_passages(ask(Project.objects.all(), "needle").hits)
    assert "<mark>needle</mark>" in hit.snippet
    assert hit.url.startswith("/projects/shop/plans/")
    assert "start=" in hit.url


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.one_of(st.text(max_size=80), st.text(alphabet="\"*():^-+{}\\'&|!<>% NEARandor\x00", max_size=30)))
def test_any_input_is_safe(find, library, query):
    find(query)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(alphabet=st.characters(categories=["L", "N"]), min_size=1, max_size=12))
def test_every_word_that_is_written_is_found(find, write_note, word):
    SearchText.objects.all().delete()
    write_note(f"before {word} after")
    assert find(f'"{word}"') or find(word), word


def test_very_common_words_leave_the_search_to_rarer_ones(find, project, by):
    from knowledge.models import Note
    from knowledge.models.search import rows_for

    notes = Note.objects.bulk_create(
        [
            Note(project=project, body=f"the common note {number}", title="common", revision="0")
            for number in range(1040)
        ]
    )
    SearchText.objects.bulk_create([row for note in notes for row in rows_for(note)])
    Note.write(project=project, body="the rare needle", by=by)
    for note in notes[:40]:
        note.edit(body=note.body + " changed", by=by)
    assert find("the needle")[0] == "the rare needle"
    assert len(find("the common")) == 100


def test_searching_asks_as_often_for_200_texts_as_for_2(write_note, project, count_queries):
    for _number in range(2):
        write_note("berth")
    few = count_queries(lambda: with_passages(ask(Project.objects.all(), "berth").hits))
    for _number in range(198):
        write_note("berth")
    assert (
        count_queries(lambda: with_passages(ask(Project.objects.all(), "berth").hits)) == few <= 9
    )  # memory, where it is installed, asks four times


def test_hundreds_of_projects_are_searched_at_once(write_note, project):
    write_note("needle")
    names = [f"project-{number}" for number in range(600)]
    Project.objects.bulk_create([Project(name=name, slug=name, directory=f"/{name}") for name in names])
    assert [hit.title for hit in ask(Project.objects.all(), "needle").hits] == ["needle"]
