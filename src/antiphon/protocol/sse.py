"""Server-sent events: bytes in, frames out, split anywhere; frames in, bytes out.

A `Frame` keeps the very bytes it came in, so that an event nobody touched is forwarded and not written again. Line ends may be LF, CRLF or CR,
data may span lines, comments and unknown fields are part of the frame's bytes and nothing more. An event that the stream's end cut off is not
an event (`Decoder.rest` has its bytes): that is what the specification says, and what Codex does.

Not here: what an event means.
"""

import re
from functools import cache
from typing import NamedTuple

_BLANK = re.compile(rb"\r\n(?:\r\n?|\n)|\n(?:\r\n?|\n)|\r\r\n?")
_LINE = re.compile(rb"\r\n|\n|\r")
_BOM = b"\xef\xbb\xbf"


class Frame(NamedTuple):
    """One event: its name (empty where none was given), its data, and its own bytes with the blank line."""

    name: bytes
    data: bytes
    raw: bytes


class Run(NamedTuple):
    """Events of one kind that came one behind the other, kept as the bytes they came in: nobody has to look inside most deltas."""

    mark: bytes
    length: int
    raw: bytes


class TooLong(ValueError):
    """An event longer than the decoder may hold."""


class Decoder:
    """Feed bytes, get frames. Holds at most one unfinished event, and no more than `limit` bytes of it.

    `runs` are beginnings of events; events with the same of these beginnings, one behind the other, may come out as one `Run`.
    """

    def __init__(self, limit: int = 64 * 1024 * 1024, *, runs: tuple[bytes, ...] = ()) -> None:
        self._limit = limit
        self._runs = runs
        self._held: list[bytes] = []
        self._size = 0
        self._seam = b""
        self._begun = False
        self._ended_in_cr = False

    def feed(self, chunk: bytes) -> list[Frame | Run]:
        """The events that these bytes complete."""
        if not self._begun:
            chunk = self._without_bom(chunk)
        if self._ended_in_cr and chunk:  # the event went out without waiting; a line feed would still belong to its end
            chunk, self._ended_in_cr = chunk.removeprefix(b"\n"), False
        if b"\n\n" in chunk and b"\r" not in chunk and not self._held_cr():
            return self._split_plain(chunk)
        return self._split_any(chunk)

    @property
    def is_between(self) -> bool:
        """Whether the next byte begins an event."""
        return self._begun and not self._held and not self._ended_in_cr

    @property
    def rest(self) -> bytes:
        """The bytes of an event that has not ended."""
        return b"".join(self._held)

    def _without_bom(self, chunk: bytes) -> bytes:
        whole = self.rest + chunk
        self._clear()
        if len(whole) < len(_BOM) and _BOM.startswith(whole):
            self._hold(whole)
            return b""
        self._begun = True
        return whole.removeprefix(_BOM)

    def _held_cr(self) -> bool:
        return any(b"\r" in piece for piece in self._held)

    def _split_plain(self, chunk: bytes) -> list[Frame | Run]:
        whole = b"".join((*self._held, chunk)) if self._held else chunk
        self._clear()
        out: list[Frame | Run] = []
        at = 0
        while (end := whole.find(b"\n\n", at)) >= 0:
            run = _run(self._runs, whole, at) if whole.startswith(self._runs, at) else None
            if run is not None:
                out += (run,) if run.raw.isascii() else frames_of(run)
                at += len(run.raw)
                continue
            # Three line feeds in a row leave one at the head of the next block; it belongs to no line.
            frame = _frame(whole[at:end].lstrip(b"\n"), whole[at : end + 2])
            if frame is not None:
                out.append(frame)
            at = end + 2
        self._hold(whole[at:])
        return out

    def _split_any(self, chunk: bytes) -> list[Frame | Run]:
        if not self._may_end(chunk):
            self._hold(chunk)
            return []
        whole = self.rest + chunk
        frames: list[Frame | Run] = []
        at = 0
        for blank in _BLANK.finditer(whole):
            frame = _frame(whole[at : blank.start()], whole[at : blank.end()])
            at = blank.end()
            if frame is not None:
                frames.append(frame)
        self._ended_in_cr = at == len(whole) and whole.endswith(b"\r")
        self._clear()
        self._hold(whole[at:])
        return frames

    def _may_end(self, chunk: bytes) -> bool:
        """Whether a blank line is in this chunk or across its beginning: a long event fed in pieces must not be searched again for each."""
        return (b"\n" in chunk or b"\r" in chunk) and _BLANK.search(self._seam + chunk) is not None

    def _clear(self) -> None:
        self._held, self._size, self._seam = [], 0, b""

    def _hold(self, piece: bytes) -> None:
        if piece:
            self._held.append(piece)
            self._seam = (self._seam + piece[-3:])[-3:]
            self._size += len(piece)
            if self._size > self._limit:
                raise TooLong(f"one event is longer than {self._limit} bytes")


def _run(marks: tuple[bytes, ...], whole: bytes, at: int) -> Run | None:
    """The run that begins here, of events that are two plain lines each."""
    mark = next(mark for mark in marks if whole.startswith(mark, at))
    found = _run_of(mark).match(whole, at)
    return None if found is None else Run(mark, found[0].count(mark), found[0])


@cache
def _run_of(mark: bytes) -> re.Pattern[bytes]:
    return re.compile(rb"(?:%b[^\n]*\n\n)+" % re.escape(mark))


def split(run: Run) -> tuple[Frame, Run | None]:
    """The first event of a run, and the run of the others."""
    end = run.raw.index(b"\n\n") + 2
    name, _, data = run.raw[7 : end - 2].partition(b"\ndata: ")
    return Frame(name, data, run.raw[:end]), Run(run.mark, run.length - 1, run.raw[end:]) if run.length > 1 else None


def frames_of(run: Run) -> list[Frame]:
    """The events of a run, one by one."""
    return [frame for block in run.raw.split(b"\n\n")[:-1] if (frame := _frame(block, block + b"\n\n")) is not None]


def _frame(block: bytes, raw: bytes) -> Frame | None:
    """An event out of its lines; None where it has no data, as a comment has none."""
    if block.startswith(b"data: ") and b"\n" not in block and b"\r" not in block:
        return Frame(b"", block[6:], raw)
    if block.startswith(b"event: "):
        name, _, rest = block[7:].partition(b"\n")
        if rest.startswith(b"data: ") and b"\n" not in rest and b"\r" not in block:
            return Frame(name, rest[6:], raw)
    return _frame_of_lines(block, raw)


def _frame_of_lines(block: bytes, raw: bytes) -> Frame | None:
    name = b""
    data: list[bytes] = []
    lines = _LINE.split(block)[::-1]
    while lines:  # each is let go as soon as it is read: an event may be many megabytes
        field, _, value = lines.pop().partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            data.append(value)
        elif field == b"event":
            name = value
    return Frame(name, b"\n".join(data), raw) if data else None


def is_stream(body: bytes) -> bool:
    """Whether a body that should be something else is a stream of events."""
    return body.removeprefix(_BOM).lstrip()[:6].startswith((b"data:", b"event:", b":", b"id:", b"retry:"))


def encode(name: bytes, data: bytes) -> bytes:
    """One event as bytes. `data` is one line: JSON as we write it holds no raw line end."""
    return b"event: " + name + b"\ndata: " + data + b"\n\n"


DONE = b"[DONE]"
"""The data with which a Chat Completions stream ends."""
