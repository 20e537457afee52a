"""Appends lines to a thread: a new one, or one that is there, in the mode it has.

Every line, or group of lines that belongs together, is written in one piece, so that a process that is killed leaves whole lines, or one that was
cut. A line that was cut by somebody else's end is closed first in a legacy file, and taken off in a paginated one, where Codex refuses it. In a
paginated file every line gets the next ordinal. Nobody else may write meanwhile (`lock`), and if somebody has, it is noticed and told.

    with Writer.open(path) as writer:
        writer.append("event_msg", {"type": "agent_message", "message": "hello"})

Not here: what lines a turn consists of (`recipe`).
"""

import os
import tempfile
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from antiphon.protocol import json
from antiphon.protocol.document import Document, spelled
from antiphon.threads.errors import Busy, Refused, ThreadError
from antiphon.threads.file import CHUNK, Form, Rollout
from antiphon.threads.folder import ids
from antiphon.threads.line import Era, Line
from antiphon.threads.lock import Lock
from antiphon.threads.meta import MODES, Meta, first

Clock = Callable[[], datetime]
Payload = Document | Mapping[str, Any]
PAGINATED: Final = "paginated"


def utc_now() -> datetime:
    """The clock on the wall."""
    return datetime.now(UTC)


def timestamp(at: datetime) -> str:
    """A time as lines have it."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Writer:
    """Writes to one thread while it is open."""

    def __init__(self, path: Path, meta: Meta, lock: Lock, *, ordinal: int | None, now: Clock) -> None:
        self.path = path
        self.meta = meta
        self._lock = lock
        self._ordinal = ordinal
        self._now = now
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | getattr(os, "O_BINARY", 0), 0o600)
        self._end = os.fstat(self._file).st_size

    @classmethod
    def create(cls, path: Path, meta: Payload, *, now: Clock = utc_now) -> "Writer":
        """A new thread; `meta` is its `session_meta`. The file must not be there yet."""
        told = Meta(meta if isinstance(meta, Document) else Document.of(dict(meta)))
        if missing := told.missing():
            raise Refused(f"session_meta lacks {', '.join(missing)}", param=missing[0])
        if told.mode not in MODES:
            raise Refused(f"history_mode {told.mode!r} is none of {', '.join(MODES)}", param="history_mode")
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            raise Refused(f"{path} is already there", param="path")
        base = told.base
        start = base.end_ordinal if base is not None and base.end_ordinal is not None else 0
        writer = cls(path, told, Lock(path, told.id or path.name), ordinal=start if told.mode == PAGINATED else None, now=now)
        writer.append("session_meta", told.document, at=told.timestamp)
        return writer

    @classmethod
    def open(cls, path: Path, *, now: Clock = utc_now) -> "Writer":
        """A thread that is there."""
        told, line = first(Rollout(path).lines())
        if line is None or line.era is not Era.ENVELOPE:
            raise Refused(f"{path} is of before September 2025, or no thread: convert it first", param="path")
        if told.mode not in MODES:
            raise Refused(f"{path} has history_mode {told.mode!r}, which this version does not know", param="path")
        lock = Lock(path, told.id or ids(path.name)[0] or path.name)
        try:
            plain = _decompressed(path)
            ordinal = _mended(plain, is_paginated=told.mode == PAGINATED)
            return cls(plain, told, lock, ordinal=ordinal if told.mode == PAGINATED else None, now=now)
        except BaseException:
            lock.release()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    @property
    def is_paginated(self) -> bool:
        """Whether its lines have ordinals, and its turns whole items."""
        return self._ordinal is not None

    def append(self, type: str, payload: Payload, *, at: str | None = None, metadata: Payload | None = None) -> None:
        """One line."""
        self._write(self._line(type, payload, at, metadata))

    def append_all(self, lines: Iterable[tuple[str, Payload]]) -> None:
        """Lines that belong together, in one piece."""
        at = timestamp(self._now())
        self._write(b"".join(self._line(type, payload, at, None) for type, payload in lines))

    def close(self) -> None:
        """Writes no more; all that was written is on the disk."""
        if self._file >= 0:
            with suppress(OSError):
                os.fsync(self._file)
            os.close(self._file)
            self._file = -1
            self._lock.release()

    def _line(self, type: str, payload: Payload, at: str | None, metadata: Payload | None) -> bytes:
        head: dict[str, Any] = {"timestamp": at or timestamp(self._now())}
        if self._ordinal is not None:
            head["ordinal"] = self._ordinal
            self._ordinal += 1
        told = payload if isinstance(payload, Document) else Document.of(dict(payload))
        more = {"metadata": metadata if isinstance(metadata, Document) else Document.of(dict(metadata))} if metadata is not None else {}
        whole = {**head, "type": type, "payload": told, **more}
        return json.one_line(json.encode({name: spelled(value) for name, value in whole.items()})) + b"\n"

    def _write(self, data: bytes) -> None:
        if os.fstat(self._file).st_size != self._end or not _is_same(self.path, self._file):
            raise Busy(f"{self.path} was written to, or replaced, by somebody else")
        left = memoryview(data)
        while left:
            left = left[os.write(self._file, left) :]
        self._end += len(data)


def _is_same(path: Path, file: int) -> bool:
    try:
        there, open_ = path.stat(), os.fstat(file)
    except OSError:
        return False
    return (there.st_dev, there.st_ino) == (open_.st_dev, open_.st_ino)


def _decompressed(path: Path) -> Path:
    """The plain file; a compressed one is unpacked beside it and taken away, as Codex does."""
    rollout = Rollout(path)
    if rollout.form() is not Form.COMPRESSED:
        return path
    plain = path.with_suffix("") if path.suffix == ".zst" else path.with_name(f"{path.name}.jsonl")
    if plain.exists():
        raise Refused(f"both {path.name} and {plain.name} are there: take one away", param="path")
    scratch = _scratch(plain, rollout)
    scratch.replace(plain)
    path.unlink()
    return plain


def _scratch(plain: Path, rollout: Rollout) -> Path:
    descriptor, name = tempfile.mkstemp(prefix=".", suffix=".tmp", dir=plain.parent)
    scratch = Path(name)
    try:
        with rollout.stream() as stream, os.fdopen(descriptor, "wb") as file:
            while part := stream.read(CHUNK):
                file.write(part)
            file.flush()
            os.fsync(file.fileno())
    except (OSError, ThreadError):
        scratch.unlink(missing_ok=True)
        raise
    return scratch


def _mended(path: Path, *, is_paginated: bool) -> int:
    """Puts the end of a file right, so that a line can follow; the ordinal that it has then."""
    last: Line | None = None
    ordinal: int | None = None
    for line in Rollout(path).backwards():
        last = last or line
        ordinal = line.ordinal
        if not is_paginated or ordinal is not None:
            break
    if last is not None and not last.raw.endswith(b"\n"):
        if is_paginated and not last.type:
            os.truncate(path, last.offset)
        else:
            with path.open("ab") as file:
                file.write(b"\n")
    return 0 if ordinal is None else ordinal + 1
