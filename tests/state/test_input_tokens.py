"""Counting a prompt's tokens: by its server where that can, by an estimate that says so elsewhere."""

import json
from pathlib import Path
from typing import Any

import pytest

from antiphon.history.estimate import tokens
from antiphon.local_model import LocalModel
from antiphon.protocol.document import Document
from tests.state.conftest import World, echo
from tests.wires.client import fetch
from tests.wires.gateway import gateway
from tests.wires.upstream import Call, Upstream, whole

pytestmark = pytest.mark.anyio
ASKED: dict[str, Any] = {"model": "m", "instructions": "Be kind.", "input": "How many words?"}


@pytest.mark.requirement("state.input-tokens")
async def test_an_estimate_says_so_and_knows_what_is_continued(world: World) -> None:
    one = await world.create("word " * 400)
    posts = len(world.upstream.posts)
    alone = await world.post("/v1/responses/input_tokens", ASKED)
    assert (alone.status, alone.json["object"]) == (200, "response.input_tokens")
    assert alone.headers["x-antiphon-estimated"] == "input_tokens"
    continued = await world.post("/v1/responses/input_tokens", {**ASKED, "previous_response_id": one["id"]})
    assert continued.json["input_tokens"] > alone.json["input_tokens"] + 800
    assert len(world.upstream.posts) == posts, "no model was asked"
    refused = await world.post("/v1/responses/input_tokens", {**ASKED, "previous_response_id": "resp_none"})
    assert refused.error["code"] == "previous_response_not_found"


async def counting(call: Call) -> None:
    body = json.loads(call.body)
    if call.path == "/tokenize" and "content" in body:
        await whole({"tokens": list(range(len(body["content"].split())))})(call)
    elif call.path == "/apply-template":
        await whole({"prompt": " ".join(message["content"] for message in body["messages"])})(call)
    elif call.path == "/tokenize":
        await whole({"count": len(body["messages"]) * 100})(call)
    elif call.path == "/v1/responses/input_tokens":
        assert not body.keys() & {"store", "stream", "background"}
        await whole({"object": "response.input_tokens", "input_tokens": 1000 + len(body["input"])})(call)
    else:
        await echo(call)


@pytest.mark.requirement("state.input-tokens")
@pytest.mark.parametrize(
    ("dialect", "api", "counted"),
    [("llama.cpp", "chat", 5), ("vllm", "responses", 200), ("vllm", "chat", 200), ("openai", "responses", 1015)],
)
async def test_a_server_that_counts_is_asked(tmp_path: Path, dialect: str, api: str, counted: int) -> None:
    around: dict[str, Any] = {"api": api, "dialect": dialect, "store": "memory", "environ": {"ANTIPHON_HOME": str(tmp_path)}}
    async with Upstream(counting) as upstream, gateway(upstream.url, **around) as url:
        reply = await fetch(url, {**ASKED, "stream": True, "background": True}, path="/v1/responses/input_tokens")
        assert (reply.status, reply.json["input_tokens"]) == (200, counted)
        assert "x-antiphon-estimated" not in reply.headers


@pytest.mark.real
@pytest.mark.requirement("state.input-tokens")
async def test_a_real_llama_cpp_counts_what_it_will_read(embedded_model: LocalModel, tmp_path: Path) -> None:
    async with gateway(embedded_model.url, store="memory", environ={"ANTIPHON_HOME": str(tmp_path)}) as url:
        asked = {"model": "m", "input": "Say one word.", "max_output_tokens": 2}
        counted = await fetch(url, asked, path="/v1/responses/input_tokens")
        answered = await fetch(url, asked)
        assert "x-antiphon-estimated" not in counted.headers
        assert counted.json["input_tokens"] == answered.json["usage"]["input_tokens"]


@pytest.mark.parametrize(
    ("content", "least", "most"),
    [
        ("Say one word.", 5, 12),
        ("语言模型很有用" * 10, 60, 90),
        ([{"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 90_000}}], 700, 900),
    ],
)
def test_the_estimate_is_of_the_right_order(content: Any, least: int, most: int) -> None:
    assert least <= tokens(Document.of({"messages": [{"role": "user", "content": content}]})) <= most
