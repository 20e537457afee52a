"""One gateway for each API and module; each test gives its upstream what to answer."""

from collections.abc import AsyncIterator
from typing import NamedTuple

import pytest

from tests.wires.client import Reply, fetch
from tests.wires.gateway import gateway
from tests.wires.upstream import Script, Upstream

KEEPALIVE = 5.0


class Wired(NamedTuple):
    """A gateway and the upstream behind it."""

    api: str
    upstream: Upstream
    url: str

    async def ask(self, script: Script, *, stream: bool = True, **more: object) -> Reply:
        """A small request, answered by the upstream as the script says."""
        self.upstream.answers(script)
        return await fetch(self.url, {"model": "m", "input": "hi", "stream": stream, **more})


async def wired(api: str, dialect: str) -> AsyncIterator[Wired]:
    async with (
        Upstream() as upstream,
        gateway(upstream.url, api=api, dialect=dialect, max_body_mb=1, idle_seconds=20, first_byte_seconds=20) as url,
    ):
        yield Wired(api, upstream, url)


@pytest.fixture(scope="module")
async def chat() -> AsyncIterator[Wired]:
    async for one in wired("chat", "chat"):
        yield one


@pytest.fixture(scope="module")
async def responses() -> AsyncIterator[Wired]:
    async for one in wired("responses", "responses"):
        yield one


@pytest.fixture(scope="module")
async def openai() -> AsyncIterator[Wired]:
    async for one in wired("responses", "openai"):
        yield one


@pytest.fixture(params=["chat", "responses", "openai"])
def each(request: pytest.FixtureRequest, chat: Wired, responses: Wired, openai: Wired) -> Wired:
    return {"chat": chat, "responses": responses, "openai": openai}[request.param]
