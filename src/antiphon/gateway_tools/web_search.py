"""`web_search`: the web searched, pages opened and looked through, for models whose server cannot.

The model is given three functions; the client sees `web_search_call` items. Which service is asked is configured (`search_providers`). With
`external_web_access` false only the service is asked and no page is opened, as OpenAI's cached search does.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from antiphon.gateway_tools import search_providers, web_pages
from antiphon.gateway_tools.fetch import Fetcher, FetchFailed
from antiphon.gateway_tools.search_providers import SIZES, Hit, Provider, ProviderFailed, Query
from antiphon.gateway_tools.web_pages import WebPages
from antiphon.loop.decision import Call
from antiphon.loop.tools import Asker, Begun, Progress, Ran
from antiphon.protocol import json
from antiphon.protocol.document import Document
from antiphon.protocol.errors import InvalidRequest
from antiphon.tools.hosting import Function, Offer

KINDS = frozenset({"web_search", "web_search_preview", "web_search_2025_08_26", "web_search_preview_2025_03_11"})
SOURCES = "web_search_call.action.sources"
MOST_DOMAINS = 100
SEARCH, OPEN, FIND = "web_search", "open_page", "find_in_page"
_STARTED: Progress = (("response.web_search_call.in_progress", {}), ("response.web_search_call.searching", {}))
_COMPLETED: Progress = (("response.web_search_call.completed", {}),)
_CITE = "Cite what you use as Markdown links: [title](URL)."


def _schema(required: Sequence[str], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


_TEXT = {"type": "string"}
FUNCTIONS = {
    SEARCH: Function(
        SEARCH,
        f"Searches the web. Returns titles, addresses and excerpts of pages. {_CITE}",
        _schema(["query"], query={**_TEXT, "description": "What to search for, in a few words."}),
    ),
    OPEN: Function(
        OPEN,
        "Opens a web page and returns its text in numbered lines.",
        _schema(
            ["url"],
            url={**_TEXT, "description": "The page's whole address."},
            line={"type": "integer", "description": "The line to begin at; 1 if not given."},
        ),
    ),
    FIND: Function(
        FIND,
        "Finds words on a web page and returns the lines around them.",
        _schema(["url", "pattern"], url=_TEXT, pattern={**_TEXT, "description": "The words to look for."}),
    ),
}


@dataclass(frozen=True, slots=True)
class Service:
    """The search service of this gateway: its row, its address, its key."""

    provider: Provider
    url: str
    key: str = field(default="", repr=False)


class WebSearch:
    """The kind of tool."""

    kinds = KINDS

    def __init__(self, service: Service, fetcher: Fetcher, pages: WebPages) -> None:
        self._service, self._fetcher, self._pages = service, fetcher, pages

    async def open(self, declared: Document, number: int, asker: Asker) -> "OpenWebSearch":
        """As a request declares it. Raises InvalidRequest."""
        return OpenWebSearch(self, _settings(declared, f"tools[{number}]"), number, shows_sources=SOURCES in asker.include)

    async def lookup(self, settings: Document) -> "Lookup":
        """A search that somebody else drives. Raises InvalidRequest."""
        return Lookup(OpenWebSearch(self, _settings(settings, "settings"), 0, shows_sources=False))

    async def close(self) -> None:
        """Ends all connections."""
        await self._fetcher.close()

    async def search(self, query: Query) -> list[Hit]:
        """What the service finds. Raises ProviderFailed."""
        service = self._service
        asked = service.provider.ask(service.url, service.key, query)
        try:
            answer = await self._fetcher.ask(asked.method, asked.url, asked.headers, asked.body)
        except FetchFailed as failed:
            raise ProviderFailed(f"the search service {service.provider.name} cannot be used: {failed}") from None
        return search_providers.hits(service.provider, answer.status, answer.body, query)

    async def page(self, url: str) -> web_pages.Read:
        """A page. Raises FetchFailed."""
        return await self._pages.read(url)


@dataclass(frozen=True, slots=True)
class Settings:
    """What a request says of its searches."""

    size: str = "medium"
    domains: tuple[str, ...] = ()
    blocked: tuple[str, ...] = ()
    location: Mapping[str, str] = field(default_factory=dict[str, str])
    opens_pages: bool = True


def _settings(declared: Document, where: str) -> Settings:
    size = declared.text("search_context_size") or "medium"
    if size not in SIZES:
        raise InvalidRequest(f"'{where}.search_context_size': expected low, medium or high.", param=f"{where}.search_context_size")
    filters = declared.document("filters") or Document(b"{}")
    location = declared.document("user_location") or Document(b"{}")
    given = location.document("approximate") or location
    return Settings(
        size=size,
        domains=_domains(filters, "allowed_domains", where),
        blocked=_domains(filters, "blocked_domains", where),
        location={name: text for name in ("country", "region", "city", "timezone") if (text := given.text(name))},
        opens_pages=declared.get("external_web_access") is not False,
    )


def _domains(filters: Document, name: str, where: str) -> tuple[str, ...]:
    path = f"{where}.filters.{name}"
    given = filters.elements(name)
    if len(given) > MOST_DOMAINS or not all(json.is_text(one) for one in given):
        raise InvalidRequest(f"'{path}': expected at most {MOST_DOMAINS} domain names.", param=path)
    return tuple(json.text(one).strip().lower().removeprefix("https://").removeprefix("http://").strip("/") for one in given)


class OpenWebSearch:
    """The tool of one request."""

    parallel = True
    shown: Sequence[tuple[Begun, Ran]] = ()

    def __init__(self, tool: WebSearch, settings: Settings, number: int, *, shows_sources: bool) -> None:
        self._tool, self._settings, self._shows_sources = tool, settings, shows_sources
        names = (SEARCH, OPEN, FIND) if settings.opens_pages else (SEARCH,)
        self.offer = Offer(number, "web_search", [FUNCTIONS[name] for name in names])

    def begin(self, call: Call, id: str) -> Begun:
        """The call's item, in progress."""
        item = {"id": id, "type": "web_search_call", "status": "in_progress", "action": _action(call)}
        return Begun(Document.of(item), _STARTED)

    async def run(self, call: Call, id: str) -> Ran:
        """Searches, opens or looks; what goes wrong is told to the model."""
        try:
            output, hits = await self.result(call.name, _arguments(call))
        except (ProviderFailed, FetchFailed) as failed:
            return Ran(self._item(call, id, "failed"), f"Failed: {failed}.", _COMPLETED)
        item = self._item(call, id, "completed", hits)
        return Ran(item, output, _COMPLETED, {hit.url: hit.title or hit.url for hit in hits})

    async def result(self, name: str, given: Mapping[str, Any]) -> tuple[str, list[Hit]]:
        """What a function gives, and the pages it found. Raises ProviderFailed or FetchFailed."""
        if name == SEARCH:
            return await self._search(str(given.get("query") or "").strip(), given.get("domains") or ())
        url = str(given.get("url") or "")
        self._check(url)
        read = await self._tool.page(url)
        hit = Hit(read.page.title or read.url, url)
        if name == OPEN:
            line = given.get("line")
            return web_pages.shown(read, line if isinstance(line, int) else 1), [hit]
        return web_pages.matches(read, str(given.get("pattern") or "")), [hit]

    async def links(self, url: str) -> list[str]:
        """Where a page's links lead. Raises FetchFailed."""
        self._check(url)
        return [place for _, place in (await self._tool.page(url)).page.links]

    async def _search(self, words: str, domains: Sequence[str]) -> tuple[str, list[Hit]]:
        if not words:
            return "Failed: `query` is empty.", []
        settings = self._settings
        hits = await self._tool.search(Query(words, settings.size, domains or settings.domains, settings.blocked, settings.location))
        return results(words, hits), hits

    def _check(self, url: str) -> None:
        """Whether the request's filters let a page be opened. Raises FetchFailed."""
        settings = self._settings
        if not settings.opens_pages:
            raise FetchFailed("pages may not be opened: external_web_access is off")
        if settings.domains and not web_pages.is_of(url, settings.domains):
            raise FetchFailed("the page is not of the domains that may be searched")
        if web_pages.is_of(url, settings.blocked):
            raise FetchFailed("the page is of a domain that may not be searched")

    def _item(self, call: Call, id: str, status: str, hits: Sequence[Hit] = ()) -> Document:
        action = _action(call)
        if self._shows_sources and action["type"] == "search":
            action["sources"] = [{"type": "url", "url": hit.url} for hit in hits]
        return Document.of({"id": id, "type": "web_search_call", "status": status, "action": action})


