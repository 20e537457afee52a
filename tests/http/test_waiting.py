"""Time: keep-alives while the upstream thinks, a client that leaves, a client that does not read."""

import asyncio
import contextlib
import time

import pytest
from openai import AsyncOpenAI

from tests.http.conftest import Wired
from tests.wires.client import PATIENCE, connect, events, parsed, request
from tests.wires.gateway import gateway
from tests.wires.upstream import Call, Upstream, chunks, data, head, named, responses_events, silent

pytestmark = pytest.mark.anyio
QUICK = 0.05
BODY = {"model": "m", "input": "hi", "stream": True}
TOOLS = [{"type": "namespace", "name": "files", "tools": [{"type": "function", "name": "read", "parameters": {"type": "object"}}]}]


def halves(api: str) -> tuple[bytes, bytes]:
    """A stream in two parts, the first with a delta of its text."""
    if api == "chat":
        return data(*chunks("one ", None)), data(*chunks("two"), b"[DONE]")
    whole = responses_events("one two")
    return named(*whole[:7]), named(*whole[7:])


class Paused:
    """An upstream that waits at two points until it is let go."""

    def __init__(self, api: str) -> None:
        self.before, self.between = asyncio.Event(), asyncio.Event()
        self._halves = halves(api)

    async def __call__(self, call: Call) -> None:
        async with asyncio.timeout(PATIENCE):
            await self.before.wait()
            await call.send(head(), self._halves[0])
            await self.between.wait()
            await call.send(self._halves[1])


def keep_alives(stream: bytes) -> int:
    """The keep-alives in a stream: each repeats the number of the event before it; all other numbers go on by one."""
    found = events(stream)
    count, last = 0, -1
    for event in found:
        if event["type"] == "response.in_progress" and event["sequence_number"] == max(last, 0) and last >= 0:
            count += 1
        else:
            assert event["sequence_number"] == last + 1
            last += 1
    return count


@pytest.mark.requirement("stream.keep-alive")
async def test_events_flow_while_the_upstream_thinks(each: Wired) -> None:
    script = Paused(each.api)
    each.upstream.answers(script)
    async with gateway(each.upstream.url, api=each.api, keepalive_seconds=QUICK) as url, connect(url) as client:
        await client.send(request(url, BODY | {"tools": TOOLS}))
        got = b""
        if each.api == "chat":  # a Responses upstream begins its stream itself
            for _ in range(4):
                got += await client.until(b"response.in_progress\ndata: ")
            assert got.count(b"event: response.created") == 1
        script.before.set()
        got += await client.until(b"output_text.delta\ndata: ")
        for _ in range(3):
            got += await client.until(b"response.in_progress\ndata: ")
        script.between.set()
        got += await client.reader.read(-1)
    reply = parsed(got)
    assert keep_alives(reply.body) >= 3
    assert reply.types[-1] == "response.completed"
    shown = [event["response"] for event in reply.events if event["type"] == "response.in_progress"]
    assert [one["tools"] for one in shown] == [shown[0]["tools"]] * len(shown)
    assert {one["id"] for one in shown} == {reply.events[-1]["response"]["id"]}


@pytest.mark.requirement("stream.keep-alive", "models.alias")
async def test_a_keep_alive_shows_what_the_client_named(tmp_path_factory: pytest.TempPathFactory) -> None:
    script = Paused("responses")
    file = tmp_path_factory.mktemp("alias") / "antiphon.toml"
    script.before.set()
    async with Upstream(script) as upstream:
        file.write_text(
            f'keepalive_seconds = {QUICK}\n[upstreams.one]\nurl = "{upstream.url}"\napi = "responses"\n[aliases]\nsmall = "one/m"\n'
        )
        async with gateway(file=file) as url, connect(url) as client:
            await client.send(request(url, BODY | {"model": "small", "tools": TOOLS}))
            got = await client.until(b"output_text.delta\ndata: ")
            for _ in range(2):
                got += await client.until(b"response.in_progress\ndata: ")
            script.between.set()
            got += await client.reader.read(-1)
    shown = [event["response"] for event in parsed(got).events if "response" in event]
    assert {one["model"] for one in shown} == {"small"}
    assert [one["tools"] for one in shown] == [TOOLS] * len(shown)


@pytest.mark.real
@pytest.mark.requirement("stream.keep-alive")
async def test_openais_own_client_takes_keep_alives(each: Wired) -> None:
    script = Paused(each.api)
    script.before.set()
    each.upstream.answers(script)
    async with (
        gateway(each.upstream.url, api=each.api, keepalive_seconds=QUICK) as url,
        AsyncOpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as client,
        client.responses.stream(model="m", input="hi") as stream,
    ):
        seen = 0
        async for event in stream:
            seen += event.type == "response.in_progress"
            if seen == 4:
                script.between.set()
        answer = await stream.get_final_response()
    assert answer.output_text == "one two"
    assert seen >= 4


