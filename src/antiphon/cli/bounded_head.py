"""uvicorn's HTTP protocol with an end to the heads it takes: httptools itself would gather a request's line and headers for ever.

Codex's headers hold up to 16 KB. Not here: bodies (`http.bodies`).
"""

from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

LIMIT = 256 * 1024
DRAIN_SECONDS = 1.0
"""How long a client that is still sending is listened to, so that it can read why it was refused."""
_REFUSAL = (
    b'{"error":{"message":"The headers are larger than %d bytes.","type":"invalid_request_error","param":null,"code":"headers_too_large"}}'
)


class BoundedHead(HttpToolsProtocol):
    """One connection; a head over the limit is answered with 431 and ends it."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._head: int | None = 0
        """How much of a head has come; None outside of one."""
        self._refused = False

    def on_message_begin(self) -> None:
        """A head begins."""
        self._head = 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """It ends."""
        self._head = None
        super().on_headers_complete()

    def data_received(self, data: bytes) -> None:
        """What the network has brought. Only what is all inside a head counts, which is all of a long one but its first piece."""
        if self._refused:
            return
        inside = self._head is not None
        super().data_received(data)
        if inside and self._head is not None:
            self._head += len(data)
            if self._head > LIMIT:
                self._refuse()

    def _refuse(self) -> None:
        body = _REFUSAL % LIMIT
        head = b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: %d\r\n\r\n"
        self._refused = True
        self.transport.write(head % len(body) + body)
        self.loop.call_later(DRAIN_SECONDS, self.transport.close)
