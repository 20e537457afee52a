"""Chat Completions, Completions and Embeddings: on to the upstream and back, byte for byte."""

import asyncio
import contextlib
import json
from typing import Any

import pytest
from openai import APIConnectionError, APIError, AsyncOpenAI, NotFoundError

from antiphon.http.relay import PATHS
from tests.http.conftest import Wired
from tests.wires.client import PATIENCE, Reply, connect, fetch, parsed, request
from tests.wires.gateway import gateway
from tests.wires.upstream import Call, Script, Upstream, answering, chunks, completion, data, head, silent, streaming, whole

pytestmark = pytest.mark.anyio
ODD = b'{ "messages" : [ {"role":"user","content":"h\\u00ef"} ],\n "model":"m", "n" : 1.0, "stream":true, "unheard_of":{"a":null}, "seed":1e2 }'


async def ask(one: Wired, script: Script, *, path: str = "/v1/chat/completions", **more: Any) -> Reply:
    one.upstream.answers(script)
    return await fetch(one.url, {"model": "m", "messages": [], **more}, path=path)


@pytest.mark.requirement("relay.bytes")
@pytest.mark.parametrize("prefix", ["/v1", ""])
@pytest.mark.parametrize("path", PATHS)
async def test_every_byte_goes_there_and_comes_back(each: Wired, path: str, prefix: str) -> None:
    stream = b': hello\r\n\r\ndata: {"odd" :1}\r\n\r\ndata: [DONE]\n\n'
    each.upstream.answers(answering(head(x_request_id="req_7"), stream))
    reply = await fetch(each.url, ODD, path=prefix + path)
    sent = each.upstream.posts[0]
    assert (sent.path, sent.body) == (f"/v1{path}", ODD)
    assert (reply.status, reply.headers["content-type"], reply.body) == (200, "text/event-stream", stream)
    assert reply.headers["x-request-id"] == "req_7"


@pytest.mark.requirement("relay.bytes")
@pytest.mark.parametrize("path", PATHS)
async def test_an_answer_that_is_no_stream_comes_back_as_it_was(each: Wired, path: str) -> None:
    body = b'{"object" : "list","data":[{"embedding":[1e-3,0.10]}], "model":"another-name"}'
    reply = await ask(each, whole(body, 201), path=f"/v1{path}")
    assert (reply.status, reply.headers["content-type"], reply.body) == (201, "application/json", body)


@pytest.mark.requirement("relay.routing")
async def test_an_alias_changes_the_models_name_and_nothing_else(tmp_path_factory: pytest.TempPathFactory) -> None:
    file = tmp_path_factory.mktemp("relay") / "antiphon.toml"
    async with Upstream(streaming(data(b"[DONE]"))) as one, Upstream(whole(completion())) as two:
        tables = f'[upstreams.one]\nurl = "{one.url}"\napi = "chat"\n[upstreams.two]\nurl = "{two.url}"\napi = "responses"\n'
        file.write_text(tables + '[aliases]\n"gpt-5" = "two/org/big"\n')
        async with gateway(file=file) as url:
            for name in ("gpt-5", "two/org/big"):
                two.answers(two.script)
                reply = await fetch(url, ODD.replace(b'"m"', f'"{name}"'.encode()), path="/v1/chat/completions")
                sent = two.posts[0].body
                assert json.loads(sent) == json.loads(ODD) | {"model": "org/big"}
                assert b'"n":1.0' in sent
                assert b'"seed":1e2' in sent
                assert reply.json == completion()
            assert (await fetch(url, ODD.replace(b'"m"', b'"one/m"'), path="/v1/completions")).body == data(b"[DONE]")
            assert json.loads(one.posts[0].body)["model"] == "m"


@pytest.mark.requirement("relay.bytes", "security.keys")
async def test_only_the_headers_of_the_dialect_travel(openai: Wired, chat: Wired) -> None:
    mine = {"authorization": "Bearer mine", "cookie": "a=b", "openai-organization": "org", "accept": "text/event-stream"}
    for one, organization in ((openai, "org"), (chat, None)):
        one.upstream.answers(whole(completion()))
        await fetch(one.url, ODD, path="/v1/chat/completions", headers=mine)
        got = one.upstream.posts[0].headers
        assert [name for name in ("authorization", "cookie") if name in got] == []
        assert (got.get("openai-organization"), got["accept"]) == (organization, "text/event-stream")


