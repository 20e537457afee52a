"""What an upstream's refusal, or its breaking off, becomes for the client."""

import asyncio
import json
from typing import Any

import pytest

from tests.http.conftest import Wired
from tests.wires.client import PATIENCE, Reply, connect, fetch, get, parsed, request
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
    silent,
    streaming,
    whole,
)

pytestmark = pytest.mark.anyio


def error(message: str, **more: Any) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": None, **more}}


LLAMA = {"code": 400, "message": "the request exceeds the available context size", "type": "exceed_context_size_error", "n_ctx": 4096}
ROWS: dict[str, tuple[int, Any, int, str | None]] = {
    "context, OpenAI": (
        400,
        error("Your input exceeds the context window", code="context_length_exceeded"),
        400,
        "context_length_exceeded",
    ),
    "context, vLLM": (400, {"message": "This model's maximum context length is 4096 tokens.", "code": 400}, 400, "context_length_exceeded"),
    "context, llama.cpp": (400, {"error": LLAMA}, 400, "context_length_exceeded"),
    "context, as 413": (413, error("Prompt is too long"), 400, "context_length_exceeded"),
    "context, as 500": (500, error("the prompt exceeds the available context size"), 400, "context_length_exceeded"),
    "unknown model, OpenAI": (404, error("The model `x` does not exist", code="model_not_found"), 400, "model_not_found"),
    "unknown model, Ollama": (404, {"error": 'model "x" not found, try pulling it first'}, 400, "model_not_found"),
    "permanent 403": (403, error("not allowed", code="nope"), 400, "nope"),
    "permanent 404": (404, {"detail": "Not Found"}, 400, None),
    "permanent 405": (405, b"Method Not Allowed", 400, None),
    "permanent 422": (422, {"detail": [{"loc": ["body", "x"], "msg": "field required"}]}, 400, None),
    "bad request": (400, error("bad thing", code="bad", param="input[0]"), 400, "bad"),
    "bad key": (401, error("Incorrect API key provided", code="invalid_api_key"), 401, "invalid_api_key"),
    "no money": (402, error("pay first"), 429, "insufficient_quota"),
    "quota": (429, error("You exceeded your current quota", code="insufficient_quota"), 429, "insufficient_quota"),
    "rate limit": (429, error("Slow down", code="rate_limit_exceeded"), 429, "rate_limit_exceeded"),
    "rate limit as 400": (400, error("Rate limit reached: too many requests"), 429, "rate_limit_exceeded"),
    "server": (500, error("boom", type="server_error"), 500, None),
    "HTML": (502, b"<html><head><style>x{}</style></head><body><h1>502 Bad Gateway</h1></body></html>", 502, None),
    "overloaded": (503, error("busy", code="server_is_overloaded"), 503, "server_is_overloaded"),
    "529": (529, error("overloaded"), 529, None),
    "nothing said": (500, b"", 500, None),
    "a list": (400, [{"error": {"code": 400, "message": "Google-shaped", "status": "INVALID_ARGUMENT"}}], 400, None),
    "broken JSON": (500, b'{"error": {"mess', 500, None),
    "invalid UTF-8": (500, b"\xff\xfe\x00", 500, None),
    "redirect": (302, b"", 502, "upstream_redirected"),
    "odd status": (418, error("teapot"), 418, None),
    "no status of HTTP": (600, error("beyond"), 502, None),
}


@pytest.mark.requirement("failures.context", "failures.unknown-model", "failures.permanent", "failures.upstream-own")
@pytest.mark.parametrize("stream", [True, False], ids=["stream", "json"])
@pytest.mark.parametrize("row", ROWS)
async def test_a_refusal(each: Wired, row: str, stream: bool) -> None:
    status, body, shown, code = ROWS[row]
    reply = await each.ask(whole(body, status, location="http://127.0.0.1:1/elsewhere"), stream=stream)
    assert (reply.status, reply.headers["content-type"]) == (shown, "application/json")
    assert set(reply.error) >= {"message", "type", "param", "code"}
    assert reply.error["message"]
    if code is not None:
        assert reply.error["code"] == code
    assert reply.error.get("upstream_status") == (status if status != shown else None)
    assert "retry-after" not in reply.headers
    assert len(each.upstream.posts) == 1


