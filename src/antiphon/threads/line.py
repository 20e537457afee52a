"""One line of a rollout file, of any era, opened; nothing of it is thrown away.

Codex has written its threads in three forms, and a line says itself which one it is of:

| era | lines | here |
|---|---|---|
| TypeScript, April 2025 | one JSON object, `{session, items}`, in a `.json` file | its session is a `session_meta`, its items are `response_item`s |
| flat, to August 2025 | first `{id, timestamp, …}`, then bare items and `{record_type: "state"}` | `session_meta`, `response_item`, `state` |
| envelope, since September 2025 | `{timestamp, type, payload}`, with `ordinal` in paginated threads | as they are |

So everything above works on one type. A line of which nothing can be made has no type, and says why. Not here: files (`file`), what a payload
means (`meta`, `rebuild`, `turns`).
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from msgspec import Raw

from antiphon.protocol import json
from antiphon.protocol.document import Document
from antiphon.protocol.notes import Kind, Note

LONGEST: Final = 64 * 1024 * 1024
"""A line of more bytes is passed over: the longest that Codex writes holds pictures of a few MB."""


class Era(StrEnum):
    """Which form a line is of."""

    TYPESCRIPT = "typescript"
    FLAT = "flat"
    ENVELOPE = "envelope"


ENVELOPES: Final = frozenset(
    {
        "session_meta",
        "response_item",
        "event_msg",
        "turn_context",
        "compacted",
        "world_state",
        "inter_agent_communication",
        "inter_agent_communication_metadata",
        "security_risk_score",
        "token_usage_record",
        "retained_context",
        "realtime_item",
    }
)
"""Every `type` of a line that a Codex up to 0.169 writes."""

STATE: Final = "state"
BLANK: Final = "blank"
ALIASES: Final = {"turn_started": "task_started", "turn_complete": "task_complete"}
_NOTHING: Final = Document(b"{}")


@dataclass(frozen=True, slots=True)
class Line:
    """A line as it lies in the file. `number` counts from 1 and is 0 where the file was read from its end; `raw` has the line's end.

    `type` is empty where nothing can be made of the line; `why` then says the reason, and else what is odd about it.
    """

    number: int
    offset: int
    raw: bytes
    type: str = ""
    payload: Document = _NOTHING
    head: Document = _NOTHING
    why: str = ""
    era: Era = Era.ENVELOPE
    size: int = 0

    @property
    def end(self) -> int:
        """The offset behind it."""
        return self.offset + self.size

    @property
    def kind(self) -> str:
        """What the payload says it is: the type of an item or event, without aliases."""
        said = self.payload.text("type") or ("message" if self.type == "response_item" else "")
        return ALIASES.get(said, said) if self.type == "event_msg" else said

    @property
    def timestamp(self) -> str | None:
        """When it was written, as it says itself."""
        return self.head.text("timestamp")

    @property
    def ordinal(self) -> int | None:
        """Its number in a paginated thread."""
        number = self.head.get("ordinal") if "ordinal" in self.head else None
        return number if isinstance(number, int) else None

    @property
    def is_known(self) -> bool:
        """Whether this version knows lines of that type."""
        return self.type in ENVELOPES or self.type in (STATE, BLANK)

    def note(self) -> Note | None:
        """What a reader ought to be told of it."""
        where = f"line {self.number}" if self.number else f"byte {self.offset}"
        if not self.type:
            return Note(Kind.DROPPED, where, self.why)
        if not self.is_known:
            return Note(Kind.UNKNOWN, where, f"a line of type {self.type[:40]!r}")
        if self.why:
            return Note(Kind.REPAIRED, where, self.why)
        return None


def opened(raw: bytes, *, number: int, offset: int) -> Line:
    """A line, told apart."""
    size = len(raw)
    text = raw.strip()
    if not text:
        return Line(number, offset, raw, BLANK, size=size)
    try:
        head, why = _document(text)
    except (json.BadJson, json.WrongType) as bad:
        is_cut = isinstance(bad, json.BadJson) and not raw.endswith(b"\n")
        return Line(number, offset, raw, why="cut off before its end" if is_cut else _reason(bad), size=size)
    type, payload, era = _told_apart(head)
    if not type:
        why = _missing(head)
    return Line(number, offset, raw, type, payload, head, why, era, size)


def passed_over(size: int, *, number: int, offset: int) -> Line:
    """A line too long to be held."""
    return Line(number, offset, b"", why=f"longer than {LONGEST // 1024 // 1024} MiB", size=size)


def meta_line(raw: bytes, session: Raw) -> Line:
    """The session of a TypeScript file; `raw` is what of the file stands before the first item."""
    document = Document(session)
    return Line(1, 0, raw, "session_meta", document, document, era=Era.TYPESCRIPT, size=len(raw))


def item_line(raw: bytes, item: Raw, *, number: int, offset: int) -> Line:
    """An item of a TypeScript file; `raw` goes on to the next."""
    document = Document(item)
    if not json.is_object(item):
        return Line(number, offset, raw, why="an item that is no object", era=Era.TYPESCRIPT, size=len(raw))
    return Line(number, offset, raw, "response_item", document, document, era=Era.TYPESCRIPT, size=len(raw))


def cut_item(raw: bytes, *, number: int, offset: int) -> Line:
    """What is left of the last item of a TypeScript file that was cut off."""
    return Line(number, offset, raw, why="cut off before its end", era=Era.TYPESCRIPT, size=len(raw))


def _document(text: bytes) -> tuple[Document, str]:
    """The line as a document, and what had to be mended in it."""
    try:
        data, surrogates = json.check(text)
        why = "a lone surrogate escape became U+FFFD" if surrogates else ""
    except json.BadJson:
        data, why = json.mend(text), "invalid UTF-8 became U+FFFD"
    head = Document(data)
    head.members  # noqa: B018 (opens it: what is no object says so here)
    return head, why


def _told_apart(head: Document) -> tuple[str, Document, Era]:
    type = head.text("type")
    payload = head.document("payload")
    if type is not None and payload is not None:
        return type, payload, Era.ENVELOPE
    if type in ENVELOPES:
        return "", _NOTHING, Era.ENVELOPE
    if "record_type" in head:
        return STATE, head, Era.FLAT
    if type is None and head.text("id") is not None and head.text("timestamp") is not None:
        return "session_meta", head, Era.FLAT
    if type is not None and "timestamp" in head:
        return type, head, Era.ENVELOPE
    is_item = type is not None or head.text("role") is not None
    return "response_item" if is_item else "", head, Era.FLAT


def _missing(head: Document) -> str:
    type = head.text("type")
    return f"{type} without a payload" if type in ENVELOPES else "no type, no payload, no id"


def _reason(bad: ValueError) -> str:
    return "JSON, and no object" if isinstance(bad, json.WrongType) else f"not JSON: {bad}"
