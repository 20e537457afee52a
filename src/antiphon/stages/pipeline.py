"""Stages in a row. An event meets only the stages that want its type; one that none wants goes through untouched, bytes and all."""

from collections.abc import Iterable, Sequence, Set
from typing import Protocol

from antiphon.protocol.event_views import Event, Run, Spoken, Streamed


class Stage(Protocol):
    """One step of the way."""

    @property
    def types(self) -> Set[str]:
        """The event types it wants to see from here on."""
        ...

    def feed(self, event: Event) -> Iterable[Event]:
        """What becomes of one event."""
        ...


class Pipeline:
    """All stages of one stream."""

    def __init__(self, stages: Sequence[Stage]) -> None:
        self._stages = stages

    def feed(self, events: Sequence[Streamed]) -> Sequence[Streamed]:
        """What goes on to the client."""
        if not self._stages:
            return events
        out: list[Streamed] = []
        for event in events:
            if not any(event.type in stage.types for stage in self._stages):
                out.append(event)
            elif isinstance(event, Event):
                out += _through(event, self._stages)
            else:
                out += self._open(event)
        return out

    def _open(self, run: Run | Spoken) -> Iterable[Streamed]:
        """A run event by event, for as long as a stage wants its kind."""
        rest: Run | Spoken | None = run
        while rest is not None:
            first, rest = rest.split()
            yield from _through(first, self._stages)
            if rest is not None and not any(rest.type in stage.types for stage in self._stages):
                yield rest
                return


def _through(event: Event, stages: Sequence[Stage]) -> Iterable[Event]:
    """An event through the rest of its stages; one that changed its type on the way meets those that want the new one."""
    if not stages:
        return [event]
    made = stages[0].feed(event) if event.type in stages[0].types else [event]
    return [last for next in made for last in _through(next, stages[1:])]
