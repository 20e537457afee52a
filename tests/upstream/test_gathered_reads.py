"""Bodies that come in many HTTP chunks, read from real sockets: every byte arrives, and what has arrived comes in few pieces."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from antiphon.upstream.access import Access
from antiphon.upstream.client import Client
from antiphon.upstream.gathered_reads import GatheredReads
from tests.wires.upstream import Call, Upstream, answering

pytestmark = pytest.mark.requirement("sse.split-anywhere")

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
SIZES = st.lists(st.integers(1, 3000), min_size=1, max_size=60)


def chunked(pieces: list[bytes]) -> bytes:
    return HEAD + b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


async def read(*writes: bytes) -> list[bytes]:
    async with Upstream(answering(*writes)) as upstream:
        client = Client(Access(upstream.url))
        try:
            async with client.post("/responses", b"{}", {}) as answer:
                assert isinstance(answer._response.content, GatheredReads)
                return [piece async for piece in _pieces(answer.some)]
        finally:
            await client.close()


async def _pieces(some: Callable[[], Awaitable[bytes]]) -> AsyncIterator[bytes]:
    while piece := await some():
        yield piece


def test_a_burst_of_chunks_is_one_piece_or_few() -> None:
    pieces = [b"%04d" % number * 10 for number in range(500)]
    came = asyncio.run(read(chunked(pieces)))
    assert b"".join(came) == b"".join(pieces)
    assert len(came) < 20


@given(SIZES, st.integers(1, 4000))
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_every_byte_arrives_however_it_was_cut(sizes: list[int], cut: int) -> None:
    pieces = [bytes([number % 251]) * size for number, size in enumerate(sizes)]
    wire = chunked(pieces)
    came = asyncio.run(read(*(wire[at : at + cut] for at in range(0, len(wire), cut))))
    assert b"".join(came) == b"".join(pieces)


def test_a_reader_that_does_not_read_holds_the_server_back() -> None:
    """Joining must not hide from aiohttp how much is waiting."""

    async def held() -> int:
        sent = 0

        async def script(call: Call) -> None:
            nonlocal sent
            await call.send(HEAD)
            piece = b"10000\r\n%b\r\n" % (b"x" * 0x10000)
            for _ in range(1000):
                await call.send(piece)
                sent += 0x10000

        async with Upstream(script) as upstream:
            client = Client(Access(upstream.url))
            try:
                async with client.post("/responses", b"{}", {}) as answer:
                    await answer.some()
                    before = -1
                    while before != sent:  # until the server can send no more
                        before = sent
                        await asyncio.sleep(0.2)
                    return sent
            finally:
                await client.close()

    assert asyncio.run(held()) < 30_000_000