@pytest.mark.requirement("failures.upstream-own")
async def test_the_upstreams_own_words_are_kept(each: Wired) -> None:
    reply = await each.ask(whole(error("very special", code="own_code", param="input[3]", type="own_type"), 400))
    assert reply.error == {"message": "very special", "code": "own_code", "param": "input[3]", "type": "own_type"}
    html = await each.ask(whole(ROWS["HTML"][1], 502))
    assert html.error["message"] == "502 Bad Gateway"


@pytest.mark.requirement("failures.upstream-own")
@pytest.mark.parametrize("stream", [True, False], ids=["stream", "json"])
async def test_a_web_page_is_no_answer(each: Wired, stream: bool) -> None:
    reply = await each.ask(answering(head(type="text/html; charset=utf-8"), b"<html><body>Welcome</body></html>"), stream=stream)
    assert (reply.status, "web page" in reply.error["message"]) == (502, True)


@pytest.mark.requirement("failures.unknown-model", "failures.in-stream")
async def test_an_error_with_a_good_status_gets_its_own(each: Wired) -> None:
    reply = await each.ask(whole(error("The model `x` does not exist")), stream=False)
    assert (reply.status, reply.error["code"]) == (400, "model_not_found")
    assert (await each.ask(whole({"error": {"message": "no", "type": "authentication_error"}}), stream=False)).status == 401


@pytest.mark.requirement("stream.other-shape")
@pytest.mark.parametrize("stream", [True, False], ids=["stream", "json"])
@pytest.mark.parametrize("type", ["application/json", "text/plain", "text/event-stream"])
async def test_an_answer_of_another_shape_is_read_for_what_it_is(each: Wired, type: str, stream: bool) -> None:
    streamed = data(*chunks(), b"[DONE]") if each.api == "chat" else named(*responses_events())
    body = json.dumps(completion() if each.api == "chat" else response()).encode() if stream else streamed
    reply = await each.ask(answering(head(type=type), body), stream=stream)
    told = reply.events[-1]["response"] if stream else reply.json
    assert (reply.status, told["status"], told["output"][0]["content"][0]["text"]) == (200, "completed", "hello")


@pytest.mark.requirement("failures.rate-limit")
@pytest.mark.parametrize("after", ["0", "17", "3600", "Wed, 21 Oct 2026 07:28:00 GMT"])
async def test_retry_after_is_kept(each: Wired, after: str) -> None:
    for status in (429, 503):
        reply = await each.ask(whole(error("slow down"), status, retry_after=after))
        assert (reply.status, reply.headers["retry-after"]) == (status, after)


@pytest.mark.requirement("failures.rate-limit")
@pytest.mark.parametrize(
    ("after", "told"), [("1.5", "2"), ("0.02", "1"), ("3.0", "3"), ("soon", "soon"), ("-1", "-1"), ("1.5e300", "1.5e300")]
)
async def test_a_fraction_of_seconds_is_told_as_whole_ones(each: Wired, after: str, told: str) -> None:
    assert (await each.ask(whole(error("slow down"), 429, retry_after=after))).headers["retry-after"] == told


@pytest.mark.requirement("failures.rate-limit")
async def test_retry_after_is_invented_only_where_asked_for(each: Wired) -> None:
    assert "retry-after" not in (await each.ask(whole(error("slow down"), 429))).headers
    async with gateway(each.upstream.url, api=each.api, retry_after_default=7) as url:
        each.upstream.answers(whole(error("slow down"), 429))
        assert (await fetch(url, {"model": "m", "input": "hi"})).headers["retry-after"] == "7"
        each.upstream.answers(whole(error("slow down"), 429, retry_after="3"))
        assert (await fetch(url, {"model": "m", "input": "hi"})).headers["retry-after"] == "3"
        each.upstream.answers(whole(error("broken"), 500))
        assert "retry-after" not in (await fetch(url, {"model": "m", "input": "hi"})).headers


