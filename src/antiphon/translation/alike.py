"""Chunks of a stream that differ in one string and in nothing else.

Most chunks of a chat stream are the one before with other words in it. Once a chunk was read with care, the bytes before and behind its words
are known; as many of the next ones as begin and end with the same bytes, and have one JSON string between them, say the same with other words,
and need not be parsed. Whatever is not so is read with care again. A string with a lone surrogate or bytes that are not UTF-8 is no such string.

Not here: which chunks are worth it, and what is done with the words (`chat_answer`).
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from antiphon.protocol.event_views import Event, Spoken

# Strings in lines. No step is ever taken back, so that no input makes the search slow.
_STRINGS = re.compile(rb'(?:"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u(?![dD][89a-fA-F])[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+"\n)*+')
WINDOW = 16 * 1024
"""How far is looked for chunks alike at once: a chunk that is not like them must not cost a look through all that follow it."""

Say = Callable[[Sequence[bytes]], Sequence[Event | Spoken]]
"""What is done with the words: spelled JSON strings in, events out."""


@dataclass(frozen=True, slots=True)
class Alike:
    """Chunks alike: what stands before and behind their words, to the end of their event, and what is done with those."""

    head: bytes
    tail: bytes
    say: Say

    def row(self, stream: bytes, at: int) -> tuple[list[bytes], int]:
        """The words of such chunks as stand one behind the other from there on, spelled, and where the last of them ends."""
        start = at + len(self.head)
        if not stream.startswith(self.head, at):
            return [], at
        words = stream[start : start + WINDOW].split(self.tail + self.head)
        last, whole, _ = words.pop().partition(self.tail)
        if whole:
            words.append(last)
        strings = words[: _strings(words)]
        return strings, at + sum(map(len, strings)) + len(strings) * (len(self.head) + len(self.tail))


def alike(chunk: bytes, field: str, words: bytes, say: Say) -> Alike | None:
    """Chunks like this one, with its event's bytes, which says these words in this field; None where it is not clear where they stand."""
    _, found, behind = chunk.partition(b'"%b":' % field.encode())
    spelled = behind.removeprefix(b" ")
    if not found or found in behind or not spelled.startswith(words):
        return None
    return Alike(chunk[: len(chunk) - len(spelled)], spelled[len(words) :], say)


def _strings(words: list[bytes]) -> int:
    """How many of the first of these are JSON strings."""
    lines = b"\n".join(words) + b"\n"
    if lines.count(b"\n") != len(words):
        return 0
    found = _STRINGS.match(lines, 0, len(lines) if lines.isascii() else _utf8_length(lines))
    return 0 if found is None else lines.count(b"\n", 0, found.end())


def _utf8_length(data: bytes) -> int:
    try:
        data.decode()
    except UnicodeDecodeError as bad:
        return bad.start
    return len(data)
