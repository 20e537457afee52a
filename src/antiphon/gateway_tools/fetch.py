"""Fetches what a URL from outside names: pages, images, files. Guarded, and limited in size, time and redirects.

The addresses that a name resolves to are judged, and those very addresses are connected to, so that a name which leads elsewhere at its second
look gains nothing. Each redirect is judged like the first URL. No proxy, cookie or credential of the environment is used.

Not here: which addresses are public (`addresses`), what a page says.
"""

import asyncio
import socket
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urljoin, urlsplit

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult

from antiphon import __version__
from antiphon.gateway_tools.addresses import NotAllowed, checked, is_public

REDIRECTS = frozenset({301, 302, 303, 307, 308})


class FetchFailed(Exception):
    """Nothing came of it; the message is fit for a model and a client."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one fetch may cost."""

    seconds: float = 20.0
    size: int = 10 * 1024 * 1024
    redirects: int = 5


@dataclass(frozen=True, slots=True)
class Fetched:
    """What came: from where in the end, of which type, and the bytes."""

    url: str
    status: int
    type: str
    charset: str
    body: bytes


@dataclass(frozen=True, slots=True)
class _Wanted:
    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes = b""
    types: Collection[str] = ()


class Fetcher:
    """Fetches over connections of its own. `allowed`: beginnings of URLs that the configuration names and that need no judging."""

    def __init__(self, limits: Limits | None = None, *, allowed: Collection[str] = (), resolver: AbstractResolver | None = None) -> None:
        self._limits = limits or Limits()
        self._allowed = tuple(allowed)
        self._guarded = _session(PublicOnly(resolver or aiohttp.ThreadedResolver()))
        self._trusted = _session(resolver or aiohttp.ThreadedResolver())

    async def close(self) -> None:
        """Ends all connections."""
        await self._guarded.close()
        await self._trusted.close()

    async def get(self, url: str, *, types: Collection[str] = (), headers: Mapping[str, str] | None = None) -> Fetched:
        """What the URL names. `types`: beginnings of the content types that are of use; none: any. Raises FetchFailed."""
        return await self._follow(_Wanted("GET", url, headers or {}, types=types))

    async def ask(self, method: str, url: str, headers: Mapping[str, str], body: bytes) -> Fetched:
        """What a service answers to a request of our own. Raises FetchFailed."""
        return await self._follow(_Wanted(method, url, headers, body))

    async def _follow(self, wanted: "_Wanted") -> Fetched:
        limits = self._limits
        try:
            async with asyncio.timeout(limits.seconds):
                for _ in range(limits.redirects + 1):
                    found = await self._hop(wanted)
                    if isinstance(found, Fetched):
                        return found
                    wanted = replace(wanted, url=found)
        except TimeoutError:
            raise FetchFailed(f"no answer within {limits.seconds:g} seconds") from None
        except NotAllowed as why:
            raise FetchFailed(f"not allowed: {why}") from None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise FetchFailed(_words(error)) from None
        raise FetchFailed(f"more than {limits.redirects} redirects")

    async def _hop(self, wanted: "_Wanted") -> Fetched | str:
        """One request: what came, or where it leads."""
        url, types = wanted.url, wanted.types
        is_trusted = self._is_allowed(url)
        if not is_trusted:
            checked(url)
        session = self._trusted if is_trusted else self._guarded
        async with session.request(wanted.method, url, headers=wanted.headers, data=wanted.body or None, allow_redirects=False) as response:
            _check_peer(response, is_trusted=is_trusted)
            place = response.headers.get("location")
            if response.status in REDIRECTS and place and wanted.method == "GET":
                return urljoin(url, place)
            if types and not response.content_type.startswith(tuple(types)):
                raise FetchFailed(f"its type is {response.content_type}, which is of no use here")
            body = await self._body(response)
            return Fetched(str(response.url), response.status, response.content_type, response.charset or "utf-8", body)

    def _is_allowed(self, url: str) -> bool:
        """Whether the configuration names this place: same scheme, host and port, and a path below."""
        return any(_is_below(url, prefix) for prefix in self._allowed)

    async def _body(self, response: aiohttp.ClientResponse) -> bytes:
        pieces: list[bytes] = []
        size = 0
        async for piece in response.content.iter_chunked(64 * 1024):
            size += len(piece)
            if size > self._limits.size:
                raise FetchFailed(f"larger than {self._limits.size} bytes")
            pieces.append(piece)
        return b"".join(pieces)


class PublicOnly(AbstractResolver):
    """A resolver in front of another that tells of public addresses only."""

    def __init__(self, resolver: AbstractResolver) -> None:
        self._resolver = resolver

    async def resolve(self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET) -> list[ResolveResult]:
        """The public ones among a name's addresses. Raises NotAllowed where there is none."""
        found = await self._resolver.resolve(host, port, family)
        public = [one for one in found if is_public(one["host"])]
        if found and not public:
            raise NotAllowed("a name that leads to an address which is not public")
        return public

    async def close(self) -> None:
        """Ends the other."""
        await self._resolver.close()


def _session(resolver: AbstractResolver) -> aiohttp.ClientSession:
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(resolver=resolver, use_dns_cache=False, force_close=True, limit=32),
        cookie_jar=aiohttp.DummyCookieJar(),
        headers={"User-Agent": f"antiphon/{__version__}", "Accept-Encoding": "gzip, deflate"},
        trust_env=False,
        max_line_size=64 * 1024,
        max_field_size=64 * 1024,
    )


def _check_peer(response: aiohttp.ClientResponse, *, is_trusted: bool) -> None:
    """What was really connected to: the last word, whatever led there."""
    transport = response.connection.transport if response.connection is not None else None
    peer: Any = transport.get_extra_info("peername") if transport is not None else None
    if not is_trusted and peer is not None and not is_public(str(peer[0])):
        raise NotAllowed("an address that is not public")


def _is_below(url: str, prefix: str) -> bool:
    try:
        there, known = urlsplit(url), urlsplit(prefix)
        same = (there.scheme, there.hostname, there.port, there.username) == (known.scheme, known.hostname, known.port, known.username)
    except ValueError:
        return False
    folder = known.path if known.path.endswith("/") else f"{known.path}/"
    return same and (there.path == known.path or there.path.startswith(folder) or folder == "/") and ".." not in there.path.split("/")


_WORDS: dict[type[BaseException], Callable[[BaseException], str]] = {
    aiohttp.ClientConnectorDNSError: lambda _: "its name is not known",
    aiohttp.ClientConnectorError: lambda _: "it cannot be reached",
    aiohttp.ClientPayloadError: lambda _: "it broke off its answer",
    aiohttp.ServerDisconnectedError: lambda _: "it broke off its answer",
}


def _words(error: BaseException) -> str:
    cause = error.__cause__ or error.__context__
    if isinstance(cause, NotAllowed):
        return f"not allowed: {cause}"
    return next((words(error) for kind, words in _WORDS.items() if isinstance(error, kind)), "it does not answer as HTTP says")
