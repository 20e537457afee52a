"""What a compaction without a replacement history leaves of a thread: what users said, newest first within a budget, and the summary.

Codex wrote such compactions until about 0.100 and still reads them so. A summary that was itself made by a compaction is known by the sentence
that Codex puts before each, and is not repeated. Not here: compactions that say what they leave (`rebuild`), nor making one.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from antiphon.protocol.document import Document
from antiphon.threads.context import is_context, texts
from antiphon.threads.truncation import BYTES_PER_TOKEN, tokens

BUDGET: Final = 20_000
"""Tokens of what users said that a compaction keeps."""
NO_SUMMARY: Final = "(no summary available)"
_SENTENCE_SHA256: Final = "e9b088e794a6bb9082ac053fcc760bd818d7e720ee4bcdc72c6e480de7b7cb0e"
_OPENING: Final = ("<image", "<local_image")
_CLOSING: Final = ("</image>", "</local_image>")


def compacted(history: Iterable[Document], summary: str) -> list[Document]:
    """What is left of a history when it is compacted to a summary."""
    left, kept = BUDGET, list[Document]()
    for message in reversed(list(_said(history))):
        parts = list(texts(message, "input_text"))
        size = tokens("".join(parts).encode(errors="surrogatepass"))
        if left == 0:
            break
        kept.append(message if size <= left else _with_texts(message, _cut(parts, left * BYTES_PER_TOKEN)))
        left = max(0, left - size)
    return [*reversed(kept), _user_message([summary or NO_SUMMARY])]


def is_summary(text: str) -> bool:
    """Whether a compaction wrote it."""
    sentence, end, _ = text.partition("\n")
    return bool(end) and hashlib.sha256(sentence.encode(errors="surrogatepass")).hexdigest() == _SENTENCE_SHA256


def _said(history: Iterable[Document]) -> Iterator[Document]:
    """What users said, without pictures and the tags around them."""
    for item in history:
        if (item.text("type") or "message") != "message" or item.text("role") != "user" or is_context(item):
            continue
        parts = list(_words(item))
        if not is_summary("".join(parts)):
            yield item if _is_plain(item, parts) else _with_texts(item, parts or [""])


def _words(item: Document) -> Iterator[str]:
    parts = [Document(part) for part in item.elements("content")]
    types = [part.text("type") for part in parts]
    for at, part in enumerate(parts):
        text = part.text("text")
        if types[at] != "input_text" or text is None:
            continue
        is_opening = text.startswith(_OPENING) and types[at + 1 : at + 2] == ["input_image"]
        is_closing = text in _CLOSING and at > 0 and types[at - 1] == "input_image"
        if not (is_opening or is_closing):
            yield text


def _is_plain(item: Document, parts: Sequence[str]) -> bool:
    return bool(parts) and len(parts) == len(item.elements("content"))


def _cut(parts: Sequence[str], budget: int) -> list[str]:
    """Both ends of the parts taken together, and between them, as a part of its own, how much is missing."""
    spelled = [part.encode(errors="surrogatepass") for part in parts]
    size = sum(map(len, spelled))
    head = _taken(spelled, budget // 2)
    tail = [part[::-1] for part in reversed(_taken([part[::-1] for part in reversed(spelled)], budget - budget // 2))]
    missing = f"…{-(-(size - budget) // BYTES_PER_TOKEN)} tokens truncated…"
    return [*_decoded(head), missing, *_decoded(tail)]


def _taken(parts: Iterable[bytes], budget: int) -> list[bytes]:
    """The first bytes of the parts taken together."""
    taken: list[bytes] = []
    for part in parts:
        if part[:budget]:
            taken.append(part[:budget])
        budget -= min(budget, len(part))
    return taken


def _decoded(parts: Iterable[bytes]) -> list[str]:
    """The parts as text, without a character that was cut in two."""
    return [text for part in parts if (text := part.decode(errors="ignore"))]


def _with_texts(message: Document, parts: Sequence[str]) -> Document:
    return message.but(content=[Document.of({"type": "input_text", "text": part}) for part in parts])


def _user_message(parts: Sequence[str]) -> Document:
    content = [Document.of({"type": "input_text", "text": part}) for part in parts]
    return Document.of({"type": "message", "role": "user", "content": content})
