"""Which lines a turn consists of, so that Codex lists, shows, resumes and continues the thread: for both modes, as values.

Legacy files have, beside each item that the model sees, an event for people; paginated ones an `item_completed`. What a mode has no line for is left
out. Ids and times are arguments. Not here: how lines get into a file (`writer`), which items there are.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from antiphon.protocol.document import Document
from antiphon.threads.context import texts
from antiphon.threads.folder import SESSIONS
from antiphon.threads.turn_items import Fields

Row = tuple[str, Document]
"""The type of a line and its payload."""
ORIGINATOR: Final = "antiphon"
PICTURES: Final = frozenset({"input_image"})


@dataclass(frozen=True, slots=True, kw_only=True)
class NewThread:
    """What a new thread says of itself. `source` decides where Codex lists it: `cli` and `vscode` are shown by default."""

    id: str
    timestamp: str
    cwd: str
    cli_version: str
    originator: str = ORIGINATOR
    source: str = "cli"
    mode: str = "legacy"
    more: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def meta(self) -> Document:
        """Its `session_meta`. Members that are None are left out."""
        told = {"id": self.id, "timestamp": self.timestamp, "cwd": self.cwd, "originator": self.originator, "cli_version": self.cli_version}
        more = {name: value for name, value in self.more.items() if value is not None}
        return Document.of({**told, "source": self.source, **more, "history_mode": self.mode})

    def path(self, home: Path, local_time: str) -> Path:
        """Where it belongs in a home; `local_time` is `YYYY-MM-DDThh-mm-ss` there."""
        year, month, day = local_time[:10].split("-")
        return home / SESSIONS / year / month / day / f"rollout-{local_time}-{self.id}.jsonl"


@dataclass(frozen=True, slots=True)
class Recipe:
    """The lines of one thread. `now_ms` is when something happened, in milliseconds since 1970."""

    thread_id: str
    is_paginated: bool

    def began(self, turn_id: str, *, window: int | None = None, now_ms: int) -> list[Row]:
        """A turn begins."""
        return [
            event(
                "task_started", turn_id=turn_id, started_at=now_ms // 1000, model_context_window=window, collaboration_mode_kind="default"
            )
        ]

    def said(self, turn_id: str, item: Document, *, shown_id: str, now_ms: int) -> list[Row]:
        """What the user said: the item that the model sees, and what people see of it."""
        words = "".join(texts(item, "input_text"))
        pictures = [str(part.get("image_url") or "") for part in map(Document, item.elements("content")) if part.text("type") in PICTURES]
        if not self.is_paginated:
            return [row(item), event("user_message", message=words, images=pictures, local_images=[], text_elements=[])]
        content: list[Fields] = [{"type": "text", "text": words, "text_elements": []}]
        content += [{"type": "image", "image_url": url} for url in pictures]
        return [row(item), self._completed(turn_id, {"type": "UserMessage", "id": shown_id, "content": content}, now_ms)]

    def context(self, settings: Mapping[str, Any]) -> list[Row]:
        """The settings of a turn."""
        return [("turn_context", Document.of({"summary": "auto", **settings}))]

    def answered(self, turn_id: str, item: Document, *, now_ms: int) -> list[Row]:
        """An item of the model's: with its event, where it is something people read."""
        kind = item.text("type") or "message"
        if kind == "message" and item.text("role") == "assistant":
            words = "".join(texts(item, "output_text"))
            shown: Fields = {"type": "AgentMessage", "id": item.text("id") or "", "content": [{"type": "Text", "text": words}]}
            return [self._shown(turn_id, shown, event("agent_message", message=words), now_ms), row(item)]
        if kind == "reasoning":
            summary = [text for part in item.elements("summary") if (text := Document(part).text("text"))]
            if self.is_paginated:
                shown = {"type": "Reasoning", "id": item.text("id") or "", "summary_text": summary, "raw_content": []}
                return [self._completed(turn_id, shown, now_ms), row(item)]
            return [*(event("agent_reasoning", text=text) for text in summary), row(item)]
        return [row(item)]

    def done(self, turn_id: str, shown: Mapping[str, Any], *, now_ms: int) -> list[Row]:
        """Something that was done is over, as the item that a paginated file holds of it (`CommandExecution`, `FileChange`, …)."""
        if self.is_paginated:
            return [self._completed(turn_id, shown, now_ms)]
        make = LEGACY.get(str(shown.get("type")))
        return [make(turn_id, shown)] if make is not None else []

    def counted(self, info: Mapping[str, Any] | None) -> list[Row]:
        """Tokens were counted."""
        return [event("token_count", info=info, rate_limits=None)]

    def ended(self, turn_id: str, *, last_message: str | None, started_ms: int, now_ms: int) -> list[Row]:
        """A turn is over."""
        times = {"completed_at": now_ms // 1000, "duration_ms": now_ms - started_ms}
        return [event("task_complete", turn_id=turn_id, last_agent_message=last_message, **times)]

    def interrupted(self, turn_id: str, *, reason: str = "interrupted", now_ms: int) -> list[Row]:
        """A turn was broken off."""
        return [event("turn_aborted", turn_id=turn_id, reason=reason, completed_at=now_ms // 1000)]

    def compacted(self, message: str, replacement: Iterable[Document], *, turn_id: str, shown_id: str, now_ms: int) -> list[Row]:
        """The history was compacted to the replacement."""
        told = Document.of({"message": message, "replacement_history": list(replacement)})
        shown = {"type": "ContextCompaction", "id": shown_id}
        return [("compacted", told), self._shown(turn_id, shown, event("context_compacted"), now_ms)]

    def _shown(self, turn_id: str, item: Mapping[str, Any], legacy: Row, now_ms: int) -> Row:
        return self._completed(turn_id, item, now_ms) if self.is_paginated else legacy

    def _completed(self, turn_id: str, item: Mapping[str, Any], now_ms: int) -> Row:
        times = {"started_at_ms": now_ms, "completed_at_ms": now_ms}
        return event("item_completed", thread_id=self.thread_id, turn_id=turn_id, item=dict(item), **times)


def row(item: Document) -> Row:
    """An item that the model sees."""
    return "response_item", item


def event(type: str, **fields: Any) -> Row:
    """An event; fields that are None are left out."""
    return "event_msg", Document.of({"type": type, **{name: value for name, value in fields.items() if value is not None}})


def _patched(turn_id: str, shown: Mapping[str, Any]) -> Row:
    status = shown.get("status")
    told = {name: shown.get(name) for name in ("stdout", "stderr", "changes", "status")}
    return event("patch_apply_end", call_id=shown.get("id"), turn_id=turn_id, success=status == "completed", **told)


def _called(turn_id: str, shown: Mapping[str, Any]) -> Row:
    invocation = {name: shown.get(name) for name in ("server", "tool", "arguments")}
    failed = shown.get("error")
    result: Fields = {"Err": str(failed)} if failed is not None else {"Ok": shown.get("result") or {"content": []}}
    duration = shown.get("duration") or {"secs": 0, "nanos": 0}
    return event("mcp_tool_call_end", call_id=shown.get("id"), invocation=invocation, duration=duration, result=result)


def _searched(turn_id: str, shown: Mapping[str, Any]) -> Row:
    return event("web_search_end", call_id=shown.get("id"), query=shown.get("query") or "", action=shown.get("action") or {"type": "other"})


LEGACY: Final[Mapping[str, Callable[[str, Mapping[str, Any]], Row]]] = {
    "FileChange": _patched,
    "McpToolCall": _called,
    "WebSearch": _searched,
}
"""What legacy files hold of something that was done; commands are not among it."""
