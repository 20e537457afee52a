"""A model server whose words are the time at which it said them: many slow streams, and a count of those that were not read to their end.

    python -m bench.stamped EVENTS RATE

Every stream has so many deltas, so many a second, each `STREAM.NUMBER@NANOSECONDS ` on the machine's monotonic clock. `GET /streams` tells how
many streams were begun, how many ended, how many were left by their reader, how many are open.
"""

import asyncio
import itertools
import json
import sys
import time
from collections import Counter
from dataclasses import dataclass, field

from bench import answers
from bench.listening import serve_forever
from bench.upstream import END, HEAD, MODELS, RequestReader, chunked, plain


@dataclass(frozen=True, slots=True)
class Script:
    """A stream's events up to its first delta, around each delta's words, and behind the last."""

    opening: bytes
    head: bytes
    tail: bytes
    closing: bytes


def _script(events: list[bytes], first: int) -> Script:
    head, word, tail = events[first].partition(answers.WORDS[0].encode())
    assert word
    return Script(b"".join(chunked(events[:first])), head, tail, b"".join(chunked(events[first + answers.DELTAS :])))


SCRIPTS = {b"responses": _script(answers.responses_stream(), 4), b"completions": _script(answers.chat_stream(), 1)}


@dataclass(slots=True)
class Hall:
    """All streams of this server."""

    events: int
    every: float
    numbers: "itertools.count[int]" = field(default_factory=itertools.count)
    told: "Counter[str]" = field(default_factory=lambda: Counter({"begun": 0, "ended": 0, "left": 0}))

    def report(self) -> bytes:
        """The count."""
        return json.dumps({**self.told, "open": self.told["begun"] - self.told["ended"] - self.told["left"]}).encode()


class Stamped(RequestReader):
    """One connection."""

    def __init__(self, hall: Hall) -> None:
        self._hall = hall
        self._timer: asyncio.TimerHandle | None = None

    def asked(self, path: bytes, request: bytearray) -> None:
        name = path.rpartition(b"/")[2]
        if name in SCRIPTS:
            self._hall.told["begun"] += 1
            self.transport.write(HEAD + SCRIPTS[name].opening)
            self._loop = asyncio.get_running_loop()
            self._plan(SCRIPTS[name], next(self._hall.numbers), 0, self._loop.time())
        elif name == b"streams":
            self.transport.write(plain(b"200 OK", self._hall.report()))
        else:
            self.transport.write(MODELS)

    def _plan(self, script: Script, stream: int, number: int, began: float) -> None:
        """The next delta, at its own time however late the one before was."""
        self._timer = self._loop.call_at(began + (number + 1) * self._hall.every, self._say, script, stream, number, began)

    def _say(self, script: Script, stream: int, number: int, began: float) -> None:
        if number == self._hall.events:
            self._timer = None
            self._hall.told["ended"] += 1
            self.transport.write(script.closing + END)
            return
        words = b"%d.%d@%d " % (stream, number, time.monotonic_ns())
        event = script.head + words + script.tail
        self.transport.write(b"%x\r\n%b\r\n" % (len(event), event))
        self._plan(script, stream, number + 1, began)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            self._hall.told["left"] += 1


if __name__ == "__main__":
    hall = Hall(int(sys.argv[1]), 1 / float(sys.argv[2]))
    asyncio.run(serve_forever(lambda: Stamped(hall)))
