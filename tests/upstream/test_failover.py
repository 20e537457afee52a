"""Equal upstreams over real sockets: what fails before the first byte no client sees, what fails after it is told."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.wires.client import PATIENCE, Reply, connect, fetch, get, parsed, request
from tests.wires.gateway import gateway
from tests.wires.upstream import Call, Script, Upstream, chat, chunks, completion, data, head, named, responses_events, silent, whole

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("network.failover")]

BODY = {"model": "m", "input": "hi", "stream": True}
NOT_NOW = whole({"error": {"message": "Loading model", "code": 503}}, 503)


@asynccontextmanager
async def grouped(folder: Path, *upstreams: Upstream, more: str = "", **settings: Any) -> AsyncIterator[str]:
    """A gateway before upstreams that are equal."""
    file = folder / "antiphon.toml"
    api = settings.pop("api", "chat")
    tables = (f'[upstreams.u{n}]\nurl = "{one.url}"\napi = "{api}"\ngroup = "all"\n{more}\n' for n, one in enumerate(upstreams))
    file.write_text("".join(tables))
    async with gateway(file=file, **settings) as url:
        yield url


async def ask(url: str, thread: str = "", **more: Any) -> Reply:
    return await fetch(url, BODY | more, headers={"thread-id": thread} if thread else None)


async def eventually(check: Callable[[], bool]) -> bool:
    """Whether something becomes true that nobody can be asked to tell."""
    for _ in range(int(PATIENCE / 0.02)):
        if check():
            return True
        await asyncio.sleep(0.02)
    return False


def slow(seconds: float, then: Script) -> Script:
    async def script(call: Call) -> None:
        await asyncio.sleep(seconds)
        await then(call)

    return script


def answer(api: str) -> Script:
    return chat("hello") if api == "chat" else whole_stream(named(*responses_events("hello")))


def whole_stream(events: bytes) -> Script:
    async def script(call: Call) -> None:
        await call.send(head(), events)

    return script


@pytest.mark.parametrize("api", ["chat", "responses"])
async def test_one_killed_one_slow_one_not_now(tmp_path: Path, api: str) -> None:
    """Acceptance: no failure that a client sees, on any of forty requests of eight threads, streamed or not."""
    async with (
        Upstream(slow(0.05, answer(api))) as slow_one,
        Upstream(NOT_NOW) as busy,
        Upstream(answer(api)) as killed,
        grouped(tmp_path, killed, busy, slow_one, api=api) as url,
    ):
        assert (await ask(url)).types[-1] == "response.completed"
        await killed.kill()
        for _ in range(5):
            replies = await asyncio.gather(*(ask(url, f"thread {n}") for n in range(8)))
            assert {(reply.status, reply.types[-1]) for reply in replies} == {(200, "response.completed")}
        slow_one.script = whole(completion() if api == "chat" else responses_events()[-1]["response"])
        assert (await ask(url, stream=False)).json["status"] == "completed"
        states = (await get(url, "/ready")).json["upstreams"]
    assert not states["u0"]["answers"]
    assert "cannot be reached" in states["u0"]["why"]
    assert len(busy.posts) < 20  # left alone after a failure, and not asked with every request


BEFORE: dict[str, Script] = {}


def before(name: str) -> Any:
    def row(script: Script) -> Script:
        BEFORE[name] = script
        return script

    return row


@before("closes at once")
async def closes(call: Call) -> None:
    """Not a word."""


@before("resets")
async def resets(call: Call) -> None:
    call.reset()


@before("closes after the head")
async def closes_after_head(call: Call) -> None:
    await call.send(head())


@before("an empty body")
async def empty(call: Call) -> None:
    await call.send(head(content_length="0"))


@before("half a head")
async def half_a_head(call: Call) -> None:
    await call.send(b"HTTP/1.1 200 OK\r\ncontent-")


@before("no HTTP")
async def no_http(call: Call) -> None:
    await call.send(b"220 ready\r\n\r\n")


for status in (429, 502, 503, 504, 529):
    BEFORE[str(status)] = whole({"error": {"message": "no"}}, status)
BEFORE["never answers"] = silent


@pytest.mark.parametrize("script", BEFORE.values(), ids=BEFORE)
async def test_what_fails_before_the_first_byte_is_asked_elsewhere(tmp_path: Path, script: Script) -> None:
    async with Upstream(script) as bad, Upstream(chat()) as good, grouped(tmp_path, bad, good, first_byte_seconds=0.3) as url:
        reply = await ask(url)
    assert (reply.status, reply.types[-1]) == (200, "response.completed")
    assert (len(bad.posts), len(good.posts)) == (1, 1)
    assert bad.posts[0].body == good.posts[0].body


@pytest.mark.parametrize("status", [400, 401, 404, 422, 500])
async def test_what_would_be_the_same_elsewhere_is_not_asked_there(tmp_path: Path, status: int) -> None:
    async with Upstream(whole({"error": {"message": "no"}}, status)) as bad, Upstream(chat()) as good, grouped(tmp_path, bad, good) as url:
        assert (await ask(url)).status >= 400
    assert good.posts == []


async def test_after_the_first_byte_a_failure_is_told_and_nothing_is_sent_again(tmp_path: Path) -> None:
    async def breaks_off(call: Call) -> None:
        await call.send(head(), data(*chunks("half", None)))
        call.reset()

    async with Upstream(breaks_off) as bad, Upstream(chat()) as good, grouped(tmp_path, bad, good, retries=3) as url:
        reply = await ask(url)
        assert (reply.status, reply.types[-1]) == (200, "response.failed")
        assert reply.events[-1]["response"]["error"]["code"] == "server_error"
        assert (len(bad.posts), len(good.posts)) == (1, 0)
        assert (await ask(url)).types[-1] == "response.completed"  # who broke off is left alone for a while
    assert (len(bad.posts), len(good.posts)) == (1, 1)


async def test_all_fail_is_the_last_ones_word(tmp_path: Path) -> None:
    async with Upstream(NOT_NOW) as one, Upstream(NOT_NOW) as two, grouped(tmp_path, one, two) as url:
        reply = await ask(url)
        assert (reply.status, reply.error["message"]) == (503, "Loading model")
        assert (len(one.posts), len(two.posts)) == (1, 1)
        one.script = chat()
        assert (await ask(url)).status == 200  # both are left alone, and there is nobody else


@pytest.mark.requirement("network.retries")
async def test_one_upstream_is_asked_again_as_often_as_configured(tmp_path: Path) -> None:
    left = [NOT_NOW, BEFORE["closes at once"], chat()]

    async def next_of_them(call: Call) -> None:
        await left.pop(0)(call)

    async with Upstream(next_of_them) as upstream:
        async with gateway(upstream.url, api="chat", retries=2) as url:
            assert (await ask(url)).types[-1] == "response.completed"
        assert len(upstream.posts) == 3
        upstream.answers(NOT_NOW)
        async with gateway(upstream.url, api="chat", retries=1) as url:
            assert (await ask(url)).status == 503
        assert len(upstream.posts) == 2
        upstream.answers(NOT_NOW)
        async with gateway(upstream.url, api="chat") as url:
            assert (await ask(url)).status == 503
        assert len(upstream.posts) == 1


@pytest.mark.requirement("network.retries")
async def test_a_short_retry_after_is_waited_for_where_configured() -> None:
    limited = whole({"error": {"message": "slow down"}}, 429, retry_after="0")
    async with Upstream(limited) as upstream:
        for wait, posts in ((0.0, 2), (1.0, 2)):
            upstream.answers(limited)
            async with gateway(upstream.url, api="chat", retries=1, retry_after_seconds=wait) as url:
                assert (await ask(url)).headers["retry-after"] == "0"
            assert len(upstream.posts) == posts
        upstream.answers(whole({"error": {"message": "slow down"}}, 429, retry_after="5"))
        async with gateway(upstream.url, api="chat", retries=1, retry_after_seconds=1.0) as url:
            assert (await ask(url)).headers["retry-after"] == "5"
        assert len(upstream.posts) == 1


@pytest.mark.requirement("network.retries")
async def test_a_client_that_is_gone_is_not_tried_for_again() -> None:
    async with Upstream(NOT_NOW) as upstream, gateway(upstream.url, api="chat", retries=100) as url:
        async with connect(url) as client:
            await client.send(request(url, BODY))
            async with asyncio.timeout(PATIENCE):
                await upstream.arrived.wait()
            client.hang_up()
        assert (await get(url, "/health")).status == 200
        posts = len(upstream.posts)
        await asyncio.sleep(0.4)
        assert len(upstream.posts) <= posts


@pytest.mark.requirement("network.health")
async def test_one_that_comes_back_is_noticed_without_a_request(tmp_path: Path) -> None:
    async with Upstream(chat()) as one, Upstream(chat()) as two, grouped(tmp_path, one, two) as url:
        await one.kill()
        assert (await ask(url)).types[-1] == "response.completed"
        await one.listen()
        assert await eventually(lambda: "/v1/models" in [call.path for call in one.calls])
        assert one.posts == []


@pytest.mark.requirement("network.affinity")
async def test_a_thread_stays_with_its_upstream_while_that_answers(tmp_path: Path) -> None:
    def threads(upstream: Upstream) -> Counter[str]:
        return Counter(json.loads(call.body)["messages"][0]["content"] for call in upstream.posts)

    async with Upstream(chat()) as one, Upstream(chat()) as two, Upstream(chat()) as three, grouped(tmp_path, one, two, three) as url:
        for _ in range(4):
            for thread in "abcdef":
                assert (await ask(url, thread, input=thread)).status == 200
        assert sum(map(threads, (one, two, three)), Counter()) == Counter(dict.fromkeys("abcdef", 4))
        for upstream in (one, two, three):
            assert set(threads(upstream).values()) <= {4}
        before, moved = threads(one), next(iter(threads(one) or threads(two)))
        gone = one if moved in before else two
        await gone.kill()
        assert (await ask(url, moved, input=moved)).types[-1] == "response.completed"


@pytest.mark.requirement("network.affinity")
async def test_a_prompt_cache_key_names_a_thread_too(tmp_path: Path) -> None:
    async with Upstream(chat()) as one, Upstream(chat()) as two, grouped(tmp_path, one, two) as url:
        for _ in range(3):
            for key in ("k1", "k2", "k3", "k4"):
                await ask(url, prompt_cache_key=key, input=key)
    for upstream in (one, two):
        assert set(Counter(call.body for call in upstream.posts).values()) <= {3}


async def test_an_upstream_that_speaks_otherwise_is_no_equal(tmp_path: Path) -> None:
    file = tmp_path / "antiphon.toml"
    async with Upstream(NOT_NOW) as one, Upstream(whole(b"")) as other:
        file.write_text(
            f'[upstreams.a]\nurl = "{one.url}"\napi = "chat"\ngroup = "g"\n[upstreams.b]\nurl = "{other.url}"\napi = "responses"\ngroup = "g"\n'
        )
        async with gateway(file=file) as url:
            assert (await ask(url)).status == 503
    assert other.posts == []


async def test_a_model_is_asked_for_at_those_of_a_group_that_have_it(tmp_path: Path) -> None:
    async with Upstream(chat()) as one, Upstream(chat()) as two, grouped(tmp_path, one, two) as url:
        two.pages["/v1/models"] = b'{"data":[{"id":"big"}]}'
        assert [model["id"] for model in (await get(url, "/v1/models")).json["data"]] == ["m", "big"]
        for model in ("big", "all/big", "u1/m"):
            assert (await ask(url, model=model)).types[-1] == "response.completed"
        assert (len(one.posts), len(two.posts)) == (0, 3)


@pytest.mark.requirement("network.fair-queue", "stream.keep-alive")
@pytest.mark.parametrize("api", ["chat", "responses"])
async def test_keep_alives_flow_while_a_request_waits_for_its_turn(api: str) -> None:
    go = asyncio.Event()

    async def holds(call: Call) -> None:
        async with asyncio.timeout(PATIENCE):
            await go.wait()
        await answer(api)(call)

    kept = {"max_concurrent": 1, "keepalive_seconds": 0.05, "store": "memory"}
    async with Upstream(holds) as upstream, gateway(upstream.url, api=api, **kept) as url:
        first = asyncio.create_task(ask(url, "one"))
        await upstream.arrived.wait()
        async with connect(url) as client:
            await client.send(request(url, BODY, headers={"thread-id": "two"}))
            got = b""
            for _ in range(3):
                got += await client.until(b"response.in_progress\ndata: ")
            assert len(upstream.posts) == 1
            state = (await get(url, "/ready")).json["upstreams"]["upstream"]
            assert (state["running"], state["waiting"], state["limit"]) == (1, 1, 1)
            go.set()
            reply = parsed(got + await client.reader.read(-1))
        assert (reply.types.count("response.created"), reply.types[-1]) == (1, "response.completed")
        assert len({event["response"]["id"] for event in reply.events if "response" in event}) == 1
        assert reply.events[-1]["response"]["output"][0]["content"][0]["text"] == "hello"
        assert (await first).types[-1] == "response.completed"


@pytest.mark.requirement("network.fair-queue")
async def test_llama_cpps_slots_are_the_limit_and_threads_take_turns() -> None:
    order: list[str] = []
    go = asyncio.Semaphore(0)

    async def one_at_a_time(call: Call) -> None:
        order.append(json.loads(call.body)["messages"][0]["content"])
        async with asyncio.timeout(PATIENCE):
            await go.acquire()
        await chat()(call)

    props = {"default_generation_settings": {"n_ctx": 8192}, "total_slots": 1}
    async with Upstream(one_at_a_time) as upstream:
        upstream.pages["/props"] = json.dumps(props).encode()
        async with gateway(upstream.url) as url:
            asking = [asyncio.create_task(ask(url, "turn", input="turn 1"))]
            async with asyncio.timeout(PATIENCE):
                await upstream.arrived.wait()
                for number, thread in enumerate(("turn", "turn", "title", "agent"), 2):
                    asking.append(asyncio.create_task(ask(url, thread, input=f"{thread} {number}")))
                    for _ in range(1000):
                        if (await get(url, "/ready")).json["upstreams"]["upstream"]["waiting"] == number - 1:
                            break
            for _ in asking:
                go.release()
            replies = await asyncio.gather(*asking)
    assert {reply.types[-1] for reply in replies} == {"response.completed"}
    assert order == ["turn 1", "turn 2", "title 4", "agent 5", "turn 3"]


@pytest.mark.requirement("network.fair-queue")
async def test_who_finds_the_line_full_is_told_when_to_come_again() -> None:
    async with Upstream(silent) as upstream, gateway(upstream.url, api="chat", max_concurrent=1, max_queued=0) as url:
        async with connect(url) as client:
            await client.send(request(url, BODY))
            async with asyncio.timeout(PATIENCE):
                await upstream.arrived.wait()
            refused = await ask(url)
            assert (refused.status, refused.headers["retry-after"], refused.error["code"]) == (429, "10", "rate_limit_exceeded")
            client.hang_up()
        upstream.script = chat()
        for _ in range(100):
            if (await ask(url)).status == 200:
                break
        else:
            raise AssertionError("the place of the client that left is never free")
