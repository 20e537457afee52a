"""A Responses server's answer as events: its own, with their own bytes, until it breaks off.

A top-level `error` event is followed by a `response.failed`, because Codex reads only that one; a stream without a terminal event gets one that
says so. Nothing after the terminal event goes on. Not here: what servers leave out of their events (`stages.complete`).
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from antiphon.protocol import failures, json, sse, stream_rules
from antiphon.protocol.document import Document
from antiphon.protocol.errors import UpstreamError
from antiphon.protocol.event_views import RUN_MARKS, Event, Run, of_frame
from antiphon.protocol.failures import Failure, Row
from antiphon.protocol.notes import Note
from antiphon.protocol.stream_validator import StreamValidator

_ENDS = {
    "completed": stream_rules.COMPLETED,
    "incomplete": stream_rules.INCOMPLETE,
    "failed": stream_rules.FAILED,
    "cancelled": stream_rules.FAILED,
}
"""A response's status → the event that it ends with."""


_HEADS = frozenset({stream_rules.CREATED, stream_rules.QUEUED, stream_rules.IN_PROGRESS})


class ResponsesAnswer:
    """Feed the upstream's bytes, get events; `close` when it has no more. `response` is what a failure is told with before it has begun."""

    def __init__(self, response: Callable[[], Document], *, rows: Iterable[Row] = ()) -> None:
        self._decoder = sse.Decoder(runs=RUN_MARKS)
        self._template = response
        self._rows = tuple(rows)
        self._begun: Event | None = None
        self._is_early = False
        self._validator = StreamValidator()
        self.ended = False
        self.failure: Failure | None = None
        self.notes: list[Note] = []

    def begin(self) -> list[Event]:
        """Nothing: the upstream's own first event begins the stream."""
        return []

    def begin_early(self) -> list[Event]:
        """A beginning for a client that waits for long; the upstream's own is then passed over. Only where the response's id is ours."""
        self._is_early = True
        events = [Event.made(name, {"response": self._template()}) for name in (stream_rules.CREATED, stream_rules.IN_PROGRESS)]
        for event in events:
            self._watch(event)
        return events

    def feed(self, chunk: bytes) -> list[Event | Run]:
        """The events that these bytes complete."""
        events: list[Event | Run] = []
        for frame in self._decoder.feed(chunk):
            if self.ended:
                break
            if isinstance(frame, sse.Run):
                events.append(Run(frame))
                continue
            if frame.data.strip() in (b"", sse.DONE):
                continue
            try:
                event = of_frame(frame)
            except ValueError as bad:
                return [*events, *self.fail(failures.ended_early(f"the model server sent an event that is not JSON: {bad}"))]
            if (broken := self._broken(event)) is not None:
                return [*events, *self.fail(broken)]
            if not event.type or (self._is_early and event.type in _HEADS):  # a keep-alive without words, or what was said already
                continue
            events.append(self._told(event) if event.type == stream_rules.FAILED else event)
            if event.type not in stream_rules.DELTAS:
                events += self._watch(event)
        return events

    def still_there(self) -> Event | None:
        """An event that says nothing but that the response goes on; none before it has begun."""
        return None if self._begun is None else Event.made(stream_rules.IN_PROGRESS, {"response": self._begun.members["response"]})

    def whole(self, body: bytes) -> Sequence[Event | Run]:
        """The events of an answer that did not stream although it was asked to, or did without saying so."""
        if sse.is_stream(body):
            return [*self.feed(body), *self.close()]
        try:
            response = whole(body, rows=self._rows)
        except UpstreamError as refused:
            return self.fail(refused.failure)
        except ValueError as bad:
            return self.fail(failures.ended_early(f"the model server sent what is neither a stream nor a response: {bad}"))
        end = _ENDS.get(response.text("status") or "completed")
        if end is None:
            return self.fail(failures.ended_early(f"the model server's response is {response.text('status')}"))
        self.ended = True
        begun = response.but(status="in_progress", output=[])
        events = [] if self._is_early else [Event.made(stream_rules.CREATED, {"response": begun})]
        for index, item in enumerate(response.elements("output")):
            events += [
                Event.made(name, {"output_index": index, "item": item}) for name in (stream_rules.ITEM_ADDED, stream_rules.ITEM_DONE)
            ]
        return [*events, Event.made(end, {"response": response})]

    def close(self) -> Sequence[Event | Run]:
        """The upstream has no more: a failure, unless it had ended the response."""
        if self.ended:
            return []
        if self._begun is None and self._decoder.rest.lstrip().startswith(b"{"):  # no stream, whatever its headers said
            return self.whole(self._decoder.rest)
        return self.fail(failures.ended_early("the model server ended its stream before response.completed"))

    def fail(self, failure: Failure) -> list[Event]:
        """The answer cannot go on."""
        if self.ended:
            return []
        self.ended, self.failure = True, failure
        begun = self._begun.document("response") if self._begun is not None else None
        error = {"code": failures.stream_code(failure), "message": failure.message}
        response = (begun or self._template()).but(status="failed", error=error)
        return [Event.made(stream_rules.FAILED, {"response": response})]

    def _broken(self, event: Event) -> Failure | None:
        """What is wrong with an event that cannot go on: a bare error, or an end without its response."""
        if not event.type:
            return _refusal(event, self._rows)
        if event.type in stream_rules.TERMINAL and event.document("response") is None:
            return failures.ended_early(f"the model server sent {event.type} without a response")
        return None

    def _told(self, event: Event) -> Event:
        """The upstream's own failure, under the code on which clients do the right thing."""
        response = event.document("response")
        error = None if response is None else response.document("error")
        if response is None or error is None:
            return event
        self.failure = failures.in_stream(json.value(error.raw), rows=self._rows)
        code = failures.stream_code(self.failure)
        return event if code == error.text("code") else event.but(response=response.but(error=error.but(code=code)))

    def _watch(self, event: Event) -> list[Event]:
        self.notes += self._validator.feed(event)
        if event.type == stream_rules.CREATED:
            self._begun = event
        elif event.type in stream_rules.TERMINAL:
            self.ended = True
        elif event.type == stream_rules.ERROR:
            return self.fail(failures.in_stream(_error_of(event), rows=self._rows))
        return []


def whole(body: bytes, *, rows: Iterable[Row] = ()) -> Document:
    """A response that was not streamed. Raises UpstreamError where it is an error instead, ValueError where it is neither."""
    response = Document(json.mend(body))
    if "output" in response:
        return response
    if (refusal := _refusal(response, rows)) is not None:
        raise UpstreamError(refusal)
    raise ValueError("no output")


def _refusal(told: Event | Document, rows: Iterable[Row]) -> Failure | None:
    """The failure in an object that is nothing but an error, as some servers send it with a good status."""
    error = told.get("error")
    return failures.in_stream(error, rows=rows) if error else None


def _error_of(event: Event) -> dict[str, Any]:
    """The error in an `error` event: OpenAI has it flat, others nest it."""
    nested = event.document("error")
    told = nested or event
    return {
        name: told.get(name) for name in ("message", "code", "type", "param") if name in told and not (name == "type" and nested is None)
    }
