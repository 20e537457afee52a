"""A stream of a background response: what is kept of it from a number on, then what comes, to its end."""

import asyncio
import time
from collections.abc import Mapping
from contextlib import aclosing

from starlette.types import Receive, Scope, Send

from antiphon.http.background import Background

_KEEP_ALIVE = b": keep-alive\n\n"
HEAD = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-store", "x-accel-buffering": "no"}


class Following:
    """An ASGI answer. When its client goes, the response itself goes on."""

    def __init__(self, background: Background, owner: str, id: str, *, after: int, keepalive: float) -> None:
        self._background = background
        self._owner, self._id, self._after = owner, id, after
        self._keepalive = keepalive

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with asyncio.TaskGroup() as group:
            work = group.create_task(self.send(send, {}))
            watching = group.create_task(_when_gone(receive, work))
            work.add_done_callback(lambda _: watching.cancel())

    async def send(self, send: Send, told: Mapping[str, str]) -> None:
        """All of it, for as long as the client is there."""
        head = {**HEAD, **told}
        headers = [(name.encode(), value.encode("latin-1")) for name, value in head.items()]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        sent = time.monotonic()
        async with aclosing(self._background.follow(self._owner, self._id, self._after)) as pieces:
            async for piece in pieces:
                if piece or time.monotonic() - sent >= self._keepalive:
                    await send({"type": "http.response.body", "body": piece or _KEEP_ALIVE, "more_body": True})
                    sent = time.monotonic()
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _when_gone(receive: Receive, work: "asyncio.Task[None]") -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    work.cancel()
