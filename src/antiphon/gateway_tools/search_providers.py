"""Who is asked when the web is searched: one row a provider, each a request made and an answer read. Pure.

A provider that cannot be used as it is set up says what to do about it. Not here: asking (`web_search`), pages.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from antiphon.gateway_tools.pages import read as read_page
from antiphon.protocol import json

SIZES = {"low": 5, "medium": 8, "high": 15}
"""`search_context_size` → how many results."""
SNIPPET = {"low": 240, "medium": 500, "high": 1200}
"""`search_context_size` → how much of each."""


class ProviderFailed(Exception):
    """The search cannot be made; the message is fit for a model and says what a person can do."""


@dataclass(frozen=True, slots=True)
class Query:
    """What is searched for."""

    words: str
    size: str = "medium"
    domains: Sequence[str] = ()
    blocked: Sequence[str] = ()
    location: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def spelled(self) -> str:
        """The words with the domains that are wanted and not, in the way every engine reads."""
        wanted = " OR ".join(f"site:{domain}" for domain in self.domains)
        return " ".join([self.words, *([f"({wanted})"] if wanted else []), *(f"-site:{domain}" for domain in self.blocked)])


@dataclass(frozen=True, slots=True)
class Hit:
    """One result."""

    title: str
    url: str
    snippet: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request to a provider."""

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Provider:
    """One row. `ask` makes the request (base URL, key, query); `read` reads an answer of status 200; `refused` words another."""

    name: str
    url: str
    needs_key: bool
    ask: Callable[[str, str, Query], Asked]
    read: Callable[[bytes], list[Hit]]
    refused: Callable[[int], str | None] | None = None
    note: str = ""


def hits(provider: Provider, status: int, body: bytes, query: Query) -> list[Hit]:
    """The results that an answer holds, as far as the filters let them through. Raises ProviderFailed."""
    why = None if provider.refused is None else provider.refused(status)
    if why is not None:
        raise ProviderFailed(why)
    if status != 200:
        raise ProviderFailed(f"the search service {provider.name} answered {status}")
    try:
        found = provider.read(body)
    except (ValueError, KeyError, TypeError):
        raise ProviderFailed(f"the search service {provider.name} sent what is not a list of results") from None
    fit = [hit for hit in found if hit.url.startswith(("http://", "https://")) and _fits(hit.url, query)]
    limit = SNIPPET.get(query.size, SNIPPET["medium"])
    return [Hit(hit.title.strip()[:300], hit.url, hit.snippet.strip()[:limit]) for hit in fit][: SIZES.get(query.size, SIZES["medium"])]


def _fits(url: str, query: Query) -> bool:
    """Whether a result is of the domains asked for: not every engine keeps to what it was told."""
    try:
        host = (urlsplit(url).hostname or "").lower()
    except ValueError:
        return False
    return (not query.domains or _is_of(host, query.domains)) and not _is_of(host, query.blocked)


def _is_of(host: str, domains: Sequence[str]) -> bool:
    return any(host == domain.lower() or host.endswith(f".{domain.lower()}") for domain in domains)


def _entries(found: Any) -> list[dict[str, Any]]:
    if not isinstance(found, list):
        raise TypeError("no list")
    return [json.an_object(entry) for entry in found]  # pyright: ignore[reportUnknownVariableType]


def _hit(entry: dict[str, Any], *snippets: str) -> Hit:
    words = next((entry[name] for name in snippets if isinstance(entry.get(name), str)), "")
    return Hit(_plain(str(entry.get("title") or "")), str(entry.get("url") or ""), _plain(words))


def _plain(words: str) -> str:
    """Without the marks that engines put around what was found."""
    return re.sub(r"</?(strong|b|em|mark|span)[^>]*>", "", words)


def _get(url: str, headers: Mapping[str, str], **query: str) -> Asked:
    return Asked("GET", f"{url}{'&' if '?' in url else '?'}{urlencode({name: value for name, value in query.items() if value})}", headers)


# SearXNG


