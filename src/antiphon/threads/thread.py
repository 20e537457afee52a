"""A thread: its lines, its model history, and what is noticed on the way; whatever files it lies in.

    thread = Thread.open(path)
    thread.history().items

Not here: which thread somebody means by an id (`folder`), what people are shown (`turns`), writing (`writer`).
"""

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from antiphon.protocol.notes import Note
from antiphon.threads import rebuild
from antiphon.threads.chain import Chain, chain
from antiphon.threads.folder import Folder, around
from antiphon.threads.line import Line
from antiphon.threads.meta import Meta
from antiphon.threads.rebuild import History
from antiphon.threads.truncation import Limit
from antiphon.threads.turns import Turn, taken, turns


class Thread:
    """One thread, opened by its newest file."""

    def __init__(self, path: Path, parts: Chain) -> None:
        self.path = path
        self.chain = parts

    @classmethod
    def open(cls, path: Path, folder: Folder | None = None) -> "Thread":
        """The thread whose newest file this is. `folder` is where its other files are looked for; by default where Codex would."""
        return cls(path, chain(path, (folder or around(path)).rollout))

    @property
    def meta(self) -> Meta:
        """What its own file says of it."""
        return self.chain.segments[-1].meta

    def lines(self) -> Iterator[Line]:
        """Its lines, oldest first."""
        return self.chain.lines()

    def backwards(self) -> Iterator[Line]:
        """Its lines, newest first."""
        return self.chain.backwards()

    @cached_property
    def notes(self) -> list[Note]:
        """What is wrong with it, line by line: reads all of it."""
        return [*self.chain.notes, *(note for line in self.lines() if (note := line.note()) is not None)]

    def history(self, limit: Limit | None = None) -> History:
        """What its model is to read. `limit` is the model's own for a tool's output; None leaves outputs as they are stored."""
        return rebuild.rebuild(self.backwards(), limit)

    def turns(self, *, complete: bool = True) -> Iterator[Turn]:
        """Its turns, oldest first. With `complete`, what Codex's own reader loses is in them."""
        removed = taken(self.lines(), complete=complete)
        return turns(self.lines(), complete=complete, removed=removed)
