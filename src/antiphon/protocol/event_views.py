"""Stream events of the Responses API as Documents whose type is known.

An event that came over the wire remembers its frame's bytes; as long as nobody edits it, those are what goes out. The views read what a rule
needs of an event and no more. Above: the stream's builder, validator, stages. Below: `document`, `sse`, `stream_rules`.
"""

import re
from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Raw

from antiphon.protocol import json, sse, stream_rules
from antiphon.protocol.document import Document


class Event(Document):
    """One event: `type`, and the document, spelled in one line. `frame` is its bytes on the wire, where it came from one."""

    __slots__ = ("frame", "type")

    def __init__(self, type: str, raw: bytes | Raw, frame: bytes | None = None) -> None:
        super().__init__(raw)
        self.type = type
        self.frame = frame

    @classmethod
    def made(cls, type: str, members: dict[str, Any]) -> "Event":
        """An event of our own making; `type` leads."""
        return cls(type, json.one_line(bytes(Document.of({"type": type, **members}))))

    def but(self, /, **changes: Any) -> "Event":
        """The edited event; its type follows the edit."""
        edited = Document.but(self, **changes)
        return Event(changes.get("type", self.type), json.one_line(bytes(edited)))

    def wire(self) -> bytes:
        """Its bytes for an SSE stream."""
        return self.frame if self.frame is not None else sse.encode(self.type.encode(), bytes(self._raw))


class Run:
    """Deltas of one type that came one behind the other and that nobody has looked at."""

    __slots__ = ("_run", "type")

    def __init__(self, run: sse.Run) -> None:
        self._run = run
        self.type = RUN_TYPES[run.mark]

    @property
    def count(self) -> int:
        """How many they are."""
        return self._run.length

    def split(self) -> "tuple[Event, Run | None]":
        """The first of them, and the others."""
        first, others = sse.split(self._run)
        return of_frame(first), None if others is None else Run(others)

    def events(self) -> list[Event]:
        """Each of them."""
        return [of_frame(frame) for frame in sse.frames_of(self._run)]

    def wire(self) -> bytes:
        """Their bytes as they came."""
        return self._run.raw

    def numbered(self, numbers: Sequence[bytes]) -> bytes | None:
        """Their bytes, where the numbers in them are these; None where they are others."""
        return self._run.raw if _NUMBER.findall(self._run.raw) == numbers else None


class Spoken:
    """Deltas of one type and place that say one thing after the other, each a spelled JSON string."""

    __slots__ = ("_head", "_pieces", "_tail", "type")

    def __init__(self, type: str, around: tuple[bytes, bytes], pieces: Sequence[bytes]) -> None:
        self.type = type
        self._head, self._tail = around
        self._pieces = pieces

    @property
    def count(self) -> int:
        """How many they are."""
        return len(self._pieces)

    def split(self) -> "tuple[Event, Spoken | None]":
        """The first of them, and the others."""
        others = self._pieces[1:]
        return self._event(self._pieces[0]), Spoken(self.type, (self._head, self._tail), others) if others else None

    def events(self) -> list[Event]:
        """Each of them."""
        return [self._event(piece) for piece in self._pieces]

    def numbered(self, numbers: Sequence[bytes]) -> bytes:
        """Their bytes, with these numbers."""
        head = b"event: %b\ndata: %b" % (self.type.encode(), self._head)
        tail = self._tail[:-1] + b',"sequence_number":'
        return b"".join([b"%b%b%b%b}\n\n" % (head, piece, tail, number) for piece, number in zip(self._pieces, numbers, strict=True)])

    def _event(self, piece: bytes) -> Event:
        return Event(self.type, self._head + piece + self._tail)


Streamed = Event | Run | Spoken
"""What a stream is made of: events, and rows of deltas that need not be looked at one by one."""


class _Head(msgspec.Struct):
    type: str = ""


_HEAD = json.reader(_Head)
_NUMBER = re.compile(rb'"sequence_number":(\d+)[,}]')
_DELTAS = {name.encode(): (name, b'{"type":"%b"' % name.encode()) for name in stream_rules.DELTAS}

RUN_TYPES = {b'event: %b\ndata: {"type":"%b"' % (name.encode(), name.encode()): name for name in sorted(stream_rules.DELTAS)}
"""How an event begins that may be one of a run."""

RUN_MARKS = tuple(RUN_TYPES)


def of_frame(frame: sse.Frame) -> Event:
    """The event in a frame. Only the `type` in the data counts: a frame's name may be absent, or be wrong. Most deltas are not looked into."""
    delta = _DELTAS.get(frame.name)
    if delta is not None and frame.data.startswith(delta[1]) and frame.data.isascii() and b"\n" not in frame.data:
        return Event(delta[0], frame.data, frame.raw)
    data = json.mend(frame.data)
    type = json.view(data, _HEAD).type
    line = json.one_line(data)
    return Event(type, line, frame.raw if line is frame.data and frame.name.decode(errors="replace") == type else None)
