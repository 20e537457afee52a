"""A rollout file, read as a stream: from its start or from its end, plain, compressed, or the single JSON object of the TypeScript CLI.

Memory is bounded by the longest line, whatever the file's size; only a TypeScript file is held as a whole, and none over 64 MiB is. Every byte
of a file is in some line's `raw`, so the lines of a file, joined, are the file. Which form a file has, its first bytes say: files get renamed.
Not here: where files lie (`folder`), threads that lie in several (`chain`).
"""

import io
import re
import stat
import sys
import tempfile
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from enum import StrEnum
from pathlib import Path
from typing import IO, Final, cast

from msgspec import Raw

from antiphon.protocol import json
from antiphon.protocol.document import Document
from antiphon.threads import line
from antiphon.threads.errors import NotFound, Unreadable
from antiphon.threads.line import Line

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

CHUNK: Final = 1024 * 1024
IN_MEMORY: Final = 8 * 1024 * 1024
TRIES: Final = 64
_MAGIC: Final = b"\x28\xb5\x2f\xfd"
_OBJECT: Final = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"(?:session|items)"\s*:')


class Form(StrEnum):
    """How a file holds its lines."""

    LINES = "lines"
    COMPRESSED = "compressed"
    OBJECT = "object"


class Rollout:
    """One rollout file. Nothing is opened before a line is asked for."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def form(self) -> Form:
        """How the file holds its lines."""
        with self._opened() as file:
            return _form(file)

    def lines(self, start: int = 0, stop: int | None = None) -> Iterator[Line]:
        """The lines from the first on, or from the one that begins at `start`, up to byte `stop`. Only from the first on they have numbers."""
        if self.form() is Form.OBJECT:
            return (one for one in self._items() if start <= one.offset and (stop is None or one.offset < stop))
        return self._lines(start, stop)

    def backwards(self, stop: int | None = None) -> Iterator[Line]:
        """The lines from the last one back, of what stands before byte `stop`. They have no numbers, unless the file is one object."""
        if self.form() is Form.OBJECT:
            return iter([one for one in self._items() if stop is None or one.offset < stop][::-1])
        return self._backwards(stop)

    @contextmanager
    def stream(self) -> Generator[IO[bytes]]:
        """The file's bytes, decompressed."""
        with self._opened() as file:
            if _form(file) is Form.COMPRESSED:
                yield io.BufferedReader(_Decompressed(file, self.path), CHUNK)
            else:
                yield file

    @contextmanager
    def _opened(self) -> "Generator[io.BufferedReader[io.FileIO]]":
        """What is no regular file is not opened: a pipe would never end."""
        try:
            if not stat.S_ISREG(self.path.stat().st_mode):
                raise Unreadable(self.path, "a folder" if self.path.is_dir() else "no regular file")
            with io.BufferedReader(io.FileIO(self.path), CHUNK) as file:
                yield file
        except FileNotFoundError:
            raise NotFound(f"there is no file {self.path}") from None
        except OSError as failed:
            raise Unreadable(self.path, failed.strerror or str(failed)) from None

    def _lines(self, start: int, stop: int | None) -> Iterator[Line]:
        number, offset = 0, start
        with self.stream() as stream:
            _go_to(stream, start)
            while raw := stream.readline(_most(offset, stop)):
                number += start == 0
                if len(raw) > line.LONGEST:
                    one = line.passed_over(len(raw) + _skip_line(stream), number=number, offset=offset)
                else:
                    one = line.opened(raw, number=number, offset=offset)
                offset = one.end
                yield one

    def _backwards(self, stop: int | None) -> Iterator[Line]:
        with self.stream() as stream, _seekable(stream) as whole:
            end = whole.seek(0, io.SEEK_END)
            yield from _from_end(whole, end if stop is None else min(stop, end))

    def _items(self) -> Iterator[Line]:
        with self.stream() as stream:
            data = stream.read(line.LONGEST + 1)
        if len(data) > line.LONGEST:
            raise Unreadable(self.path, f"one JSON object of more than {line.LONGEST // 1024 // 1024} MiB")
        whole, kept = _object(data, self.path)
        session, items = whole.members.get("session"), whole.elements("items")
        if session is None or not json.is_object(session):
            raise Unreadable(self.path, "a JSON object without a session: no thread of the TypeScript CLI")
        starts = [*_starts(whole, items), kept]
        yield line.meta_line(data[: starts[0]], session)
        for number, item in enumerate(items, 2):
            start, end = starts[number - 2], starts[number - 1]
            yield line.item_line(data[start:end], item, number=number, offset=start)
        if kept < len(data):
            yield line.cut_item(data[kept:], number=len(items) + 2, offset=kept)


