"""Pages as a model reads them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.gateway_tools import pages, web_pages
from antiphon.gateway_tools.pages import Page
from antiphon.gateway_tools.web_pages import Read

pytestmark = pytest.mark.requirement("loop.pages")

HTML = """<!doctype html><html><head><title>A  page</title><base href="https://b.org/dir/"><style>p{color:red}</style></head>
<body><script>var x = "<p>no</p>";</script><h1>Head</h1><p>One <b>bold</b>
word.<br>Two</p><ul><li>first<li>second</ul><table><tr><td>a</td><td>b</td></tr></table>
<pre>  code
    more</pre><a href="x?y=1">a link</a> <a href="javascript:x()">bad</a><img src="i" alt="a cat"><noscript>hidden</noscript></body>"""


def test_a_page_is_lines() -> None:
    page = pages.read(HTML.encode(), "text/html", "utf-8", "https://a.org/")
    assert page.title == "A page"
    assert page.lines == (
        "# Head", "One bold word.", "Two", "- first", "- second", "a | b", "  code", "    more", "a link bad[image: a cat]",
    )  # fmt: skip
    assert page.links == (("a link", "https://b.org/dir/x?y=1"),)


@pytest.mark.parametrize(
    ("body", "type", "charset", "line"),
    [
        ("schön".encode("latin-1"), "text/plain", "latin-1", "schön"),
        ("schön".encode(), "text/plain", "no-such-charset", "schön"),
        (b"sch\xf6n", "text/plain", "utf-8", "sch\ufffdn"),
        ('<meta charset="windows-1252"><p>schön €'.encode("cp1252"), "text/html", "utf-8", "schön €"),
        (b"<html><p>told as text</p>", "text/plain", "utf-8", "told as text"),
        (b'{"a": 1}', "application/json", "utf-8", '{"a": 1}'),
    ],
)
def test_bytes_are_read_in_their_charset(body: bytes, type: str, charset: str, line: str) -> None:
    assert pages.read(body, type, charset, "https://a.org/").lines == (line,)


@given(st.text(alphabet="<>/apdivscript&;=\"' \nx!-[]", max_size=300))
def test_no_markup_breaks_it(html: str) -> None:
    pages.read(html.encode(), "text/html", "utf-8", "https://a.org/")


LONG = Read("https://a.org/", Page("T", tuple(f"line {number} {'x' * 100}" for number in range(1, 301)), (("w", "https://c.org/"),)))


def test_a_long_page_is_shown_in_pieces() -> None:
    first = web_pages.shown(LONG, 1)
    assert first.startswith("T\nhttps://a.org/\nL1: line 1 ")
    assert "open it again with line=" in first
    assert "- w: https://c.org/" in first
    at = int(first.rpartition("line=")[2].partition(" ")[0])
    assert f"L{at}: line {at} " in web_pages.shown(LONG, at)
    assert f"L{at}:" not in first
    assert "300 lines, all shown" in web_pages.shown(LONG, 290)
    assert "L300: " in web_pages.shown(LONG, 10_000)
    assert web_pages.shown(Read("u", Page("", ())), 1) == "u\n[0 lines, all shown]"
    assert "…" in web_pages.shown(Read("u", Page("", ("y" * 50_000,))), 1)


def test_words_are_found_with_the_lines_around_them() -> None:
    found = web_pages.matches(LONG, "LINE 7 ")
    assert "1 lines match" in found
    assert "L5: " in found
    assert "L9: " in found
    assert "L10: " not in found
    assert "Nothing on this page matches" in web_pages.matches(LONG, "(")
