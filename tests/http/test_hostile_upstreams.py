"""Upstreams at their worst: the right answer or a clear failure, within bounds, and the process goes on."""

import asyncio
import gzip
import json
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from antiphon.upstream import client
from tests.cli.test_serve import Serving, serving
from tests.http.conftest import Wired
from tests.stages.wire import arrived
from tests.translation.dialogue import complaints
from tests.wires.client import Reply, connect, fetch, get, parsed, request
from tests.wires.gateway import gateway
from tests.wires.upstream import Call, Upstream, answering, chunks, completion, data, head, named, response, responses_events

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("network.hostile")]


def stream(api: str, text: str = "hello") -> bytes:
    return data(*chunks(text), b"[DONE]") if api == "chat" else named(*responses_events(text))


def text_of(reply: Reply) -> str:
    """The text of an answer that was completed."""
    assert (reply.status, reply.types[-1]) == (200, "response.completed"), reply
    return reply.events[-1]["response"]["output"][0]["content"][0]["text"]


async def test_one_byte_at_a_time(each: Wired) -> None:
    async def dribble(call: Call) -> None:
        for byte in head() + stream(each.api, "hey"):
            await call.send(bytes((byte,)))
            await asyncio.sleep(0)

    assert text_of(await each.ask(dribble)) == "hey"


