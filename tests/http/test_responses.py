"""`POST /v1/responses` on both APIs: streamed and whole, for raw clients and for OpenAI's own."""

import asyncio
import gc
import json
import tracemalloc

import pytest
from openai import AsyncOpenAI

from tests.http.conftest import Wired
from tests.wires.client import Reply, fetch
from tests.wires.gateway import gateway
from tests.wires.upstream import (
    Call,
    Script,
    Upstream,
    answering,
    chunks,
    completion,
    data,
    head,
    named,
    response,
    responses_events,
    streaming,
    whole,
)

pytestmark = pytest.mark.anyio
TEXT = "Hello, wörld 🌍"


def stream_of(api: str, text: str = TEXT) -> bytes:
    return data(*chunks(text), b"[DONE]") if api == "chat" else named(*responses_events(text))


def whole_of(api: str, text: str = TEXT) -> dict[str, object]:
    return completion(text) if api == "chat" else response(text)


def output_text(reply: Reply) -> str:
    return reply.events[-1]["response"]["output"][0]["content"][0]["text"]


def assert_stream(reply: Reply, text: str = TEXT) -> None:
    events = reply.events
    assert (reply.status, reply.headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    assert events[0]["type"] == "response.created"
    assert reply.types.count("response.completed") == 1
    assert reply.types[-1] == "response.completed"
    assert "".join(event["delta"] for event in events if event["type"] == "response.output_text.delta") == text
    assert output_text(reply) == text


@pytest.mark.requirement("http.responses")
async def test_a_stream(each: Wired) -> None:
    assert_stream(await each.ask(streaming(stream_of(each.api))))


@pytest.mark.requirement("http.responses", "chat.json")
@pytest.mark.parametrize("asked", [{"stream": False}, {"stream": None}, {}], ids=["false", "null", "absent"])
async def test_one_json_answer(each: Wired, asked: dict[str, bool | None]) -> None:
    each.upstream.answers(whole(whole_of(each.api)))
    reply = await fetch(each.url, {"model": "m", "input": "hi", **asked})
    assert (reply.status, reply.headers["content-type"]) == (200, "application/json")
    assert reply.json["status"] == "completed"
    assert reply.json["output"][0]["content"][0]["text"] == TEXT
    sent = json.loads(each.upstream.posts[0].body)
    assert not sent.get("stream")


FORCED = {"tools": [{"type": "function", "name": "f", "parameters": {"type": "object"}}], "tool_choice": {"type": "function", "name": "f"}}


@pytest.mark.requirement("tools.choice-kept")
async def test_a_named_choice_that_the_server_passes_over_is_told(chat: Wired, responses: Wired, caplog: pytest.LogCaptureFixture) -> None:
    """In the head; a stream's is gone before its answer is known, and the log has it."""
    caplog.set_level("DEBUG", "antiphon")
    for one in (chat, responses):
        caplog.clear()
        reply = await one.ask(whole(whole_of(one.api)), stream=False, **FORCED)
        assert "tool_choice (the model server called none of the tools that it had to)" in reply.headers["x-antiphon-dropped"]
        assert_stream(await one.ask(streaming(stream_of(one.api)), **FORCED))
        assert caplog.text.count("changed 'tool_choice'") == 2


@pytest.mark.requirement("http.responses")
async def test_the_head_comes_with_the_first_event(each: Wired) -> None:
    reply = await each.ask(streaming(stream_of(each.api)))
    assert reply.headers["cache-control"] == "no-store"
    assert reply.headers["x-accel-buffering"] == "no"


def trickling(stream: bytes) -> Script:
    """A byte at a time, each in a packet of its own."""

    async def script(call: Call) -> None:
        await call.send(head())
        for at in range(len(stream)):
            await call.send(stream[at : at + 1])

    return script


@pytest.mark.requirement("http.slow-upstream")
async def test_one_byte_at_a_time_gives_the_same_answer(each: Wired) -> None:
    assert_stream(await each.ask(trickling(stream_of(each.api, "né 🌍"))), "né 🌍")


@pytest.mark.requirement("http.slow-upstream")
@pytest.mark.parametrize("size", [1, 7, 4096])
async def test_http_chunks_of_any_size_give_the_same_answer(each: Wired, size: int) -> None:
    stream = stream_of(each.api)
    pieces = [stream[at : at + size] for at in range(0, len(stream), size)]
    start = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
    assert_stream(await each.ask(answering(start, *(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces), b"0\r\n\r\n")))


@pytest.mark.requirement("sse.bounded")
async def test_20_mb_in_one_line(each: Wired) -> None:
    text = "x" * (20 << 20)
    if each.api == "chat":
        stream = data({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": "stop"}]}, b"[DONE]")
    else:
        events = responses_events("")
        delta = {"type": "response.output_text.delta", "item_id": "msg_1", "output_index": 0, "content_index": 0, "delta": text}
        stream = named(
            *events[:4],
            delta | {"sequence_number": 4, "logprobs": []},
            *(event | {"sequence_number": n} for n, event in enumerate(events[4:], 5)),
        )
    reply = await each.ask(streaming(stream))
    assert [len(event["delta"]) for event in reply.events if event["type"].endswith("output_text.delta")] == [len(text)]
    assert reply.types[-1] == "response.completed"


@pytest.mark.requirement("sse.bounded")
async def test_a_line_that_never_ends_is_a_failure_and_no_flood(each: Wired) -> None:
    async def endless(call: Call) -> None:
        await call.send(head(), b"data: ")
        piece = b"x" * (1 << 20)
        while True:
            await call.send(piece)

    gc.collect()
    tracemalloc.start()
    reply = await each.ask(endless)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    code = reply.error["code"] if reply.status != 200 else reply.events[-1]["response"]["error"]["code"]
    assert code == "server_error"
    assert peak < 200 << 20
    assert_stream(await each.ask(streaming(stream_of(each.api))))


@pytest.mark.requirement("http.responses")
async def test_many_streams_at_once_do_not_mix(each: Wired) -> None:
    async def echo(call: Call) -> None:
        own = json.loads(call.body)["metadata" if each.api != "chat" else "user"]
        await call.send(head(), stream_of(each.api, own if isinstance(own, str) else own["own"]))

    each.upstream.answers(echo)
    names = [f"stream number {number}" for number in range(60)]
    asked = ({"model": "m", "input": "hi", "stream": True, "metadata": {"own": name}, "user": name} for name in names)
    async with gateway(each.upstream.url, api=each.api, dialect="openai") as url:
        replies = await asyncio.gather(*(fetch(url, body) for body in asked))
    assert [output_text(reply) for reply in replies] == names


@pytest.mark.real
@pytest.mark.requirement("http.responses")
async def test_openais_own_client_reads_both_forms(each: Wired) -> None:
    async with AsyncOpenAI(base_url=f"{each.url}/v1", api_key="none", max_retries=0) as client:
        each.upstream.answers(streaming(stream_of(each.api)))
        async with client.responses.stream(model="m", input="hi") as stream:
            types = [event.type async for event in stream]
            assert (await stream.get_final_response()).output_text == TEXT
        each.upstream.answers(whole(whole_of(each.api)))
        answer = await client.responses.create(model="m", input="hi")
        assert answer.output_text == TEXT
    assert types[0] == "response.created"
    assert types[-1] == "response.completed"


@pytest.mark.requirement("responses.no-history-echo")
async def test_old_items_never_come_back(each: Wired) -> None:
    history = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "list"}]},
        {"type": "function_call", "call_id": "call_old", "name": "shell", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "call_old", "output": "old output"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "again"}]},
    ]
    tools = [{"type": "function", "name": "shell", "parameters": {"type": "object"}}]
    for stream, script in ((True, streaming(stream_of(each.api))), (False, whole(whole_of(each.api)))):
        reply = await each.ask(script, stream=stream, input=history, tools=tools)
        assert reply.status == 200
        assert b"call_old" not in reply.body
        assert b"old output" not in reply.body


