"""Many more streams than a server answers at once: none fails, none starves, memory stays bounded."""

import asyncio
import json
from pathlib import Path

import pytest

from tests.cli.test_serve import Serving, serving
from tests.wires.client import connect, parsed, request
from tests.wires.upstream import Call, Upstream, chunks, data, head

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("network.crowd")]

POLITE = 10
"""Threads that ask for little, beside one that asks for all the rest."""
KILOBYTES = 200
"""The most memory for a stream that waits or runs."""


class Busy:
    """A server that answers so many at once; who comes in spite of that is counted."""

    def __init__(self) -> None:
        self.running = self.most = 0

    async def __call__(self, call: Call) -> None:
        self.running += 1
        self.most = max(self.most, self.running)
        await call.send(head())
        for chunk in chunks("hello"):
            await call.send(data(chunk))
            await asyncio.sleep(0)
        self.running -= 1
        await call.send(b"data: [DONE]\n\n")


def peak(running: Serving) -> int:
    """The most memory that the gateway ever had, in kB."""
    lines = Path(f"/proc/{running.process.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="a process's peak of memory is read from Linux's /proc")
@pytest.mark.parametrize(
    ("streams", "at_once"), [pytest.param(200, 5, id="200 of 5"), pytest.param(1000, 20, marks=pytest.mark.full, id="1000 of 20")]
)
async def test_a_crowd_is_answered_by_turns(tmp_path: Path, streams: int, at_once: int) -> None:
    server, finished = Busy(), list[str]()
    names = ["greedy"] * (streams - 3 * POLITE) + [f"polite {n}" for n in range(POLITE)] * 3

    async def ask(url: str, thread: str) -> None:
        async with connect(url) as client:
            await client.send(request(url, {"model": "m", "input": "x" * 1000, "stream": True}, headers={"thread-id": thread}))
            async with asyncio.timeout(300):
                reply = parsed(await client.reader.read(-1))
        assert (reply.status, reply.types[-1]) == (200, "response.completed"), reply
        finished.append(thread)

    file = tmp_path / "own.toml"
    async with Upstream(server) as upstream:
        file.write_text(f'[upstreams.one]\nurl = "{upstream.url}"\napi = "chat"\nmax_concurrent = {at_once}\n')
        async with serving(tmp_path, "--port", "0", "--store", "none", "--config", str(file)) as running:
            await running.listen()
            await ask(running.url, "first")
            before = peak(running)
            async with asyncio.TaskGroup() as group:
                for name in names:
                    group.create_task(ask(running.url, name))
                    await asyncio.sleep(0)  # they arrive in this order
            grown = peak(running) - before
    assert json.loads(upstream.posts[0].body)["model"] == "m"
    assert (len(finished), server.most) == (streams + 1, at_once)
    assert grown < KILOBYTES * streams
    # Each round of turns serves every polite thread once; those that had begun, or came before they did, are ahead.
    last_polite = max(place for place, name in enumerate(finished) if name.startswith("polite"))
    assert last_polite < streams / 2, finished
