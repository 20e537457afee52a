"""Tool calls out of chat deltas, one after the other, whatever way the server mixes them.

A Responses client wants one item at a time, so only the first unfinished call streams; pieces of the others wait. A call is finished when its
arguments are whole and another begins, or when the answer ends; what is not whole when an answer was cut is not delivered.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from antiphon.protocol import json
from antiphon.protocol.event_views import Event, Spoken
from antiphon.protocol.notes import Kind, Note
from antiphon.protocol.stream_builder import NewId, StreamBuilder

_EMPTY = b'""'


@dataclass(frozen=True, slots=True)
class CallPiece:
    """What one delta says of a call; `arguments` is a spelled string."""

    index: float | str
    id: str | None
    name: str | None
    arguments: bytes = _EMPTY


@dataclass(slots=True)
class _Pending:
    index: float | str
    id: str | None = None
    name: str = ""
    pieces: list[bytes] = field(default_factory=list[bytes])
    sent: int = 0
    begun: bool = False

    def is_whole(self) -> bool:
        """Whether the arguments are one whole JSON value."""
        try:
            json.value(json.text(json.joined_text(self.pieces)).encode())
        except ValueError:
            return False
        return True


class CallQueue:
    """Feed pieces of calls and of text; the builder gets them in order."""

    def __init__(self, builder: StreamBuilder, new_id: NewId) -> None:
        self._builder = builder
        self._new_id = new_id
        self._pending: list[_Pending] = []
        self._seen = 0
        self._done: set[tuple[float | str, str | None]] = set()
        self._later: list[tuple[Any, bytes]] = []

    @property
    def has_begun(self) -> bool:
        """Whether there was any call at all."""
        return self._seen > 0

    @property
    def has_name(self) -> bool:
        """Whether a call waits whose name is known."""
        return any(call.name for call in self._pending)

    @property
    def is_cut(self) -> bool:
        """Whether a call's arguments are not whole."""
        return any(call.pieces and not call.is_whole() for call in self._pending)

    def feed(self, piece: CallPiece) -> list[Event]:
        """A piece of a call."""
        events: list[Event] = []
        call = self._find(piece)
        if call is None:
            if self._is_late(piece):
                return []
            call = self._add(piece)
            if len(self._pending) > 1 and self._pending[0].is_whole():
                events += self._close_first()
        call.id = call.id or piece.id
        if piece.name and not call.begun and piece.name != call.name:
            call.name += piece.name
        if piece.arguments != _EMPTY:
            call.pieces.append(piece.arguments)
        return [*events, *self._stream_first()]

    def speak(self, channel: Any, *pieces: bytes) -> Sequence[Event | Spoken]:
        """Text beside calls: behind them, where they are not whole yet."""
        if not self._pending:
            return self._builder.speak(channel, *pieces)
        if len(self._pending) == 1 and self._pending[0].is_whole():
            return [*self._close_first(), *self._builder.speak(channel, *pieces)]
        self._later += ((channel, piece) for piece in pieces)
        return []

    def finish(self, *, cut: bool) -> Sequence[Event | Spoken]:
        """The answer has ended: every call that may be delivered is."""
        events: list[Event | Spoken] = []
        while self._pending:
            if cut and not self._pending[0].is_whole():
                events += self._drop_first("a call cut in its arguments")
            else:
                events += self._close_first()
        for channel, piece in self._later:
            events += self._builder.speak(channel, piece)
        return events

    def _find(self, piece: CallPiece) -> _Pending | None:
        for call in reversed(self._pending):
            # Some servers give every parallel call index 0: another id with a name of its own is another call.
            if call.index == piece.index and not (piece.name and piece.id and call.id and piece.id != call.id):
                return None if _begins_another(call, piece) else call
        return None

    def _is_late(self, piece: CallPiece) -> bool:
        """Whether it begins no call: the rest of one that is done, such as white space or its head once more."""
        blank = not json.text(piece.arguments).strip()
        late = not (piece.name or piece.id) or (blank and piece.id is not None and (piece.index, piece.id) in self._done)
        if late and not blank:
            self._builder.notes.append(Note(Kind.BROKEN, "tool_calls", "a piece of no call"))
        return late

    def _add(self, piece: CallPiece) -> _Pending:
        call = _Pending(piece.index, piece.id)
        self._seen += 1
        self._pending.append(call)
        return call

    def _stream_first(self) -> list[Event]:
        """Sends what the first call has and has not sent, once its name is there; that is final once arguments follow."""
        call = self._pending[0]
        if call.sent == len(call.pieces) or not call.name:
            return []
        events = self._begin(call)
        for piece in call.pieces[call.sent :]:
            events += self._builder.arguments(piece)
        call.sent = len(call.pieces)
        return events

    def _begin(self, call: _Pending) -> list[Event]:
        if call.begun:
            return []
        call.begun = True
        return self._builder.call(call.name, call.id or self._new_id("call"))

    def _close_first(self) -> list[Event]:
        call = self._pending[0]
        if not call.name:
            return self._drop_first("a call without a name")
        events = [*self._begin(call), *self._stream_first(), *self._builder.close()]
        self._pending.pop(0)
        self._done.add((call.index, call.id))
        return [*events, *(self._stream_first() if self._pending else [])]

    def _drop_first(self, why: str) -> list[Event]:
        self._pending.pop(0)
        self._builder.notes.append(Note(Kind.DROPPED, f"output[{len(self._builder.output)}]", why))
        self._builder.abandon()
        return self._stream_first() if self._pending else []


def _begins_another(call: _Pending, piece: CallPiece) -> bool:
    """Without ids, a name behind whole arguments begins another call, unless it only says the same name again."""
    without_ids = not (piece.id and call.id)
    return bool(without_ids and piece.name and call.name and call.is_whole() and (piece.name != call.name or piece.arguments != _EMPTY))