OPENAIS = {
    "error": {"message": "too long", "type": "invalid_request_error", "param": "messages", "code": "context_length_exceeded", "n_ctx": 5}
}
REFUSALS: dict[str, tuple[int, Any, int, str]] = {
    "OpenAI's form, as it came": (400, OPENAIS, 400, "too long"),
    "a status that the Responses route would change": (
        404,
        {"error": {"message": "no model x", "code": "model_not_found"}},
        404,
        "no model x",
    ),
    "422 of pydantic": (
        422,
        {"detail": [{"loc": ["body", "x"], "msg": "field required"}]},
        422,
        '[{"loc":["body","x"],"msg":"field required"}]',
    ),
    "words": (503, b"<html><h1>Busy</h1></html>", 503, "Busy"),
    "nothing": (500, b"", 500, "the model server answered 500 without a word"),
    "a string": (429, {"error": "slow down"}, 429, "slow down"),
    "redirect": (302, b"moved", 502, "moved"),
    "no status of HTTP": (600, b"beyond", 502, "beyond"),
}


@pytest.mark.requirement("relay.failures")
@pytest.mark.parametrize("row", REFUSALS)
async def test_a_refusal_keeps_its_status(each: Wired, row: str) -> None:
    status, body, shown, message = REFUSALS[row]
    reply = await ask(each, whole(body, status, retry_after="7", location="http://127.0.0.1:1/"))
    assert (reply.status, reply.error["message"], reply.headers["retry-after"]) == (shown, message, "7")
    if body is OPENAIS:
        assert reply.json == OPENAIS


@pytest.mark.requirement("relay.failures")
async def test_a_route_that_the_upstream_has_not_is_explained(chat: Wired, responses: Wired) -> None:
    for one, hint in ((chat, ""), (responses, " It speaks the Responses API: use POST /v1/responses.")):
        reply = await ask(one, whole({"detail": "Not Found"}, 404), path="/v1/embeddings")
        place = one.upstream.url.split("/")[2]
        assert reply.status == 404
        assert reply.error["message"] == f"The model server at {place} refused POST /embeddings: Not Found.{hint}"


@pytest.mark.requirement("relay.failures")
@pytest.mark.parametrize(("body", "param"), [({"messages": []}, "model"), ({"model": 7}, "model"), (b"{", None), ([], None)])
async def test_a_request_without_a_model_is_refused(each: Wired, body: Any, param: str | None) -> None:
    reply = await fetch(each.url, body, path="/v1/embeddings")
    assert (reply.status, reply.error["param"]) == (400, param)


@pytest.mark.requirement("relay.failures", "failures.unreachable")
async def test_an_upstream_that_is_not_there_or_never_answers(each: Wired) -> None:
    async with gateway("http://127.0.0.1:9", api=each.api) as url:
        assert (await fetch(url, ODD, path="/v1/chat/completions")).error["code"] == "upstream_unreachable"
    each.upstream.answers(silent)
    async with gateway(each.upstream.url, api=each.api, first_byte_seconds=0.2) as url:
        assert (await fetch(url, ODD, path="/v1/chat/completions")).status == 504


BEGUN = data(*chunks("half", None))
BROKEN = {"between two events": (BEGUN, True), "inside an event": (BEGUN + b'data: {"choi', False)}


@pytest.mark.requirement("relay.honest-end")
@pytest.mark.parametrize(("sent", "told"), BROKEN.values(), ids=BROKEN)
async def test_a_stream_that_breaks_off_is_never_finished(each: Wired, sent: bytes, told: bool) -> None:
    seen = asyncio.Event()

    async def script(call: Call) -> None:
        await call.send(head(transfer_encoding="chunked"), b"%x\r\n%b\r\n" % (len(sent), sent))
        await seen.wait()
        call.reset()

    each.upstream.answers(script)
    async with connect(each.url) as client:
        await client.send(request(each.url, ODD, path="/v1/chat/completions"))
        first = await client.until(sent[-8:])
        seen.set()
        async with asyncio.timeout(PATIENCE):
            raw = first + await client.reader.read(-1)
    reply = parsed(raw)
    assert reply.body.startswith(sent)
    assert raw.endswith(b"0\r\n\r\n") == told
    if told:
        (error,) = (event["error"] for event in reply.events if "error" in event)
        assert error["code"] == "server_error"
    else:
        assert reply.body == sent


