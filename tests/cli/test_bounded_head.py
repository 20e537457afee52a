"""A head without end is answered and ended; Codex's own, and bodies, may be as long as they are."""

import asyncio
import json

import pytest

from antiphon.cli.bounded_head import LIMIT
from tests.wires.client import Connection, connect, fetch, parsed, request
from tests.wires.gateway import gateway
from tests.wires.upstream import Upstream, chat

pytestmark = pytest.mark.anyio

PIECE = 64 * 1024
HEADS = {
    "a header without end": (b"POST /v1/responses HTTP/1.1\r\nhost: 127.0.0.1\r\nx: ", b"y" * PIECE),
    "headers without end": (b"POST /v1/responses HTTP/1.1\r\nhost: 127.0.0.1\r\n", b"x: %b\r\n" % (b"y" * PIECE)),
    "a path without end": (b"GET /", b"y" * PIECE),
}


@pytest.mark.requirement("http.head-limit")
@pytest.mark.parametrize(("start", "piece"), HEADS.values(), ids=HEADS)
async def test_a_head_without_end_is_refused(start: bytes, piece: bytes) -> None:
    async with gateway("http://127.0.0.1:9/v1", api="chat") as url, connect(url) as connection:
        sending = asyncio.create_task(send_for_ever(connection, start, piece))
        reply = parsed(await connection.until(b"}}"))
        assert (reply.status, reply.error["code"]) == (431, "headers_too_large")
        with pytest.raises(ConnectionError):
            await sending


async def send_for_ever(connection: Connection, start: bytes, piece: bytes) -> None:
    await connection.send(start)
    while True:
        await connection.send(piece)


@pytest.mark.requirement("http.head-limit")
async def test_the_heads_of_clients_are_taken_and_bodies_are_none() -> None:
    metadata = {"x-codex-turn-metadata": "y" * 60_000}
    large = json.dumps({"model": "m", "input": "x" * 2 * LIMIT, "stream": True}).encode()
    async with Upstream(chat()) as upstream, gateway(upstream.url, api="chat") as url:
        assert (await fetch(url, large, headers=metadata)).status == 200
        async with connect(url) as connection:
            for _ in range(3):
                await connection.send(request(url, large, headers={**metadata, "connection": "keep-alive"}))
                await connection.until(b"response.completed")
                await connection.until(b"0\r\n\r\n")
