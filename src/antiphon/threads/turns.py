"""A thread's turns for people: what was said, thought, run and changed, in the form that Codex's clients take.

Codex's own reader of legacy files loses every command, and of files without events everything. With `complete` those are made from the model's
items and put where they belong; without, turns, items and their ids are exactly Codex's. Turns come one by one, so that a long thread is shown in
little memory; for that it is read twice, as a rollback behind a turn takes it away. Not here: model history (`rebuild`), pages (`show`).
"""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from antiphon.protocol import json
from antiphon.protocol.document import Document
from antiphon.threads import lost_calls, turn_items
from antiphon.threads.compaction import is_summary
from antiphon.threads.context import is_context, texts
from antiphon.threads.decoding import undecoded
from antiphon.threads.line import BLANK, STATE, Era, Line
from antiphon.threads.rebuild import rolled_back
from antiphon.threads.turn_items import COUNTED, NAMED

COMPLETED, INTERRUPTED, FAILED, IN_PROGRESS = "completed", "interrupted", "failed", "inProgress"
RECENT: Final = 16


@dataclass(slots=True)
class Turn:
    """One turn. `at` is when its first line was written; times of day are seconds since 1970."""

    id: str
    items: list[Document] = field(default_factory=list[Document])
    status: str = COMPLETED
    error: Document | None = None
    at: str | None = None
    started_at: int | None = None
    completed_at: int | None = None
    duration_ms: int | None = None
    is_opened: bool = False
    is_compacted: bool = False
    made: set[str] = field(default_factory=set[str])

    def document(self) -> Document:
        """The turn as today's app-server tells it."""
        times = {"startedAt": self.started_at, "completedAt": self.completed_at, "durationMs": self.duration_ms}
        return Document.of({"id": self.id, "items": self.items, "itemsView": "full", "status": self.status, "error": self.error, **times})

    def put(self, item: Document) -> None:
        """Adds an item, in the place of one with its id."""
        id = item.text("id")
        for at, one in enumerate(self.items):
            if id and one.text("id") == id:
                self.items[at] = item
                return
        self.items.append(item)

    def find(self, id: str) -> int | None:
        """Where the item with that id stands."""
        return next((at for at, one in enumerate(self.items) if one.text("id") == id), None)

    @property
    def is_worth_showing(self) -> bool:
        """Whether it is there at all: a turn that nothing opened and nothing is in is none."""
        return bool(self.items) or self.is_opened or self.is_compacted


