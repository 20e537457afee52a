"""A web for tests: a search service that speaks as SearXNG does, and pages, on the loopback."""

import asyncio
import contextlib
import json
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

Json = dict[str, Any]


@dataclass(slots=True)
class Web:
    """`found`: results by words; `pages`: by path, their type and body. `held` keeps searches waiting until it is set."""

    found: dict[str, list[Json]] = field(default_factory=dict[str, list[Json]])
    pages: dict[str, tuple[str, bytes]] = field(default_factory=dict[str, tuple[str, bytes]])
    status: int = 200
    body: bytes | None = None
    held: asyncio.Event | None = None
    searches: list[Json] = field(default_factory=list[Json])
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    url: str = ""
    _server: asyncio.Server | None = None

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            start = await reader.readuntil(b"\r\n\r\n")
            at = urlsplit(start.split(b" ")[1].decode())
            status, type, body = 404, "text/plain", b"no such page"
            if at.path == "/search":
                status, type, body = await self._search(parse_qs(at.query), reader)
            elif at.path in self.pages:
                status, (type, body) = 200, self.pages[at.path]
            writer.write(
                f"HTTP/1.1 {status} X\r\ncontent-type: {type}\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n".encode() + body
            )
            await writer.drain()
        writer.close()

    async def _search(self, asked: dict[str, list[str]], reader: asyncio.StreamReader) -> tuple[int, str, bytes]:
        self.searches.append({name: values[0] for name, values in asked.items()})
        self.arrived.set()
        if self.held is not None:
            waiting, leaving = asyncio.ensure_future(self.held.wait()), asyncio.ensure_future(reader.read())
            done, others = await asyncio.wait([waiting, leaving], return_when=asyncio.FIRST_COMPLETED)
            for other in others:
                other.cancel()
            if leaving in done:
                self.gone.set()
        if self.body is not None:
            return self.status, "text/html", self.body
        body = json.dumps({"results": self.found.get(asked["q"][0], [])}).encode()
        return self.status, "application/json", body


def hit(title: str, url: str, content: str = "") -> Json:
    return {"title": title, "url": url, "content": content}
