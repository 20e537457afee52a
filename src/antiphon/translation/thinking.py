"""Takes a model's thoughts out of its text, where the server leaves them there between `<think>` and `</think>`.

Only a text that begins with the tag holds thoughts; whoever writes about the tag later is quoted as he wrote. Pieces are spelled JSON strings,
in and out. Once the text has begun there is nothing to do, and it costs nothing.
"""

import re
from enum import Enum

from antiphon.protocol import json

OPEN, CLOSE = "<think>", "</think>"


# What may be the end of the thoughts and is held back: line ends, and a beginning of the closing tag.
_END = re.compile(r"\n*(?:<(?:/(?:t(?:h(?:i(?:n(?:k)?)?)?)?)?)?)?\Z")


class _State(Enum):
    UNDECIDED = 0
    THINKING = 1
    ANSWERING = 2
    """Thoughts are over; line ends before the first word are still theirs."""
    TALKING = 3


class ThinkSplitter:
    """Feed pieces of text; get pieces that are thoughts (True) or text (False)."""

    def __init__(self, *, looks: bool) -> None:
        self._state = _State.UNDECIDED if looks else _State.TALKING
        self._fresh = True
        self._held = ""

    @property
    def is_over(self) -> bool:
        """Whether all that comes is text."""
        return self._state is _State.TALKING

    def feed(self, piece: bytes) -> list[tuple[bool, bytes]]:
        """What this piece is, as far as it can be said yet."""
        if self._state is _State.TALKING:
            return [(False, piece)]
        try:
            self._held += json.text(piece)
        except ValueError:  # half a surrogate pair: text that no tag can be in
            return [*self.flush(), (self._state is _State.THINKING, piece)]
        return self._read()

    def flush(self) -> list[tuple[bool, bytes]]:
        """What was held back: the text has ended, or something else follows."""
        held, self._held = self._held, ""
        return [(self._state is _State.THINKING, json.encode(held))] if held else []

    def _read(self) -> list[tuple[bool, bytes]]:
        match self._state:
            case _State.UNDECIDED:
                return self._decide()
            case _State.THINKING:
                return self._think()
            case _:
                return self._answer()

    def _decide(self) -> list[tuple[bool, bytes]]:
        begun = self._held.lstrip()
        if begun.startswith(OPEN):
            self._state, self._held = _State.THINKING, begun[len(OPEN) :]
            return self._think()
        if OPEN.startswith(begun):
            return []
        self._state = _State.TALKING
        return self.flush()

    def _think(self) -> list[tuple[bool, bytes]]:
        if self._fresh:
            self._held = self._held.lstrip("\n")
            self._fresh = not self._held
        thought, closed, rest = self._held.partition(CLOSE)
        if closed:
            self._held = thought.rstrip("\n")
            pieces = self.flush()
            self._state, self._held = _State.ANSWERING, rest
            return [*pieces, *self._answer()]
        end = _END.search(thought)
        kept = thought[end.start() :] if end is not None else ""
        self._held = thought[: len(thought) - len(kept)]
        pieces = self.flush()
        self._held = kept
        return pieces

    def _answer(self) -> list[tuple[bool, bytes]]:
        self._held = self._held.lstrip("\n")
        if not self._held:
            return []
        self._state = _State.TALKING
        return self.flush()
