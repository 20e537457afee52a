"""A client that sends the bytes it is given and reads whatever comes back."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

PATIENCE = 20.0


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer, read to its end."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> dict[str, Any]:
        return self.json["error"]

    @property
    def events(self) -> list[dict[str, Any]]:
        return events(self.body)

    @property
    def types(self) -> list[str]:
        return [event["type"] for event in self.events]


def events(stream: bytes) -> list[dict[str, Any]]:
    """The data of the events in a stream's bytes; an event that was cut off is none."""
    blocks = stream.split(b"\n\n")[:-1]
    return [json.loads(line[6:]) for block in blocks for line in block.split(b"\n") if line.startswith(b"data: {")]


def request(
    url: str, body: Any = b"", *, path: str = "/v1/responses", method: str = "POST", headers: Mapping[str, str] | None = None
) -> bytes:
    """A request's bytes; what is not bytes is sent as JSON."""
    sent = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = {"host": urlsplit(url).netloc, "connection": "close", "content-type": "application/json", "content-length": str(len(sent))}
    lines |= headers or {}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode("latin-1") + sent


class Connection:
    """A raw connection to the gateway."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def until(self, mark: bytes) -> bytes:
        """All bytes up to and with a mark."""
        async with asyncio.timeout(PATIENCE):
            return await self.reader.readuntil(mark)

    async def reply(self) -> Reply:
        """The answer, up to the connection's end."""
        async with asyncio.timeout(PATIENCE):
            return parsed(await self.reader.read(-1))

    def hang_up(self) -> None:
        self.writer.transport.abort()


@asynccontextmanager
async def connect(url: str) -> AsyncIterator[Connection]:
    at = urlsplit(url)
    reader, writer = await asyncio.open_connection(at.hostname, at.port, limit=1 << 28)
    try:
        yield Connection(reader, writer)
    finally:
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()


async def fetch(url: str, body: Any = b"", **rest: Any) -> Reply:
    """One request and its whole answer."""
    async with connect(url) as connection:
        await connection.send(request(url, body, **rest))
        return await connection.reply()


async def get(url: str, path: str, **rest: Any) -> Reply:
    return await fetch(url, path=path, method="GET", **rest)


def parsed(answer: bytes) -> Reply:
    head, _, body = answer.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    return Reply(int(first.split(" ")[1]), headers, unchunked(body) if headers.get("transfer-encoding") == "chunked" else body)


def unchunked(body: bytes) -> bytes:
    """The bytes inside a chunked body, as far as it came."""
    out: list[bytes] = []
    while body:
        size, _, body = body.partition(b"\r\n")
        length = int(size, 16)
        if length == 0:
            break
        out.append(body[:length])
        body = body[length + 2 :]
    return b"".join(out)