def _ask_searxng(url: str, key: str, query: Query) -> Asked:
    base = url.rstrip("/")
    place = base if urlsplit(base).path.endswith("/search") else f"{base}/search"
    headers = {"Accept": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})}
    return _get(place, headers, q=query.spelled, format="json", language=query.location.get("country", "").lower() and "auto")


def _read_searxng(body: bytes) -> list[Hit]:
    return [_hit(entry, "content") for entry in _entries(json.an_object(json.value(json.mend(body)))["results"])]


def _searxng_refused(status: int) -> str | None:
    if status == 403:
        return "this SearXNG forbids the format json: add it to search.formats in its settings.yml"
    return "this SearXNG limits how often it may be asked (its limiter)" if status == 429 else None


# Brave


def _ask_brave(url: str, key: str, query: Query) -> Asked:
    headers = {"Accept": "application/json", "X-Subscription-Token": key}
    count = str(min(20, SIZES.get(query.size, 8) * 2))
    return _get(url, headers, q=query.spelled, count=count, country=query.location.get("country", ""))


def _read_brave(body: bytes) -> list[Hit]:
    web = json.an_object(json.an_object(json.value(json.mend(body))).get("web"))
    return [_hit(entry, "description") for entry in _entries(web.get("results", []))]


def _key_refused(status: int) -> str | None:
    if status in (401, 403, 422):
        return "the search service refuses the key it was given (web_search key_env)"
    return "the search service's limit is reached; try again later" if status in (402, 429, 432, 433) else None


# Tavily


def _ask_tavily(url: str, key: str, query: Query) -> Asked:
    told = {
        "query": query.words,
        "max_results": SIZES.get(query.size, 8),
        "include_domains": list(query.domains),
        "exclude_domains": list(query.blocked),
    }
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {key}"}
    return Asked("POST", url, headers, json.encode(told))


def _read_tavily(body: bytes) -> list[Hit]:
    return [_hit(entry, "content") for entry in _entries(json.an_object(json.value(json.mend(body)))["results"])]


# DuckDuckGo's page for browsers without scripts: nobody promises its form, but it needs no key


def _ask_duckduckgo(url: str, key: str, query: Query) -> Asked:
    return _get(url, {"Accept": "text/html"}, q=query.spelled)


_RESULT = re.compile(r'class="result__a"[^>]*href="([^"]+)"[^>]*>(.*?)</a>(.*?)(?=class="result__a"|\Z)', re.DOTALL)
_RESULT_TEXT = re.compile(r'class="result__snippet"[^>]*>(.*?)</a>', re.DOTALL)


def _read_duckduckgo(body: bytes) -> list[Hit]:
    page = body.decode("utf-8", "replace")
    found: list[Hit] = []
    for place, title, rest in _RESULT.findall(page):
        snippet = _RESULT_TEXT.search(rest)
        found.append(Hit(_words(title), _led_to(place.replace("&amp;", "&")), _words(snippet[1] if snippet else "")))
    if not found and "no-results" not in page and "No results" not in page:
        raise ValueError("no results page")
    return found


def _led_to(place: str) -> str:
    """Where a result leads: the engine counts clicks by a redirect that holds the place."""
    led = parse_qs(urlsplit(place).query).get("uddg")
    return led[0] if led else place


def _words(html: str) -> str:
    return " ".join(read_page(html.encode(), "text/html", "utf-8", "").lines)


PROVIDERS: Mapping[str, Provider] = {
    row.name: row
    for row in (
        Provider("searxng", "", needs_key=False, ask=_ask_searxng, read=_read_searxng, refused=_searxng_refused, note="your own; needs `url`"),
        Provider("brave", "https://api.search.brave.com/res/v1/web/search", needs_key=True, ask=_ask_brave, read=_read_brave, refused=_key_refused),
        Provider("tavily", "https://api.tavily.com/search", needs_key=True, ask=_ask_tavily, read=_read_tavily, refused=_key_refused),
        Provider("duckduckgo", "https://html.duckduckgo.com/html/", needs_key=False, ask=_ask_duckduckgo, read=_read_duckduckgo, note="needs no key"),
    )
}  # fmt: skip
