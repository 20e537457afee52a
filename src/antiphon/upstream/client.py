"""HTTP to one model server. The only file that knows aiohttp.

Every way in which speaking can fail becomes an `UpstreamError` in the client's terms. Leaving the `async with` of a post closes the upstream's
connection: that is how a client that went away stops its generation. Not here: what is sent, what an answer means.
"""

import asyncio
import io
from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import urlsplit

import aiohttp

from antiphon import __version__
from antiphon.protocol import failures
from antiphon.protocol.errors import UpstreamError
from antiphon.protocol.failures import Failure
from antiphon.upstream.access import Access
from antiphon.upstream.gathered_reads import gathered

WHOLE_LIMIT = 256 * 1024 * 1024
"""The most bytes of an answer that is not a stream."""
REFUSAL_LIMIT = 1024 * 1024
"""The most bytes that are read of a refusal: it is shown to somebody."""
REFUSAL_SECONDS = 30.0
AT_ONCE = 256 * 1024
"""A larger body is sent in pieces, so that other requests have their turn."""
SHORTEST_KEY = 8
"""A shorter one may be a word like any other."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How long to wait: for a connection, for the first byte of an answer, for each further one. 0: no limit."""

    connect: float = 10.0
    first_byte: float = 900.0
    idle: float = 900.0


FINISH_SECONDS = 0.5
KEPT_SECONDS = {"http": 4.0, "https": 15.0}
"""How long an idle connection is kept. uvicorn, llama.cpp and Node end theirs after five seconds, and what is sent at that moment is lost."""


class Answer:
    """An answer under way: status and headers are here, the body is to be read."""

    def __init__(self, response: aiohttp.ClientResponse, told: "_Told", key: str = "") -> None:
        self._response = response
        self._told = told
        self._keys = [key.encode()]
        self._first: bytes | None = None
        self.upstream = ""
        """The name that the upstream has in the settings."""
        self.broken = False
        """Whether the upstream broke it off."""
        self.status = response.status
        self.headers = {name.lower(): value.encode("latin-1", "replace").decode("latin-1") for name, value in response.headers.items()}

    @property
    def is_stream(self) -> bool:
        """Whether the body is a stream of events."""
        return self._response.content_type != "application/json"

    def hide(self, key: str) -> None:
        """A key that no refusal may repeat, besides our own."""
        self._keys.append(key.encode())

    async def begin(self, *, idle: float) -> None:
        """Waits for the first bytes; from then on the upstream may be silent for so long. Raises UpstreamError where there are none."""
        self._first = await self.some()
        if not self._first:
            raise UpstreamError(failures.ended_early(f"the {self._told.place} answered {self.status} without a word"))
        connection = self._response.connection
        if connection is not None and connection.protocol is not None:  # else the body is here already
            connection.protocol.read_timeout = idle or None
            connection.protocol.start_timeout()

    async def some(self) -> bytes:
        """The next bytes, as they arrive; empty at the end."""
        if self._first is not None:
            first, self._first = self._first, None
            return first
        try:
            with self._told:
                piece = await self._response.content.readany()
                if not piece and self._told.stopping:  # some bodies end with their connection, and that was ended by us
                    raise aiohttp.ClientPayloadError
                return piece
        except UpstreamError:
            self.broken = True
            raise

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
        """The body of an answer that is no success, as far as it comes, without the keys that some servers repeat in it."""
        body = bytearray()
        with suppress(TimeoutError, UpstreamError):
            async with asyncio.timeout(REFUSAL_SECONDS):
                while len(body) < REFUSAL_LIMIT and (piece := await self.some()):
                    body += piece
        told = bytes(body[:REFUSAL_LIMIT])
        for key in self._keys:
            told = told.replace(key, b"[key]") if len(key) >= SHORTEST_KEY else told
        return told