async def test_one_byte_in_each_chunk(each: Wired) -> None:
    async def dribble(call: Call) -> None:
        await call.send(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
        await call.send(*(b"1\r\n%c\r\n" % byte for byte in stream(each.api, "hey")), b"0\r\n\r\n")

    assert text_of(await each.ask(dribble)) == "hey"


def deflated(body: bytes) -> bytes:
    machine = zlib.compressobj(wbits=-15)
    return machine.compress(body) + machine.flush()


PACKED: dict[str, Callable[[bytes], bytes]] = {"gzip": gzip.compress, "deflate": zlib.compress, "Deflate": deflated}


@pytest.mark.parametrize("encoding", PACKED)
@pytest.mark.parametrize("streams", [True, False], ids=["stream", "json"])
async def test_an_answer_that_is_compressed_though_nobody_asked(each: Wired, encoding: str, streams: bool) -> None:
    body = completion("hello") if each.api == "chat" else response("hello")
    plain = stream(each.api) if streams else json.dumps(body).encode()
    packed = PACKED[encoding](plain)
    kind = "text/event-stream" if streams else "application/json"
    reply = await each.ask(answering(head(type=kind, content_encoding=encoding), packed[:7], packed[7:]), stream=streams)
    assert each.upstream.posts[0].headers["accept-encoding"] == "identity"
    shown = text_of(reply) if streams else reply.json["output"][0]["content"][0]["text"]
    assert shown == "hello"


async def test_a_compressed_answer_that_is_none(each: Wired) -> None:
    for body in (b"not gzip at all", gzip.compress(stream(each.api))[:40]):
        failed(await each.ask(answering(head(content_encoding="gzip"), body)))


def failed(reply: Reply) -> dict[str, Any]:
    """The error that an answer ended with, in whichever form."""
    if reply.status != 200:
        assert reply.status == 502
        return reply.error
    assert reply.types[-1] == "response.failed"
    assert "response.completed" not in reply.types
    return reply.events[-1]["response"]["error"]


async def test_a_few_bytes_that_unpack_to_gigabytes(each: Wired, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "WHOLE_LIMIT", 8 << 20)
    bomb = gzip.compress(b" " * (64 << 20))
    assert len(bomb) < 100_000
    reply = await each.ask(answering(head(type="application/json", content_encoding="gzip"), bomb), stream=False)
    assert (reply.status, "larger than" in reply.error["message"]) == (502, True)


STATUSES = {
    "204": b"HTTP/1.1 204 No Content\r\n\r\n",
    "205": b"HTTP/1.1 205 Reset Content\r\ncontent-length: 0\r\n\r\n",
    "200 and nothing": b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
    "304": b"HTTP/1.1 304 Not Modified\r\n\r\n",
    "101": b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n",
    "two lengths": b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\ncontent-length: 4\r\n\r\nabcd",
    "a negative length": b"HTTP/1.1 200 OK\r\ncontent-length: -5\r\n\r\n",
    "a header without a name": b"HTTP/1.1 200 OK\r\n: x\r\ncontent-length: 0\r\n\r\n",
    "HTTP/0.9": b"hello",
    "a million headers": b"HTTP/1.1 200 OK\r\n" + b"x: y\r\n" * 100_000 + b"\r\n",
    "headers for ever, folded": b"HTTP/1.1 200 OK\r\nx: y\r\n" + b" more\r\n" * 50_000 + b"\r\n",
}


@pytest.mark.parametrize("answer", STATUSES.values(), ids=STATUSES)
@pytest.mark.parametrize("streams", [True, False], ids=["stream", "json"])
async def test_an_answer_that_holds_none(each: Wired, answer: bytes, streams: bool) -> None:
    reply = await each.ask(answering(answer), stream=streams)
    assert reply.status == 502, reply
    assert reply.error["message"]


async def test_words_of_the_protocol_before_the_answer(each: Wired) -> None:
    early = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n"
    assert text_of(await each.ask(answering(early, head(), stream(each.api)))) == "hello"


@pytest.mark.parametrize("kind", ["text/plain", "application/json", "application/octet-stream", "x" * 9, ""])
async def test_a_stream_by_any_other_name(each: Wired, kind: str) -> None:
    assert text_of(await each.ask(answering(head(type=kind), stream(each.api)))) == "hello"


async def test_twenty_megabytes_in_a_line(each: Wired) -> None:
    size = 20 << 20
    if each.api == "chat":
        body = data({"choices": [{"index": 0, "delta": {"content": "x" * size}}]}, *chunks("", "stop"), b"[DONE]")
    else:
        events = responses_events("y")
        body = named(*events).replace(b'"text":"y"', b'"text":"' + b"x" * size + b'"')
    reply = await each.ask(answering(head(), *(body[at : at + 65536] for at in range(0, len(body), 65536))))
    last = json.loads(reply.body.rstrip().rpartition(b"\ndata: ")[2])
    assert (last["type"], last["response"]["output"][0]["content"][0]["text"]) == ("response.completed", "x" * size)


TERMINALS = {
    "completed twice": ("response.completed", "response.completed"),
    "failed after completed": ("response.completed", "response.failed"),
    "completed after failed": ("response.failed", "response.completed"),
}


@pytest.mark.parametrize(("first", "second"), TERMINALS.values(), ids=TERMINALS)
async def test_the_first_end_is_the_end(responses: Wired, openai: Wired, first: str, second: str) -> None:
    *events, end = responses_events("hello")
    ends = [end | {"type": kind, "response": end["response"] | {"status": kind[9:]}} for kind in (first, second)]
    for wired in (responses, openai):
        reply = await wired.ask(answering(head(), named(*events, *ends)))
        assert [kind for kind in reply.types if kind in (first, second)] == [first]
        assert reply.types[-1] == first


def message(id: str, index: int, text: str) -> list[dict[str, Any]]:
    """The events of a message at a place, and its end last."""
    changed = json.dumps(responses_events(text)[2:-1]).replace('"output_index": 0', f'"output_index": {index}').replace("msg_1", id)
    return json.loads(changed)


def woven(*ids: str) -> list[dict[str, Any]]:
    """A stream of two messages whose events alternate."""
    begin, going, *_, end = responses_events("x")
    one, two = message(ids[0], 0, "one"), message(ids[1], 1, "two")
    pairs = [event for pair in zip(one, two, strict=True) for event in pair]
    finished = end["response"] | {"output": [one[-1]["item"], two[-1]["item"]]}
    return [event | {"sequence_number": number} for number, event in enumerate([begin, going, *pairs, end | {"response": finished}])]


@pytest.mark.parametrize("ids", [("msg_a", "msg_b"), ("msg_same", "msg_same")], ids=["interleaved", "and of one id"])
async def test_items_that_interleave_or_share_an_id_come_out_whole(responses: Wired, openai: Wired, ids: tuple[str, str]) -> None:
    for wired in (responses, openai):
        reply = await wired.ask(answering(head(), named(*woven(*ids))))
        assert reply.types[-1] == "response.completed"
        shown = [item["content"][0]["text"] for item in reply.events[-1]["response"]["output"]]
        done = [event["item"]["content"][0]["text"] for event in reply.events if event["type"] == "response.output_item.done"]
        assert (shown, done) == (["one", "two"], ["one", "two"])


async def test_calls_that_interleave_with_names_in_pieces_come_out_in_order(chat: Wired) -> None:
    def call(index: int, **function: str) -> dict[str, Any]:
        return {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": index, "id": f"call_{index}", "function": function}]}}]}

    pieces = [
        call(0, name="re"), call(1, name="wri"), call(0, name="ad", arguments="{"), call(1, name="te", arguments='{"b"'),
        call(0, arguments='"a":1}'), call(1, arguments=":2}"),
    ]  # fmt: skip
    tools = [{"type": "function", "name": name, "parameters": {"type": "object"}} for name in ("read", "write")]
    reply = await chat.ask(answering(head(), data(*pieces, *chunks("", "tool_calls"), b"[DONE]")), tools=tools)
    calls = [item for item in reply.events[-1]["response"]["output"] if item["type"] == "function_call"]
    assert [(one["name"], json.loads(one["arguments"])) for one in calls] == [("read", {"a": 1}), ("write", {"b": 2})]
    assert complaints(arrived(reply.body)) == []


async def test_a_refusal_that_never_ends_is_told_as_far_as_it_came(each: Wired, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "REFUSAL_SECONDS", 0.2)
    said = b'{"error":{"message":"go away"}}'

    async def dribble(call: Call) -> None:
        await call.send(head(429, "application/json", content_length="1000000"), said)
        await call.gone()

    reply = await each.ask(dribble)
    assert (reply.status, reply.error["message"]) == (429, "go away")


async def test_a_refusal_without_end_and_without_measure(each: Wired) -> None:
    async def flood(call: Call) -> None:
        await call.send(head(400, "text/html"))
        while True:
            await call.send(b"<p>no</p> " * 6000)

    reply = await each.ask(flood)
    assert (reply.status, len(reply.body) < 10_000) == (400, True)


def peak(running: Serving) -> int:
    """The most memory that the process ever had, in MiB."""
    lines = Path(f"/proc/{running.process.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) >> 10


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="a process's peak of memory is read from Linux's /proc")
@pytest.mark.parametrize("api", ["chat", "responses"])
async def test_a_line_without_end_is_a_failure_within_bounds(tmp_path: Path, api: str) -> None:
    async def endless(call: Call) -> None:
        await call.send(head(), b"data: {")
        while True:
            await call.send(b"x" * (1 << 20))

    async with Upstream(endless) as upstream, serving(tmp_path, "--port", "0", "--api", api, "--upstream", upstream.url) as running:
        await running.listen()
        await get(running.url, "/v1/models")
        before = peak(running)
        assert "cannot be read" in failed(await fetch(running.url, {"model": "m", "input": "hi", "stream": True}))["message"]
        assert peak(running) - before < 250


async def test_all_at_once(each: Wired) -> None:
    """What each of them does to itself it does not do to the others."""
    scripts = [answering(answer) for answer in STATUSES.values()]

    async def any_of_them(call: Call) -> None:
        number = int(json.loads(call.body)["temperature"])
        await (scripts[number] if number < len(scripts) else answering(head(), stream(each.api)))(call)

    each.upstream.answers(any_of_them)
    bodies = [{"model": "m", "input": "hi", "stream": True, "temperature": number} for number in range(2 * len(scripts))]
    replies = await asyncio.gather(*(fetch(each.url, body) for body in bodies))
    assert [reply.status for reply in replies] == [502] * len(scripts) + [200] * len(scripts)


async def test_a_client_never_waits_for_an_upstream_that_is_slow_to_hang_up(each: Wired) -> None:
    """All was said, and the connection stays open."""

    async def lingers(call: Call) -> None:
        await call.send(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n", stream(each.api))
        await call.gone()

    async with gateway(each.upstream.url, api=each.api) as url, connect(url) as asking:
        each.upstream.answers(lingers)
        await asking.send(request(url, {"model": "m", "input": "hi", "stream": True}))
        assert text_of(parsed(await asking.reader.read(-1))) == "hello"
