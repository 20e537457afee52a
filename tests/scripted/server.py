"""The HTTP side that all scripted model servers share: routes, keys, recording, and how a stream breaks off.

A `Wire` says what one kind of server speaks; the script says what the model does. Not here: any knowledge of a wire.
"""

import argparse
import asyncio
import contextlib
import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol, Self, TypeVar

from aiohttp import web

from tests.scripted.script import Answer, Failure, Json, Reply, Script, ScriptError, View

LIMIT = 64 * 1024 * 1024
MODEL = "scripted-model"
HANGS_FOR = 30.0
Frame = TypeVar("Frame")


class Wire(Protocol):
    @property
    def path(self) -> str: ...

    def refusal(self, body: Json) -> Failure | None:
        """Why a server of this kind does not take the request."""
        ...

    def view(self, body: Json, number: int) -> View: ...

    def stream(self, body: Json, answer: Answer, number: int) -> Iterator[bytes]:
        """The answer as frames; one that breaks off simply has fewer."""
        ...

    def document(self, body: Json, answer: Answer, number: int) -> Json: ...

    def models(self, query: Mapping[str, str]) -> Json: ...


@dataclass(slots=True)
class Exchange:
    """One request as it arrived and what became of it; `refused` is the reason of a 400 that no script asked for."""

    number: int
    headers: dict[str, str]
    body: Json
    status: int = 0
    refused: str = ""
    thread: str = ""  # as the script says
    left: bool = False  # the client went while the answer hung


@dataclass(slots=True)
class ScriptedServer:
    """Listens on an ephemeral port of the loopback while its context is open."""

    wire: Wire
    script: Script
    key: str = ""
    exchanges: list[Exchange] = field(default_factory=list[Exchange])
    url: str = ""
    hangs: asyncio.Event = field(default_factory=asyncio.Event)
    answered: int = 0
    _changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    _runner: web.AppRunner | None = None

    async def __aenter__(self) -> Self:
        await self.listen(0)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    async def listen(self, port: int) -> int:
        app = web.Application(client_max_size=LIMIT)
        app.router.add_post(f"/v1{self.wire.path}", self._respond)
        app.router.add_get("/v1/models", self._models)
        app.router.add_get("/_requests", self._requests)
        self._runner = web.AppRunner(app, handle_signals=False, shutdown_timeout=0.1, handler_cancellation=True)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", port).start()
        bound: int = self._runner.addresses[0][1]
        self.url = f"http://127.0.0.1:{bound}/v1"
        return bound

    async def _requests(self, _: web.Request) -> web.Response:
        return web.json_response([asdict(exchange) for exchange in self.exchanges])

    async def _models(self, request: web.Request) -> web.Response:
        failure = self._locked(request)
        return _failed(failure) if failure else web.json_response(self.wire.models(request.query))

    def _locked(self, request: web.Request) -> Failure | None:
        given = request.headers.get("authorization", "")
        if not self.key or given == f"Bearer {self.key}":
            return None
        return Failure(status=401, message=f"Incorrect API key provided: {given[-4:]}.", code="invalid_api_key")

    async def until_answered(self, count: int) -> None:
        """Waits until so many requests were answered whole."""
        async with self._changed:
            await self._changed.wait_for(lambda: self.answered >= count)

    async def _respond(self, request: web.Request) -> web.StreamResponse:
        response = await self._answered(request)
        async with self._changed:
            self.answered += 1
            self._changed.notify_all()
        return response

    async def _answered(self, request: web.Request) -> web.StreamResponse:
        number = len(self.exchanges) + 1
        exchange = Exchange(number, dict(request.headers), {})
        self.exchanges.append(exchange)
        reply = await self._reply(request, exchange)
        if isinstance(reply, Failure):
            exchange.status = reply.status
            return _failed(reply)
        exchange.status, exchange.thread = 200, reply.thread
        if exchange.body.get("stream") is True:
            return await self._stream(request, exchange, reply)
        return web.json_response(self.wire.document(exchange.body, reply, number))

    async def _reply(self, request: web.Request, exchange: Exchange) -> Reply:
        try:
            body: Any = json.loads(await request.read())
        except ValueError as error:
            return _refuse(exchange, Failure(status=400, message=f"the body is no JSON: {error}"))
        if not isinstance(body, dict):
            return _refuse(exchange, Failure(status=400, message="the body is no JSON object"))
        exchange.body = body
        locked = self._locked(request)
        if locked is not None:
            return locked
        refusal = self.wire.refusal(exchange.body)
        if refusal is not None:
            return _refuse(exchange, refusal)
        try:
            return self.script(self.wire.view(exchange.body, exchange.number))
        except ScriptError as error:
            return _refuse(exchange, Failure(status=400, message=f"script: {error}"))

    async def _stream(self, request: web.Request, exchange: Exchange, reply: Answer) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"})
        await response.prepare(request)
        for frame in self.wire.stream(exchange.body, reply, exchange.number):
            await response.write(frame)
        if reply.ending == "garbage":
            await response.write(b'data: {"this is": no JSON\n\ndata: \xff\xfe\n\n')
        if reply.ending == "abort" and request.transport is not None:
            await response.drain()
            request.transport.close()
        if reply.ending == "hang":
            await self._hang(exchange)
        return response

    async def _hang(self, exchange: Exchange) -> None:
        self.hangs.set()
        try:
            async with asyncio.timeout(HANGS_FOR):
                await asyncio.Event().wait()
        except TimeoutError:
            return
        except asyncio.CancelledError:
            exchange.left = True
            raise


def _refuse(exchange: Exchange, failure: Failure) -> Failure:
    exchange.refused = failure.message
    return failure


def _failed(failure: Failure) -> web.Response:
    return web.json_response(failure.document(), status=failure.status, headers=failure.headers)


def cut(frames: list[Frame], answer: Answer) -> list[Frame]:
    """The frames of the last part, up to its middle if the answer breaks off."""
    return frames[: max(1, len(frames) // 2)] if answer.breaks_off else frames


async def serve(server: ScriptedServer, port: int) -> None:
    sys.stdout.write(f"{await server.listen(port)}\n")
    sys.stdout.flush()
    try:
        await asyncio.Event().wait()
    finally:
        await server.close()


def main(wires: Mapping[str, Wire], scripts: Mapping[str, Script]) -> None:
    """`python -m tests.scripted.<name> --port 0`: prints the port and serves until it is ended."""
    options = argparse.ArgumentParser()
    options.add_argument("--port", type=int, default=0)
    options.add_argument("--script", choices=sorted(scripts), default="text")
    options.add_argument("--key", default="")
    options.add_argument("--kind", choices=sorted(wires), default=next(iter(wires)))
    given = options.parse_args()
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(ScriptedServer(wires[given.kind], scripts[given.script], given.key), given.port))
