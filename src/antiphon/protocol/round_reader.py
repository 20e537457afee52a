"""Reads one round's events into its response: what a client that does not stream is given, and what a loop decides on.

A stream that ends without a terminal event has no response here: the edge makes a failure of it. Not here: grammar (`stream_validator`).
"""

from antiphon.protocol import stream_rules
from antiphon.protocol.document import Document
from antiphon.protocol.event_views import Event


class RoundReader:
    """Feed events; `response` is the terminal one's, once it came, with the items that were done where it lists none."""

    def __init__(self) -> None:
        self.begun: Document | None = None
        self.ended: Event | None = None
        self.output: list[Document] = []

    def feed(self, event: Event) -> None:
        """Takes in one event."""
        if event.type in stream_rules.TERMINAL:
            self.ended = event
        elif event.type == stream_rules.ITEM_DONE and (item := event.document("item")) is not None:
            self.output.append(item)
        elif event.type in stream_rules.WITH_RESPONSE:
            self.begun = event.document("response")

    @property
    def response(self) -> Document | None:
        """The whole response, or None where the stream did not end well-formed."""
        ended = self.ended.document("response") if self.ended is not None else None
        if ended is None or not self.output or ended.elements("output"):
            return ended
        return ended.but(output=self.output)
