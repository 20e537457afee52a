"""Clients of many slow streams (see `bench.stamped`): each reads its stream, checks that no word is missing or another stream's, and how late it is."""

import asyncio
import re
import time
from array import array
from collections import Counter
from dataclasses import dataclass, field

from bench.load import Target

STAMP = re.compile(rb'"delta":"(\d+)\.(\d+)@(\d+) "')


@dataclass(slots=True)
class Heard:
    """What all readers together heard: how late each word came in microseconds, how the streams went, the first complaints."""

    late: "array[int]" = field(default_factory=lambda: array("L"))
    told: "Counter[str]" = field(default_factory=lambda: Counter({"asked": 0, "ended": 0, "left": 0, "wrong": 0}))
    complaints: list[str] = field(default_factory=list[str])

    def complain(self, what: str) -> None:
        """A stream went wrong."""
        self.told["wrong"] += 1
        if len(self.complaints) < 10:
            self.complaints.append(what)


class Reader(asyncio.Protocol):
    """One stream: asks for it when the connection is there, and is `over` when it has ended, was left, or went wrong."""

    def __init__(self, target: Target, words: int, heard: Heard) -> None:
        self._request, self._terminal = target.request, target.terminal
        self._words, self._heard = words, heard
        self._held = b""
        self._stream: bytes | None = None
        self._next = 0
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._heard.told["asked"] += 1
        transport.write(self._request)

    def leave(self) -> None:
        """Hang up, as a client does whose user has had enough."""
        if not self.over.done():
            self._heard.told["left"] += 1
            self._finish()

    def data_received(self, data: bytes) -> None:
        now = time.monotonic_ns()
        whole, blank, rest = (self._held + data).rpartition(b"\n\n")
        self._held = rest
        if self.over.done() or not blank:
            return
        for stream, number, stamp in STAMP.findall(whole):
            self._heard.late.append(max(now - int(stamp), 0) // 1000)
            if int(number) != self._next or stream != (self._stream or stream):
                self._fail(f"word {number!r} of stream {stream!r} where {self._next} of {self._stream!r} was due")
                return
            self._stream, self._next = stream, self._next + 1
        if self._terminal in whole:
            self._end()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.over.done():
            self._fail(f"cut off at word {self._next}: {exc or 'closed'} {self._held[:200]!r}")

    def _end(self) -> None:
        if self._next != self._words:
            self._fail(f"ended after {self._next} words")
        else:
            self._heard.told["ended"] += 1
            self._finish()

    def _fail(self, what: str) -> None:
        self._heard.complain(what)
        self._finish()

    def _finish(self) -> None:
        self.over.set_result(None)
        self._transport.abort()
