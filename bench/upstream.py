"""A model server that costs almost nothing: it reads a request and sends prepared bytes, on a bare asyncio protocol.

The model's name says how: `bench-burst` has the whole stream at once, `bench-paced` one event every few milliseconds, each in an HTTP chunk of its
own as real servers send them, `bench-first` everything up to the first delta and the rest a little later, `bench-json` the answer in one piece.
"""

import asyncio
import re
from collections.abc import Callable, Iterator, Sequence

from bench import answers
from bench.bodies import MODEL
from bench.listening import serve_forever

PACE = 0.002
PAUSE = 0.005
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
MODE = re.compile(rb' ?"%b-(\w+)"' % MODEL.encode())
END = b"0\r\n\r\n"


def chunked(events: Sequence[bytes]) -> list[bytes]:
    """Events as HTTP chunks, one each."""
    return [b"%x\r\n%b\r\n" % (len(event), event) for event in events]


def plain(status: bytes, body: bytes) -> bytes:
    """An answer in one piece."""
    return b"HTTP/1.1 %b\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b" % (status, len(body), body)


STREAMS = {b"responses": chunked(answers.responses_stream()), b"completions": chunked(answers.chat_stream())}
FIRST = {b"responses": 5, b"completions": 2}
"""How many events there are up to the first delta."""
BURSTS = {name: HEAD + b"".join(chunks) + END for name, chunks in STREAMS.items()}
WHOLES = {b"responses": plain(b"200 OK", answers.responses_whole()), b"completions": plain(b"200 OK", answers.chat_whole())}
MODELS = plain(b"200 OK", answers.models())
HEALTHY = plain(b"200 OK", b"{}")
MISSING = plain(b"404 Not Found", b'{"error":{"message":"no such route","type":"invalid_request_error","param":null,"code":null}}')


class RequestReader(asyncio.Protocol):
    """One connection, requests one after another: `asked` is called with the path and the body of each."""

    transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self._held = bytearray()

    def data_received(self, data: bytes) -> None:
        self._held += data
        end = self._held.find(b"\r\n\r\n") + 4
        if end < 4:
            return
        length = LENGTH.search(self._held, 0, end)
        size = end + (int(length[1]) if length else 0)
        if len(self._held) >= size:
            request, self._held = self._held, self._held[size:]
            target = bytes(request[: request.index(b"\r")]).split(b" ")[1]
            self.asked(target.partition(b"?")[0], request)

    def asked(self, path: bytes, request: bytearray) -> None:
        """A request is whole: its path, and all of its bytes."""
        raise NotImplementedError


class Upstream(RequestReader):
    """The server."""

    def asked(self, path: bytes, request: bytearray) -> None:
        name = path.rpartition(b"/")[2]
        if name in STREAMS:
            mode = MODE.match(request, request.find(b'"model":') + len(b'"model":'))
            MODES[mode[1] if mode else b"burst"](self, name)
        elif name == b"models":
            self.transport.write(MODELS)
        else:
            self.transport.write(HEALTHY if name == b"health" else MISSING)

    def burst(self, name: bytes) -> None:
        """All at once."""
        self.transport.write(BURSTS[name])

    def paced(self, name: bytes) -> None:
        """One event after another."""
        self.transport.write(HEAD)
        self.send_next(iter(STREAMS[name]))

    def first(self, name: bytes) -> None:
        """The first delta alone."""
        chunks = STREAMS[name]
        self.transport.write(HEAD + b"".join(chunks[: FIRST[name]]))
        asyncio.get_running_loop().call_later(PAUSE, self.transport.write, b"".join(chunks[FIRST[name] :]) + END)

    def whole(self, name: bytes) -> None:
        """No stream."""
        self.transport.write(WHOLES[name])

    def send_next(self, chunks: Iterator[bytes]) -> None:
        """Send one event and come again; the stream ends when they do."""
        if self.transport.is_closing():
            return
        chunk = next(chunks, None)
        self.transport.write(chunk or END)
        if chunk:
            # On a common beat, as a model server decodes its streams in one batch.
            loop = asyncio.get_running_loop()
            loop.call_at((loop.time() // PACE + 1) * PACE, self.send_next, chunks)


MODES: dict[bytes, Callable[[Upstream, bytes], None]] = {
    b"burst": Upstream.burst,
    b"paced": Upstream.paced,
    b"first": Upstream.first,
    b"json": Upstream.whole,
}
"""What the model's name asks for."""

if __name__ == "__main__":
    asyncio.run(serve_forever(Upstream))
