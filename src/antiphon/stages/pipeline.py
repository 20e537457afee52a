"""Stages in a row. An event meets only the stages that want its type; one that none wants goes through untouched, bytes and all."""

from collections.abc import Iterable, Sequence
from typing import Protocol

from antiphon.protocol.event_views import Event


class Stage(Protocol):
    """One step of the way."""

    types: frozenset[str]
    """The event types it wants to see."""

    def feed(self, event: Event) -> Iterable[Event]:
        """What becomes of one event."""
        ...


class Pipeline:
    """All stages of one stream."""

    def __init__(self, stages: Sequence[Stage]) -> None:
        wanted = frozenset[str]().union(*(stage.types for stage in stages))
        self._by_type = {type: [stage for stage in stages if type in stage.types] for type in wanted}

    def feed(self, events: list[Event]) -> list[Event]:
        """What goes on to the client."""
        if not self._by_type or not any(event.type in self._by_type for event in events):
            return events
        out: list[Event] = []
        for event in events:
            stages = self._by_type.get(event.type)
            if stages is None:
                out.append(event)
            else:
                out += _through(event, stages)
        return out


def _through(event: Event, stages: Sequence[Stage]) -> Iterable[Event]:
    """An event through the rest of its stages; one that changed its type on the way goes on along the same row."""
    if not stages:
        return [event]
    return [last for next in stages[0].feed(event) for last in _through(next, stages[1:])]
