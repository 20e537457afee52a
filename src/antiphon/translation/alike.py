"""Chunks of a stream that differ in one string and in nothing else.

Most chunks of a chat stream are the one before with other words in it. Once a chunk was read with care, the bytes before and behind its words
are known; a later chunk that begins and ends with the same bytes, and has one JSON string between them, says the same with other words, and
need not be parsed. Whatever is not so is read with care again. A string with a lone surrogate or bytes that are not UTF-8 is no such string.

Not here: which chunks are worth it, and what is done with the words (`chat_answer`).
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from antiphon.protocol.event_views import Event

_STRING = re.compile(rb'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u(?![dD][89a-fA-F])[0-9a-fA-F]{4}))*"')

Say = Callable[[bytes], list[Event]]
"""What is done with the words: a spelled JSON string in, events out."""


@dataclass(frozen=True, slots=True)
class Alike:
    """Chunks alike: what stands before and behind their words, and what is done with those."""

    head: bytes
    tail: bytes
    say: Say

    def words(self, chunk: bytes) -> bytes | None:
        """The words of such a chunk, spelled; None where it is another."""
        start, end = len(self.head), len(chunk) - len(self.tail)
        if end <= start or not (chunk.startswith(self.head) and chunk.endswith(self.tail)):
            return None
        words = chunk[start:end]
        return words if _STRING.fullmatch(words) and _is_utf8(words) else None


def alike(chunk: bytes, field: str, words: bytes, say: Say) -> Alike | None:
    """Chunks like this one, which says these words in this field; None where it is not clear where they stand."""
    _, found, behind = chunk.partition(b'"%b":' % field.encode())
    spelled = behind.removeprefix(b" ")
    if not found or found in behind or not spelled.startswith(words):
        return None
    return Alike(chunk[: len(chunk) - len(spelled)], spelled[len(words) :], say)


def _is_utf8(words: bytes) -> bool:
    if words.isascii():
        return True
    try:
        words.decode()
    except UnicodeDecodeError:
        return False
    return True
