"""`POST /v1/responses`: one request in, one stream or one body out.

The status waits for the upstream's first word, so that a refusal is a status and not a broken stream; a chat upstream that thinks longer than the
keep-alive time gets its stream begun for it.
"""

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterable, Sequence

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Send

from antiphon.http import problems, travelling
from antiphon.http.gateway import Gateway
from antiphon.observe import log
from antiphon.protocol import failures, notes, request, sse
from antiphon.protocol.errors import AntiphonError, UpstreamError
from antiphon.protocol.event_views import Event, Streamed
from antiphon.protocol.notes import Kind
from antiphon.protocol.request import RequestView
from antiphon.stages.numbering import Numbering
from antiphon.translation.unknowns import unknowns
from antiphon.turn import Target, Turn
from antiphon.upstream import threads
from antiphon.upstream.client import Answer
from antiphon.upstream.group import Destination
from antiphon.upstream.server import Outgoing

DROPPED = "x-antiphon-dropped"


class Exchange:
    """One request and its answer."""

    def __init__(self, gateway: Gateway, headers: Headers, send: Send) -> None:
        self._gateway = gateway
        self.headers = headers
        self._send = send
        self._record = log.Record()
        self._numbering = Numbering()
        self._told: dict[str, str] = {}
        self._started = False
        self._closed = False
        self._sending = False
        self._last_sent = time.monotonic()

    async def run(self, body: bytes, group: asyncio.TaskGroup) -> None:
        """All of it; every failure is told in the form that fits the moment."""
        try:
            document, mended = request.open_body(body)
            view = request.view(document)
            self._record.model = view.model or ""
            to = await self._gateway.pool.route(self._record.model)
            turn = Turn(document, view, Target(to.api, to.dialect, to.model), self._gateway.manner)
            turn.notes[:0] = mended
            self._journal(view, turn)
            self._record.begin(to.name, to.api, turn.notes)
            self._tell_losses(turn)
            await (self._stream(turn, to, group) if view.stream else self._whole(turn, to))
        except Exception as error:  # noqa: BLE001 - whatever it is, the client is told in the form that it can read
            failure = problems.told(error)
            self._record.failed(failure)
            await self._answer(problems.answer(failure, self._told))
        finally:
            self._record.write()

    async def _whole(self, turn: Turn, to: Destination) -> None:
        async with self._gateway.pool.answer(to, self._outgoing(turn)) as answer:
            await self._check(turn, answer)
            response = turn.whole(await answer.all())
            self._tell(turn, answer)
            self._tell_losses(turn)
        self._record.status = 200
        await self._answer(Response(bytes(response), headers=self._told, media_type="application/json"))

    async def _stream(self, turn: Turn, to: Destination, group: asyncio.TaskGroup) -> None:
        stream = Stream(self, turn)
        keeper = _Keeper(self._gateway.config.keepalive_seconds, group, self.quiet_for, lambda: stream.keep_alive(begins=to.api == "chat"))
        failed: AntiphonError | None = None
        try:
            await self._pump(turn, to, stream)
        except AntiphonError as error:
            failed = error
        except Exception:  # noqa: BLE001 - a stream under way must still be told its end
            failed = problems.own_fault()
        finally:
            keeper.stop()
        self._record.notes += stream.answer.notes
        if failed is not None:
            if not self._started:
                raise failed
            await stream.send(stream.answer.fail(failed.failure))
        if stream.answer.failure is not None:
            self._record.failed(stream.answer.failure)
        if not self._closed:
            await self._write(b"", last=True)

    async def _pump(self, turn: Turn, to: Destination, stream: "Stream") -> None:
        async with self._gateway.pool.answer(to, self._outgoing(turn)) as answer:
            await self._check(turn, answer)
            self._tell(turn, answer)
            if not answer.is_stream:
                await stream.send_whole(await answer.all())
                return
            while piece := await answer.some():
                await stream.feed(piece, over=answer.is_over)
                if stream.answer.ended:
                    await answer.finish()
                    return
            await stream.send(stream.answer.close())
            answer.broken = stream.answer.failure is not None

    async def _check(self, turn: Turn, answer: Answer) -> None:
        self._record.upstream = answer.upstream
        if answer.status >= 300:
            raise UpstreamError(turn.failure(answer.status, await answer.refusal(), retry_after=answer.headers.get("retry-after")))
        if answer.headers.get("content-type", "").startswith("text/html"):
            raise UpstreamError(failures.ended_early("the model server answered with a web page: is its URL right?"))

    def _outgoing(self, turn: Turn) -> Outgoing:
        sent = travelling.sent(self.headers, turn.rules, accept="text/event-stream, application/json")
        thread = threads.key(self.headers, turn.cache_key)
        return Outgoing(turn.path, turn.body, sent, thread, self.headers.get("authorization", ""))

    def _tell(self, turn: Turn, answer: Answer) -> None:
        self._told |= travelling.told(answer.headers, turn.rules)

    def _journal(self, view: RequestView, turn: Turn) -> None:
        found = unknowns(view, items=any(note.kind is Kind.DROPPED and note.where.startswith("input[") for note in turn.notes))
        if found:
            self._gateway.journal.add(found, client=self.headers.get("user-agent", ""), now=self._gateway.manner.now())

    def _tell_losses(self, turn: Turn) -> None:
        if (lost := notes.header(turn.notes)) is not None:
            self._told[DROPPED] = lost

    async def start(self) -> None:
        """The head of a stream."""
        if not self._started:
            self._started = True
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

    async def write(self, events: Iterable[Streamed], *, last: bool = False) -> None:
        """Events, numbered; the `last` ones end the stream."""
        data = self._numbering.wire(events)
        if data or last:
            await self._write(data, last=last)

    async def write_keep_alive(self, event: Event) -> None:
        """An event that only says that the stream lives; it takes no number of its own, so that what follows keeps its."""
        await self._write(event.but(sequence_number=self._numbering.last).wire())

    async def _write(self, data: bytes, *, last: bool = False) -> None:
        await self.start()
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
        if self._started:
            return
        self._started = True
        self._record.status = response.status_code
        await response({"type": "http"}, _nothing, self._send)


