"""How Codex shortens a tool's output before its model sees it, byte for byte as 0.169.0 does: both ends stay, the middle is counted.

An output is shortened once more whenever a thread is read, by the rule of the model that reads it; the line's own limit, where it has one, wins.
Text only: pictures stay. Not here: what was shortened when the thread was written, which nobody can bring back.
"""

from dataclasses import dataclass
from typing import Final, Literal

from msgspec import Raw

from antiphon.protocol import json
from antiphon.protocol.document import Document

BYTES_PER_TOKEN: Final = 4


@dataclass(frozen=True, slots=True)
class Limit:
    """How much of an output stays, counted in bytes or in tokens of four bytes."""

    mode: Literal["bytes", "tokens"]
    size: int

    @property
    def in_bytes(self) -> int:
        """The same in bytes."""
        return self.size if self.mode == "bytes" else self.size * BYTES_PER_TOKEN

    def with_allowance(self) -> "Limit":
        """A model's limit with what Codex grants on top, for the words around an output."""
        return Limit(self.mode, self.size * 12 // 10)

    def cost(self, text: bytes) -> int:
        """What a text takes of the limit."""
        return len(text) if self.mode == "bytes" else tokens(text)


UNKNOWN_MODEL: Final = Limit("bytes", 10_000)
BUNDLED_MODEL: Final = Limit("tokens", 10_000)


def tokens(text: bytes) -> int:
    """Codex's estimate."""
    return -(-len(text) // BYTES_PER_TOKEN)


def middle_cut(text: str, limit: Limit) -> str:
    """Both ends of a text that is too long, and between them how much is missing."""
    data = text.encode(errors="surrogatepass")
    if limit.cost(data) <= limit.size:
        return text
    if limit.size == 0 and limit.mode == "tokens":
        return ""
    left, right = _start(data, limit.in_bytes // 2), _end(data, limit.in_bytes - limit.in_bytes // 2)
    missing = len(data[left:right].decode()) if limit.mode == "bytes" else tokens(data[limit.in_bytes :])
    word = "chars" if limit.mode == "bytes" else "tokens"
    return f"{data[:left].decode()}…{missing} {word} truncated…{data[right:].decode()}"


def shortened(output: Raw, limit: Limit) -> Raw:
    """A call's output as the model is shown it; the same bytes where nothing has to go."""
    if json.is_text(output):
        return output if len(memoryview(output)) <= limit.in_bytes else _respelled(output, limit)
    return _parts(output, limit) if json.is_array(output) else output


def _respelled(output: Raw, limit: Limit) -> Raw:
    text = json.text(output)
    cut = middle_cut(text, limit)
    return output if cut == text else Raw(json.encode(cut))


def _parts(output: Raw, limit: Limit) -> Raw:
    """The limit holds for all text parts together; what comes when it is used up is counted."""
    kept: list[Raw] = []
    left, omitted = limit.size, 0
    given = json.elements(output)
    for part in given:
        text = Document(part).text("text") if json.is_object(part) and Document(part).text("type") == "input_text" else None
        if text is None:
            kept.append(part)
        elif text and left == 0:
            omitted += 1
        elif text:
            one = Limit(limit.mode, left)
            left = max(0, left - one.cost(text.encode(errors="surrogatepass")))
            cut = middle_cut(text, one)
            kept.append(part if cut == text else Document(part).but(text=cut).raw)
    if omitted:
        kept.append(Document.of({"type": "input_text", "text": f"[omitted {omitted} text items ...]"}).raw)
    return output if len(kept) == len(given) and all(a is b for a, b in zip(kept, given, strict=True)) else Raw(json.encode(kept))


def _start(data: bytes, at: int) -> int:
    """The last place up to `at` where a character begins."""
    while at > 0 and at < len(data) and data[at] & 0xC0 == 0x80:
        at -= 1
    return at


def _end(data: bytes, size: int) -> int:
    """The first place in the last `size` bytes where a character begins."""
    at = len(data) - size
    while at < len(data) and data[at] & 0xC0 == 0x80:
        at += 1
    return at
