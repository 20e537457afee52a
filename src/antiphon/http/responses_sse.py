"""`POST /v1/responses`: one request in, one stream or one body out.

The status waits for the upstream's first word, so that a refusal is a status and not a broken stream; a chat upstream that thinks longer than the
keep-alive time gets its stream begun for it.
"""

import asyncio
import time
from collections.abc import Callable, Coroutine

from starlette.responses import Response

from antiphon.http import problems, travelling
from antiphon.http.background import Background
from antiphon.http.endpoint import Asked
from antiphon.http.following import Following
from antiphon.http.gateway import Gateway
from antiphon.http.prepared import Prepared, acquire, keeper, prepare, release, responding
from antiphon.loop.rounds import Rounds
from antiphon.loop.run import Events, ModelAnswer, Responding
from antiphon.observe import log
from antiphon.protocol import notes, request
from antiphon.protocol.document import Document
from antiphon.protocol.notes import Kind
from antiphon.protocol.request import RequestView
from antiphon.stages.numbering import Numbering
from antiphon.translation.dialect import ResponsesRules
from antiphon.translation.unknowns import unknowns
from antiphon.turn import Turn

DROPPED = "x-antiphon-dropped"
Answering = Responding | Rounds


class Exchange:
    """One request and its answer; the `Out` of a response whose client waits for it."""

    def __init__(self, gateway: Gateway, request: Asked, *, background: Background | None = None) -> None:
        self._gateway, self._background = gateway, background
        self._headers, self._send, self._caller = request
        self._record = log.Record()
        self._numbering = Numbering()
        self._told: dict[str, str] = {}
        self.started = False
        self._closed = False
        self._sending = False
        self._last_sent = time.monotonic()

    async def run(self, body: bytes, group: asyncio.TaskGroup) -> None:
        """All of it; every failure is told in the form that fits the moment."""
        try:
            document, mended = request.open_body(body)
            view = request.view(document)
            self._record.model = view.model or ""
            prepared = await prepare(self._gateway, document, view, self._caller)
            turn = prepared.turn
            turn.notes[:0] = mended
            self._journal(view, turn)
            self._record.begin(prepared.to.name, prepared.to.api, turn.notes)
            self._tell_losses(turn)
            await self._answer_as_wished(prepared, view, bytes(document), group)
        except Exception as error:  # noqa: BLE001 - whatever it is, the client is told in the form that it can read
            failure = problems.told(error)
            self._record.failed(failure)
            await self._answer(problems.answer(failure, self._told))
        finally:
            self._record.write()

    async def _answer_as_wished(self, prepared: Prepared, view: RequestView, body: bytes, group: asyncio.TaskGroup) -> None:
        """Now, or in the background; in events, or in one piece."""
        if prepared.wanted is not None and prepared.wanted.background:
            await self._in_background(prepared, body, streams=bool(view.stream))
            return
        await acquire(self._gateway, prepared)
        try:
            answering = responding(self._gateway, prepared, self._headers, self, keeper(self._gateway, prepared))
            await (self._stream(answering, prepared, group) if view.stream else self._whole(answering, prepared))
        finally:
            await release(self._gateway, prepared)

    async def _in_background(self, prepared: Prepared, body: bytes, *, streams: bool) -> None:
        assert self._background is not None, "who keeps state has one"
        queued = await self._background.begin(prepared, self._headers, body)
        if not streams:
            await self._answer_whole(queued)
            return
        keepalive = self._gateway.config.keepalive_seconds
        self.started, self._record.status = True, 200
        followed = Following(self._background, self._caller.owner, prepared.identity.id, after=-1, keepalive=keepalive)
        await followed.send(self._send, self._told)

    async def _whole(self, answering: Answering, prepared: Prepared) -> None:
        response = await answering.whole()
        self._tell_losses(prepared.turn)
        await self._answer_whole(response)

    async def _answer_whole(self, response: Document) -> None:
        self._record.status = 200
        await self._answer(Response(bytes(response), headers=self._told, media_type="application/json"))

    async def _stream(self, answering: Answering, prepared: Prepared, group: asyncio.TaskGroup) -> None:
        keeper = _Keeper(self._gateway.config.keepalive_seconds, group, self.quiet_for, lambda: self._keep_alive(answering, prepared))
        try:
            await answering.stream()
        except Exception as error:
            if not self.started:
                raise
            await answering.fail(problems.told(error))
        finally:
            keeper.stop()
        self._record.notes += answering.answer.notes
        if answering.answer.failure is not None:
            self._record.failed(answering.answer.failure)
        if not self._closed:
            await self._write(b"", last=True)

    async def _keep_alive(self, answering: Answering, prepared: Prepared) -> None:
        """An event that only says that the stream lives; it takes no number of its own, so that what follows keeps its."""
        event = await answering.keep_alive(begins=prepared.turn.may_begin)
        if event is not None:
            await self._write(event.but(sequence_number=self._numbering.last).wire())

    def told(self, answer: ModelAnswer, rules: ResponsesRules) -> None:
        """The upstream's name for the log, and its headers that the client should see."""
        self._record.upstream = answer.upstream
        if answer.status < 300:
            self._told |= travelling.told(answer.headers, rules)

    def _journal(self, view: RequestView, turn: Turn) -> None:
        found = unknowns(view, items=any(note.kind is Kind.DROPPED and note.where.startswith("input[") for note in turn.notes))
        if found:
            self._gateway.journal.add(found, client=self._headers.get("user-agent", ""), now=self._gateway.manner.now())

    def _tell_losses(self, turn: Turn) -> None:
        if (lost := notes.header(turn.notes)) is not None:
            self._told[DROPPED] = lost

    async def _start(self) -> None:
        """The head of a stream."""
        if not self.started:
            self.started = True
            self._record.status = 200
            head = {
                "content-type": "text/event-stream; charset=utf-8",
                "cache-control": "no-store",
                "x-accel-buffering": "no",
                **self._told,
            }
            await self._send(
                {
                    "type": "http.response.start",
                    "status": 200,
                    "headers": [(k.encode(), v.encode("latin-1")) for k, v in head.items()],
                }
            )

    async def write(self, events: Events, *, last: bool = False) -> None:
        """Events, numbered; the `last` ones end the stream."""
        data = self._numbering.wire(events)
        if data or last:
            await self._write(data, last=last)

    async def _write(self, data: bytes, *, last: bool = False) -> None:
        await self._start()
        self._sending, self._closed = True, last
        try:
            await self._send({"type": "http.response.body", "body": data, "more_body": not last})
        finally:
            self._sending = False
            self._last_sent = time.monotonic()

    def quiet_for(self) -> float:
        """Seconds since the client was last sent something; none while it is still taking it."""
        return 0.0 if self._sending else time.monotonic() - self._last_sent

    async def _answer(self, response: Response) -> None:
        if self.started:
            return
        self.started = True
        self._record.status = response.status_code
        await response({"type": "http"}, _nothing, self._send)


class _Keeper:
    """A timer beside a stream: whenever the stream was quiet for so long, it has something sent. Costs nothing while there is no need of it."""

    def __init__(
        self, seconds: float, group: asyncio.TaskGroup, quiet_for: Callable[[], float], send: Callable[[], Coroutine[None, None, None]]
    ) -> None:
        self._seconds, self._group, self._quiet_for, self._send = seconds, group, quiet_for, send
        self._loop = asyncio.get_running_loop()
        self._timer = self._loop.call_later(seconds, self._look)
        self._sending: asyncio.Task[None] | None = None

    def stop(self) -> None:
        """No more of it."""
        self._timer.cancel()
        if self._sending is not None:
            self._sending.cancel()

    def _look(self) -> None:
        quiet = self._quiet_for()
        if quiet >= self._seconds:
            self._sending = self._group.create_task(self._send())
            quiet = 0.0
        self._timer = self._loop.call_later(self._seconds - quiet, self._look)


async def _nothing() -> dict[str, str]:
    return {"type": "http.disconnect"}