class Client:
    """One upstream's connections."""

    def __init__(self, access: Access, limits: Limits | None = None) -> None:
        self.access = access
        self.place = f"model server at {urlsplit(access.base).netloc}"
        self._told = _Told(self.place)
        self._limits = limits or Limits()
        scheme = urlsplit(access.base).scheme
        self._session = aiohttp.ClientSession(
            headers={"User-Agent": f"antiphon/{__version__}", "Accept-Encoding": "identity", **access.headers},
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=KEPT_SECONDS[scheme], ssl=access.tls or True),
            cookie_jar=aiohttp.DummyCookieJar(),
            proxy=access.proxy or None,
            timeout=aiohttp.ClientTimeout(
                total=None,
                connect=self._limits.connect or None,
                sock_connect=self._limits.connect or None,
                sock_read=self._limits.first_byte or None,
            ),
            read_bufsize=256 * 1024,
            max_line_size=64 * 1024,
            max_field_size=64 * 1024,
        )

    async def close(self) -> None:
        """Ends all connections."""
        self._told.stopping = True
        await self._session.close()

    @asynccontextmanager
    async def post(self, path: str, body: bytes, headers: Mapping[str, str]) -> AsyncGenerator[Answer]:
        """Sends a request; the answer may be read until the block ends, whichever way it ends."""
        self._check_open()
        data = body if len(body) <= AT_ONCE else io.BytesIO(body)
        with self._told:
            async with asyncio.timeout(self._limits.first_byte or None):  # a head that comes byte by byte is none either
                response = await self._session.post(self.access.url(path), data=data, headers=headers, allow_redirects=False)
        gathered(response.content)
        try:
            with _ending_with_its_connection(response):
                yield Answer(response, self._told, self.access.key)
        finally:
            response.close()

    @asynccontextmanager
    async def answer(self, path: str, body: bytes, headers: Mapping[str, str]) -> AsyncGenerator[Answer]:
        """As `post`; where the answer is a success its first bytes are there."""
        async with self.post(path, body, headers) as answer:
            if answer.status < 300:
                await answer.begin(idle=self._limits.idle)
            yield answer

    async def ask(self, path: str, body: bytes, *, seconds: float, root: bool = False) -> tuple[int, bytes]:
        """A small answer to a small question, within a time; `root` as for `get`."""
        self._check_open()
        url, headers = self.access.url(path, root=root), {"content-type": "application/json"}
        with self._told:
            async with asyncio.timeout(seconds), self._session.post(url, data=body, headers=headers, allow_redirects=False) as response:
                return response.status, await Answer(response, self._told).all()

    async def get(self, path: str, *, seconds: float, root: bool = False) -> tuple[int, bytes]:
        """A small answer, within a time; `root`: the path is beside the version and not below it."""
        self._check_open()
        url = self.access.url(path, root=root)
        with self._told:
            async with asyncio.timeout(seconds), self._session.get(url, allow_redirects=False) as response:
                return response.status, await Answer(response, self._told).all()

    def _check_open(self) -> None:
        if self._told.stopping:
            raise UpstreamError(failures.stopping())


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


class _Row(NamedTuple):
    """What an exception means: the failure it becomes, and the words for it."""

    error: type[BaseException]
    becomes: Callable[[str], Failure]
    words: str


_ROWS = (
    _Row(aiohttp.ConnectionTimeoutError, failures.unreachable, "cannot be reached: it did not take the connection in time"),
    _Row(TimeoutError, failures.timed_out, "did not answer in time"),
    _Row(aiohttp.ClientConnectorCertificateError, failures.unreachable, "cannot be trusted: {why}. 'ca_file' names an authority to trust"),
    _Row(aiohttp.ClientProxyConnectionError, failures.unreachable, "cannot be reached: its proxy does not answer ({why})"),
    _Row(aiohttp.ClientHttpProxyError, failures.unreachable, "cannot be reached: its proxy answered {why}"),
    _Row(aiohttp.ClientConnectorError, failures.unreachable, "cannot be reached: {why}"),
    _Row(aiohttp.ClientPayloadError, failures.ended_early, "broke off its answer (the body ended before it was whole)"),
    _Row(aiohttp.ServerDisconnectedError, failures.ended_early, "broke off its answer (the connection was closed without an answer)"),
    _Row(aiohttp.ClientResponseError, failures.ended_early, "broke off its answer (the answer is not HTTP)"),
    _Row(aiohttp.ClientError, failures.ended_early, "broke off its answer (connection lost)"),
    _Row(OSError, failures.ended_early, "broke off its answer (connection lost)"),
)
"""The first row that fits decides."""


def _why(error: BaseException) -> str:
    match error:
        case aiohttp.ClientConnectorCertificateError():
            return str(getattr(error.certificate_error, "verify_message", "") or error.certificate_error)
        case aiohttp.ClientHttpProxyError():
            return str(error.status)
        case OSError():
            return error.strerror or str(error)
        case _:
            return str(error)


class _Told:
    """Turns what aiohttp raises into an `UpstreamError` that names the server."""

    def __init__(self, place: str) -> None:
        self.place = place
        self.stopping = False
        """Whether it is we who end everything."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if self.stopping and isinstance(error, Exception):
            raise UpstreamError(failures.stopping()) from None
        for row in _ROWS if error is not None else ():
            if isinstance(error, row.error):
                told = f"the {self.place} {row.words.format(why=_why(error))}"
                raise UpstreamError(row.becomes(told)) from None
