"""Keeps back a call whose arguments a limit cut: a client that is told it is done would run it.

Whether such arguments are cut, or only what the model wrote, shows in what comes next: an end that is cut, or anything else.
"""

from collections.abc import Iterable

from antiphon.protocol import json, stream_rules
from antiphon.protocol.document import Document
from antiphon.protocol.event_views import Event


class CutCalls:
    """Stands before the stage that restores calls: every call is a function's."""

    types = frozenset({stream_rules.ITEM_ADDED, stream_rules.ITEM_DONE, *stream_rules.TERMINAL})

    def __init__(self) -> None:
        self._held: list[Event] = []

    def feed(self, event: Event) -> Iterable[Event]:
        """One event, behind those that waited for it."""
        item = event.document("item") if event.type == stream_rules.ITEM_DONE else None
        if item is not None and _is_cut(item):
            return [*self._released(), *self._hold(event)]
        response = event.document("response") if event.type == stream_rules.INCOMPLETE else None
        if response is None:
            return [*self._released(), event]
        self._held = []
        without = self.response(response)
        return [event if without is response else event.but(response=without)]

    def response(self, response: Document) -> Document:
        """A response without the call that was cut."""
        if response.text("status") != "incomplete":
            return response
        items = response.objects("output")
        kept = [item for item in items if not _is_cut(item)]
        return response if len(kept) == len(items) else response.but(output=kept)

    def _hold(self, event: Event) -> list[Event]:
        self._held = [event]
        return []

    def _released(self) -> list[Event]:
        held, self._held = self._held, []
        return held


def _is_cut(item: Document) -> bool:
    """Whether a call's arguments are no JSON object."""
    if item.text("type") != "function_call":
        return False
    try:
        json.fields((item.text("arguments") or "").encode())
    except ValueError:
        return True
    return False
