"""Pages that models open: fetched, read, kept for a while, and shown in pieces.

What was read is kept by its URL for some minutes, so that a model which pages on or looks for words does not fetch again. Not here: searching.
"""

import re
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from antiphon.gateway_tools import pages
from antiphon.gateway_tools.fetch import Fetcher, FetchFailed
from antiphon.gateway_tools.pages import Page

TYPES = ("text/", "application/xhtml", "application/xml", "application/json", "application/rss", "application/atom")
SHOWN = 12_000
"""How many characters of a page are shown at once."""
KEPT, KEPT_SECONDS = 64, 600.0
MATCHES = 12
AROUND = 2
"""How many lines are shown around a match."""


@dataclass(frozen=True, slots=True)
class Read:
    """A page and where it came from in the end."""

    url: str
    page: Page


class WebPages:
    """All pages that were read lately. `clock` counts seconds."""

    def __init__(self, fetcher: Fetcher, *, clock: Callable[[], float]) -> None:
        self._fetcher = fetcher
        self._clock = clock
        self._kept: OrderedDict[str, tuple[float, Read]] = OrderedDict()

    async def read(self, url: str) -> Read:
        """A page. Raises FetchFailed."""
        known = self._kept.get(url)
        if known is not None and self._clock() - known[0] < KEPT_SECONDS:
            return known[1]
        fetched = await self._fetcher.get(url, types=TYPES)
        if fetched.status >= 400:
            raise FetchFailed(f"the page answered {fetched.status}")
        read = Read(fetched.url, pages.read(fetched.body, fetched.type, fetched.charset, fetched.url))
        self._kept[url] = (self._clock(), read)
        self._kept.move_to_end(url)
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return read


def shown(read: Read, line: int) -> str:
    """A page from a line on, as far as there is room."""
    lines = read.page.lines
    start = min(max(line - 1, 0), max(len(lines) - 1, 0))
    kept, size = [f"{read.page.title}\n{read.url}" if read.page.title else read.url], 0
    at = start
    while at < len(lines) and size + len(lines[at]) <= SHOWN:
        kept.append(f"L{at + 1}: {lines[at]}")
        size += len(lines[at])
        at += 1
    if at == start and at < len(lines):
        kept.append(f"L{at + 1}: {lines[at][:SHOWN]} …")
        at += 1
    more = (
        f"[{len(lines)} lines in all; open it again with line={at + 1} for more]" if at < len(lines) else f"[{len(lines)} lines, all shown]"
    )
    links = [f"- {words}: {place}" for words, place in read.page.links[:30]] if start == 0 else []
    return "\n".join([*kept, more, *(["Links:", *links] if links else [])])


def matches(read: Read, pattern: str) -> str:
    """The lines of a page around words, whatever their case."""
    found = re.compile(re.escape(pattern), re.IGNORECASE)
    at = [number for number, line in enumerate(read.page.lines) if found.search(line)]
    if not at:
        return f"{read.url}\nNothing on this page matches {pattern!r}."
    pieces = [
        "\n".join(
            f"L{near + 1}: {read.page.lines[near][:600]}"
            for near in range(max(number - AROUND, 0), min(number + AROUND + 1, len(read.page.lines)))
        )
        for number in at[:MATCHES]
    ]
    return "\n---\n".join([f"{read.url}\n{len(at)} lines match {pattern!r}.", *pieces])


def is_of(url: str, domains: tuple[str, ...]) -> bool:
    """Whether a page is of one of these domains."""
    host = (urlsplit(url).hostname or "").lower()
    return any(host == domain.lower() or host.endswith(f".{domain.lower()}") for domain in domains)
