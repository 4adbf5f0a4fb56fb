"""The search page and GET /api/search."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse

from openchamber.models import Project
from openchamber.search.snippets import snippet
from openchamber.search.terms import wishes


@pytest.fixture
def page(project):
    return reverse("openchamber:search", args=["shop"])


@pytest.fixture
def library(write_note, write_todo, write_plan):
    write_note("Harbour codes are <b>four</b> letters & never three.")
    write_todo("Ask the harbour office", done=True)
    write_plan("# Winter\n\n" + "filler words. " * 800 + "The harbour is open.")


def test_the_page_shows_hits_with_what_was_found_marked(panel, page, library):
    html = panel.get(page, {"q": "harbour"}).text
    assert html.count('<li class="hit"') == 3
    assert "<mark>Harbour</mark> codes are &lt;b&gt;four" in html
    assert "Ask the <mark>harbour</mark> office" in html
    for kind in ("Notes", "Todos", "Plans"):
        assert re.search(rf"{kind} <span class=\"count\">1</span>", html)


def test_one_kind_alone_is_shown_and_the_counts_stay(panel, page, library):
    html = panel.get(page, {"q": "harbour", "kind": "todo"}).text
    assert html.count('<li class="hit"') == 1
    assert re.search(r"Notes <span class=\"count\">1</span>", html)


def test_htmx_gets_the_hits_alone(htmx, page, library):
    assert htmx.get(page, {"q": "harb"}).text.strip().startswith('<section id="hits"')


@pytest.mark.parametrize("query", ["", "   ", "?!", "nothingatall", "<script>", "\x00", "a" * 5000])
def test_a_query_that_finds_nothing_says_so(panel, page, library, query):
    answer = panel.get(page, {"q": query})
    assert answer.status_code in (200, 400)
    assert '<li class="hit"' not in answer.text
    assert "<script>" not in answer.text.split("<main")[1] if answer.status_code == 200 else True


def test_hits_lead_to_the_place(panel, page, library, project):
    html = panel.get(page, {"q": "harbour"}).text
    for href in re.findall(r'<a id="hit-[^"]+" href="([^"]+)"', html):
        answer = panel.get(href.replace("&amp;", "&").partition("#")[0])
        assert answer.status_code == 200
        assert "arbour" in answer.text
    plan = project.plans.get()
    start = plan.body.index("harbour")
    assert f'data-found="{start} {start + 7}"' in answer_of(panel, html, "plan")


def answer_of(panel, html, kind):
    return panel.get(re.search(rf'id="hit-{kind}-[^"]+" href="([^"]+)"', html)[1].replace("&amp;", "&")).text


def test_a_note_far_down_is_shown_on_its_page(panel, page, write_note):
    write_note("the needle")
    for number in range(40):
        write_note(f"number {number}")
    html = panel.get(page, {"q": "needle"}).text
    assert "the needle</p>" in answer_of(panel, html, "note")


def test_all_projects_of_the_caller_are_searched_when_asked_for(sign_in, member, page, library, tmp_path, write_note):
    mine = Project.objects.create(name="Mine", slug="mine", directory=str(tmp_path / "mine"))
    mine.members.add(member)
    foreign = Project.objects.create(name="Foreign", slug="foreign", directory=str(tmp_path / "foreign"))
    write_note("harbour of mine", project=mine)
    write_note("harbour of others", project=foreign)
    client = sign_in(member)
    assert "of mine" not in client.get(page, {"q": "harbour"}).text
    html = client.get(page, {"q": "harbour", "all": "on"}).text
    assert "of mine" in html
    assert "of others" not in html


def test_a_stranger_searches_nothing(sign_in, stranger, page, library):
    assert sign_in(stranger).get(page, {"q": "harbour"}).status_code == 404
    assert sign_in(stranger).get("/api/search?q=harbour").json()["results"] == []


def test_the_api_tells_hits_by_rank(api, library):
    answer = api("GET", "/search?q=harbour&limit=2").json()
    assert answer["total"] == 3
    assert len(answer["results"]) == 2
    assert answer["took_ms"] >= 0
    hit = answer["results"][0]
    assert set(hit) >= {"kind", "id", "project", "title", "snippet", "score"}
    assert hit["project"] == "shop"
    scores = [hit["score"] for hit in answer["results"]]
    assert scores == sorted(scores, reverse=True)
    rest = api("GET", f"/search?q=harbour&limit=2&cursor={answer['next']}").json()
    assert (len(rest["results"]), rest["next"]) == (1, None)


def test_the_api_limits_kind_and_project(api, library, project):
    assert [hit["kind"] for hit in api("GET", "/search?q=harbour&kind=plan").json()["results"]] == ["plan"]
    assert api("GET", f"/search?q=harbour&project={project.pk}").json()["total"] == 3
    assert api("GET", "/search?q=harbour&project=nowhere").status_code == 404
    assert api("GET", "/search?q=harbour&kind=song").status_code == 422
    assert api("GET", "/search").json()["results"] == []


def test_what_was_typed_is_compared_with_what_was_found():
    assert wishes("Harbour ") == wishes("harbour ")


def test_a_snippet_leaves_out_marks_of_markdown_but_none_inside_words():
    text = "# Tides\n\n- [ ] **High** water at `KAIS`, x`y and 2**3\n\n> kept"
    assert snippet(text, wishes("water")) == "Tides High <mark>water</mark> at KAIS, x`y and 2**3 kept"


@pytest.mark.parametrize(
    ("title", "text", "shown"),
    [
        ("Tides", "# Tides\n\nHigh water.", "High <mark>water</mark>."),
        ("Ask the office", "Ask the office", ""),
        ("Ask the…", "Ask the water office", "… <mark>water</mark> office"),
        ("Tide", "Tides and water", "Tides and <mark>water</mark>"),
        ("", "High water", "High <mark>water</mark>"),
    ],
)
def test_below_a_title_stands_what_follows_it(title, text, shown):
    assert snippet(text, wishes("water"), after=title) == shown


def test_the_bar_keeps_what_was_searched_for_and_no_hit_says_its_title_twice(panel, page, write_todo):
    write_todo("Ask the office")
    html = panel.get(page, {"q": "office"}).text
    assert html.count('value="office"') == 2
    assert html.count("Ask the <mark>office</mark>") == 1
