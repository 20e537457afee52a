"""The way out of one model call's events, on the way of a response of several: calls of the gateway's tools are kept back, places and ids are counted
on, the end is held.

Not here: what follows the call (`decision`), running tools (`rounds`).
"""

from collections.abc import Sequence
from typing import Any, Protocol

from antiphon.loop.decision import Call
from antiphon.loop.run import Events, ModelAnswer
from antiphon.protocol import stream_rules
from antiphon.protocol.document import Document
from antiphon.protocol.event_views import Event, Run, Spoken, Streamed
from antiphon.stages import citations
from antiphon.translation.dialect import ResponsesRules

HEADS = frozenset({stream_rules.CREATED, stream_rules.QUEUED, stream_rules.IN_PROGRESS})
"""Events with which a response begins."""


class Passes(Protocol):
    """The response that a round is of."""

    cited: dict[str, str]
    ids: set[str]

    @property
    def is_first(self) -> bool:
        """Whether the response has not begun yet."""
        ...

    @property
    def started(self) -> bool:
        """Whether anything has been sent."""
        ...

    def told(self, answer: ModelAnswer, rules: ResponsesRules) -> None:
        """The head of a model server's answer."""
        ...

    async def pass_on(self, events: Sequence[Streamed]) -> None:
        """A round's events."""
        ...

    def add(self, item: Document) -> None:
        """An item of the model's own that is done."""
        ...

    def place(self) -> int:
        """The next item's place."""
        ...

    def new_id(self, prefix: str) -> str:
        """An id that no item of the response has."""
        ...

    def owner(self, item: Document) -> int | None:
        """The tool whose call this item is; None where it is not the gateway's."""
        ...


class Round:
    """The way out of one model call's events: an `Out` in front of the response's own."""

    def __init__(self, rounds: Passes) -> None:
        self._rounds = rounds
        self._places: dict[Any, int | None] = {}
        self._renamed: dict[str, str] = {}
        self.said: list[Document] = []
        self.calls: list[Call] = []
        self.clients: list[Document] = []
        self.ended: Event | None = None

    @property
    def started(self) -> bool:
        """Whether anything has been sent."""
        return self._rounds.started

    def told(self, answer: ModelAnswer, rules: ResponsesRules) -> None:
        """The head of the model server's answer."""
        self._rounds.told(answer, rules)

    async def write(self, events: Events, *, last: bool = False) -> None:
        """Passes on what the client is to see."""
        await self._rounds.pass_on([shown for event in events for shown in self._shown(event)])

    def _shown(self, event: Streamed) -> Sequence[Streamed]:
        if not isinstance(event, Event):
            return self._row(event)
        if event.type in HEADS:
            return [event] if self._rounds.is_first else []
        if event.type in stream_rules.TERMINAL:
            self.ended = event
            return []
        if event.type == stream_rules.ITEM_ADDED:
            item = event.document("item") or Document(b"{}")
            self._places[event.get("output_index")] = None if self._rounds.owner(item) is not None else self._rounds.place()
            self._name(item.text("id") or "")
        if event.type == stream_rules.ITEM_DONE:
            event = citations.item_done(self._with_name(event), self._rounds.cited)
            self._done(event.document("item") or Document(b"{}"))
        if event.type == stream_rules.PART_DONE and self._rounds.cited:
            return [shown for one in citations.part_done(event, self._rounds.cited) for shown in self._placed(one)]
        return self._placed(event)

    def _row(self, row: Run | Spoken) -> Sequence[Streamed]:
        """Deltas as they came, where they stand where they stood."""
        first, _ = row.split()
        if self._placed(first) == [first]:
            return [row]
        return [shown for event in row.events() for shown in self._placed(event)]

    def _placed(self, event: Event) -> list[Event]:
        """The event in its place; none where its item is kept back."""
        if "output_index" not in event:
            return [event]
        number = event.get("output_index")
        place = self._places.get(number, number)
        if place is None:
            return []
        event = self._with_name(event)
        return [event if place == number else event.but(output_index=place)]

    def _name(self, id: str) -> None:
        """An item's id is its own in the whole response; servers count anew in each round."""
        if id in self._rounds.ids:
            self._renamed[id] = self._rounds.new_id(id.partition("_")[0])
        self._rounds.ids.add(self._renamed.get(id, id))

    def _with_name(self, event: Event) -> Event:
        if not self._renamed:
            return event
        item = event.document("item")
        if item is not None and (name := self._renamed.get(item.text("id") or "")) is not None:
            return event.but(item=item.but(id=name))
        name = self._renamed.get(event.text("item_id") or "")
        return event if name is None else event.but(item_id=name)

    def _done(self, item: Document) -> None:
        self.said.append(item)
        tool = self._rounds.owner(item)
        if tool is not None:
            self.calls.append(Call(tool, item))
            return
        self._rounds.add(item)
        if (item.text("type") or "").endswith("_call"):
            self.clients.append(item)
