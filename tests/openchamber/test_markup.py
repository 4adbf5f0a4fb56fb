"""Markdown becomes HTML that cannot act, and never takes long."""

from __future__ import annotations

import time
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openchamber import markup

ACTING = {"script", "style", "iframe", "object", "embed", "img", "form", "link", "meta", "base", "svg", "math"}


class Seen(HTMLParser):
    """The tags and attributes of a text as a browser would read it."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str, str]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Remember it."""
        self.tags.add(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]


def rendered(text: str) -> Seen:
    """What comes of `text`, without our own code figures (they hold a button and an icon)."""
    return Seen(markup.cleaned(markup._parser().render(text, {"figures": []})))


def test_a_list_right_after_its_sentence_is_a_list() -> None:
    html = markup.render("Steps:\n- one\n  - nested\n- two")
    assert html.count("<ul>") == 2
    assert html.count("<li>") == 3


def test_tables_tasks_footnotes_and_strikes_are_there() -> None:
    html = markup.render("| a | b |\n|---|--:|\n| 1 | ~~2~~ |\n\n- [x] done\n- [ ] open\n\nSaid.[^1]\n\n[^1]: By whom.")
    assert '<td class="align-right"><del>2</del></td>' in html
    assert html.count('<li class="task"><input type="checkbox"') == 2
    assert "disabled" in html
    assert html.count("fnref-") == 2
    assert "By whom." in html


def test_footnotes_of_two_texts_on_one_page_stay_apart() -> None:
    text = "Said.[^1]\n\n[^1]: By whom."
    assert 'id="fnref-a-1"' in markup.render(text, prefix="a")
    assert 'id="fnref-b-1"' in markup.render(text, prefix="b")


def test_code_has_its_language_a_copy_button_and_colours_by_class() -> None:
    html = markup.render('```python\ndef a():\n    return "<b>"\n```')
    assert '<span class="path title">python</span>' in html
    assert "data-copy" in html
    assert '<span class="k">def</span>' in html
    assert "&lt;b&gt;" in html
    assert "style=" not in html


def test_code_that_is_long_or_unknown_stays_plain() -> None:
    assert "<span class=" not in markup.highlighted("a = 1\n" * 5000, "python")
    assert markup.highlighted("<a>", "no-such-language") == "&lt;a&gt;"


def test_an_image_is_a_link_and_loads_nothing() -> None:
    html = markup.render("![a map](https://example.org/map.png) and ![](https://example.org/x%20y.png)")
    assert "<img" not in html
    assert '<a class="image" href="https://example.org/map.png" rel="noopener noreferrer nofollow">' in html
    assert "image: a map" in html
    assert "image: x y.png" in html


def test_an_image_inside_a_link_is_words_of_that_link() -> None:
    html = markup.render("[![build](https://example.org/b.svg)](https://example.org/)")
    assert html.count("<a ") == 1
    assert "image: build" in html


def test_links_tell_the_other_side_nothing() -> None:
    assert 'rel="noopener noreferrer nofollow"' in markup.render("[x](https://example.org)")


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "<a href='javascript:alert(1)'>x</a>",
        "[x](javascript:alert(1))",
        "[x](JaVaScRiPt:alert(1))",
        "[x](java\tscript:alert(1))",
        "[x](vbscript:x) [y](data:text/html;base64,PHNjcmlwdD4=)",
        "![x](data:image/svg+xml;base64,PHN2Zz4=)",
        "![x](javascript:alert(1))",
        "[x]: javascript:alert(1)\n\n[x]",
        "<javascript:alert(1)>",
        '[x](https://example.org "onmouseover=alert(1) x=\\"")',
        '```"><script>alert(1)</script>\ncode\n```',
        "`<b onclick=alert(1)>`",
        '[^"><img src=x>]: x\n\n[^"><img src=x>]',
        "<!-- --><svg/onload=alert(1)>",
        '<figure data-code="0"></figure>',
        "| <i>a |\n|---|\n| <iframe src=x> |",
    ],
)
def test_nothing_acts(text: str) -> None:
    html = markup.render(text)
    seen = Seen(html)
    acting = ACTING - {"svg"}  # the copy button's icon is ours
    assert not seen.tags & acting, html
    assert not [name for _tag, name, _value in seen.attributes if name.startswith("on") or name == "style"], html
    links = [value for _tag, name, value in seen.attributes if name == "href"]
    assert all(link.startswith(("http", "mailto:")) or ":" not in link for link in links), html


def test_a_figure_that_somebody_wrote_is_text() -> None:
    html = markup.render('```\nreal\n```\n\n<figure data-code="0"></figure>')
    assert html.count('<figure class="code">') == 1
    assert "&lt;figure data-code=&quot;0&quot;&gt;" in html


def test_bleach_takes_what_the_first_look_does_not_know() -> None:
    assert not markup.harmless('<p onclick="x">a</p>')
    assert not markup.harmless('<a href="javascript:1">a</a>')
    assert not markup.harmless("<blink>a</blink>")
    assert markup.cleaned('<p onclick="x">a</p><script>b</script>') == "<p>a</p>b"
    assert markup.cleaned('<a href="javascript:1">a</a>') == "<a>a</a>"


MARKDOWN = st.text(
    st.one_of(st.sampled_from(list("*_`~[]()<>!#|:-+.&\\\"'= \n\t^{}0a")), st.characters(exclude_categories=["Cs"])),
    max_size=400,
)


@given(MARKDOWN)
def test_any_text_becomes_only_what_we_write_ourselves(text: str) -> None:
    raw = markup._parser().render(text.replace("\0", ""), {"figures": []})
    assert markup.harmless(raw), raw
    assert not Seen(raw).tags & ACTING


@given(MARKDOWN)
def test_words_are_never_lost_to_markup(text: str) -> None:
    assert "wordsthatstay" in markup.render(f"{text}\n\nwordsthatstay")


def test_a_slow_lexer_is_given_up() -> None:
    start = time.thread_time()
    html = markup.highlighted("a \n" * 6000, "csharp")
    assert time.thread_time() - start < 2
    assert html.count("a") == 6000


def test_a_text_beyond_the_limit_is_shown_as_written() -> None:
    html = markup.render("# big\n" + "<b>" * markup.LIMIT)
    assert html.startswith('<pre class="text"')
    assert "&lt;b&gt;" in html
