"""A thread as one sequence of lines, though it may lie in several files.

A fork or a revert of a paginated thread copies nothing: its file says, in `history_base`, which file holds its beginning and up to where. So a
thread is a chain of segments, the oldest first. What is missing or goes in a circle is a Note, and the thread is what is left. Not here: how the
files are found (`folder`).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from antiphon.protocol.notes import Kind, Note
from antiphon.threads import meta
from antiphon.threads.errors import ThreadError
from antiphon.threads.file import Rollout
from antiphon.threads.line import Line
from antiphon.threads.meta import Base, Meta

Finder = Callable[[str], Path | None]
"""Rollout id → its file."""


@dataclass(frozen=True, slots=True)
class Segment:
    """One file of a thread, up to where the next one goes on."""

    rollout: Rollout
    meta: Meta
    base: Base | None = None

    def lines(self) -> Iterator[Line]:
        """Oldest first."""
        return self._bounded(self.rollout.lines(0, self.base.end_byte if self.base else None))

    def backwards(self) -> Iterator[Line]:
        """Newest first."""
        return self._bounded(self.rollout.backwards(self.base.end_byte if self.base else None))

    def _bounded(self, lines: Iterator[Line]) -> Iterator[Line]:
        if self.base is None or self.base.end_ordinal is None:
            return lines
        end = self.base.end_ordinal
        return (line for line in lines if (ordinal := line.ordinal) is None or ordinal < end)


@dataclass(frozen=True, slots=True)
class Chain:
    """The segments of a thread, oldest first, and what is wrong with how they hang together."""

    segments: tuple[Segment, ...]
    notes: list[Note] = field(default_factory=list[Note])

    def lines(self) -> Iterator[Line]:
        """The thread's lines, oldest first; each is numbered in its own file."""
        for segment in self.segments:
            yield from segment.lines()

    def backwards(self) -> Iterator[Line]:
        """The thread's lines, newest first."""
        for segment in reversed(self.segments):
            yield from segment.backwards()


def chain(path: Path, find: Finder) -> Chain:
    """The thread that the file at `path` is the newest part of."""
    rollout = Rollout(path)
    own, _ = meta.first(rollout.lines())
    segments, notes, seen = [Segment(rollout, own)], list[Note](), {path.resolve()}
    while (base := segments[0].meta.base) is not None:
        before = _before(base, find, notes)
        if before is None:
            break
        if before.rollout.path.resolve() in seen:
            notes.append(Note(Kind.BROKEN, "history_base", "the thread's files refer to each other in a circle"))
            break
        seen.add(before.rollout.path.resolve())
        segments.insert(0, before)
    return Chain(tuple(segments), notes)


def _before(base: Base, find: Finder, notes: list[Note]) -> Segment | None:
    path = find(base.rollout_id)
    if path is None:
        notes.append(Note(Kind.BROKEN, "history_base", f"the thread's beginning is missing: no file of rollout {base.rollout_id[:36]}"))
        return None
    rollout = Rollout(path)
    try:
        return Segment(rollout, meta.first(rollout.lines())[0], base)
    except ThreadError as failed:
        notes.append(Note(Kind.BROKEN, "history_base", f"the thread's beginning cannot be read: {failed}"))
        return None
