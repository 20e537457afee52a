"""A client that costs little: prepared request bytes over kept connections, answers counted and checked as bytes."""

import asyncio
import time
from dataclasses import dataclass
from urllib.parse import urlsplit

from bench.streams import DELTAS

END = b"0\r\n\r\n"
STREAM_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Target:
    """Where requests go, what they are, and what a whole answer holds at its end."""

    url: str
    path: str
    body: bytes
    terminal: bytes

    @property
    def request(self) -> bytes:
        """The bytes of one request."""
        host = urlsplit(self.url).netloc.encode()
        head = b"POST %b HTTP/1.1\r\nhost: %b\r\ncontent-type: application/json\r\naccept: text/event-stream\r\ncontent-length: %d\r\n\r\n"
        return head % (self.path.encode(), host, len(self.body)) + self.body


class BadAnswer(Exception):
    """An answer that is not the whole stream: a number measured with it would be a lie."""


class _Connection(asyncio.Protocol):
    """One kept connection; `ask` sends a request and waits for the whole answer."""

    transport: asyncio.Transport

    def __init__(self) -> None:
        self._held: list[bytes] = []
        self._waiting: asyncio.Future[bytes] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self._held.append(data)
        if data.endswith(END) or not self._held[0].startswith(b"HTTP/1.1 200"):
            self._finish()

    def connection_lost(self, exc: Exception | None) -> None:
        self._finish()

    def _finish(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(b"".join(self._held))
        self._held.clear()

    async def ask(self, request: bytes) -> bytes:
        self._waiting = asyncio.get_running_loop().create_future()
        self.transport.write(request)
        return await asyncio.wait_for(self._waiting, STREAM_SECONDS)


async def _connect(target: Target) -> _Connection:
    host, _, port = urlsplit(target.url).netloc.partition(":")
    return (await asyncio.get_running_loop().create_connection(_Connection, host, int(port)))[1]


async def load(target: Target, *, streams: int, at_once: int) -> float:
    """Ask for so many streams over so many connections; seconds from the first request to the last answer's end."""
    connections = [await _connect(target) for _ in range(at_once)]
    request = target.request
    left = iter(range(streams))

    async def work(connection: _Connection) -> None:
        for _ in left:
            check(await connection.ask(request), target)

    began = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for connection in connections:
            group.create_task(work(connection))
    took = time.perf_counter() - began
    for connection in connections:
        connection.transport.close()
    return took


def check(answer: bytes, target: Target) -> None:
    """The answer holds every delta and its end."""
    deltas = answer.count(b'"delta":')
    if not answer.startswith(b"HTTP/1.1 200") or deltas < DELTAS or target.terminal not in answer:
        raise BadAnswer(f"{target.url}{target.path}: {deltas} deltas, {answer[:300]!r} … {answer[-300:]!r}")
