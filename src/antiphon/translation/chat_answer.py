"""A Chat Completions answer, streamed or whole, as Responses events.

Servers differ in small ways, and this is where each is met: a call's name in pieces or repeated in every delta, calls that all have index 0,
arguments as an object, usage before or after the last choice, no `[DONE]`, an error object in a stream that began well. An answer that stops
without saying that it is finished is a failure.

Not here: how events are spelled (`protocol.stream_builder`), the client's own tool names (`stages.restore`).
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from typing import Any, NamedTuple

import msgspec
from msgspec import Raw

from antiphon.protocol import failures, json, sse
from antiphon.protocol.document import Document
from antiphon.protocol.event_views import Event, Spoken
from antiphon.protocol.failures import Failure, Row
from antiphon.protocol.notes import Kind, Note
from antiphon.protocol.stream_builder import REASONING, REFUSAL, SUMMARY, TEXT, NewId, StreamBuilder, Token
from antiphon.translation import chat_usage, logprobs
from antiphon.translation.alike import Alike, Say, alike
from antiphon.translation.chat_calls import CallPiece, CallQueue
from antiphon.translation.thinking import ThinkSplitter

_NONE = Raw(b"")
_EMPTY = b'""'

FINISH: dict[str, str] = {
    "stop": "completed",
    "tool_calls": "completed",
    "function_call": "completed",
    "eos": "completed",
    "eos_token": "completed",
    "end_turn": "completed",
    "tool_use": "completed",
    "complete": "completed",
    "stop_sequence": "completed",
    "length": "max_output_tokens",
    "max_tokens": "max_output_tokens",
    "model_length": "max_output_tokens",
    "model_context_window_exceeded": "max_output_tokens",
    "content_filter": "content_filter",
    "sensitive": "content_filter",
    "safety": "content_filter",
    "recitation": "content_filter",
    "content_filtered": "content_filter",
    "guardrail_intervened": "content_filter",
    "error": "failed",
    "abort": "failed",
    "aborted": "failed",
    "network_error": "failed",
    "insufficient_system_resource": "failed",
    "cancelled": "failed",
    "timeout": "failed",
    "malformed_function_call": "failed",
}
"""`finish_reason`, in any case → how the response ends. A reason that is not here ends it well and is noted."""
CALLED = frozenset({"tool_calls", "function_call", "tool_use"})
"""The reasons that speak of a call."""


class _Function(msgspec.Struct):
    name: str | None = None
    arguments: Raw = _NONE


class _CallDelta(msgspec.Struct):
    index: int | float | str | None = None
    id: str | int | None = None
    function: _Function | None = None


class _Groq(msgspec.Struct):
    usage: Raw = _NONE
    error: str | None = None


class _Chunk(msgspec.Struct):
    choices: list[Any] | None = None
    usage: Raw = _NONE
    error: Raw = _NONE
    message: Raw = _NONE
    x_groq: _Groq | None = None


@cache
def _reader(reasoning: tuple[str, ...]) -> "msgspec.json.Decoder[_Chunk]":
    """The view of a chunk or a whole answer, with the fields in which this dialect's models think."""
    members: list[Any] = [(name, Raw, _NONE) for name in ("content", "refusal", *reasoning)]
    delta = msgspec.defstruct("Delta", [*members, ("tool_calls", list[_CallDelta] | None, None)])
    choice = msgspec.defstruct(
        "Choice",
        [
            ("index", int | float | None, None),
            ("delta", delta | None, None),
            ("message", delta | None, None),
            ("finish_reason", str | None, None),
            ("usage", Raw, _NONE),
            ("logprobs", Raw, _NONE),
        ],
    )
    return json.reader(msgspec.defstruct("Chunk", [("choices", list[choice] | None, None)], bases=(_Chunk,)))  # pyright: ignore[reportReturnType, reportUnknownVariableType, reportInvalidTypeForm, reportArgumentType, reportUnknownArgumentType]


