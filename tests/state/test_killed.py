"""kill -9 at any moment of a concurrent load: what was acknowledged is there in its own bytes, nothing is torn, and the store is sound."""

import asyncio
import contextlib
import json
import random
import re
import sqlite3
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest

from tests.databases.postgres import Cluster
from tests.state.conftest import World, eventually, said
from tests.state.process import running
from tests.wires.client import Connection, connect, events, fetch, get, request, unchunked
from tests.wires.upstream import Call, Upstream, chunks, completion, data, head, whole

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
CLIENTS = 6
LONGEST = 0.5
PACE = 0.004
HOLDS = 20.0
"""Seconds in which another process must have taken over what was left behind, on a busy machine."""


async def paced(call: Call) -> None:
    """Answers what it was asked last, in a stream that takes a while."""
    text = f"re: {said(call)[-1]}"
    if not json.loads(call.body).get("stream"):
        await whole(completion(text))(call)
        return
    await call.send(head())
    for chunk in chunks(text):
        await call.send(data(chunk))
        await asyncio.sleep(PACE)
    await call.send(data(b"[DONE]"))


class Load:
    """What clients do, and what was acknowledged to them: ids and the very bytes."""

    def __init__(self, upstream: Upstream) -> None:
        self.upstream = upstream
        self.acknowledged: dict[str, bytes] = {}
        self.deleted: set[str] = set()
        self.streams: dict[str, bytes] = {}
        """Of background responses: what their clients had seen when the process died."""
        self._asked = 0

    async def until_killed(self, url: str) -> None:
        """All clients at once, until nobody answers any more."""
        clients = [self._client(url, number) for number in range(CLIENTS)]
        await asyncio.gather(*(_until_gone(client) for client in clients))

    async def _client(self, url: str, number: int) -> None:
        last: str | None = None
        while True:
            self._asked += 1
            body = {"model": "m", "input": f"question {self._asked} of {number}"}
            more = {"previous_response_id": last} if last is not None and random.random() < 0.7 else {}
            kind = random.choice((self._whole, self._stream, self._background, self._delete))
            last = await kind(url, {**body, **more}, last)

    async def _whole(self, url: str, body: dict[str, Any], last: str | None) -> str | None:
        reply = await fetch(url, body)
        assert reply.status == 200, reply.body
        self.acknowledged[reply.json["id"]] = reply.body
        return reply.json["id"]

    async def _stream(self, url: str, body: dict[str, Any], last: str | None) -> str | None:
        reply = await fetch(url, {**body, "stream": True})
        if reply.status != 200 or not reply.events or reply.types[-1] != "response.completed":
            raise ConnectionError("cut off")
        found = reply.body.rpartition(b'"response":')[2].rpartition(b',"sequence_number"')[0]
        self.acknowledged[reply.events[-1]["response"]["id"]] = found
        return reply.events[-1]["response"]["id"]

    async def _background(self, url: str, body: dict[str, Any], last: str | None) -> str | None:
        async with connect(url) as connection:
            await connection.send(request(url, {**body, "stream": True, "background": True}))
            seen = await _read(connection)
        found = events(seen)
        if found:
            self.streams[found[0]["response"]["id"]] = seen
        if not found or found[-1]["type"] != "response.completed":
            raise ConnectionError("cut off")
        return found[0]["response"]["id"]

    async def _delete(self, url: str, body: dict[str, Any], last: str | None) -> str | None:
        if last is not None and last in self.acknowledged:
            reply = await fetch(url, path=f"/v1/responses/{last}", method="DELETE")
            assert reply.status == 200, reply.body
            self.deleted.add(last)
        return None


async def _until_gone(client: Coroutine[Any, Any, None]) -> None:
    with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, IndexError, ValueError):
        await client