@pytest.mark.requirement("failures.upstream-own")
async def test_header_values_that_are_no_ascii_break_nothing(each: Wired) -> None:
    async def odd(call: Call) -> None:
        await call.send(b"HTTP/1.1 429 X\r\nretry-after: \xff\xe2\x82\xac\r\nx-request-id: \xe2\x82\xac\r\ncontent-length: 0\r\n\r\n")

    for stream in (True, False):
        assert (await each.ask(odd, stream=stream)).status == 429


@pytest.mark.requirement("failures.unreachable")
async def test_an_upstream_that_refuses_connections_is_named(each: Wired) -> None:
    async with gateway("http://127.0.0.1:9/v1", api=each.api) as url:
        for stream in (True, False):
            reply = await fetch(url, {"model": "m", "input": "hi", "stream": stream})
            assert (reply.status, reply.error["code"]) == (502, "upstream_unreachable")
            assert "127.0.0.1:9" in reply.error["message"]


@pytest.mark.requirement("failures.unreachable")
async def test_an_upstream_that_comes_up_later_is_used() -> None:
    async with Upstream() as upstream:
        url = upstream.url
    async with gateway(url, api="chat") as served:
        assert (await fetch(served, {"model": "m", "input": "hi"})).status == 502
        port = int(url.split(":")[2].partition("/")[0])
        later = Upstream(whole(completion()))
        server = await asyncio.start_server(later._accept, "127.0.0.1", port)
        async with server:
            assert (await fetch(served, {"model": "m", "input": "hi"})).status == 200


async def close_at_once(call: Call) -> None:
    """Not a word."""


async def reset_at_once(call: Call) -> None:
    call.reset()


SILENCES: dict[str, tuple[Script, int]] = {
    "closes": (close_at_once, 502),
    "resets": (reset_at_once, 502),
    "says what is not HTTP": (answering(b"220 mail.example ESMTP\r\n\r\n"), 502),
    "half a head": (answering(b"HTTP/1.1 200 OK\r\ncontent-ty"), 502),
    "endless head": (answering(b"HTTP/1.1 200 OK\r\n" + b"x-a: " + b"y" * 200_000 + b"\r\n\r\n"), 502),
}


@pytest.mark.requirement("failures.unreachable")
@pytest.mark.parametrize("stream", [True, False], ids=["stream", "json"])
@pytest.mark.parametrize(("script", "status"), SILENCES.values(), ids=SILENCES)
async def test_an_upstream_that_does_not_answer(each: Wired, script: Script, status: int, stream: bool) -> None:
    reply = await each.ask(script, stream=stream)
    assert reply.status == status
    assert each.upstream.url.split("/")[2] in reply.error["message"]


@pytest.mark.requirement("failures.unreachable")
async def test_an_upstream_that_never_answers_is_504(each: Wired) -> None:
    async with gateway(each.upstream.url, api=each.api, first_byte_seconds=0.2, keepalive_seconds=60) as url:
        each.upstream.answers(silent)
        for stream in (True, False):
            reply = await fetch(url, {"model": "m", "input": "hi", "stream": stream})
            assert (reply.status, reply.error["code"]) == (504, "upstream_timeout")


def begun(api: str) -> bytes:
    return data(*chunks("half", None)) if api == "chat" else named(*responses_events("half")[:6])


def stalls(stream: bytes) -> Script:
    async def script(call: Call) -> None:
        await call.send(head(), stream)
        await call.gone()

    return script


CHUNKED = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
BREAKS: dict[str, tuple[bytes, bytes | None]] = {
    "ends": (head(), b""),
    "resets": (head(), None),
    "shorter than said": (head(content_length="1000000"), b""),
    "bad chunk": (CHUNKED, b"zzz\r\n"),
    "no last chunk": (CHUNKED, b""),
    "broken JSON": (head(), b'data: {"type": "response.out\n\n'),
    "binary": (head(), b"data: \xff\xfe\x00garbage\n\n"),
    "half an event": (head(), b'data: {"type":"response.comp'),
}
"""How the answer begins, and what follows its first events; None: RST."""


