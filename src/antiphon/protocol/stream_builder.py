"""Builds a Responses stream out of what a model says: text, reasoning, calls, an end.

One item is open at a time and never interleaves with another: Codex attaches a delta to the item it saw last, whatever its index says. Pieces
arrive as spelled JSON strings and are put into the events as they are; nothing is decoded on the way. A call whose arguments were cut is never
finished and is in no output.

Not here: how an upstream spells its chunks (`translation`), sequence numbers (`stages.numbering`), the response's id and time (arguments).
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from msgspec import Raw

from antiphon.protocol import item_ids, json, stream_rules
from antiphon.protocol.document import Document
from antiphon.protocol.event_views import Event, Spoken
from antiphon.protocol.failures import Failure, stream_code
from antiphon.protocol.notes import Note

NewId = Callable[[str], str]
"""Makes an id with a prefix: `new_id("msg")` → `msg_…`."""


class _Channel:
    """How one kind of streamed part is spelled in events and in its item: one row of a table."""

    __slots__ = ("delta", "done", "index", "item", "part", "part_added", "part_done", "prefix")

    def __init__(self, item: str, prefix: str, part: str, index: str, events: tuple[str, str, str, str]) -> None:
        self.item, self.prefix, self.part, self.index = item, prefix, part, index
        self.part_added, self.delta, self.done, self.part_done = events


TEXT = _Channel(
    "message", "msg", "output_text", "content_index",
    (stream_rules.PART_ADDED, stream_rules.TEXT_DELTA, stream_rules.TEXT_DONE, stream_rules.PART_DONE),
)  # fmt: skip
REFUSAL = _Channel(
    "message", "msg", "refusal", "content_index",
    (stream_rules.PART_ADDED, stream_rules.REFUSAL_DELTA, stream_rules.REFUSAL_DONE, stream_rules.PART_DONE),
)  # fmt: skip
SUMMARY = _Channel(
    "reasoning", "rs", "summary_text", "summary_index",
    (stream_rules.SUMMARY_ADDED, stream_rules.SUMMARY_DELTA, stream_rules.SUMMARY_DONE, stream_rules.SUMMARY_PART_DONE),
)  # fmt: skip
REASONING = _Channel(
    "reasoning", "rs", "reasoning_text", "content_index",
    (stream_rules.PART_ADDED, stream_rules.REASONING_DELTA, stream_rules.REASONING_DONE, stream_rules.PART_DONE),
)  # fmt: skip

_EMPTY_PART: dict[str, dict[str, Any]] = {
    "output_text": {"type": "output_text", "annotations": [], "logprobs": []},
    "refusal": {"type": "refusal"},
    "summary_text": {"type": "summary_text"},
    "reasoning_text": {"type": "reasoning_text"},
}
_TEXT_FIELD = {"refusal": "refusal"}
"""The field that holds a part's text, where it is not `text`."""


Token = dict[str, Any]
"""How sure the model was of a token: `token`, `logprob`, `bytes`, and `top_logprobs` with the same members of others."""


class StreamBuilder:
    """Each method gives the events that its piece makes."""

    def __init__(self, response: Document) -> None:
        self._response = response
        self._id = response.text("id") or ""
        self._open: _Speech | _Call | None = None
        self._begun = 0
        self._tokens: list[Token] = []
        self.output: list[Document] = []
        self.notes: list[Note] = []

    @property
    def is_empty(self) -> bool:
        """Whether nothing was said at all."""
        return self._begun == 0

    def begin(self) -> list[Event]:
        """`created` and `in_progress`."""
        return [Event.made(name, {"response": self._response}) for name in (stream_rules.CREATED, stream_rules.IN_PROGRESS)]

    def speak(self, channel: _Channel, *pieces: Raw | bytes) -> Sequence[Event | Spoken]:
        """Pieces of text or reasoning: spelled JSON strings."""
        speech = self._open
        if isinstance(speech, _Speech) and speech.channel is channel:
            return self._say(speech, pieces)
        closing = self.close()
        self._open = speech = _Speech(channel, id=item_ids.made(channel.prefix, self._id, self._begun), index=self._next_index())
        return [*closing, *speech.opening(), *self._say(speech, pieces)]

    def weigh(self, tokens: Iterable[Token]) -> None:
        """How sure the model was of the text that it says next."""
        self._tokens += tokens

    def _say(self, speech: "_Speech", pieces: Sequence[Raw | bytes]) -> Sequence[Event | Spoken]:
        if not self._tokens or speech.channel is not TEXT:
            return [speech.say(pieces)]
        tokens, self._tokens = self._tokens, []
        return [speech.say_weighed(bytes(pieces[0]), tokens), *(speech.say(pieces[1:]) for _ in pieces[1:2])]

    def call(self, name: str, call_id: str) -> list[Event]:
        """A function call begins, by its upstream name."""
        closing = self.close()
        self._open = call = _Call(name, call_id, id=item_ids.made("fc", self._id, self._begun), index=self._next_index())
        return [*closing, call.opening()]

    def arguments(self, piece: Raw | bytes) -> list[Event]:
        """A piece of the open call's arguments: a spelled JSON string."""
        call = self._open
        return [call.say(bytes(piece))] if isinstance(call, _Call) else []

    def close(self, status: str = "completed") -> list[Event]:
        """Finishes the open item."""
        closing, self._open = self._open, None
        if closing is None:
            return []
        item, events = closing.closing(status)
        self.output.append(item)
        return events

    def abandon(self) -> None:
        """Forgets an open call: its arguments were cut, and a client that is told it is done would run it."""
        if isinstance(self._open, _Call):
            self._open = None

    def complete(self, usage: Raw | None, *, now: int) -> list[Event]:
        """The good end."""
        return [*self.close(), self._end(stream_rules.COMPLETED, usage, status="completed", completed_at=now)]

    def incomplete(self, reason: str, usage: Raw | None) -> list[Event]:
        """The end of an answer that was cut: text so far is kept."""
        return [
            *self.close("incomplete"),
            self._end(stream_rules.INCOMPLETE, usage, status="incomplete", incomplete_details={"reason": reason}),
        ]

    def fail(self, failure: Failure) -> list[Event]:
        """The bad end. What was open stays open: a client must not take it for whole."""
        self._open = None
        error = {"code": stream_code(failure), "message": failure.message}
        return [self._end(stream_rules.FAILED, None, status="failed", error=error)]

    def _next_index(self) -> int:
        self._begun += 1
        return self._begun - 1

    def _end(self, name: str, usage: Raw | None, **changes: Any) -> Event:
        response = self._response.but(output=self.output, usage=usage, **changes)
        return Event.made(name, {"response": response})


