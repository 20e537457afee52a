"""A model server that costs almost nothing: it reads a request and sends prepared bytes, on a bare asyncio protocol.

The first part of the path says how: `/burst/v1/…` writes the whole stream at once, `/paced/v1/…` one event every few milliseconds, each
event in an HTTP chunk of its own as real servers send them.
"""

import asyncio
import re
from collections.abc import Iterator, Sequence

from bench import streams
from bench.listening import serve_forever

PACE = 0.002
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
END = b"0\r\n\r\n"


def _chunked(events: Sequence[bytes]) -> list[bytes]:
    return [b"%x\r\n%b\r\n" % (len(event), event) for event in events]


def _plain(status: bytes, body: bytes) -> bytes:
    return b"HTTP/1.1 %b\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b" % (status, len(body), body)


STREAMS = {b"responses": _chunked(streams.responses_stream()), b"completions": _chunked(streams.chat_stream())}
BURSTS = {name: HEAD + b"".join(chunks) + END for name, chunks in STREAMS.items()}
MODELS = _plain(b"200 OK", streams.models())
MISSING = _plain(b"404 Not Found", b'{"error":{"message":"no such route","type":"invalid_request_error","param":null,"code":null}}')


class Upstream(asyncio.Protocol):
    """One connection, requests one after another."""

    transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.held = bytearray()

    def data_received(self, data: bytes) -> None:
        self.held += data
        end = self.held.find(b"\r\n\r\n")
        if end < 0:
            return
        length = LENGTH.search(self.held, 0, end)
        size = end + 4 + (int(length[1]) if length else 0)
        if len(self.held) >= size:
            target = bytes(self.held[: self.held.index(b"\r")]).split(b" ")[1]
            del self.held[:size]
            self.answer(target.partition(b"?")[0])

    def answer(self, path: bytes) -> None:
        """Send what the path asks for."""
        name = path.rpartition(b"/")[2]
        if name in STREAMS and path.startswith(b"/paced/"):
            self.transport.write(HEAD)
            self.send_next(iter(STREAMS[name]))
        else:
            self.transport.write(BURSTS.get(name) or (MODELS if name == b"models" else MISSING))

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


if __name__ == "__main__":
    asyncio.run(serve_forever(Upstream))
