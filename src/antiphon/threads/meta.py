"""What a thread's first line says of it: a view of `session_meta`, of every era. Nothing in it is sure to be there, nor to be of the right type.

Not here: names that people gave (`folder`), settings of turns (`settings`).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Final

from antiphon.protocol.document import Document
from antiphon.threads.line import Era, Line

REQUIRED: Final = ("id", "timestamp", "cwd", "originator", "cli_version")
"""Members without which Codex 0.169.0 does not read the thread."""
LOOKED_AT: Final = 100
MODES: Final = ("legacy", "paginated")


@dataclass(frozen=True, slots=True)
class Base:
    """The beginning of a thread that lies in another file: its rollout's id, and where in it the thread goes on its own."""

    rollout_id: str
    end_ordinal: int | None
    end_byte: int


@dataclass(frozen=True, slots=True)
class Meta:
    """The view. `document` is what it was read from."""

    document: Document
    era: Era = Era.ENVELOPE

    @property
    def id(self) -> str | None:
        """The thread's id, whatever its file is called."""
        return self.document.text("id")

    @property
    def timestamp(self) -> str | None:
        """When the thread was begun."""
        return self.document.text("timestamp")

    @property
    def cwd(self) -> str | None:
        """The folder it was begun in."""
        return self.document.text("cwd")

    @property
    def cli_version(self) -> str | None:
        """The version of Codex, or of whatever else wrote it."""
        return self.document.text("cli_version")

    @property
    def originator(self) -> str | None:
        """The client that began it."""
        return self.document.text("originator")

    @property
    def provider(self) -> str | None:
        """The provider of the model; Codex 0.169.0 resumes a thread with no other."""
        return self.document.text("model_provider")

    @property
    def mode(self) -> str:
        """`legacy`, `paginated`, or what a later Codex may call it."""
        return self.document.text("history_mode") or "legacy"

    @property
    def forked_from(self) -> str | None:
        """The thread it is a fork of."""
        return self.document.text("forked_from_id")

    @property
    def parent(self) -> str | None:
        """The thread whose agent began it."""
        return self.document.text("parent_thread_id")

    @property
    def source(self) -> str:
        """What kind of client began it: `cli`, `vscode`, `exec`, `subagent`, …"""
        plain = self.document.text("source")
        if plain is not None:
            return plain
        kinds = self.document.document("source") if "source" in self.document else None
        return next(iter(kinds.members), "unknown") if kinds is not None else "unknown"

    @property
    def instructions(self) -> str | None:
        """The base instructions, where they are stored."""
        base = self.document.document("base_instructions")
        return base.text("text") if base is not None else None

    @property
    def base(self) -> Base | None:
        """Where the thread's beginning lies, if not in its own file."""
        given = self.document.document("history_base")
        rollout_id = given.text("thread_id") if given is not None else None
        if given is None or rollout_id is None:
            return None
        ordinal, byte = given.get("end_ordinal_exclusive"), given.get("end_byte_offset")
        return Base(rollout_id, ordinal if isinstance(ordinal, int) else None, byte if isinstance(byte, int) else 0)

    def missing(self) -> list[str]:
        """The required members that are not there or no strings."""
        return [name for name in REQUIRED if self.document.text(name) is None]


EMPTY: Final = Meta(Document(b"{}"))


def first(lines: Iterable[Line]) -> tuple[Meta, Line | None]:
    """The first `session_meta`, looked for in the first lines. A fork of a legacy thread holds its parent's as well, behind its own."""
    for line in islice(lines, LOOKED_AT):
        if line.type == "session_meta":
            return Meta(line.payload, line.era), line
    return EMPTY, None
