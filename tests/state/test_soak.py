"""64 clients at once on one gateway and one store: create, continue, show, delete, add to shared conversations. No error, no lost update, no stall."""

import asyncio
import random
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from antiphon.store.state import State, store
from tests.state.conftest import said
from tests.state.process import running
from tests.store.entries import entry
from tests.wires.client import fetch, get
from tests.wires.upstream import Call, Upstream, completion, whole

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
CLIENTS = 64
SHARED = 4
STALL_MS = 20.0
SAVE_US = {"sqlite": 1.5 * 285, "postgres": 1.5 * 151}
PROBE = """
import http.client, sys, time
host, port = sys.argv[1].removeprefix("http://").split(":")
connection = http.client.HTTPConnection(host, int(port))
until, took = time.monotonic() + float(sys.argv[2]), []
while time.monotonic() < until:
    began = time.perf_counter()
    connection.request("GET", "/health")
    connection.getresponse().read()
    took.append(1e3 * (time.perf_counter() - began))
    time.sleep(0.005)
took.sort()
print(took[int(len(took) * 0.5)], took[int(len(took) * 0.99)])
"""
"""Asks for /health all the time from a process of its own: what an answer takes is how long the gateway's loop was busy elsewhere."""


async def count(call: Call) -> None:
    """Answers with how many texts it was given."""
    await whole(completion(str(len(said(call)))))(call)


class Soak:
    """What the clients did and found."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.done = 0
        self.added: dict[str, int] = {}

    async def post(self, path: str, body: Any) -> Any:
        reply = await fetch(self.url, body, path=path)
        assert reply.status == 200, reply.body
        self.done += 1
        return reply.json

    async def client(self, until: float) -> None:
        """A chain of its own, in which it looks, branches and deletes; and now and then a word in a shared conversation."""
        chain: list[tuple[str, Any]] = []
        while time.monotonic() < until:
            more = {"previous_response_id": chain[-1][0]} if chain else {}
            made = await self.post("/v1/responses", {"model": "m", "input": f"{len(chain)}", **more})
            assert made["output"][0]["content"][0]["text"] == str(2 * len(chain) + 1), "it saw all before it, and no more"
            chain.append((made["id"], made))
            await self._something_else(chain)
            if len(chain) > 12:
                chain = []

    async def _something_else(self, chain: list[tuple[str, Any]]) -> None:
        kind = random.random()
        id, made = random.choice(chain)
        if kind < 0.4:
            shown = await get(self.url, f"/v1/responses/{id}")
            assert shown.json == made
        elif kind < 0.6:
            branch = await self.post("/v1/responses", {"model": "m", "input": "aside", "previous_response_id": id})
            assert (await fetch(self.url, path=f"/v1/responses/{branch['id']}", method="DELETE")).status == 200
            assert (await get(self.url, f"/v1/responses/{branch['id']}")).status == 404
        elif kind < 0.8:
            conversation = random.choice(sorted(self.added))
            await self.post(f"/v1/conversations/{conversation}/items", {"items": [{"role": "user", "content": "x"}]})
            self.added[conversation] += 1
        self.done += 1

    async def no_update_is_lost(self) -> None:
        for conversation, added in self.added.items():
            found, after = 0, ""
            while True:
                page = (await get(self.url, f"/v1/conversations/{conversation}/items?limit=100&order=asc{after}")).json
                found += len(page["data"])
                if not page["has_more"]:
                    break
                after = f"&after={page['last_id']}"
            assert found == added


async def soaked(seconds: float, store_url: str, folder: Path) -> tuple[int, float, float]:
    """How much was done; the median and the 99th percentile of the loop's stall, in milliseconds."""
    async with Upstream(count) as upstream, running(folder, upstream.url, store_url) as gateway:
        soak = Soak(gateway.url)
        for _ in range(SHARED):
            soak.added[(await soak.post("/v1/conversations", {}))["id"]] = 0
        probe = await asyncio.create_subprocess_exec(sys.executable, "-c", PROBE, gateway.url, str(seconds), stdout=asyncio.subprocess.PIPE)
        until = time.monotonic() + seconds
        async with asyncio.TaskGroup() as group:
            for _ in range(CLIENTS):
                group.create_task(soak.client(until))
        told, _ = await probe.communicate()
        await soak.no_update_is_lost()
    assert (folder / "gateway.log").read_text() == ""
    median, worst = map(float, told.split())
    return soak.done, median, worst


async def save_us(opened: State, entries: int = 1500) -> float:
    """Microseconds of wall time for each save, with 64 of them always under way."""
    left = iter([entry("x" * 900) for _ in range(entries)])

    async def saving() -> None:
        for one in left:
            await opened.save(one)

    began = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for _ in range(CLIENTS):
            group.create_task(saving())
    return 1e6 * (time.perf_counter() - began) / entries


async def saves(store_url: str, folder: Path) -> float:
    opened = store(store_url, folder)
    assert opened is not None
    await opened.open()
    await save_us(opened, 200)
    took = [await save_us(opened) for _ in range(3)]
    await opened.close()
    return statistics.median(took)


@pytest.mark.requirement("state.soak")
async def test_for_a_few_seconds(store_url: str, tmp_path: Path) -> None:
    done, _, _ = await soaked(4, store_url, tmp_path)
    assert done > CLIENTS


@pytest.mark.full
@pytest.mark.requirement("state.soak")
async def test_for_a_minute(store_url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    done, median, worst = await soaked(60, store_url, tmp_path)
    cost = await saves(store_url, tmp_path)
    kind = "postgres" if store_url.startswith("postgresql") else "sqlite"
    with capsys.disabled():
        print(f"\n{kind}: {done} requests in 60 s; loop stall {median:.1f} ms, p99 {worst:.1f} ms; {cost:.0f} us a save")  # noqa: T201
    assert worst <= STALL_MS
    assert cost <= SAVE_US[kind]
