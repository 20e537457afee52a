"""Takes a model's thoughts out of its text, where the server leaves them there between `<think>` and `</think>`.

Only a text that begins with the tag holds thoughts; whoever writes about the tag later is quoted as he wrote. Pieces are spelled JSON strings,
in and out. Once the text has begun there is nothing to do, and it costs nothing.
"""

from enum import Enum

from antiphon.protocol import json

OPEN, CLOSE = "<think>", "</think>"


class _State(Enum):
    UNDECIDED = 0
    THINKING = 1
    TALKING = 2


class ThinkSplitter:
    """Feed pieces of text; get pieces that are thoughts (True) or text (False)."""

    def __init__(self, *, looks: bool) -> None:
        self._state = _State.UNDECIDED if looks else _State.TALKING
        self._held = ""

    def feed(self, piece: bytes) -> list[tuple[bool, bytes]]:
        """What this piece is, as far as it can be said yet."""
        if self._state is _State.TALKING:
            return [(False, piece)]
        try:
            self._held += json.text(piece)
        except ValueError:  # half a surrogate pair: text that no tag can be in
            return [*self.flush(), (self._state is _State.THINKING, piece)]
        return self._decide() if self._state is _State.UNDECIDED else self._think()

    def flush(self) -> list[tuple[bool, bytes]]:
        """What was held back: the text has ended, or something else follows."""
        held, self._held = self._held, ""
        return [(self._state is _State.THINKING, json.encode(held))] if held else []

    def _decide(self) -> list[tuple[bool, bytes]]:
        begun = self._held.lstrip()
        if begun.startswith(OPEN):
            self._state, self._held = _State.THINKING, begun[len(OPEN) :].lstrip("\n")
            return self._think()
        if OPEN.startswith(begun):
            return []
        self._state = _State.TALKING
        return self.flush()

    def _think(self) -> list[tuple[bool, bytes]]:
        thought, closed, rest = self._held.partition(CLOSE)
        if closed:
            self._held = thought.rstrip("\n")
            pieces = self.flush()
            self._state, self._held = _State.TALKING, rest.lstrip("\n")
            return [*pieces, *self.flush()]
        keep = next((size for size in range(len(CLOSE) - 1, 0, -1) if thought.endswith(CLOSE[:size])), 0)
        self._held = thought[: len(thought) - keep]
        pieces = self.flush()
        self._held = thought[len(thought) - keep :]
        return pieces
