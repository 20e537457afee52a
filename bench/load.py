"""A client that costs little: prepared request bytes over kept connections, answers counted and checked as bytes."""

import asyncio
import re
import time
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from bench.answers import DELTAS, TEXT

END = b"0\r\n\r\n"
LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
STREAM_SECONDS = 60.0
LEAST = 3
"""How many answers are waited for in any case, however slow they are."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where requests go, what they are, and what a whole answer holds at its end; nothing of its own where it is no stream."""

    url: str
    path: str
    body: bytes
    terminal: bytes = b""

    @property
    def request(self) -> bytes:
        """The bytes of one request."""
        host = urlsplit(self.url).netloc.encode()
        head = b"POST %b HTTP/1.1\r\nhost: %b\r\ncontent-type: application/json\r\naccept: text/event-stream\r\ncontent-length: %d\r\n\r\n"
        return head % (self.path.encode(), host, len(self.body)) + self.body


@dataclass(slots=True)
class Done:
    """What came of a load: seconds in all, and for each answer the seconds to its first delta and to its end."""

    wall: float = 0.0
    first: list[float] = field(default_factory=list[float])
    end: list[float] = field(default_factory=list[float])


class BadAnswer(Exception):
    """An answer that is not the whole stream: a number measured with it would be a lie."""


class _Connection(asyncio.Protocol):
    """One kept connection; `ask` sends a request and waits for the whole answer."""

    transport: asyncio.Transport

    def __init__(self) -> None:
        self._held: list[bytes] = []
        self._missing: int | None = None
        self._first = 0.0
        self._waiting: asyncio.Future[bytes] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        if not self._held and (length := LENGTH.search(data)) is not None:
            self._missing = int(length[1]) + data.index(b"\r\n\r\n") + 4
        if not self._first and b'"delta":' in data:
            self._first = time.perf_counter()
        self._held.append(data)
        if self._missing is not None:
            self._missing -= len(data)
        if self._missing == 0 or (self._missing is None and data.endswith(END)):
            self._finish()

    def connection_lost(self, exc: Exception | None) -> None:
        self._finish()

    def _finish(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(b"".join(self._held))
        self._held, self._missing = [], None

    async def ask(self, request: bytes, done: Done) -> bytes:
        self._waiting, self._first = asyncio.get_running_loop().create_future(), 0.0
        asked = time.perf_counter()
        self.transport.write(request)
        answer = await asyncio.wait_for(self._waiting, STREAM_SECONDS)
        done.end.append(time.perf_counter() - asked)
        done.first.append(self._first - asked)
        return answer


async def _connect(target: Target) -> _Connection:
    host, _, port = urlsplit(target.url).netloc.partition(":")
    return (await asyncio.get_running_loop().create_connection(_Connection, host, int(port)))[1]


async def load(target: Target, *, seconds: float, at_once: int) -> Done:
    """Ask again and again for so long, over so many connections."""
    connections = [await _connect(target) for _ in range(at_once)]
    request, done = target.request, Done()
    began = time.perf_counter()

    async def work(connection: _Connection) -> None:
        while time.perf_counter() - began < seconds or len(done.end) < LEAST:
            check(await connection.ask(request, done), target)

    async with asyncio.TaskGroup() as group:
        for connection in connections:
            group.create_task(work(connection))
    done.wall = time.perf_counter() - began
    for connection in connections:
        connection.transport.close()
    return done


def check(answer: bytes, target: Target) -> None:
    """The answer holds every delta and its end."""
    deltas = answer.count(b'"delta":')
    whole = deltas >= DELTAS and target.terminal in answer if target.terminal else TEXT.encode() in answer
    if not answer.startswith(b"HTTP/1.1 200") or not whole:
        raise BadAnswer(f"{target.url}{target.path}: {deltas} deltas, {answer[:300]!r} … {answer[-300:]!r}")
