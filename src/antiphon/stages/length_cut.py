"""Says rightly that a token limit cut the answer, where a server does not; or calls it completed, for clients that prefer so.

Codex ends a turn on `response.incomplete`. A server that calls every answer completed is known by its dialect; the cut shows in its usage.
"""

from collections.abc import Iterable

from antiphon.protocol import stream_rules
from antiphon.protocol.document import Document
from antiphon.protocol.event_views import Event

REASON = "max_output_tokens"


class LengthCut:
    """`hidden_limit`: the limit whose being reached the upstream does not tell. `shown`: how the client wants it told."""

    types = frozenset({stream_rules.COMPLETED, stream_rules.INCOMPLETE})

    def __init__(self, *, hidden_limit: int | None, shown: str) -> None:
        self._hidden_limit = hidden_limit
        self._shown = shown

    def feed(self, event: Event) -> Iterable[Event]:
        """A terminal event with the right end."""
        response = event.document("response")
        told = None if response is None else self.response(response)
        if response is None or told is None or told is response:
            return [event]
        type = stream_rules.COMPLETED if told.text("status") == "completed" else stream_rules.INCOMPLETE
        return [event.but(type=type, response=told)]

    def response(self, response: Document) -> Document:
        """A response with the right status."""
        status = response.text("status")
        cut = status == "incomplete" and self._reason(response) == REASON
        if status == "completed" and self._hidden_limit is not None:
            usage = response.document("usage")
            cut = usage is not None and (usage.get("output_tokens") or 0) >= self._hidden_limit
        if not cut or self._shown == status:
            return response
        details = None if self._shown == "completed" else {"reason": REASON}
        return response.but(status=self._shown, incomplete_details=details)

    @staticmethod
    def _reason(response: Document) -> str | None:
        details = response.document("incomplete_details")
        return None if details is None else details.text("reason")