class Stream:
    """The streamed answer of an exchange: the upstream's machine, the stages, and what keeps the client waiting in peace."""

    def __init__(self, exchange: Exchange, turn: Turn) -> None:
        self._exchange = exchange
        self._turn = turn
        self.answer = turn.answer()
        self._pipeline = turn.pipeline()
        self._begun = False

    async def send(self, events: Sequence[Streamed], *, over: bool = True) -> None:
        """What these events become goes to the client; `over`: whether the upstream has no more, so that an end is the end."""
        if events:
            await self._exchange.write(self._pipeline.feed([*self._begin(), *events]), last=over and self.answer.ended)

    async def feed(self, piece: bytes, *, over: bool) -> None:
        """What these bytes of the upstream's become goes to the client; `over`: there are no more."""
        try:
            events = self.answer.feed(piece)
        except sse.TooLong as bad:
            raise UpstreamError(failures.ended_early(f"the model server's stream cannot be read: {bad}")) from None
        await self.send(events, over=over)

    async def send_whole(self, body: bytes) -> None:
        """An upstream that did not stream although it was asked to."""
        await self.send(self.answer.whole(body))

    async def keep_alive(self, *, begins: bool) -> None:
        """An event that says nothing else; `begins`: whether the stream may be begun for the upstream."""
        if not self._begun and begins:
            await self._exchange.write(self._pipeline.feed(self._begin()))
        elif self._begun and (event := self.answer.still_there()) is not None:
            for shown in self._pipeline.feed([event]):
                assert isinstance(shown, Event)
                await self._exchange.write_keep_alive(shown)

    def _begin(self) -> list[Event]:
        if self._begun:
            return []
        self._begun = True
        return self.answer.begin()


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