@dataclass(frozen=True, slots=True)
class ChatManner:
    """How a chat answer is read: where ids and time come from, the fields of thought, the end of a cut answer, extra failure rows."""

    new_id: NewId
    now: Callable[[], int]
    reasoning: tuple[str, ...] = ("reasoning_content", "reasoning")
    length_cut: str = "incomplete"
    rows: tuple[Row, ...] = ()
    think_tags: bool = True
    logprobs: bool = False
    """Whether the client wants to know how sure the model was."""


class _Said(NamedTuple):
    """One thing that a chunk says: its field there, its words, and what is done with them."""

    field: str
    words: bytes
    say: Say


class ChatAnswer:
    """Feed the upstream's bytes, get events; `end` when it has no more."""

    def __init__(self, response: Document, manner: ChatManner) -> None:
        self._manner = manner
        self._decoder = sse.Decoder()
        self._reader = _reader(manner.reasoning)
        self._thoughts = SUMMARY if _wants_summary(response) else REASONING
        self._builder = StreamBuilder(response)
        self._calls = CallQueue(self._builder, manner.new_id)
        self._splitter = ThinkSplitter(looks=manner.think_tags)
        self._finish: str | None = None
        self._usage: Raw | None = None
        self._alike: Alike | None = None
        self._has_weighed = False
        self.ended = False
        self.failure: Failure | None = None
        self._notes: list[Note] = []

    @property
    def notes(self) -> list[Note]:
        """What was noticed in the answer."""
        return self._notes + self._builder.notes

    def begin(self) -> list[Event]:
        """The events that may be sent before the upstream has said a word."""
        return self._builder.begin()

    begin_early = begin

    def still_there(self) -> Event:
        """An event that says nothing but that the response goes on."""
        return self._builder.begin()[-1]

    def feed(self, chunk: bytes) -> Sequence[Event | Spoken]:
        """The events that these bytes make."""
        events: list[Event | Spoken] = []
        at = 0
        while at < len(chunk) and not self.ended:
            made, at = self._next(chunk, at)
            events += made
        return events

    def _next(self, chunk: bytes, at: int) -> tuple[Sequence[Event | Spoken], int]:
        """What the next event makes, or the next few where they are alike, and where they end."""
        if self._alike is not None and self._decoder.is_between:
            words, end = self._alike.row(chunk, at)
            if words:
                return self._alike.say([one for one in words if one != _EMPTY]), end
        end = chunk.find(b"\n\n", at) + 2
        end = end if end > 1 else len(chunk)
        return self._read(self._decoder.feed(chunk[at:end])), end

    def _read(self, frames: Iterable[sse.Frame | sse.Run]) -> Sequence[Event | Spoken]:
        events: list[Event | Spoken] = []
        for frame in frames:
            if self.ended or isinstance(frame, sse.Run):
                break
            if data := frame.data.strip():
                events += self._end() if data == sse.DONE else self._take(data, frame.raw)
        return events

    def whole(self, body: bytes) -> Sequence[Event | Spoken]:
        """All events of an answer that was not streamed, after `begin`; some servers stream it all the same."""
        if sse.is_stream(body):
            return [*self.feed(body), *self.close()]
        events = self._take(body, body)
        if not self.ended and self._finish is None and not self._calls.has_begun and not events:
            return self.fail(failures.ended_early("the model server's answer holds no choice"))
        return events if self.ended else [*events, *self._end()]

    def close(self) -> Sequence[Event | Spoken]:
        """The upstream has no more: a failure, unless it had finished."""
        if self.ended:
            return []
        if self._finish is not None:
            return self._end()
        if self._decoder.rest.lstrip().startswith(b"{"):  # no stream, whatever its headers said
            return self.whole(self._decoder.rest)
        return self.fail(failures.ended_early("the model server ended its answer without finishing it"))

    def fail(self, failure: Failure) -> list[Event]:
        """The answer cannot go on."""
        if self.ended:
            return []
        self.ended, self.failure = True, failure
        return self._builder.fail(failure)

    def _take(self, data: bytes, raw: bytes) -> Sequence[Event | Spoken]:
        """What one chunk makes; `raw`: its event's bytes."""
        try:
            chunk = json.view(json.mend(data), self._reader)
        except ValueError as bad:
            self._notes.append(Note(Kind.BROKEN, "chunk", str(bad)))
            return self.fail(failures.ended_early(f"the model server sent what is not a chat completion: {bad}"))
        if _is_given(chunk.error) and json.value(chunk.error):
            return self.fail(failures.in_stream(json.value(chunk.error), rows=self._manner.rows))
        counted = _counted(chunk)
        if counted is not None:
            self._usage = chat_usage.told(counted) or self._usage
        if chunk.choices is None:
            return self._without_choices(chunk)
        first = next((choice for choice in chunk.choices if not choice.index), None)  # nobody asks for a second one
        said = [] if first is None else self._choice(first)
        events = [event for one in said for event in one.say([one.words])]
        if len(said) == 1 and self._finish is None and counted is None and not self._has_weighed:
            self._alike = alike(raw, said[0].field, said[0].words, said[0].say)
        return events

    def _without_choices(self, chunk: _Chunk) -> Sequence[Event | Spoken]:
        """Some servers send an error bare; others send chunks of their own that say nothing."""
        if _is_given(chunk.message) and json.is_text(chunk.message):
            return self.fail(failures.in_stream({"message": json.text(chunk.message)}, rows=self._manner.rows))
        self._notes.append(Note(Kind.UNKNOWN, "chunk", "no choices"))
        return []

    def _choice(self, choice: Any) -> list[_Said]:
        """All that a chunk says."""
        delta = choice.delta or choice.message
        if choice.finish_reason:
            self._finish = choice.finish_reason
        if self._manner.logprobs and _is_given(choice.logprobs):
            self._weigh(logprobs.read(choice.logprobs))
        if delta is None:
            return []
        given = ((name, getattr(delta, name)) for name in self._manner.reasoning)
        thoughts = [_Said(name, text, self._think) for name, piece in given if (text := _text(piece)) != _EMPTY]
        said = thoughts[:1]  # some servers say the same in two fields
        said += [_Said("content", words, self._think if thought else self._talk) for thought, words in _content(delta.content)]
        said.append(_Said("refusal", _text(delta.refusal), self._refuse))
        calls = [self._call(call, number) for number, call in enumerate(delta.tool_calls or ())]
        return [one for one in said if one.words != _EMPTY] + calls

    def _weigh(self, tokens: list[Token]) -> None:
        self._has_weighed = self._has_weighed or bool(tokens)
        self._builder.weigh(tokens)

    def _talk(self, words: Sequence[bytes]) -> Sequence[Event | Spoken]:
        if self._splitter.is_over:
            return self._calls.speak(TEXT, *words) if words else []
        return self._split([piece for one in words for piece in self._splitter.feed(one)])

    def _rest(self) -> Sequence[Event | Spoken]:
        """What the splitter still holds."""
        return self._split(self._splitter.flush())

    def _split(self, pieces: Iterable[tuple[bool, bytes]]) -> Sequence[Event | Spoken]:
        return [event for thought, part in pieces for event in self._calls.speak(self._thoughts if thought else TEXT, part)]

    def _think(self, words: Sequence[bytes]) -> Sequence[Event | Spoken]:
        return self._calls.speak(self._thoughts, *words) if words else []

    def _refuse(self, words: Sequence[bytes]) -> Sequence[Event | Spoken]:
        return self._calls.speak(REFUSAL, *words) if words else []

    def _call(self, call: _CallDelta, number: int) -> _Said:
        function, index = call.function or _Function(), number if call.index is None else call.index

        def say(arguments: Sequence[bytes]) -> Sequence[Event | Spoken]:
            id = None if call.id is None else str(call.id)
            pieces = (CallPiece(index, id, function.name, one) for one in arguments)
            return [*self._rest(), *(event for piece in pieces for event in self._calls.feed(piece))]

        return _Said("arguments", _spelled_arguments(function.arguments), say)

    def _end(self) -> Sequence[Event | Spoken]:
        rest, outcome = self._rest(), FINISH.get((self._finish or "").lower())
        if (fault := self._fault(outcome)) is not None:
            return [*rest, *self.fail(failures.ended_early(f"the model server {fault}"))]
        self.ended = True
        if outcome is None:
            self._notes.append(Note(Kind.BROKEN, "finish_reason", f"{self._finish or 'none'} taken for stop"))
        cut = outcome in ("max_output_tokens", "content_filter")
        events = [*rest, *self._calls.finish(cut=cut)]
        if self._manner.logprobs and not self._has_weighed and not self._calls.has_begun:
            self._notes.append(Note(Kind.DROPPED, "include", "the model server told no logprobs"))
        if not cut or (outcome == "max_output_tokens" and self._manner.length_cut == "completed"):
            return [*events, *self._builder.complete(self._usage, now=self._manner.now())]
        return [*events, *self._builder.incomplete(outcome or "", self._usage)]

    def _fault(self, outcome: str | None) -> str | None:
        """What is wrong with an end that is none."""
        if outcome == "failed":
            return f"gave up: finish_reason {self._finish}"
        if outcome is None and self._calls.is_cut:
            return "ended its answer inside a call"
        called = (self._finish or "").lower() in CALLED
        if (outcome is None or called) and self._builder.is_empty and not self._calls.has_name:
            return f"ended its answer without {'the call that it speaks of' if called else 'a word'}"
        return None