def failed(reply: Reply) -> dict[str, Any]:
    """The error a stream ended with; it must be well-formed and say nothing of success."""
    events = reply.events
    assert reply.status == 200
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    assert "response.completed" not in reply.types
    assert reply.types.count("response.failed") == 1
    assert reply.types[-1] == "response.failed"
    assert events[-1]["response"]["status"] == "failed"
    return events[-1]["response"]["error"]


@pytest.mark.requirement("stream.truncation-is-failure", "failures.in-stream")
@pytest.mark.parametrize(("start", "end"), BREAKS.values(), ids=BREAKS)
async def test_a_stream_that_breaks_off_is_a_failure(each: Wired, start: bytes, end: bytes | None) -> None:
    seen = asyncio.Event()
    events = begun(each.api)

    async def script(call: Call) -> None:
        await call.send(start, b"%x\r\n%b\r\n" % (len(events), events) if start == CHUNKED else events)
        await seen.wait()
        if end is None:
            call.reset()
        else:
            await call.send(end)

    each.upstream.answers(script)
    async with connect(each.url) as client:
        await client.send(request(each.url, {"model": "m", "input": "hi", "stream": True}))
        first = await client.until(b'"delta":')
        seen.set()
        async with asyncio.timeout(PATIENCE):
            reply = parsed(first + await client.reader.read(-1))
    assert failed(reply)["code"] == "server_error"


@pytest.mark.requirement("stream.truncation-is-failure")
@pytest.mark.parametrize("body", [b"", b"<html><body>Welcome!</body></html>", b"\x00" * 1000, b"data: \n\n", b": only a comment\n\n"])
@pytest.mark.parametrize("kind", ["text/html", "text/event-stream", "application/octet-stream"])
async def test_a_200_that_is_no_stream_is_never_a_completion(each: Wired, kind: str, body: bytes) -> None:
    reply = await each.ask(answering(head(type=kind), body))
    if reply.status == 200:
        failed(reply)
    else:
        assert reply.status == 502


@pytest.mark.requirement("stream.truncation-is-failure")
@pytest.mark.parametrize(
    "body", [b"", b"null", b"[]", b"{}", b'{"ok":true}', b"<html>", b'{"choices":[]}', b'{"output":{}}', b"\xff", b'{"choices":[{"mess']
)
async def test_a_json_answer_that_is_none_is_502(each: Wired, body: bytes) -> None:
    for kind in ("application/json", "text/html"):
        reply = await each.ask(answering(head(type=kind), body), stream=False)
        if each.api != "chat" and body == b'{"output":{}}':
            continue
        assert (reply.status, reply.error["type"]) == (502, "server_error"), reply


@pytest.mark.requirement("failures.in-stream")
async def test_an_upstream_that_stalls_is_a_timeout(each: Wired) -> None:
    async with gateway(each.upstream.url, api=each.api, idle_seconds=0.2) as url:
        each.upstream.answers(stalls(begun(each.api)))
        reply = await fetch(url, {"model": "m", "input": "hi", "stream": True})
    assert failed(reply)["code"] == "upstream_timeout"


IN_STREAM: dict[str, tuple[dict[str, Any], str]] = {
    "context": ({"message": "maximum context length is 8 tokens", "code": 400}, "context_length_exceeded"),
    "context by code": ({"message": "too much", "code": "context_length_exceeded"}, "context_length_exceeded"),
    "rate limit": ({"message": "slow down", "code": "rate_limit_exceeded"}, "rate_limit_exceeded"),
    "rate limit by status": ({"message": "slow down", "code": 429}, "rate_limit_exceeded"),
    "bad request": ({"message": "bad", "code": 400}, "invalid_prompt"),
    "server": ({"message": "boom", "code": 500}, "server_error"),
    "bare": ({"message": "boom"}, "server_error"),
    "own code": ({"message": "no", "code": "cyber_policy"}, "cyber_policy"),
}