async def _read(connection: Connection) -> bytes:
    """The body of an answer as far as it came before the connection broke."""
    pieces: list[bytes] = []
    with contextlib.suppress(ConnectionError):
        while piece := await connection.reader.read(65536):
            pieces.append(piece)
    body = b"".join(pieces).partition(b"\r\n\r\n")[2]
    whole_chunks = re.match(rb"(?:[0-9a-f]+\r\n(?s:.)*?\r\n)*", body)
    return unchunked(body[: whole_chunks.end()] if whole_chunks else b"")


async def verify(url: str, load: Load) -> None:
    """All that was acknowledged is there, and what was deleted is not."""
    for id, sent in load.acknowledged.items():
        shown = await get(url, f"/v1/responses/{id}")
        if id in load.deleted:
            assert shown.status == 404, id
        elif shown.status == 404:  # its deletion may have been done and not acknowledged
            assert id not in load.streams
        else:
            assert shown.body == sent, id


async def verify_streams(url: str, load: Load) -> None:
    """Every background response has ended, with the events that were seen of it unchanged."""
    world = World(url, load.upstream)
    for id, seen in load.streams.items():

        async def has_ended(id: str = id) -> bool:
            return (await get(url, f"/v1/responses/{id}")).json["status"] not in ("queued", "in_progress")

        await eventually(has_ended, within=HOLDS)
        ended = (await world.get(f"/v1/responses/{id}")).json
        streamed = await world.get(f"/v1/responses/{id}?stream=true")
        assert streamed.body.startswith(seen), id
        assert [event["sequence_number"] for event in streamed.events] == list(range(len(streamed.events)))
        assert streamed.events[-1]["response"] == ended
        if ended["status"] == "failed":
            assert ended["error"]["message"] == "interrupted by a restart"
            assert len(streamed.events) > 3, "one of which nothing was kept runs again"
        else:
            assert ended["status"] == "completed"


def sound(store: str, cluster: Cluster | None) -> None:
    """The database's own checks, and that every turn has what it must have."""
    broken = "SELECT count(*) FROM turns t WHERE t.form IS NOT NULL AND (SELECT count(*) FROM items i WHERE i.turn = t.turn AND i.number < t.inputs) <> t.inputs"
    gaps = "SELECT count(*) FROM turns t JOIN lanes l ON l.lane = t.lane WHERE t.position > 0 AND l.parent_lane IS NULL AND NOT EXISTS (SELECT 1 FROM turns p WHERE p.lane = t.lane AND p.position = t.position - 1)"
    if cluster is None:
        with sqlite3.connect(store) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
            assert [connection.execute(query).fetchall() for query in (broken, gaps)] == [[(0,)], [(0,)]]
        connection.close()
    else:
        schema = store.partition("search_path=")[2]
        assert [cluster.sql(f"SET search_path = {schema}; {query}") for query in (broken, gaps)] == ["0", "0"]


async def killed_often(times: int, store: str, folder: Path, cluster: Cluster | None) -> int:
    """How many responses were acknowledged, all of them found again."""
    async with Upstream(paced) as upstream:
        load = Load(upstream)
        for _ in range(times):
            async with running(folder, upstream.url, store) as gateway:
                loading = asyncio.create_task(load.until_killed(gateway.url))
                await asyncio.sleep(random.uniform(0.02, LONGEST))
                await gateway.kill()
                await loading
            sound(store, cluster)
        async with running(folder, upstream.url, store) as gateway:
            await verify(gateway.url, load)
            await verify_streams(gateway.url, load)
    assert "Traceback" not in (folder / "gateway.log").read_text()
    return len(load.acknowledged)


@pytest.mark.requirement("state.killed")
async def test_killed_ten_times(store_url: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    cluster = request.getfixturevalue("postgres") if store_url.startswith("postgresql") else None
    assert await killed_often(10, store_url, tmp_path, cluster) > 10


@pytest.mark.full
@pytest.mark.requirement("state.killed")
async def test_killed_two_hundred_times(store_url: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    cluster = request.getfixturevalue("postgres") if store_url.startswith("postgresql") else None
    assert await killed_often(200, store_url, tmp_path, cluster) > 200
