"""The last step: every event gets its `sequence_number` and its bytes.

Events that came numbered keep their bytes for as long as none was added or taken away before them; from there on they are renumbered. Numbers
go on from 0 without a gap, whatever the upstream did.
"""

from collections.abc import Iterable

from antiphon.protocol.event_views import Event, Run, Spoken, Streamed

_MARK = b'"sequence_number"'


_SPELLED: list[bytes] = []
"""The first numbers as they are spelled: what every stream counts through need not be spelled anew for each."""
_KEPT = 100_000


def _spelled(first: int, after: int) -> list[bytes]:
    if after > _KEPT:
        return [b"%d" % number for number in range(first, after)]
    if after > len(_SPELLED):
        _SPELLED.extend(b"%d" % number for number in range(len(_SPELLED), after))
    return _SPELLED[first:after]


class Numbering:
    """Feed events, get the stream's bytes; `start` is the first one's number."""

    def __init__(self, start: int = 0) -> None:
        self._next = start

    @property
    def next(self) -> int:
        """The number of the event to come."""
        return self._next

    @property
    def last(self) -> int:
        """The number of the event sent last."""
        return max(self._next - 1, 0)

    def wire(self, events: Iterable[Streamed]) -> bytes:
        """The events' bytes, numbered."""
        return b"".join([self._one(event) if isinstance(event, Event) else self._run(event) for event in events])

    def _run(self, run: Run | Spoken) -> bytes:
        """A run in one piece, where that can be."""
        after = self._next + run.count
        data = run.numbered(_spelled(self._next, after))
        if data is None:
            return self.wire(run.events())
        self._next = after
        return data

    def _one(self, event: Event) -> bytes:
        number = self._next
        self._next += 1
        data = bytes(event)
        if _MARK not in data and data.endswith(b"}"):
            return b'event: %b\ndata: %b,"sequence_number":%d}\n\n' % (event.type.encode(), data[:-1], number)
        if event.frame is not None and _is_numbered(event, data, number):
            return event.frame
        return event.but(sequence_number=number).wire()


def _is_numbered(event: Event, data: bytes, number: int) -> bool:
    """Whether the event says this very number; a text can only hold the mark with its quotes escaped."""
    spelled = b"%b:%d" % (_MARK, number)
    return spelled + b"}" in data or spelled + b"," in data or event.get("sequence_number") == number
