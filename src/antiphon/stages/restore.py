"""Gives calls back to the client as it declared them: its name, its namespace, its kind; and its own settings in the response object.

A freeform tool's text is unwrapped while it streams. A call of a tool that was never declared goes on as it came: the client says so to its
model better than a gateway can.
"""

from collections.abc import Iterable
from typing import Any

from msgspec import Raw

from antiphon.protocol import json, stream_rules
from antiphon.protocol.document import ABSENT, Document
from antiphon.protocol.event_views import Event
from antiphon.tools import lowering
from antiphon.tools.lowering import InputUnwrapper
from antiphon.tools.registry import Entry, Registry


class Restore:
    """`echo`: the settings that the response object must show, where the upstream was told others."""

    types = frozenset(
        {
            stream_rules.ITEM_ADDED,
            stream_rules.ITEM_DONE,
            stream_rules.ARGUMENTS_DELTA,
            stream_rules.ARGUMENTS_DONE,
            *stream_rules.WITH_RESPONSE,
        }
    )

    def __init__(self, registry: Registry, echo: dict[str, Raw]) -> None:
        self._registry = registry
        self._echo = echo
        self._open: dict[Any, tuple[Entry, InputUnwrapper]] = {}

    def feed(self, event: Event) -> Iterable[Event]:
        """One event, in the client's own words."""
        if event.type in stream_rules.WITH_RESPONSE:
            return [self._response(event)]
        if event.type in (stream_rules.ITEM_ADDED, stream_rules.ITEM_DONE):
            return [self._item(event)]
        entry, unwrapper = self._open.get(event.get("output_index"), (None, None))
        if entry is None or unwrapper is None:
            return [event]
        if entry.lowering is lowering.CUSTOM:
            return self._input(event, unwrapper)
        return [event.but(name=entry.declared.name) if "name" in event else event]

    def response(self, response: Document) -> Document:
        """A response object that was not streamed."""
        changes: dict[str, Any] = {
            name: value for name, value in self._echo.items() if bytes(response.members.get(name, b"")) != bytes(value)
        }
        headers = response.document("headers") if "model" in self._echo else None
        if headers is not None:  # Codex warns of a model that is not the one it asked for
            changes["headers"] = headers.but(**{name: ABSENT for name in headers.members if name.lower() == "openai-model"})
        output = [Document(raw) for raw in response.elements("output")]
        raised = [self._raised(item) for item in output]
        if any(after is not before for after, before in zip(raised, output, strict=True)):
            changes["output"] = raised
        return response.but(**changes) if changes else response

    def _response(self, event: Event) -> Event:
        response = event.document("response")
        restored = None if response is None else self.response(response)
        return event if restored is response else event.but(response=restored)

    def _item(self, event: Event) -> Event:
        item = event.document("item")
        if item is None:
            return event
        entry = self._entry(item)
        if entry is None or entry.is_plain:
            return event
        self._open[event.get("output_index")] = (entry, InputUnwrapper())
        return event.but(item=entry.lowering.raise_call(item, entry.declared))

    def _input(self, event: Event, unwrapper: InputUnwrapper) -> list[Event]:
        """A piece of a freeform tool's text, or all of it."""
        places = {name: event.members[name] for name in ("sequence_number", "item_id", "output_index") if name in event}
        if (id := event.text("item_id")) is not None:
            places["item_id"] = Raw(json.encode(lowering.custom_id(id)))
        if event.type == stream_rules.ARGUMENTS_DONE:
            text = lowering.custom_input(event.text("arguments") or "")
            return [Event.made(stream_rules.INPUT_DONE, {**places, "input": text})]
        piece = unwrapper.feed(bytes(event.members["delta"]))
        return [] if piece is None else [Event.made(stream_rules.INPUT_DELTA, {**places, "delta": Raw(piece)})]

    def _raised(self, item: Document) -> Document:
        entry = self._entry(item)
        return item if entry is None or entry.is_plain else entry.lowering.raise_call(item, entry.declared)

    def _entry(self, item: Document) -> Entry | None:
        return self._registry.entry(item.text("name") or "") if item.text("type") == "function_call" else None
