"""A gateway that keeps state, on each kind of database, before a model that answers with what it was last asked."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.wires.client import Reply, fetch, get
from tests.wires.gateway import gateway
from tests.wires.upstream import Call, Upstream, chunks, completion, data, named, response, responses_events, streaming, whole


async def eventually(holds: Callable[[], Awaitable[bool]], *, within: float = 20) -> None:
    """Waits until it holds."""
    async with asyncio.timeout(within):
        while True:
            if await holds():
                return
            await asyncio.sleep(0.02)


def said(call: Call) -> list[str]:
    """All texts that a model was given, in order."""
    body = json.loads(call.body)
    given = body.get("messages") or body["input"]
    return [given] if isinstance(given, str) else [text for item in given for text in _texts(item)]


def _texts(item: dict[str, Any]) -> list[str]:
    content = item.get("content", item.get("output", item.get("arguments", "")))
    return [content] if isinstance(content, str) else [part.get("text", "") for part in content or []]


async def echo(call: Call) -> None:
    """Answers `re: ` and what it was asked last, in the API and the form that it was asked in."""
    text, streams = f"re: {said(call)[-1]}", json.loads(call.body).get("stream")
    if "chat" in call.path:
        await (streaming(data(*chunks(text), b"[DONE]")) if streams else whole(completion(text)))(call)
    else:
        await (streaming(named(*responses_events(text))) if streams else whole(response(text)))(call)


@dataclass
class World:
    """A gateway with state and the upstream behind it."""

    url: str
    upstream: Upstream
    headers: dict[str, str] = field(default_factory=dict[str, str])

    async def create(self, input: Any = "hi", **more: Any) -> Any:
        """A response, in one piece."""
        reply = await self.post("/v1/responses", {"model": "m", "input": input, **more})
        assert reply.status == 200, reply.body
        return reply.json

    async def stream(self, input: Any = "hi", **more: Any) -> Reply:
        return await self.post("/v1/responses", {"model": "m", "input": input, "stream": True, **more})

    async def post(self, path: str, body: Any = b"") -> Reply:
        return await fetch(self.url, body, path=path, headers=self.headers)

    async def get(self, path: str) -> Reply:
        return await get(self.url, path, headers=self.headers)

    async def delete(self, path: str) -> Reply:
        return await fetch(self.url, path=path, method="DELETE", headers=self.headers)

    async def ended(self, id: str) -> Any:
        """A background response, once it has ended."""

        async def has_ended() -> bool:
            return (await self.get(f"/v1/responses/{id}")).json["status"] not in ("queued", "in_progress")

        await eventually(has_ended)
        return (await self.get(f"/v1/responses/{id}")).json

    def seen(self) -> list[str]:
        """What the model was given last."""
        return said(self.upstream.posts[-1])


@pytest.fixture
async def world(store_url: str, tmp_path: Path) -> AsyncIterator[World]:
    """Before a chat model."""
    around = {"ANTIPHON_HOME": str(tmp_path)}
    async with Upstream(echo) as upstream, gateway(upstream.url, api="chat", store=store_url, environ=around) as url:
        yield World(url, upstream)


@pytest.fixture(params=["chat", "responses", "openai"])
async def each(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[World]:
    """Before each kind of model server; state in a file."""
    api = "chat" if request.param == "chat" else "responses"
    around, file = {"ANTIPHON_HOME": str(tmp_path)}, str(tmp_path / "state.db")
    async with Upstream(echo) as upstream, gateway(upstream.url, api=api, dialect=request.param, store=file, environ=around) as url:
        yield World(url, upstream)
