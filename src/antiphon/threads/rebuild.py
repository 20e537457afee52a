"""A thread's model history out of its lines, exactly as Codex 0.169.0 rebuilds it when it resumes one.

It is read from the end: the newest compaction that says what it left is where history starts, unless a rollback took the turn it was made in.
So of a long thread no more is read than what came after its last compaction. Which lines belong to one turn, `task_started` says; where there is
none, the whole file is one. Replayed forward, items append, compactions replace, rollbacks take whole turns off the end.

Nothing is lost on the way: items of a type that no model is sent are kept in the history, and `history.normalisation` says what is sent. Not here:
what people are shown (`turns`).
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from msgspec import Raw

from antiphon.protocol import json
from antiphon.protocol.document import Document
from antiphon.protocol.notes import Note
from antiphon.threads.compaction import compacted
from antiphon.threads.context import begins_turn, is_context
from antiphon.threads.line import Line
from antiphon.threads.truncation import Limit, shortened

OUTPUTS: Final = frozenset({"function_call_output", "custom_tool_call_output"})
REPLAYED: Final = frozenset({"response_item", "compacted", "inter_agent_communication"})
_SEGMENT: Final = REPLAYED | {"turn_context", "world_state"}


@dataclass(frozen=True, slots=True)
class History:
    """The items of a thread, oldest first, and what was noticed in its lines."""

    items: list[Document]
    notes: list[Note]


@dataclass(slots=True)
class _Segment:
    """The lines of one turn, while they are read backwards. `base` is where in the tail its newest compaction lies."""

    turn_id: str | None = None
    is_users: bool = False
    compactions: list[int] = field(default_factory=list[int])

    def is_of(self, turn_id: str | None) -> bool:
        """Whether a line with that turn's id can belong to it."""
        return self.turn_id is None or turn_id is None or self.turn_id == turn_id


@dataclass(slots=True)
class _Scan:
    """The lines read so far, newest first, and how many turns a rollback takes yet."""

    tail: list[Line] = field(default_factory=list[Line])
    undone: set[int] = field(default_factory=set[int])
    pending: int = 0
    segment: _Segment | None = None
    base: int | None = None

    def feed(self, line: Line) -> None:
        """One line more, older than all before it."""
        if line.type in _SEGMENT:
            segment = self._open()
            if line.type == "compacted" and has_replacement(line.payload):
                segment.compactions.append(len(self.tail))
            elif line.type == "turn_context":
                segment.turn_id = segment.turn_id or line.payload.text("turn_id")
            elif line.type in REPLAYED:
                segment.is_users |= line.type == "inter_agent_communication" or _begins_turn(line)
            if line.type in REPLAYED:
                self.tail.append(line)
        elif line.type == "event_msg":
            self._event(line)

    def finish(self) -> None:
        """No line is left."""
        if self.segment is not None:
            self._close()

    def _open(self) -> _Segment:
        if self.segment is None:
            self.segment = _Segment()
        return self.segment

    def _event(self, line: Line) -> None:
        match line.kind:
            case "thread_rolled_back":
                self.pending += rolled_back(line)
                self.tail.append(line)
            case "user_message":
                self._open().is_users = True
            case "task_started" if self.segment is not None and self.segment.is_of(line.payload.text("turn_id")):
                self._close()
            case _:
                pass

    def _close(self) -> None:
        """A turn is whole: it was taken by a rollback, or its newest compaction is where history starts."""
        segment = self.segment or _Segment()
        self.segment = None
        if self.pending:
            self.pending -= segment.is_users
            self.undone.update(segment.compactions)
        elif segment.compactions:
            self.base = segment.compactions[0]


def rebuild(backwards: Iterable[Line], limit: Limit | None = None) -> History:
    """The history of a thread whose lines come newest first. `limit` is that of the model which is to read the outputs."""
    scan, notes = _Scan(), list[Note]()
    for line in backwards:
        if (note := line.note()) is not None:
            notes.append(note)
        scan.feed(line)
        if scan.base is not None:
            break
    else:
        scan.finish()
    end = len(scan.tail) if scan.base is None else scan.base + 1
    kept = [line for at, line in enumerate(scan.tail[:end]) if at not in scan.undone]
    return History(replayed(reversed(kept), limit), notes[::-1])


def replayed(lines: Iterable[Line], limit: Limit | None = None) -> list[Document]:
    """What lines, oldest first, make of an empty history."""
    items: list[Document] = []
    for line in lines:
        match line.type:
            case "response_item":
                items.append(_recorded(line, limit))
            case "inter_agent_communication":
                items.append(agent_message(line.payload))
            case "compacted" if has_replacement(line.payload):
                items = [Document(item) for item in line.payload.elements("replacement_history")]
            case "compacted":
                items = compacted(items, line.payload.text("message") or "")
            case _:
                items = without_turns(items, rolled_back(line))
    return items


def without_turns(items: list[Document], turns: int) -> list[Document]:
    """The history without its last turns; what Codex put before the first of them goes too, what stands before all turns stays."""
    starts = [at for at, item in enumerate(items) if begins_turn(item)]
    if not starts or turns <= 0:
        return items
    cut = starts[-turns] if turns < len(starts) else starts[0]
    while cut > starts[0] and is_message(items[cut - 1]) and is_context(items[cut - 1]):
        cut -= 1
    return items[:cut]


def has_replacement(compaction: Document) -> bool:
    """Whether a compaction says what it left of the history."""
    spelled = compaction.members.get("replacement_history", Raw(b""))
    return json.is_array(spelled)


def rolled_back(line: Line) -> int:
    """How many turns a rollback takes."""
    turns = line.payload.get("num_turns")
    return turns if isinstance(turns, int) and turns > 0 else 0


def is_message(item: Document) -> bool:
    """Whether an item is something said."""
    return (item.text("type") or "message") == "message"


def agent_message(told: Document) -> Document:
    """What one agent told another, as the item that its model is sent."""
    author, recipient = told.text("author") or "", told.text("recipient") or ""
    sealed = told.text("encrypted_content")
    kind = "NEW_TASK" if told.get("trigger_turn") is True else "MESSAGE"
    head = f"Message Type: {kind}\nTask name: {recipient}\nSender: {author}\nPayload:\n"
    parts = [{"type": "input_text", "text": told.text("content") or "" if sealed is None else head}]
    if sealed is not None:
        parts.append({"type": "encrypted_content", "encrypted_content": sealed})
    id = told.text("id")
    named = {"id": id} if id is not None else {}
    return Document.of({"type": "agent_message", **named, "author": author, "recipient": recipient, "content": parts})


def _begins_turn(line: Line) -> bool:
    return line.type == "response_item" and begins_turn(line.payload)


def _recorded(line: Line, limit: Limit | None) -> Document:
    """An item as it enters the history: a tool's output is shortened, to the limit that was stored with it if there is one."""
    item = line.payload
    if line.kind not in OUTPUTS or "output" not in item:
        return item
    metadata = line.head.document("metadata") if "metadata" in line.head else None
    stored = metadata.get("fallback_token_limit_override") if metadata is not None else None
    own = Limit("tokens", stored) if isinstance(stored, int) else limit.with_allowance() if limit else None
    if own is None:
        return item
    output = item.members["output"]
    cut = shortened(output, own)
    return item if cut is output else item.but(output=cut)