@pytest.mark.requirement("responses.model-header")
async def test_the_upstreams_model_header_is_not_passed(each: Wired) -> None:
    for stream, body in ((True, stream_of(each.api)), (False, json.dumps(whole_of(each.api)).encode())):
        kind = "text/event-stream" if stream else "application/json"
        reply = await each.ask(answering(head(type=kind, openai_model="another", x_request_id="req_1"), body), stream=stream)
        assert "openai-model" not in reply.headers
        assert reply.headers.get("x-request-id") == "req_1"


@pytest.mark.requirement("responses.model-header", "models.alias")
@pytest.mark.parametrize("api", ["chat", "responses", "openai"])
async def test_an_alias_is_what_the_client_sees(api: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    file = tmp_path_factory.mktemp("alias") / "antiphon.toml"
    async with Upstream() as upstream:
        dialect, kind = ("openai", "responses") if api == "openai" else ("", api)
        file.write_text(f'[upstreams.one]\nurl = "{upstream.url}"\napi = "{kind}"\ndialect = "{dialect}"\n[aliases]\nsmall = "one/real"\n')
        async with gateway(file=file) as url:
            own = {"headers": {"openai-model": "real"}} if kind == "responses" else {}
            events = responses_events(TEXT, model="real", **own)
            upstream.answers(streaming(data(*chunks(TEXT), b"[DONE]") if kind == "chat" else named(*events)))
            reply = await fetch(url, {"model": "small", "input": "hi", "stream": True})
    assert json.loads(upstream.posts[0].body)["model"] == "real"
    shown = [event["response"] for event in reply.events if "response" in event]
    assert {one["model"] for one in shown} == {"small"}
    assert [one["headers"] for one in shown if one.get("headers", {}).get("openai-model", "small") != "small"] == []