@pytest.mark.requirement("stream.keep-alive")
async def test_a_refusal_after_the_stream_was_begun_is_a_failed_response(chat: Wired) -> None:
    go = asyncio.Event()

    async def late(call: Call) -> None:
        async with asyncio.timeout(PATIENCE):
            await go.wait()
        body = b'{"error":{"message":"maximum context length is 8 tokens","code":400}}'
        await call.send(head(400, "application/json", content_length=str(len(body))), body)

    chat.upstream.answers(late)
    async with gateway(chat.upstream.url, api="chat", keepalive_seconds=QUICK) as url, connect(url) as client:
        await client.send(request(url, BODY))
        got = await client.until(b"response.in_progress\ndata: ")
        go.set()
        reply = parsed(got + await client.reader.read(-1))
    assert reply.types[-1] == "response.failed"
    assert reply.events[-1]["response"]["error"]["code"] == "context_length_exceeded"


async def test_a_busy_stream_gets_no_keep_alives(each: Wired) -> None:
    """Steady events, each well within the time, over many times that time."""

    async def steady(call: Call) -> None:
        await call.send(head())
        stream = b"".join(halves(each.api))
        for block in stream.split(b"\n\n")[:-1]:
            await call.send(block + b"\n\n")
            await asyncio.sleep(0.02)

    each.upstream.answers(steady)
    async with gateway(each.upstream.url, api=each.api, keepalive_seconds=0.2) as url, connect(url) as client:
        await client.send(request(url, BODY))
        assert keep_alives((await client.reply()).body) == 0


LEAVES_WITHIN = 0.1
"""The promise; measured from the client's last packet to the end of the upstream's connection."""


class Watched:
    """An upstream that begins an answer and then waits for the gateway to go."""

    def __init__(self, start: bytes) -> None:
        self._start = start
        self.ended = asyncio.Event()

    async def __call__(self, call: Call) -> None:
        await call.send(self._start)
        await call.gone()
        self.ended.set()


async def leave(wired: Wired, start: bytes, *, stream: bool, until: bytes = b"") -> float:
    """Seconds from hanging up to the end of the upstream's connection."""
    script = Watched(start)
    wired.upstream.answers(script)
    async with connect(wired.url) as client:
        await client.send(request(wired.url, BODY | {"stream": stream}))
        async with asyncio.timeout(PATIENCE):
            await wired.upstream.arrived.wait()
        if until:
            await client.until(until)
        client.hang_up()
        began = time.monotonic()
        async with asyncio.timeout(PATIENCE):
            await script.ended.wait()
        return time.monotonic() - began


@pytest.mark.requirement("http.disconnect")
async def test_a_client_that_leaves_a_stream_ends_the_upstream(each: Wired) -> None:
    assert await leave(each, head() + halves(each.api)[0], stream=True, until=b"output_text.delta") < LEAVES_WITHIN


@pytest.mark.requirement("http.disconnect")
@pytest.mark.parametrize("stream", [True, False], ids=["stream", "json"])
async def test_a_client_that_leaves_before_the_head_ends_the_upstream(each: Wired, stream: bool) -> None:
    assert await leave(each, b"", stream=stream) < LEAVES_WITHIN


@pytest.mark.requirement("http.disconnect")
async def test_a_client_that_leaves_a_json_answer_ends_the_upstream(each: Wired) -> None:
    start = head(type="application/json", content_length="1000") + b'{"half":'
    assert await leave(each, start, stream=False) < LEAVES_WITHIN


@pytest.mark.requirement("http.disconnect")
async def test_a_client_that_closes_politely_ends_the_upstream_too(each: Wired) -> None:
    script = Watched(head() + halves(each.api)[0])
    each.upstream.answers(script)
    async with connect(each.url) as client:
        await client.send(request(each.url, BODY))
        await client.until(b"output_text.delta")
        client.writer.write_eof()
        async with asyncio.timeout(PATIENCE):
            await script.ended.wait()


@pytest.mark.requirement("http.disconnect")
async def test_a_client_that_leaves_while_the_upstream_is_probed_harms_nobody() -> None:
    async with Upstream(silent) as upstream, gateway(upstream.url, api="auto") as url:
        for _ in range(3):
            async with connect(url) as client:
                await client.send(request(url, BODY))
                async with asyncio.timeout(PATIENCE):
                    await upstream.arrived.wait()
                client.hang_up()
            upstream.arrived.clear()


@pytest.mark.requirement("http.backpressure")
async def test_a_client_that_does_not_read_holds_the_upstream_back(each: Wired) -> None:
    sent = 0
    if each.api == "chat":
        piece = data({"choices": [{"index": 0, "delta": {"content": "x" * 65536}}]})
    else:
        delta = {"type": "response.output_text.delta", "item_id": "msg_1", "output_index": 0, "content_index": 0, "delta": "x" * 65536}
        piece = named(delta)
    full = asyncio.Event()

    async def flood(call: Call) -> None:
        nonlocal sent
        await call.send(head(), halves(each.api)[0])
        with contextlib.suppress(ConnectionError):
            while sent < 400 << 20:
                call.writer.write(piece)
                sent += len(piece)
                try:
                    async with asyncio.timeout(0.5):
                        await call.writer.drain()
                except TimeoutError:
                    break
        full.set()
        await call.gone()

    each.upstream.answers(flood)
    async with connect(each.url) as client:
        client.writer.transport.pause_reading()  # pyright: ignore[reportAttributeAccessIssue]
        await client.send(request(each.url, BODY))
        async with asyncio.timeout(PATIENCE):
            await full.wait()
        client.hang_up()
    assert sent < 64 << 20  # what the kernel's buffers of four sockets hold, and no more