@pytest.mark.requirement("relay.honest-end")
async def test_openais_client_is_told_of_a_break(each: Wired) -> None:
    async with AsyncOpenAI(base_url=f"{each.url}/v1", api_key="none", max_retries=0) as client:
        each.upstream.answers(answering(head(content_length="100000"), BEGUN))
        with pytest.raises((APIError, APIConnectionError)):
            async for _ in await client.chat.completions.create(model="m", messages=[], stream=True):
                pass
        each.upstream.answers(whole({"detail": "Not Found"}, 404))
        with pytest.raises(NotFoundError):
            await client.embeddings.create(model="m", input="hi")


@pytest.mark.requirement("http.disconnect", "relay.bytes")
@pytest.mark.parametrize("begun", [b"", head() + BEGUN, head(type="application/json", content_length="1000") + b'{"half":'])
async def test_a_client_that_leaves_ends_the_upstream(each: Wired, begun: bytes) -> None:
    ended = asyncio.Event()

    async def script(call: Call) -> None:
        await call.send(begun)
        await call.gone()
        ended.set()

    each.upstream.answers(script)
    async with connect(each.url) as client:
        await client.send(request(each.url, ODD, path="/v1/chat/completions"))
        async with asyncio.timeout(PATIENCE):
            await each.upstream.arrived.wait()
        if begun.endswith(BEGUN):
            await client.until(BEGUN[-8:])
        client.hang_up()
        async with asyncio.timeout(PATIENCE):
            await ended.wait()


@pytest.mark.requirement("http.backpressure", "relay.bytes")
async def test_a_client_that_does_not_read_holds_the_upstream_back(chat: Wired) -> None:
    sent, piece = 0, data({"choices": [{"index": 0, "delta": {"content": "x" * 65536}}]})
    full = asyncio.Event()

    async def flood(call: Call) -> None:
        nonlocal sent
        await call.send(head())
        with contextlib.suppress(TimeoutError, ConnectionError):
            while sent < 400 << 20:
                call.writer.write(piece)
                sent += len(piece)
                async with asyncio.timeout(0.5):
                    await call.writer.drain()
        full.set()
        await call.gone()

    chat.upstream.answers(flood)
    async with connect(chat.url) as client:
        client.writer.transport.pause_reading()  # pyright: ignore[reportAttributeAccessIssue]
        await client.send(request(chat.url, ODD, path="/v1/chat/completions"))
        async with asyncio.timeout(PATIENCE):
            await full.wait()
        client.hang_up()
    assert sent < 64 << 20  # what the kernel's buffers of four sockets hold, and no more


@pytest.mark.requirement("relay.bytes", "http.limit", "security.origin")
async def test_limits_and_guard_are_the_same(each: Wired) -> None:
    each.upstream.answers(whole(completion()))
    assert (await fetch(each.url, b"x" * (1 << 20 | 1), path="/v1/chat/completions")).status == 413
    assert (await fetch(each.url, ODD, path="/v1/chat/completions", headers={"origin": "https://example.org"})).status == 403
    assert each.upstream.calls == []


@pytest.mark.real
@pytest.mark.requirement("relay.bytes")
async def test_openais_own_client_chats_and_embeds(each: Wired) -> None:
    async with AsyncOpenAI(base_url=each.url, api_key="none", max_retries=0) as client:
        each.upstream.answers(streaming(data(*chunks("a b"), b"[DONE]")))
        said = [chunk.choices[0].delta.content async for chunk in await client.chat.completions.create(model="m", messages=[], stream=True)]
        assert "".join(word or "" for word in said) == "a b"
        each.upstream.answers(whole(completion("whole")))
        assert (await client.chat.completions.create(model="m", messages=[])).choices[0].message.content == "whole"
        vector = {"object": "embedding", "index": 0, "embedding": [0.5, 0.25]}
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        each.upstream.answers(whole({"object": "list", "data": [vector], "model": "m", "usage": usage}))
        made = await client.embeddings.create(model="m", input="hi", encoding_format="float")
        assert made.data[0].embedding == [0.5, 0.25]
