"""Notices where a model server does not keep to the client's `tool_choice`: some ignore a named one, some all of it.

Stands before calls get their own names back (`restore`). It changes nothing: a call that was made is the client's to refuse.
"""

from collections.abc import Iterable

from antiphon.protocol import stream_rules
from antiphon.protocol.document import Document
from antiphon.protocol.event_views import Event
from antiphon.protocol.notes import Kind, Note
from antiphon.tools import choice
from antiphon.tools.choice import Choice


class ChoiceKept:
    """`notes` is where it tells."""

    types = frozenset({stream_rules.ITEM_DONE, stream_rules.COMPLETED})

    def __init__(self, wanted: Choice, notes: list[Note]) -> None:
        self._wanted = wanted
        self._notes = notes
        self._called: set[str] = set()

    def feed(self, event: Event) -> Iterable[Event]:
        """The event, as it is."""
        if event.type == stream_rules.COMPLETED:
            self._judge()
        elif (item := event.document("item")) is not None:
            self._see(item)
        return [event]

    def response(self, response: Document) -> Document:
        """A response object that was not streamed."""
        for item in response.objects("output"):
            self._see(item)
        if response.text("status") == "completed":
            self._judge()
        return response

    def _see(self, item: Document) -> None:
        if item.text("type") == "function_call":
            self._called.add(item.text("name") or "")

    def _judge(self) -> None:
        wanted, called = self._wanted, self._called
        if wanted.mode == choice.REQUIRED and not called.intersection(wanted.names or called):
            self._note("the model server called none of the tools that it had to")
        elif called and (wanted.mode == choice.NONE or (wanted.names and not called.issubset(wanted.names))):
            self._note("the model server called a tool that it was not to")

    def _note(self, why: str) -> None:
        self._notes.append(Note(Kind.CHANGED, "tool_choice", why))
