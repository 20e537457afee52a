"""What every route that answers a body has in common: the body is read, and somebody watches the client while it is answered.

When the client is gone, so is the work for it, and with it the request to the model server. Not here: any answer.
"""

import asyncio
from collections.abc import Callable
from typing import NamedTuple, Protocol

from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send

from antiphon.http import bodies, caller, problems
from antiphon.http.caller import Caller
from antiphon.http.gateway import Gateway
from antiphon.protocol.errors import AntiphonError


class Exchange(Protocol):
    """One request and its answer."""

    async def run(self, body: bytes, group: asyncio.TaskGroup) -> None:
        """All of it; every failure is told to the client. Tasks of the group end when the client goes."""
        ...


class Asked(NamedTuple):
    """A request's head, the way to answer it, and who asks."""

    headers: Headers
    send: Send
    caller: Caller


class Endpoint:
    """An ASGI app that has each request answered by an exchange of its own."""

    def __init__(self, gateway: Gateway, exchange: Callable[[Gateway, Asked], Exchange]) -> None:
        self._gateway = gateway
        self._exchange = exchange

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        try:
            body = await bodies.read(receive, headers, limit=self._gateway.config.max_body_mb * 1024 * 1024)
        except bodies.ClientGone:
            return
        except AntiphonError as error:
            await problems.answer(error.failure)(scope, receive, send)
            return
        exchange = self._exchange(self._gateway, Asked(headers, send, caller.of(scope)))
        try:
            async with asyncio.TaskGroup() as group:
                watching = group.create_task(_watch(receive))
                await exchange.run(body, group)
                watching.cancel()
        except* bodies.ClientGone:  # the group has cancelled the exchange, and with it the upstream's request
            pass


async def _watch(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    raise bodies.ClientGone
