"""The least that a Python gateway can be: raw ASGI on uvicorn, aiohttp towards the upstream, bytes copied and never looked at.

What Antiphon costs is told as a multiple of this.
"""

import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from typing import Any

import aiohttp
import uvicorn

from bench.listening import announce

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


class Relay:
    """The ASGI application: every POST goes to the upstream as it is."""

    def __init__(self, upstream: str) -> None:
        self._upstream = upstream
        self._session: aiohttp.ClientSession | None = None

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["path"] == "/health":
            await _send(send, 200, b"text/plain", _once(b"ok"))
        else:
            await self._copy(scope["path"].removeprefix("/v1"), await _body(receive), send)

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        async with aiohttp.ClientSession(auto_decompress=False) as self._session:
            await send({"type": "lifespan.startup.complete"})
            await receive()
        await send({"type": "lifespan.shutdown.complete"})

    async def _copy(self, path: str, body: bytes, send: Send) -> None:
        assert self._session is not None
        async with self._session.post(self._upstream + path, data=body, headers={"content-type": "application/json"}) as reply:
            await _send(send, reply.status, reply.headers["content-type"].encode(), reply.content.iter_any())


async def _once(data: bytes) -> AsyncIterator[bytes]:
    yield data


async def _body(receive: Receive) -> bytes:
    parts: list[bytes] = []
    more = True
    while more:
        message = await receive()
        parts.append(message.get("body", b""))
        more = message.get("more_body", False)
    return b"".join(parts)


async def _send(send: Send, status: int, kind: bytes, body: AsyncIterator[bytes]) -> None:
    await send({"type": "http.response.start", "status": status, "headers": [(b"content-type", kind)]})
    async for chunk in body:
        await send({"type": "http.response.body", "body": chunk, "more_body": True})
    await send({"type": "http.response.body", "body": b"", "more_body": False})


def main(upstream: str) -> None:
    """Serve on a free port."""
    config = uvicorn.Config(Relay(upstream), http="httptools", loop="asyncio", ws="none", access_log=False, log_level="error")
    # asyncio sets TCP_NODELAY only where the protocol is named; without it each stream waits 40 ms for a delayed acknowledgement.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.bind(("127.0.0.1", 0))
    listening.listen(128)
    announce(listening.getsockname()[1])
    uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    main(sys.argv[1])
