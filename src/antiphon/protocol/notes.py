"""What a pure rule noticed and did not want to pass over in silence.

Rules return notes beside their result; the edge counts them, logs them by shape, tells the client in a header, and under `strict` refuses.
Not here: logging, counting, the header itself.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What happened to a part of the request or of the answer."""

    DROPPED = "dropped"
    """The upstream cannot take it, and it was left out."""
    CHANGED = "changed"
    """It went on in another form, and something of it may be lost."""
    RENAMED = "renamed"
    """A tool travels under another name; the client sees its own again."""
    REPAIRED = "repaired"
    """Something was missing or broken, and was put right."""
    MOVED = "moved"
    """The prompt's beginning is another than before, and a prefix cache will miss."""
    UNKNOWN = "unknown"
    """A shape that no rule knows."""
    BROKEN = "broken"
    """The upstream broke the stream's grammar."""


@dataclass(frozen=True, slots=True)
class Note:
    """One thing noticed. `where` is a path in the client's own document; `why` never holds a value of it."""

    kind: Kind
    where: str
    why: str = ""


LOSSES = frozenset({Kind.DROPPED, Kind.CHANGED})
"""The kinds a client is told of, and that `strict` refuses."""

SHOWN = 24
"""How many losses the header names; the rest is a number."""


def losses(notes: Iterable[Note]) -> list[Note]:
    """What the client asked for and did not get, each place once."""
    seen: dict[str, Note] = {}
    for note in notes:
        if note.kind in LOSSES:
            seen.setdefault(note.where, note)
    return list(seen.values())


def header(notes: Iterable[Note]) -> str | None:
    """The value of `x-antiphon-dropped`: paths and reasons, capped, then the count. None where nothing was lost."""
    lost = losses(notes)
    if not lost:
        return None
    named = ", ".join(_printable(f"{note.where} ({note.why})" if note.why else note.where) for note in lost[:SHOWN])
    more = f", +{len(lost) - SHOWN} more" if len(lost) > SHOWN else ""
    return f"{named}{more}; count={len(lost)}"


def _printable(text: str) -> str:
    """Header-safe: a tool's name may hold anything at all."""
    plain = text.encode("ascii", "backslashreplace").decode()
    return "".join(c if c.isprintable() and c not in ",;" else "?" for c in plain)[:160]