@pytest.mark.requirement("failures.in-stream")
@pytest.mark.parametrize("when", ["first", "later"])
@pytest.mark.parametrize(("told", "code"), IN_STREAM.values(), ids=IN_STREAM)
async def test_an_error_in_the_stream(each: Wired, told: dict[str, Any], code: str, when: str) -> None:
    event = data({"error": told}) if each.api == "chat" else named({"type": "error", "error": told, "sequence_number": 6})
    reply = await each.ask(streaming(begun(each.api) if when == "later" else b"", event, b"data: [DONE]\n\n"))
    assert reply.events[-1]["response"]["error"] == {"code": code, "message": told["message"]}
    assert reply.types.count("response.failed") == 1
    assert "response.completed" not in reply.types


@pytest.mark.requirement("failures.in-stream")
async def test_openais_flat_error_event(openai: Wired) -> None:
    flat = {"type": "error", "code": "server_is_overloaded", "message": "busy", "param": None, "sequence_number": 6}
    reply = await openai.ask(streaming(begun("responses"), named(flat)))
    assert reply.types[-2:] == ["error", "response.failed"]
    assert reply.events[-1]["response"]["error"]["code"] == "server_is_overloaded"


@pytest.mark.requirement("stream.truncation-is-failure")
async def test_nothing_follows_the_terminal_event(each: Wired) -> None:
    if each.api == "chat":
        stream = data(*chunks("once"), b"[DONE]", *chunks("twice"), b"[DONE]")
    else:
        stream = named(*responses_events("once")) + named(*responses_events("twice"))
    reply = await each.ask(streaming(stream))
    assert reply.types.count("response.completed") == 1
    assert reply.types[-1] == "response.completed"
    assert b"twice" not in reply.body


@pytest.mark.requirement("http.responses", "stream.order")
async def test_a_json_answer_to_a_stream_request_is_streamed(each: Wired) -> None:
    body = completion("from json") if each.api == "chat" else response("from json")
    reply = await each.ask(whole(body))
    events = reply.events
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    assert (reply.types[0], reply.types[-1]) == ("response.created", "response.completed")
    assert events[-1]["response"]["output"][0]["content"][0]["text"] == "from json"
    assert [event["item"] for event in events if event["type"] == "response.output_item.done"] == events[-1]["response"]["output"]


@pytest.mark.requirement("http.responses")
async def test_a_json_failure_inside_a_200(each: Wired) -> None:
    for stream in (True, False):
        reply = await each.ask(whole({"error": {"message": "maximum context length is 8 tokens", "code": 400}}), stream=stream)
        told = failed(reply) if reply.status == 200 else reply.error
        assert told["code"] == "context_length_exceeded"


@pytest.mark.requirement("failures.upstream-own")
async def test_rows_of_the_configuration_come_first(tmp_path_factory: pytest.TempPathFactory) -> None:
    file = tmp_path_factory.mktemp("rows") / "antiphon.toml"
    async with Upstream(whole(error("the hamster is tired"), 500)) as upstream:
        file.write_text(
            f'[upstreams.one]\nurl = "{upstream.url}"\napi = "chat"\n'
            '[[failures]]\nname = "hamster"\nstatuses = "400-599"\nwording = "HAMSTER"\nstatus = 429\ncode = "rate_limit_exceeded"\n'
        )
        async with gateway(file=file) as url:
            reply = await fetch(url, {"model": "m", "input": "hi", "stream": True})
            assert (reply.status, reply.error["code"], reply.error["upstream_status"]) == (429, "rate_limit_exceeded", 500)
            upstream.answers(streaming(data(*chunks("x", None), error("the hamster is tired"))))
            reply = await fetch(url, {"model": "m", "input": "hi", "stream": True})
            assert failed(reply)["code"] == "rate_limit_exceeded"


@pytest.mark.requirement("http.health")
async def test_the_process_lives_after_all_that(each: Wired) -> None:
    reply = await each.ask(whole(completion() if each.api == "chat" else response()), stream=False)
    assert json.loads(reply.body)["status"] == "completed"
    assert (await get(each.url, "/ready")).status == 200
