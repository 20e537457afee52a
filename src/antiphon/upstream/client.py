"""HTTP to one model server. The only file that knows aiohttp.

Every way in which speaking can fail becomes an `UpstreamError` in the client's terms. Leaving the `async with` of a post closes the upstream's
connection: that is how a client that went away stops its generation. Not here: what is sent, what an answer means.
"""

import asyncio
import io
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

import aiohttp

from antiphon import __version__
from antiphon.protocol import failures
from antiphon.protocol.errors import UpstreamError
from antiphon.upstream.gathered_reads import gathered

WHOLE_LIMIT = 256 * 1024 * 1024
"""The most bytes of an answer that is not a stream."""
AT_ONCE = 256 * 1024
"""A larger body is sent in pieces, so that other requests have their turn."""
SHORTEST_KEY = 8
"""A shorter one may be a word like any other."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How long to wait: for a connection, and for the next byte."""

    connect: float = 10.0
    idle: float = 900.0


FINISH_SECONDS = 0.5


class Answer:
    """An answer under way: status and headers are here, the body is to be read."""

    def __init__(self, response: aiohttp.ClientResponse, told: "_Told", key: bytes = b"") -> None:
        self._response = response
        self._told = told
        self._key = key
        self.status = response.status
        self.headers = {name.lower(): value.encode("latin-1", "replace").decode("latin-1") for name, value in response.headers.items()}

    @property
    def is_stream(self) -> bool:
        """Whether the body is a stream of events."""
        return self._response.content_type != "application/json"

    async def some(self) -> bytes:
        """The next bytes, as they arrive; empty at the end."""
        with self._told:
            return await self._response.content.readany()

    @property
    def is_over(self) -> bool:
        """Whether the body has come to its end."""
        return self._response.content.at_eof()

    async def finish(self) -> None:
        """Waits a little for the end of a body that has said all it had to say, so that its connection can serve again."""
        try:
            async with asyncio.timeout(FINISH_SECONDS):
                while not self.is_over:
                    await self.some()
        except (TimeoutError, UpstreamError):
            return

    async def all(self) -> bytes:
        """The whole body."""
        pieces: list[bytes] = []
        size = 0
        while piece := await self.some():
            pieces.append(piece)
            size += len(piece)
            if size > WHOLE_LIMIT:
                raise UpstreamError(failures.ended_early(f"the answer of the {self._told.place} is larger than {WHOLE_LIMIT} bytes"))
        return b"".join(pieces)

    async def refusal(self) -> bytes:
        """The body of an answer that is no success, without the key that some servers repeat in it."""
        body = await self.all()
        return body.replace(self._key, b"[key]") if len(self._key) >= SHORTEST_KEY else body


class Client:
    """One upstream's connections. `base` is its URL up to and with `/v1`."""

    def __init__(self, base: str, *, key: str = "", headers: Mapping[str, str] | None = None, limits: Limits | None = None) -> None:
        self.base = base
        self.place = f"model server at {urlsplit(base).netloc.rpartition('@')[2]}"
        self._told = _Told(self.place)
        self._key = key.encode()
        limits = limits or Limits()
        own = {"User-Agent": f"antiphon/{__version__}", **(headers or {})}
        if key:
            own["Authorization"] = f"Bearer {key}"
        self._session = aiohttp.ClientSession(
            headers=own,
            connector=aiohttp.TCPConnector(limit=0),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=limits.connect, sock_read=limits.idle),
            read_bufsize=256 * 1024,
            max_line_size=64 * 1024,
            max_field_size=64 * 1024,
        )

    async def close(self) -> None:
        """Ends all connections."""
        await self._session.close()

    @asynccontextmanager
    async def post(self, path: str, body: bytes, headers: Mapping[str, str]) -> AsyncGenerator[Answer]:
        """Sends a request; the answer may be read until the block ends, whichever way it ends."""
        data = body if len(body) <= AT_ONCE else io.BytesIO(body)
        with self._told:
            response = await self._session.post(f"{self.base}{path}", data=data, headers=headers, allow_redirects=False)
        gathered(response.content)
        try:
            with _ending_with_its_connection(response):
                yield Answer(response, self._told, self._key)
        finally:
            response.close()

    async def get(self, url: str, *, seconds: float) -> tuple[int, bytes]:
        """A small answer, within a time."""
        with self._told:
            async with asyncio.timeout(seconds), self._session.get(url, allow_redirects=False) as response:
                return response.status, await Answer(response, self._told).all()


@contextmanager
def _ending_with_its_connection(response: aiohttp.ClientResponse) -> Generator[None]:
    """A reader that waits is told when the connection is gone: after a broken chunk aiohttp 3.14 would let it wait for ever."""
    protocol = response.connection.protocol if response.connection is not None else None
    if protocol is None:  # the body is here already
        yield
        return

    def end(_: object = None) -> None:
        if not response.content.is_eof() and response.content.exception() is None:
            response.content.set_exception(aiohttp.ClientPayloadError())

    closed = protocol.closed
    if closed is None:
        end()
        yield
        return
    closed.remove_done_callback(_seen)
    closed.add_done_callback(_seen)
    closed.add_done_callback(end)
    try:
        yield
    finally:
        closed.remove_done_callback(end)


def _seen(closed: "asyncio.Future[None]") -> None:
    """A connection that ends while nobody uses it is nothing to log."""
    if not closed.cancelled():
        closed.exception()


_BROKEN: dict[type[BaseException], str] = {
    aiohttp.ClientPayloadError: "the body ended before it was whole",
    aiohttp.ServerDisconnectedError: "the connection was closed without an answer",
    aiohttp.ClientResponseError: "the answer is not HTTP",
}


class _Told:
    """Turns what aiohttp raises into an `UpstreamError` that names the server."""

    def __init__(self, place: str) -> None:
        self.place = place

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, TimeoutError):
            raise UpstreamError(failures.timed_out(f"the {self.place} did not answer in time")) from None
        if isinstance(error, aiohttp.ClientConnectorError):
            raise UpstreamError(failures.unreachable(f"the {self.place} cannot be reached: {error.strerror or error}")) from None
        if isinstance(error, aiohttp.ClientError | OSError):
            raise UpstreamError(
                failures.ended_early(f"the {self.place} broke off its answer ({_BROKEN.get(type(error), 'connection lost')})")
            ) from None
