"""One response, from the model's first word to its end: rounds with a model, their events sent out as they come, the end kept before it is told.

The world outside is three things: `ask` sends a request to a model, an `Out` takes what the client is to see, a `Keep` keeps the response. What
is behind them (a socket, a background task, a file) is not known here. A response is one round today; the gateway's own tools will make it
several, in `stream`.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from antiphon.loop.ports import StoreFailed
from antiphon.protocol import failures, sse, stream_rules
from antiphon.protocol.document import Document
from antiphon.protocol.errors import AntiphonError, StoreUnavailable, UpstreamError
from antiphon.protocol.event_views import Event, Streamed
from antiphon.protocol.failures import Failure
from antiphon.protocol.round_reader import RoundReader
from antiphon.translation.dialect import ResponsesRules
from antiphon.turn import Turn

Events = Sequence[Streamed]


class ModelAnswer(Protocol):
    """A model server's answer under way."""

    status: int
    headers: dict[str, str]
    upstream: str
    broken: bool
    """Whether it broke off: the server that gave it may not be well."""

    @property
    def is_stream(self) -> bool:
        """Whether it comes in events."""
        ...

    @property
    def is_over(self) -> bool:
        """Whether all of it has come."""
        ...

    async def some(self) -> bytes:
        """The next bytes; empty at the end."""
        ...

    async def all(self) -> bytes:
        """All that is left of it."""
        ...

    async def refusal(self) -> bytes:
        """The body of a failing one."""
        ...

    async def finish(self) -> None:
        """Waits a little for the end of one that has said all it had to say."""
        ...


Ask = Callable[[Turn], AbstractAsyncContextManager[ModelAnswer]]


class Out(Protocol):
    """Who takes what the client is to see."""

    @property
    def started(self) -> bool:
        """Whether anything has been sent, so that a failure can only be an event."""
        ...

    def told(self, answer: ModelAnswer, rules: ResponsesRules) -> None:
        """The head of a model server's answer, whatever its status, and the rules for its headers."""
        ...

    async def write(self, events: Events, *, last: bool = False) -> None:
        """Events; the `last` ones end the stream."""
        ...


class Keep(Protocol):
    """Who keeps the response."""

    async def end(self, response: Document, events: Events) -> None:
        """Keeps it as it ended; `events` are the last ones, which nobody has been sent yet. Raises StoreFailed."""
        ...


class Responding:
    """One response under way."""

    def __init__(self, turn: Turn, ask: Ask, out: Out, keep: Keep | None = None) -> None:
        self._turn, self._ask, self._out, self._keep = turn, ask, out, keep
        self._pipeline = turn.pipeline()
        self._reader = RoundReader()
        self._begun = False
        self.answer = turn.answer()

    async def whole(self) -> Document:
        """The response in one piece, kept. Raises AntiphonError, or StoreFailed where it cannot be kept."""
        async with self._ask(self._turn) as answer:
            await self._check(answer)
            response = self._turn.whole(await answer.all())
        if self._keep is not None:
            await self._keep.end(response, ())
        return response

    async def stream(self) -> None:
        """The response in events, to its end. Raises AntiphonError where it failed before anything was sent."""
        try:
            await self._round()
        except AntiphonError as error:
            if not self._out.started:
                raise
            await self.fail(error.failure)

    async def fail(self, failure: Failure) -> None:
        """Ends it in a failure, where it has not ended."""
        await self._send(self.answer.fail(failure))

    async def keep_alive(self, *, begins: bool) -> Event | None:
        """An event that says nothing else, to be sent without a number of its own; `begins`: whether the stream may be begun for the model."""
        if not self._begun and begins:
            self._begun = True
            await self._out.write(self._seen(self._pipeline.feed(self.answer.begin_early())))
        elif self._begun and (event := self.answer.still_there()) is not None:
            for shown in self._pipeline.feed([event]):
                assert isinstance(shown, Event)
                return shown
        return None

    async def _round(self) -> None:
        """What one model call gives."""
        async with self._ask(self._turn) as answer:
            await self._check(answer)
            if not answer.is_stream:
                await self._send(self.answer.whole(await answer.all()))
                return
            while piece := await answer.some():
                await self._feed(piece, over=answer.is_over)
                if self.answer.ended:
                    await answer.finish()
                    return
            await self._send(self.answer.close())
            answer.broken = self.answer.failure is not None

    async def _check(self, answer: ModelAnswer) -> None:
        """Tells whose answer it is. Raises UpstreamError where it is none."""
        self._out.told(answer, self._turn.rules)
        if answer.status >= 300:
            raise UpstreamError(self._turn.failure(answer.status, await answer.refusal(), retry_after=answer.headers.get("retry-after")))
        if answer.headers.get("content-type", "").startswith("text/html"):
            raise UpstreamError(failures.ended_early("the model server answered with a web page: is its URL right?"))

    async def _feed(self, piece: bytes, *, over: bool) -> None:
        try:
            events = self.answer.feed(piece)
        except sse.TooLong as bad:
            raise UpstreamError(failures.ended_early(f"the model server's stream cannot be read: {bad}")) from None
        await self._send(events, over=over)

    async def _send(self, events: Events, *, over: bool = True) -> None:
        """What these events become goes out; `over`: whether the model has no more, so that an end is the end."""
        if not events:
            return
        shown = self._seen(self._pipeline.feed([*self._begin(), *events]))
        if self._keep is not None and self.answer.ended:
            shown = await self._kept(self._keep, shown)
        await self._out.write(shown, last=over and self.answer.ended)

    def _begin(self) -> list[Event]:
        if self._begun:
            return []
        self._begun = True
        return self.answer.begin()

    def _seen(self, events: Events) -> Events:
        """The same events, read on the way where the response will be kept."""
        if self._keep is not None:
            for event in events:
                if isinstance(event, Event):
                    self._reader.feed(event)
        return events

    async def _kept(self, keep: Keep, events: Events) -> Events:
        """The last events once their response is kept: a terminal event that lists no output lists it now."""
        ended, response = self._reader.ended, self._reader.response
        if ended is None or response is None:
            return events
        if response.raw is not ended.members["response"]:
            events = _with_end(events, ended.but(response=response))
        return await ended_with(keep, events, response)


async def ended_with(keep: Keep, events: Events, response: Document) -> Events:
    """The last events once their response is kept; where it cannot be, events that say so."""
    try:
        await keep.end(_spelled(events, response), events)
    except StoreFailed as failed:
        error = {"code": StoreUnavailable.code, "message": str(failed)}
        return _with_end(events, Event.made(stream_rules.FAILED, {"response": response.but(status="failed", error=error)}))
    return events


def _with_end(events: Events, ended: Event) -> Events:
    """The events with another terminal one."""
    return [ended if event.type in stream_rules.TERMINAL else event for event in events]


def _spelled(events: Events, response: Document) -> Document:
    """The response in the very bytes of its terminal event, which is one line."""
    for event in events:
        if isinstance(event, Event) and event.type in stream_rules.TERMINAL:
            return event.document("response") or response
    return response