class Lookup:
    """A search driven by commands."""

    def __init__(self, tool: OpenWebSearch) -> None:
        self._tool = tool

    async def searched(self, command: Document) -> str:
        """`q`, `domains`."""
        domains = [json.text(one) for one in command.elements("domains") if json.is_text(one)]
        return await self._said(SEARCH, query=command.text("q") or "", domains=domains)

    async def opened(self, command: Document) -> str:
        """`ref_id`, `lineno`."""
        return await self._said(OPEN, url=command.text("ref_id") or "", line=command.get("lineno"))

    async def clicked(self, command: Document) -> str:
        """`ref_id`, `id`: its links are counted from 0."""
        try:
            links = await self._tool.links(command.text("ref_id") or "")
        except FetchFailed as failed:
            return f"Failed: {failed}."
        number = command.get("id")
        if not isinstance(number, int) or not 0 <= number < len(links):
            return f"Failed: the page has {len(links)} links."
        return await self._said(OPEN, url=links[number])

    async def found(self, command: Document) -> str:
        """`ref_id`, `pattern`."""
        return await self._said(FIND, url=command.text("ref_id") or "", pattern=command.text("pattern") or "")

    async def _said(self, name: str, **given: Any) -> str:
        try:
            return (await self._tool.result(name, given))[0]
        except (ProviderFailed, FetchFailed) as failed:
            return f"Failed: {failed}."


def results(words: str, hits: Sequence[Hit]) -> str:
    """Results as a model reads them."""
    if not hits:
        return f"No results for {words!r}."
    told = "\n\n".join(f"[{number}] {hit.title}\n{hit.url}\n{hit.snippet}".rstrip() for number, hit in enumerate(hits, 1))
    return f"{told}\n\n{_CITE}"


def _arguments(call: Call) -> dict[str, Any]:
    try:
        return json.an_object(json.lenient(call.arguments or "{}"))
    except ValueError:
        return {"query": call.arguments, "url": call.arguments}


def _action(call: Call) -> dict[str, Any]:
    """What was done, in OpenAI's words."""
    given = _arguments(call)
    if call.name == SEARCH:
        words = str(given.get("query") or "")
        return {"type": "search", "query": words, "queries": [words]}
    if call.name == OPEN:
        return {"type": "open_page", "url": str(given.get("url") or "")}
    return {"type": "find_in_page", "url": str(given.get("url") or ""), "pattern": str(given.get("pattern") or "")}