@dataclass(slots=True)
class _Builder:
    """Feeds on lines, gives turns. `number` is that of the next item without an id; `decoded` counts the lines that Codex reads."""

    complete: bool
    turn: Turn | None = None
    number: int = 1
    decoded: int = -1
    kept: int = 0
    said: deque[str] = field(default_factory=lambda: deque[str](maxlen=RECENT))
    waiting: Document | None = None

    def feed(self, line: Line) -> Iterator[Turn]:
        """The turns that a line ends."""
        if not line.type or line.type in (BLANK, STATE):
            return
        self.decoded += line.era is not Era.ENVELOPE or not undecoded(line)
        match line.type:
            case "event_msg":
                yield from self._event(line)
            case "response_item":
                yield from self._item(line)
            case "compacted":
                self._open(line).is_compacted = True
            case _:
                pass

    def finish(self) -> Iterator[Turn]:
        """The turn that is not ended yet."""
        yield from self._settle(None)
        yield from self._close()

    def _open(self, line: Line) -> Turn:
        if self.turn is None:
            self.turn = Turn(f"rollout-{self.decoded}", at=line.timestamp)
        return self.turn

    def _close(self) -> Iterator[Turn]:
        turn, self.turn = self.turn, None
        if turn is not None and turn.is_worth_showing:
            self.kept += len(turn.items)
            yield turn

    def _event(self, line: Line) -> Iterator[Turn]:
        kind, event = line.kind, line.payload
        if kind == "user_message":
            yield from self._user_message(line)
        elif kind in COUNTED and (kind != "agent_message" or event.text("message")):
            self._twin(event.text("message"))
            self._open(line).items.append(COUNTED[kind](self._next_id(), event))
        elif kind in ("agent_reasoning", "agent_reasoning_raw_content"):
            self._thought(line, "summary" if kind == "agent_reasoning" else "content")
        elif kind in NAMED and (id := event.text("call_id")):
            self._open(line).put(NAMED[kind](id, event))
        elif kind == "item_completed" and (item := turn_items.completed(event)) is not None:
            self._completed(line, item)
        else:
            yield from self._lifecycle(line)

    def _lifecycle(self, line: Line) -> Iterator[Turn]:
        event, turn_id = line.payload, line.payload.text("turn_id")
        match line.kind:
            case "task_started":
                yield from self._settle(line)
                yield from self._close()
                started = _seconds(event, "started_at")
                self.turn = Turn(
                    turn_id or f"rollout-{self.decoded}", status=IN_PROGRESS, at=line.timestamp, started_at=started, is_opened=True
                )
            case "task_complete" if self.turn is not None:
                yield from self._settle(line)
                self._ended(event, COMPLETED if self.turn.status == IN_PROGRESS else self.turn.status)
                yield from self._close()
            case "turn_aborted" if self.turn is not None:
                self._ended(event, INTERRUPTED)
            case "error" if self.turn is not None:
                self.turn.status, self.turn.error = FAILED, Document.of({"message": event.text("message") or ""})
            case "thread_rolled_back":
                yield from self._settle(line)
                yield from self._close()
            case _:
                pass

    def _ended(self, event: Document, status: str) -> None:
        turn = self.turn
        if turn is None:
            return
        failed = event.document("error")
        turn.status, turn.error = (FAILED, failed) if failed is not None else (status, turn.error)
        turn.started_at = turn.started_at or _seconds(event, "started_at")
        turn.completed_at, turn.duration_ms = _seconds(event, "completed_at"), _seconds(event, "duration_ms")

    def _user_message(self, line: Line) -> Iterator[Turn]:
        self._twin(line.payload.text("message"))
        if self.turn is not None and not self.turn.is_opened and not (self.turn.is_compacted and not self.turn.items):
            yield from self._close()
        self._open(line).items.append(turn_items.user_message(self._next_id(), line.payload))

    def _completed(self, line: Line, item: Document) -> None:
        turn = self._open(line)
        self._twin(item.text("text") if item.text("type") == "agentMessage" else _words(item))
        turn.put(item)
        turn.made.discard(item.text("id") or "")

    def _thought(self, line: Line, where: str) -> None:
        words, turn = line.payload.text("text"), self._open(line)
        if not words:
            return
        self.said.append(words)
        last = turn.items[-1] if turn.items else None
        if last is not None and last.text("type") == "reasoning" and last.text("id") not in turn.made:
            turn.items[-1] = last.but(**{where: [*(last.get(where) or []), words]})
            return
        turn.items.append(turn_items.item("reasoning", self._next_id(), **{"summary": [], "content": [], where: [words]}))

    def _next_id(self) -> str:
        self.number += 1
        return f"item-{self.number - 1}"

    def _item(self, line: Line) -> Iterator[Turn]:
        if not self.complete:
            return
        item, kind = line.payload, line.kind
        yield from self._settle(line)
        if kind == "message":
            self._message(item)
        elif kind == "reasoning":
            self._reasoning(line)
        elif (shown := lost_calls.called(item)) is not None:
            self._called(line, shown)
        elif kind.endswith("_output") and self.turn is not None and (id := item.text("call_id")):
            at = self.turn.find(id)
            if at is not None and id in self.turn.made:
                self.turn.items[at] = lost_calls.answered(self.turn.items[at], item)

    def _called(self, line: Line, shown: Document) -> None:
        id, turn = shown.text("id") or "", self._open(line)
        if turn.find(id) is None:
            turn.items.append(shown)
            turn.made.add(id)

    def _message(self, item: Document) -> None:
        """A message waits for the event that tells of it too; where none comes, it is shown as it is."""
        role = item.text("role")
        words = "".join(texts(item, "input_text", "output_text"))
        if role not in ("user", "assistant") or (role == "user" and (is_context(item) or is_summary(words))):
            return
        if words and words in self.said:
            self.said.remove(words)
            return
        self.waiting = item

    def _reasoning(self, line: Line) -> None:
        item, turn = line.payload, self._open(line)
        summary, content = _texts(item, "summary"), _texts(item, "content")
        if not (summary or content) or any(words in self.said for words in (*summary, *content)):
            return
        id = item.text("id")
        if id and turn.find(id) is not None:
            return
        turn.items.append(turn_items.item("reasoning", self._own_id(item), summary=summary, content=content))

    def _twin(self, words: str | None) -> None:
        """An event tells of a message: it is the one that waits, or one that is to come."""
        if self.waiting is not None and words is not None and words == "".join(texts(self.waiting, "input_text", "output_text")):
            self.waiting = None
        elif self.waiting is not None and self.waiting.text("role") == "user":
            self.waiting = None  # pictures and skills stand in the item, and not in the event's words
        elif words:
            self.said.append(words)

    def _settle(self, line: Line | None) -> Iterator[Turn]:
        """Shows the message that waited in vain: in a file without events, or one that was begun from a history."""
        item, self.waiting = self.waiting, None
        if item is None:
            return
        at = line or Line(0, 0, b"")
        if item.text("role") == "user":
            if self.turn is not None and not self.turn.is_opened:
                yield from self._close()
            shown = turn_items.item("userMessage", self._own_id(item), content=list(_inputs(item)))
        else:
            words = "".join(texts(item, "output_text", "input_text"))
            shown = turn_items.item("agentMessage", self._own_id(item), text=words, phase=item.text("phase"))
        self._open(at).items.append(shown)

    def _own_id(self, item: Document) -> str:
        id = item.text("id") or f"line-{self.decoded}"
        self._open(Line(0, 0, b"")).made.add(id)
        return id


