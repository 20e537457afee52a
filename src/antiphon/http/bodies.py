"""Request bodies: read within a limit, decompressed within the same limit.

Codex sends zstd; others send gzip. A body over the limit is read on and thrown away for a while, so that a client which is still sending can
read why it was refused.
"""

import asyncio
import sys
import zlib
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from typing import Any, Protocol

from starlette.types import Message, Receive

from antiphon.protocol.errors import InvalidRequest, TooLarge

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

DRAIN_SECONDS = 10.0
"""How long a client that sends too much is listened to."""


class ClientGone(Exception):
    """The client hung up before it had sent its body."""


class _Decompressor(Protocol):
    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...
    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...


_DECOMPRESSORS: dict[str, Callable[[], Any]] = {
    "zstd": zstd.ZstdDecompressor,
    "gzip": lambda: zlib.decompressobj(wbits=31),
    "deflate": zlib.decompressobj,
}


async def read(receive: Receive, headers: Mapping[str, str], *, limit: int) -> bytes:
    """The body as the client meant it."""
    body = await _received(receive, headers, limit)
    encoding = headers.get("content-encoding", "").strip().lower()
    if encoding in ("", "identity"):
        return body
    if encoding not in _DECOMPRESSORS:
        raise InvalidRequest(
            f"Content-Encoding '{encoding}' is not known here: send {', '.join(_DECOMPRESSORS)} or none.", code="invalid_encoding"
        )
    return _decompressed(body, encoding, limit)


async def _received(receive: Receive, headers: Mapping[str, str], limit: int) -> bytes:
    pieces: list[bytes] = []
    size = 0
    declared = headers.get("content-length", "")
    too_large = declared.isdigit() and int(declared) > limit
    with suppress(TimeoutError):
        async with asyncio.timeout(DRAIN_SECONDS if too_large else None) as patience:
            async for piece in _pieces(receive):
                size += len(piece)
                if size > limit and not too_large:
                    too_large = True
                    patience.reschedule(asyncio.get_running_loop().time() + DRAIN_SECONDS)
                if too_large:
                    pieces.clear()
                else:
                    pieces.append(piece)
    if too_large:
        raise TooLarge(f"The body is larger than {limit} bytes ('max_body_mb').")
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


async def _pieces(receive: Receive) -> AsyncIterator[bytes]:
    more = True
    while more:
        message: Message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        yield message.get("body", b"")
        more = message.get("more_body", False)


def _decompressed(body: bytes, encoding: str, limit: int) -> bytes:
    machine: _Decompressor = _DECOMPRESSORS[encoding]()
    try:
        plain = machine.decompress(body, limit + 1)
    except (zlib.error, zstd.ZstdError) as bad:
        raise InvalidRequest(f"The body is not valid {encoding}: {bad}.", code="invalid_encoding") from None
    if len(plain) > limit:
        raise TooLarge(f"The body is larger than {limit} bytes when decompressed ('max_body_mb').")
    if not machine.eof:
        raise InvalidRequest(f"The {encoding} body is cut off.", code="invalid_encoding")
    if machine.unused_data:  # more of it may follow, and would be lost
        raise InvalidRequest(f"The body goes on behind the end of its {encoding} data.", code="invalid_encoding")
    return plain