class _Decompressed(io.RawIOBase):
    """A zstd file's content. Data that ends too early ends the stream, as a plain file that was cut does."""

    def __init__(self, file: IO[bytes], path: Path) -> None:
        self._file = zstd.ZstdFile(file, "rb")
        self._path = path

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "bytearray | memoryview", /) -> int:  # type: ignore[override]
        try:
            data = self._file.read1(len(buffer))
        except EOFError:
            return 0
        except zstd.ZstdError as bad:
            raise Unreadable(self._path, f"damaged zstd data: {bad}") from None
        buffer[: len(data)] = data
        return len(data)


def _form(file: "io.BufferedReader[io.FileIO]") -> Form:
    head = file.peek(256)
    if head.startswith(_MAGIC):
        return Form.COMPRESSED
    return Form.OBJECT if _OBJECT.match(head) else Form.LINES


def _most(offset: int, stop: int | None) -> int:
    """How many bytes may be read of a line that starts at `offset`."""
    return line.LONGEST + 1 if stop is None else max(0, min(line.LONGEST + 1, stop - offset))


def _go_to(stream: IO[bytes], start: int) -> None:
    if stream.seekable():
        stream.seek(start)
        return
    while start > 0 and (part := stream.read(min(start, CHUNK))):
        start -= len(part)


def _skip_line(stream: IO[bytes]) -> int:
    """Reads to the end of a line without keeping it; how many bytes that were."""
    size = 0
    while part := stream.readline(CHUNK):
        size += len(part)
        if part.endswith(b"\n"):
            break
    return size


@contextmanager
def _seekable(stream: IO[bytes]) -> Generator[IO[bytes]]:
    """The stream itself, or a copy of it: a compressed one has no end to start from."""
    if stream.seekable():
        yield stream
        return
    with tempfile.SpooledTemporaryFile(IN_MEMORY) as copy:
        while part := stream.read(CHUNK):
            copy.write(part)
        yield cast("IO[bytes]", copy)


def _from_end(stream: IO[bytes], end: int) -> Iterator[Line]:
    """Lines from the end of a stream. `parts` are of the line whose start is not found yet, the last one first."""
    parts: list[bytes] = []
    line_end = position = end
    while position > 0:
        start = max(0, position - CHUNK)
        stream.seek(start)
        block = stream.read(position - start)
        at = len(block)
        before = at - (line_end == position)  # a line's own end is not the end of the line before it
        while (cut := block.rfind(b"\n", 0, before)) >= 0:
            begin = start + cut + 1
            yield _joined([block[cut + 1 : at], *reversed(parts)], begin, line_end)
            parts, line_end, at, before = [], begin, cut + 1, cut
        parts = [*parts, block[:at]] if line_end - start <= line.LONGEST else []
        position = start
    if line_end > 0:
        yield _joined(list(reversed(parts)), 0, line_end)


def _joined(parts: Sequence[bytes], begin: int, end: int) -> Line:
    if end - begin > line.LONGEST:
        return line.passed_over(end - begin, number=0, offset=begin)
    return line.opened(b"".join(parts), number=0, offset=begin)


def _object(data: bytes, path: Path) -> tuple[Document, int]:
    """The object that a TypeScript file is, and how many bytes of the file it takes: fewer than all where the file was cut off."""
    try:
        return _parsed(data), len(data)
    except (json.BadJson, json.WrongType) as bad:
        at = len(data)
        for _ in range(TRIES):
            at = data.rfind(b"}", 0, at)
            for closing in (b"]}", b"}") if at >= 0 else ():
                with suppress(json.BadJson, json.WrongType):
                    return _parsed(data[: at + 1] + closing), at + 1
        raise Unreadable(path, f"neither lines nor one JSON object: {bad}") from None


def _parsed(data: bytes) -> Document:
    """An object with its bytes in place: what had to be mended has its old length, and a byte order mark becomes blanks."""
    readable, _ = json.check(data)
    whole = Document(b" " * (len(data) - len(readable)) + readable)
    if "session" not in whole:
        raise json.BadJson("an object without a session")
    return whole


def _starts(whole: Document, items: list[Raw]) -> list[int]:
    """Where each item starts. Only commas and blanks stand between items, so the first find is the item."""
    data, starts = bytes(whole), list[int]()
    at = data.index(bytes(whole.members["items"])) if items else 0
    for item in map(bytes, items):
        starts.append(data.index(item, at))
        at = starts[-1] + len(item)
    return starts
