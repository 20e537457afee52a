"""Walks the tables of `stream_rules` along a stream and says where it leaves them.

It judges and changes nothing: what an upstream got wrong is a note, and what to do about it is the edge's decision. It also knows what a
failing edge needs: whether the response has begun and ended.
"""

import msgspec

from antiphon.protocol import json, stream_rules
from antiphon.protocol.event_views import Event
from antiphon.protocol.notes import Kind, Note
from antiphon.protocol.stream_rules import Phase, State


class _ItemHead(msgspec.Struct):
    type: str = ""
    id: str | None = None


class _Places(msgspec.Struct):
    """Where in the response an event belongs."""

    output_index: int | None = None
    item_id: str | None = None
    content_index: int | None = None
    summary_index: int | None = None
    item: _ItemHead | None = None
    part: _ItemHead | None = None


_PLACES = json.reader(_Places)


class _OpenItem:
    __slots__ = ("id", "parts", "type")

    def __init__(self, head: _ItemHead) -> None:
        self.type = head.type
        self.id = head.id
        self.parts: dict[tuple[str, int], State] = {}


class StreamValidator:
    """Feed events in order; each answer is what that event broke."""

    def __init__(self) -> None:
        self.phase = Phase.START
        self._open: dict[int, _OpenItem] = {}
        self._next_index = 0

    def feed(self, event: Event) -> list[Note]:
        """The rules that this event breaks; none for a good one."""
        following = stream_rules.RESPONSE[self.phase]
        if event.type in following:
            self.phase = following[event.type]
            return self._check_item(event) if event.type in (stream_rules.ITEM_ADDED, stream_rules.ITEM_DONE) else self._check_end(event)
        if event.type in stream_rules.OUTSIDE or self.phase is not Phase.OPEN:
            return [_broken(event, f"may not come when the response is at its {self.phase}")]
        return self._check_inside(event) if event.type in stream_rules.INSIDE else []

    def _check_item(self, event: Event) -> list[Note]:
        places = _read(event)
        if places is None or places.item is None or places.output_index is None:
            return [_broken(event, "has no item or no output_index")]
        if event.type == stream_rules.ITEM_ADDED:
            return self._add(event, places.output_index, places.item)
        return self._finish(event, places.output_index, places.item)

    def _add(self, event: Event, index: int, head: _ItemHead) -> list[Note]:
        broken = [] if index == self._next_index else [_broken(event, f"output_index {index} where {self._next_index} was next")]
        if self._open:
            broken.append(_broken(event, "begins before the item before it is done"))
        self._open[index] = _OpenItem(head)
        self._next_index = max(index + 1, self._next_index)
        return broken

    def _finish(self, event: Event, index: int, head: _ItemHead) -> list[Note]:
        item = self._open.pop(index, None)
        if item is None:
            return [_broken(event, f"ends item {index}, which was not open")]
        if head.type != item.type or head.id != item.id:
            return [_broken(event, "ends as another item than it began")]
        settled = stream_rules.SETTLED.get(item.type)
        if settled and any(state not in settled for state in item.parts.values()):
            return [_broken(event, "ends with a part still open")]
        return []

    def _check_end(self, event: Event) -> list[Note]:
        if event.type == stream_rules.COMPLETED and self._open:
            return [_broken(event, "completes a response with an item still open")]
        return []

    def _check_inside(self, event: Event) -> list[Note]:
        places = _read(event)
        item = self._open.get(places.output_index) if places is not None and places.output_index is not None else None
        if places is None or item is None:
            return [_broken(event, "belongs to no open item")]
        if places.item_id is not None and places.item_id != item.id:
            return [_broken(event, "names another item than the one at its output_index")]
        if item.type not in stream_rules.ITEMS:
            return []
        part = stream_rules.PART_OF.get((item.type, event.type)) or (places.part.type if places.part else "")
        step = stream_rules.STEPS.get((item.type, event.type, part))
        if step is None:
            return [_broken(event, f"may not come inside a {item.type}")]
        return _walk(event, item, step, (part, places.content_index or places.summary_index or 0))


def _walk(event: Event, item: _OpenItem, step: stream_rules.Step, key: tuple[str, int]) -> list[Note]:
    before = item.parts.get(key, State.ABSENT)
    item.parts[key] = step.after or before
    if before in step.before:
        return []
    return [_broken(event, f"finds its {key[0]} {before}")]


def _read(event: Event) -> _Places | None:
    try:
        return json.view(event.raw, _PLACES)
    except ValueError:
        return None


def _broken(event: Event, why: str) -> Note:
    return Note(Kind.BROKEN, event.type, why)
