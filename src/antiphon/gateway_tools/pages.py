"""A web page as a model reads it: its title, its text in lines, its links. Pure.

What is not said to a reader (scripts, styles, navigation marked as hidden) is left out; headings, lists and table rows keep a line of their own.
Not here: fetching (`fetch`), which lines are shown (`web_search`).
"""

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import urljoin

_SILENT = frozenset({"script", "style", "noscript", "template", "svg", "iframe", "object", "canvas", "select", "button", "form"})
_BLOCKS = frozenset(
    {
        "address", "article", "aside", "blockquote", "br", "dd", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "h1", "h2",
        "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "nav", "ol", "p", "pre", "section", "table", "tbody", "tr", "ul",
    }
)  # fmt: skip
_VOID = frozenset({"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"})
_MARKS = {"h1": "# ", "h2": "## ", "h3": "### ", "h4": "#### ", "h5": "##### ", "h6": "###### ", "li": "- "}
_BLANKS = re.compile(r"[ \t\r\f\v\u00a0]+")
LINKS = 200
"""How many links of a page are kept."""


@dataclass(frozen=True, slots=True)
class Page:
    """What a page says."""

    title: str
    lines: tuple[str, ...]
    links: tuple[tuple[str, str], ...] = ()
    """Words and where they lead."""


def read(body: bytes, type: str, charset: str, url: str) -> Page:
    """A page out of what was fetched: HTML, or text as it is."""
    text = _decoded(body, charset)
    if "html" not in type and not text.lstrip()[:15].lower().startswith(("<!doctype html", "<html")):
        return Page("", tuple(line.rstrip() for line in text.splitlines()))
    reader = _Reader(url)
    reader.feed(text)
    reader.close()
    return reader.page()


def _decoded(body: bytes, charset: str) -> str:
    declared = re.search(rb"<meta[^>]{0,200}charset=[\"']?([A-Za-z0-9_-]{2,40})", body[:2048])
    for name in (declared[1].decode() if declared else charset, charset, "utf-8"):
        try:
            return body.decode(name)
        except (LookupError, UnicodeDecodeError):
            continue
    return body.decode("utf-8", "replace")


@dataclass
class _Link:
    place: str
    words: list[str] = field(default_factory=list[str])


class _Reader(HTMLParser):
    def __init__(self, url: str) -> None:
        super().__init__(convert_charrefs=True)
        self._url = url
        self._silent = 0
        self._in_title = False
        self._preformatted = 0
        self._title: list[str] = []
        self._line: list[str] = []
        self._lines: list[str] = []
        self._links: list[tuple[str, str]] = []
        self._link: _Link | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag in _SILENT or (tag not in _VOID and self._silent):
            self._silent += 1
            return
        if tag == "base" and given.get("href"):
            self._url = urljoin(self._url, given["href"] or "")
        self._in_title = tag == "title" or self._in_title
        self._preformatted += tag == "pre"
        if tag in _BLOCKS:
            self._break()
            self._line.append(_MARKS.get(tag, ""))
        elif tag in ("td", "th"):
            self._line.append(" | " if "".join(self._line).strip() else "")
        elif tag == "a" and given.get("href"):
            self._link = _Link(given["href"] or "")
        elif tag == "img" and given.get("alt"):
            self._say(f"[image: {given['alt']}]")

    def handle_endtag(self, tag: str) -> None:
        if self._silent:
            self._silent -= tag not in _VOID
            return
        if tag == "title":
            self._in_title = False
        if tag in _BLOCKS:
            self._break()
        elif tag == "a" and self._link is not None:
            self._end_link(self._link)
        if tag == "pre" and self._preformatted:
            self._preformatted -= 1

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self._title.append(data)
        elif not self._silent:
            self._say(data)

    def page(self) -> Page:
        """All of it."""
        self._break()
        return Page(_tidy("".join(self._title)), tuple(self._lines), tuple(self._links))

    def _say(self, words: str) -> None:
        if self._link is not None:
            self._link.words.append(words)
        if self._preformatted:
            first, *more = words.split("\n")
            self._line.append(first)
            for line in more:
                self._break()
                self._line.append(line)
        else:
            self._line.append(words)

    def _end_link(self, link: _Link) -> None:
        self._link = None
        try:
            place = urljoin(self._url, link.place)
        except ValueError:
            return
        words = _tidy("".join(link.words))
        if words and place.startswith(("http://", "https://")) and len(self._links) < LINKS:
            self._links.append((words, place))

    def _break(self) -> None:
        whole = "".join(self._line)
        line = whole.rstrip() if self._preformatted else _tidy(whole)
        if line and line not in _MARKS.values() and line.strip() not in ("-", "#", "|"):
            self._lines.append(line)
        self._line = []


def _tidy(words: str) -> str:
    return _BLANKS.sub(" ", words.replace("\n", " ")).strip()
