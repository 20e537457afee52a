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
from antiphon.tools.lowering import InputUnwrapper, Streams
from antiphon.tools.registry import Registry


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
        self._open: dict[bytes, tuple[Streams, InputUnwrapper]] = {}

    def feed(self, event: Event) -> Iterable[Event]:
        """One event, in the client's own words."""
        if event.type in stream_rules.WITH_RESPONSE:
            return [self._response(event)]
        if event.type == stream_rules.ITEM_ADDED:
            return self._added(event)
        if event.type == stream_rules.ITEM_DONE:
            return self._done(event)
        streams, unwrapper = self._open.get(_place(event), (None, None))
        if streams is Streams.INPUT and unwrapper is not None:
            return self._input(event, unwrapper)
        if streams is None or unwrapper is None:
            return [event]
        return [] if streams is Streams.NOTHING else [self._named(event)]

    def response(self, response: Document) -> Document:
        """A response object that was not streamed."""
        changes: dict[str, Any] = {
            name: value for name, value in self._echo.items() if bytes(response.members.get(name, b"")) != bytes(value)
        }
        headers = response.document("headers") if "model" in self._echo else None
        if headers is not None:  # Codex warns of a model that is not the one it asked for
            changes["headers"] = headers.but(**{name: ABSENT for name in headers.members if name.lower() == "openai-model"})
        output = response.objects("output")
        raised = [self._raised(item) for item in output]
        if any(after is not before for after, before in zip(raised, output, strict=True)):
            changes["output"] = raised
        return response.but(**changes) if changes else response

    def _response(self, event: Event) -> Event:
        response = event.document("response")
        restored = None if response is None else self.response(response)
        return event if restored is response else event.but(response=restored)

    def _added(self, event: Event) -> list[Event]:
        """The beginning of a call. Where nothing of it is shown before its end, neither is this: as yet it has nothing that its kind must have."""
        item = event.document("item")
        if item is None or item.text("type") != "function_call":
            return [event]
        name = item.text("name") or ""
        entry = self._registry.entry(name)
        if name != self._registry.dispatcher and (entry is None or entry.is_plain):
            return [event]
        streams = Streams.NOTHING if entry is None or name == self._registry.dispatcher else entry.lowering.streams
        self._open[_place(event)] = (streams, InputUnwrapper())
        return [] if streams is Streams.NOTHING else [event.but(item=self._registry.raised_call(item))]

    def _done(self, event: Event) -> list[Event]:
        item = event.document("item")
        if item is None or item.text("type") != "function_call":
            return [event]
        raised = self._registry.raised_call(item)
        done = event if raised is item else event.but(item=raised)
        streams, _ = self._open.get(_place(event), (None, None))
        return [*self._beginning(done, raised), done] if streams is Streams.NOTHING else [done]

    @staticmethod
    def _beginning(done: Event, item: Document) -> list[Event]:
        """What the beginning of a call would have been that was not shown: a dispatched one's, before it was known whose it is, too."""
        changes: dict[str, Any] = {"status": "in_progress"} if "status" in item else {}
        begun = item.but(**changes, **{name: "" for name in ("arguments", "input") if item.text(name) is not None})
        places = {"item_id": item.members.get("id"), "output_index": done.members.get("output_index")}
        events = [done.but(type=stream_rules.ITEM_ADDED, item=begun)]
        if (text := item.text("arguments")) is not None:
            events += [
                Event.made(stream_rules.ARGUMENTS_DELTA, {**places, "delta": text}),
                Event.made(stream_rules.ARGUMENTS_DONE, {**places, "name": item.text("name"), "arguments": text}),
            ]
        elif (text := item.text("input")) is not None:
            events += [
                Event.made(stream_rules.INPUT_DELTA, {**places, "delta": text}),
                Event.made(stream_rules.INPUT_DONE, {**places, "input": text}),
            ]
        return events

    def _named(self, event: Event) -> Event:
        """Newer servers repeat the call's name when its arguments are whole."""
        entry = self._registry.entry(event.text("name") or "")
        return event if entry is None else event.but(name=entry.declared.name)

    def _input(self, event: Event, unwrapper: InputUnwrapper) -> list[Event]:
        """A piece of a freeform tool's text, or all of it."""
        places = {name: event.members[name] for name in ("sequence_number", "item_id", "output_index") if name in event}
        if (id := event.text("item_id")) is not None:
            places["item_id"] = Raw(json.encode(lowering.custom_id(id)))
        if event.type == stream_rules.ARGUMENTS_DONE:
            text = lowering.custom_input(event.text("arguments") or "")
            return [Event.made(stream_rules.INPUT_DONE, {**places, "input": text})]
        if event.text("delta") is None:
            return []
        piece = unwrapper.feed(bytes(event.members["delta"]))
        return [] if piece is None else [Event.made(stream_rules.INPUT_DELTA, {**places, "delta": Raw(piece)})]

    def _raised(self, item: Document) -> Document:
        return self._registry.raised_call(item) if item.text("type") == "function_call" else item


def _place(event: Event) -> bytes:
    """Which item an event speaks of."""
    return bytes(event.members.get("output_index", b""))
