"""Fills in what a Responses server leaves out of its events and clients rely on: places, ids, the settings and usage in the response object.

llama.cpp, for one, tells no `output_index`, no `content_index` and a response object of three fields. Items that only the last event holds are told
by events of their own, because Codex reads no others; and the other way round. What is there is changed only where it has not the shape that every
client expects. Sequence numbers are the last step's business (`numbering`).
"""

from collections.abc import Callable, Iterable
from typing import Any

from msgspec import Raw

from antiphon.protocol import json, stream_rules
from antiphon.protocol.document import Document
from antiphon.protocol.event_views import Event
from antiphon.protocol.response import MEMBERS, count, is_count

_INDEX = {name: "summary_index" for name in stream_rules.INSIDE if "summary" in name}
_WITHOUT_PART = frozenset(
    {stream_rules.ARGUMENTS_DELTA, stream_rules.ARGUMENTS_DONE, stream_rules.INPUT_DELTA, stream_rules.INPUT_DONE}
)  # fmt: skip
_ENDS = frozenset({stream_rules.COMPLETED, stream_rules.INCOMPLETE})
_USAGE_DETAILS = {"input_tokens_details": ("cached_tokens", "cache_write_tokens"), "output_tokens_details": ("reasoning_tokens",)}


class Complete:
    """`begun`: a response object with every member, for the ones that the server does not tell; made only where one is missing."""

    def __init__(self, begun: Callable[[], Document], *, new_id: Callable[[str], str]) -> None:
        self.types = {stream_rules.ITEM_ADDED, stream_rules.ITEM_DONE, *stream_rules.INSIDE, *stream_rules.WITH_RESPONSE}
        self._begun = begun
        self._new_id = new_id
        self._count = 0
        self._done: dict[int, Document] = {}
        self._places: dict[str, Any] = {}

    def feed(self, event: Event) -> Iterable[Event]:
        """One event with nothing missing."""
        if event.type in _ENDS:
            return self._end(event)
        if event.type in stream_rules.WITH_RESPONSE:
            return [self._response(event)]
        if event.type == stream_rules.ITEM_ADDED:
            self._open(event)
        if event.type in (stream_rules.ITEM_ADDED, stream_rules.ITEM_DONE):
            return [self._item(event)]
        return [self._inside(event)]

    def response(self, response: Document) -> Document:
        """A response object with every member."""
        told = response.members
        absent = [name for name in MEMBERS if name not in told]
        missing: dict[str, Any] = {name: self._begun().members[name] for name in absent}
        if (usage := response.document("usage")) is not None and (whole := _whole_usage(usage)) is not usage:
            missing["usage"] = whole
        items = response.objects("output")
        mended = [_mended(item) for item in items]
        if any(after is not before for after, before in zip(mended, items, strict=True)):
            missing["output"] = mended
        return response.but(**missing) if missing else response

    def _end(self, event: Event) -> list[Event]:
        """The end, behind all of its items."""
        ended = self._response(event)
        response = ended.document("response")
        if response is None:
            return [ended]
        output = response.objects("output")
        if not output and self._done:
            return [ended.but(response=response.but(output=list(self._done.values())))]
        untold = [(index, item) for index, item in enumerate(output) if index not in self._done]
        return [*(one for index, item in untold for one in self._told(index, item)), ended]

    def _told(self, index: int, item: Document) -> list[Event]:
        """An item's events, but for those that have come."""
        names = (stream_rules.ITEM_ADDED, stream_rules.ITEM_DONE)[index < self._count :]
        return [Event.made(name, {"output_index": index, "item": item}) for name in names]

    def _open(self, event: Event) -> None:
        item = event.document("item")
        index = event.get("output_index")
        self._places = {
            "output_index": self._count if index is None else index,
            "item_id": (item.text("id") if item is not None else None) or self._new_id("item"),
        }
        self._count += 1

    def _response(self, event: Event) -> Event:
        response = event.document("response")
        completed = None if response is None else self.response(response)
        return event if completed is response else event.but(response=completed)

    def _item(self, event: Event) -> Event:
        changes: dict[str, Any] = {}
        if "output_index" not in event:
            changes["output_index"] = self._places.get("output_index", 0)
        item = event.document("item")
        if item is None:
            return event.but(**changes) if changes else event
        named = item.but(id=self._places["item_id"]) if item.text("id") is None and "item_id" in self._places else item
        if (whole := _mended(named)) is not item:
            changes["item"] = whole
        index = changes.get("output_index", event.get("output_index"))
        if event.type == stream_rules.ITEM_DONE and isinstance(index, int):
            self._done[index] = whole
        return event.but(**changes) if changes else event

    def _inside(self, event: Event) -> Event:
        places = dict(self._places)
        if event.type not in _WITHOUT_PART:
            places[_INDEX.get(event.type, "content_index")] = 0
        missing = {name: value for name, value in places.items() if name not in event or json.is_null(event.members[name])}
        if not missing:
            self.types.discard(event.type)  # a server tells a kind of event always or never in full; the next ones need no look
            return event
        return event.but(**missing)


def _whole_usage(usage: Document) -> Document:
    """Usage with every number: Codex takes a response for broken that lacks one."""
    missing = _uncounted(usage, ("input_tokens", "output_tokens"))
    if not is_count(usage.get("total_tokens")):
        missing["total_tokens"] = sum(count(usage.get(name)) for name in ("input_tokens", "output_tokens"))
    for name, counts in _USAGE_DETAILS.items():
        details = usage.document(name) or Document(b"{}")
        absent = _uncounted(details, counts)
        missing |= {name: details.but(**absent)} if absent else {}
    return usage.but(**missing) if missing else usage


def _uncounted(told: Document, names: Iterable[str]) -> dict[str, Any]:
    """The counts that are missing there or are no whole numbers, as such."""
    return {name: count(told.get(name)) for name in names if not is_count(told.get(name))}


def _mended(item: Document) -> Document:
    """An item in the shape that every client reads; Codex passes over one in another shape without a word."""
    mend = _MENDS.get(item.text("type") or "")
    changes = {} if mend is None else mend(item)
    return item.but(**changes) if changes else item


def _of_call(item: Document) -> dict[str, Any]:
    """A call's arguments are a string, and it has an id to be answered by."""
    changes: dict[str, Any] = {}
    arguments = item.members.get("arguments", Raw(b"null"))
    if not json.is_text(arguments):
        changes["arguments"] = "" if json.is_null(arguments) else bytes(arguments).decode()
    if item.text("call_id") is None:
        changes["call_id"] = item.members.get("id")
    return changes


def _of_reasoning(item: Document) -> dict[str, Any]:
    return {} if json.is_array(item.members.get("summary", Raw(b"null"))) else {"summary": []}


def _of_message(item: Document) -> dict[str, Any]:
    content = item.members.get("content", Raw(b"null"))
    if json.is_text(content):
        return {"content": [{"type": "output_text", "text": content, "annotations": []}]}
    return {} if json.is_array(content) else {"content": []}


_MENDS: dict[str, Callable[[Document], dict[str, Any]]] = {"function_call": _of_call, "reasoning": _of_reasoning, "message": _of_message}
