"""Fills in what a Responses server leaves out of its events and clients rely on: places, ids, the settings and usage in the response object.

llama.cpp, for one, tells no `output_index`, no `content_index` and a response object of three fields. What is there is never changed. Sequence
numbers are the last step's business (`numbering`).
"""

from collections.abc import Callable, Iterable
from typing import Any

from antiphon.protocol import json, stream_rules
from antiphon.protocol.document import Document
from antiphon.protocol.event_views import Event
from antiphon.protocol.response import MEMBERS

_INDEX = {name: "summary_index" for name in stream_rules.INSIDE if "summary" in name}
_WITHOUT_PART = frozenset(
    {stream_rules.ARGUMENTS_DELTA, stream_rules.ARGUMENTS_DONE, stream_rules.INPUT_DELTA, stream_rules.INPUT_DONE}
)  # fmt: skip
_USAGE_DETAILS = {"input_tokens_details": ("cached_tokens", "cache_write_tokens"), "output_tokens_details": ("reasoning_tokens",)}


class Complete:
    """`begun`: a response object with every member, for the ones that the server does not tell; made only where one is missing."""

    def __init__(self, begun: Callable[[], Document], *, new_id: Callable[[str], str]) -> None:
        self.types = {stream_rules.ITEM_ADDED, stream_rules.ITEM_DONE, *stream_rules.INSIDE, *stream_rules.WITH_RESPONSE}
        self._begun = begun
        self._new_id = new_id
        self._count = 0
        self._places: dict[str, Any] = {}

    def feed(self, event: Event) -> Iterable[Event]:
        """One event with nothing missing."""
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
        return response.but(**missing) if missing else response

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
        if item is not None and item.text("id") is None and "item_id" in self._places:
            changes["item"] = item.but(id=self._places["item_id"])
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
    missing: dict[str, Any] = {name: 0 for name in ("input_tokens", "output_tokens") if usage.get(name) is None}
    if usage.get("total_tokens") is None:
        missing["total_tokens"] = sum(usage.get(name) or 0 for name in ("input_tokens", "output_tokens"))
    for name, counts in _USAGE_DETAILS.items():
        details = usage.document(name) or Document(b"{}")
        absent = {count: 0 for count in counts if details.get(count) is None}
        missing |= {name: details.but(**absent)} if absent else {}
    return usage.but(**missing) if missing else usage