class _Speech:
    """An open message or reasoning item with one part."""

    def __init__(self, channel: _Channel, *, id: str, index: int) -> None:
        self.channel, self._id, self._index = channel, id, index
        self._text = bytearray()  # not the pieces: a hundred thousand small objects are ten times as large
        self._tokens: list[Token] = []
        place = f'"item_id":"{id}","output_index":{index},"{channel.index}":0'
        head = f'{{"type":"{channel.delta}",{place},"delta":'.encode()
        self._around = head, b',"logprobs":[]}' if channel is TEXT else b"}"

    def say(self, pieces: Sequence[Raw | bytes]) -> Event | Spoken:
        spelled = [bytes(piece) for piece in pieces]
        self._text += b"".join([piece[1:-1] for piece in spelled])
        head, tail = self._around
        return (
            Spoken(self.channel.delta, self._around, spelled) if len(spelled) > 1 else Event(self.channel.delta, head + spelled[0] + tail)
        )

    def say_weighed(self, piece: bytes, tokens: list[Token]) -> Event:
        self._text += piece[1:-1]
        self._tokens += tokens
        told = json.encode([_brief(token) for token in tokens])
        return Event(self.channel.delta, self._around[0] + piece + b',"logprobs":' + told + b"}")

    def opening(self) -> list[Event]:
        channel = self.channel
        return [
            Event.made(stream_rules.ITEM_ADDED, {"output_index": self._index, "item": self._item("in_progress", [])}),
            Event.made(channel.part_added, {**self._places(), "part": self._part(b'""')}),
        ]

    def closing(self, status: str) -> tuple[Document, list[Event]]:
        channel, text = self.channel, b'"%b"' % self._text
        part = self._part(text)
        item = Document.of(self._item(status, [part]))
        field = _TEXT_FIELD.get(channel.part, "text")
        whole: dict[str, Any] = {**self._places(), field: Raw(text)}
        if channel is TEXT:
            whole["logprobs"] = [_brief(token) for token in self._tokens]
        return item, [
            Event.made(channel.done, whole),
            Event.made(channel.part_done, {**self._places(), "part": part}),
            Event.made(stream_rules.ITEM_DONE, {"output_index": self._index, "item": item}),
        ]

    def _places(self) -> dict[str, Any]:
        return {"item_id": self._id, "output_index": self._index, self.channel.index: 0}

    def _part(self, text: bytes) -> dict[str, Any]:
        field = _TEXT_FIELD.get(self.channel.part, "text")
        weighed = {"logprobs": self._tokens} if self._tokens else {}
        return {**_EMPTY_PART[self.channel.part], **weighed, field: Raw(text)}

    def _item(self, status: str, parts: list[Any]) -> dict[str, Any]:
        if self.channel.item == "message":
            return {"type": "message", "id": self._id, "status": status, "role": "assistant", "content": parts}
        return {
            "type": "reasoning",
            "id": self._id,
            "summary": [],
            **({"content": parts} if self.channel is REASONING else {"summary": parts}),
        }


def _brief(token: Token) -> Token:
    """A token as events have it: without its bytes."""
    others = [{name: value for name, value in other.items() if name != "bytes"} for other in token["top_logprobs"]]
    return {"token": token["token"], "logprob": token["logprob"], "top_logprobs": others}


class _Call:
    """An open function call."""

    def __init__(self, name: str, call_id: str, *, id: str, index: int) -> None:
        self._name, self._call_id, self._id, self._index = name, call_id, id, index
        self._text = bytearray()
        self._head = f'{{"type":"{stream_rules.ARGUMENTS_DELTA}","item_id":"{id}","output_index":{index},"delta":'.encode()

    def say(self, piece: bytes) -> Event:
        self._text += piece[1:-1]
        return Event(stream_rules.ARGUMENTS_DELTA, self._head + piece + b"}")

    def opening(self) -> Event:
        return Event.made(stream_rules.ITEM_ADDED, {"output_index": self._index, "item": self._item("in_progress", b'""')})

    def closing(self, status: str) -> tuple[Document, list[Event]]:
        arguments = b'"%b"' % self._text
        if arguments == b'""':  # a call without arguments; clients parse the string
            arguments = b'"{}"'
        item = Document.of(self._item(status, arguments))
        whole = {"item_id": self._id, "output_index": self._index, "name": self._name, "arguments": Raw(arguments)}
        return item, [
            Event.made(stream_rules.ARGUMENTS_DONE, whole),
            Event.made(stream_rules.ITEM_DONE, {"output_index": self._index, "item": item}),
        ]

    def _item(self, status: str, arguments: bytes) -> dict[str, Any]:
        return {
            "type": "function_call",
            "id": self._id,
            "status": status,
            "call_id": self._call_id,
            "name": self._name,
            "arguments": Raw(arguments),
        }