def turns(lines: Iterable[Line], *, complete: bool = True, removed: frozenset[int] = frozenset()) -> Iterator[Turn]:
    """The turns of lines, oldest first, without those whose number is in `removed` (`taken`)."""
    builder, number, kept = _Builder(complete), 0, 0
    for line in lines:
        for turn in builder.feed(line):
            if number not in removed:
                kept += len([item for item in turn.items if complete is False or item.text("id") not in turn.made])
                yield turn
            number += 1
        if line.kind == "thread_rolled_back" and line.type == "event_msg":
            builder.number = kept + 1
    for turn in builder.finish():
        if number not in removed:
            yield turn
        number += 1


def taken(lines: Iterable[Line], *, complete: bool = True) -> frozenset[int]:
    """The numbers of the turns that rollbacks take away."""
    builder, left, removed, number = _Builder(complete), list[int](), set[int](), 0
    for line in lines:
        for _ in builder.feed(line):
            left.append(number)
            number += 1
        if line.type == "event_msg" and line.kind == "thread_rolled_back" and (count := rolled_back(line)):
            removed.update(left[-count:])
            del left[-count:]
    return frozenset(removed)


def _inputs(item: Document) -> Iterator[dict[str, Any]]:
    for part in map(Document, filter(json.is_object, item.elements("content"))):
        match part.text("type"):
            case "input_image":
                yield {"type": "image", "url": str(part.get("image_url") or "")}
            case "input_audio":
                yield {"type": "audio", "url": str(part.get("audio_url") or "")}
            case _:
                yield {"type": "text", "text": part.text("text") or "", "text_elements": []}
    if not item.elements("content") and (text := item.text("content")):
        yield {"type": "text", "text": text, "text_elements": []}


def _texts(item: Document, name: str) -> list[str]:
    return [text for part in item.elements(name) if json.is_object(part) and (text := Document(part).text("text"))]


def _words(item: Document) -> str | None:
    if item.text("type") != "userMessage":
        return None
    return "".join(Document(part).text("text") or "" for part in item.elements("content"))


def _seconds(event: Document, name: str) -> int | None:
    value = event.get(name)
    return value if isinstance(value, int) else None