def _counted(chunk: _Chunk) -> Raw | None:
    """The usage that a chunk tells, in any of the places where servers do."""
    places = [chunk.usage, chunk.x_groq.usage if chunk.x_groq is not None else _NONE]
    places += [choice.usage for choice in (chunk.choices or ())[:1]]
    return next((place for place in places if _is_given(place)), None)


def _is_given(spelled: Raw) -> bool:
    return spelled is not _NONE and len(memoryview(spelled)) > 0 and not json.is_null(spelled)


def _wants_summary(response: Document) -> bool:
    """Where the client asked for summaries it shows those; raw reasoning it hides."""
    reasoning = response.document("reasoning")
    return reasoning is not None and reasoning.text("summary") not in (None, "none")


def _content(spelled: Raw) -> list[tuple[bool, bytes]]:
    """Content as pieces that are thoughts (True) or text; as parts it may hold both."""
    if not _is_given(spelled) or not json.is_array(spelled):
        return [(False, _text(spelled))]
    parts = (Document(raw) for raw in json.elements(spelled) if json.is_object(raw))
    return [
        (thought, json.joined_text(_text(part.members.get("thinking" if thought else "text", _NONE)) for part in group))
        for thought, group in groupby(parts, lambda part: "thinking" in part)
    ]


def _text(spelled: Raw) -> bytes:
    """Words as a spelled string; they may come as parts, each with a `text` or, where they were made shorter, a `summary`."""
    if not _is_given(spelled):
        return _EMPTY
    if json.is_text(spelled):
        return bytes(spelled)
    if not json.is_array(spelled):
        return _EMPTY
    parts = [Document(raw) for raw in json.elements(spelled) if json.is_object(raw)]
    return json.joined_text(bytes(part.members[name]) for part in parts for name in ("text", "summary") if part.text(name))


def _spelled_arguments(spelled: Raw) -> bytes:
    """Arguments as a spelled string: some servers send the object itself."""
    if not _is_given(spelled):
        return _EMPTY
    return bytes(spelled) if json.is_text(spelled) else json.encode(bytes(spelled).decode())
