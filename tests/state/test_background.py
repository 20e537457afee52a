"""Background responses: they go on without their client, are streamed again from any number, cancelled, deleted, and survive their process."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.state.conftest import World, echo
from tests.wires.client import connect, request
from tests.wires.gateway import gateway
from tests.wires.upstream import Call, Upstream, chunks, data, head, whole

pytestmark = pytest.mark.anyio


class Slow:
    """A model that says two words, waits until it may go on, then says the rest."""

    def __init__(self) -> None:
        self.may_go_on = asyncio.Event()
        self.gone = asyncio.Event()

    async def __call__(self, call: Call) -> None:
        await call.send(head(), data(*chunks("Hello ", finish=None)))
        going = asyncio.create_task(self.may_go_on.wait())
        hanging_up = asyncio.create_task(call.gone())
        await asyncio.wait({going, hanging_up}, return_when=asyncio.FIRST_COMPLETED)
        if going.done():
            await call.send(data(*chunks("world"), b"[DONE]"))
        else:
            self.gone.set()
        for task in (going, hanging_up):
            task.cancel()


async def until(world: World, id: str, delta: str) -> bytes:
    """The stream of a response, read until a piece of text has come; then the client goes."""
    async with connect(world.url) as connection:
        await connection.send(request(world.url, path=f"/v1/responses/{id}?stream=true", method="GET", headers=world.headers))
        return await connection.until(f'"delta":"{delta}"'.encode())


@pytest.mark.requirement("background.runs")
async def test_it_is_queued_at_once_and_ends_by_itself(each: World) -> None:
    queued = await each.create("one", background=True)
    assert (queued["status"], queued["background"], queued["store"], queued["output"]) == ("queued", True, True, [])
    ended = await each.ended(queued["id"])
    assert (ended["status"], ended["background"], ended["id"]) == ("completed", True, queued["id"])
    assert ended["output"][0]["content"][0]["text"] == "re: one"
    assert ended["created_at"] == queued["created_at"]
    await each.create("two", previous_response_id=queued["id"])
    assert each.seen() == ["one", "re: one", "two"]


@pytest.mark.requirement("background.stream")
async def test_its_stream_is_whole_numbered_and_the_same_again(each: World) -> None:
    streamed = await each.stream("one", background=True)
    numbers = [event["sequence_number"] for event in streamed.events]
    assert numbers == list(range(len(numbers)))
    assert streamed.types[:3] == ["response.created", "response.queued", "response.in_progress"] or streamed.types[:2] == [
        "response.created",
        "response.queued",
    ]
    assert streamed.types.count("response.created") == 1
    assert streamed.types[-1] == "response.completed"
    id = streamed.events[0]["response"]["id"]
    assert {event["response"]["id"] for event in streamed.events if "response" in event} == {id}
    kept = await each.get(f"/v1/responses/{id}")
    assert kept.body in streamed.body
    again = await each.get(f"/v1/responses/{id}?stream=true")
    assert again.body == streamed.body
    for after in range(-1, len(numbers) + 1):
        resumed = await each.get(f"/v1/responses/{id}?stream=true&starting_after={after}")
        assert resumed.events == streamed.events[after + 1 :]
        assert streamed.body.endswith(resumed.body)


@pytest.mark.requirement("background.stream")
async def test_it_outlives_its_client_and_a_broken_stream_goes_on_where_it_stopped(world: World) -> None:
    slow = Slow()
    world.upstream.answers(slow)
    async with connect(world.url) as connection:
        body = {"model": "m", "input": "one", "stream": True, "background": True}
        await connection.send(request(world.url, body))
        first = await connection.until(b'"delta":" "')
        first += await connection.until(b"\n\n")
    text = first.decode()
    id = text[text.index("resp_") :][:53]
    last = int(text.rpartition('"sequence_number":')[2].partition("}")[0])
    assert (await world.get(f"/v1/responses/{id}")).json["status"] == "in_progress"
    resuming = asyncio.create_task(world.get(f"/v1/responses/{id}?stream=true&starting_after={last}"))
    slow.may_go_on.set()
    rest = await resuming
    assert rest.events[0]["sequence_number"] == last + 1
    assert "".join(event.get("delta", "") for event in rest.events if "output_text.delta" in event["type"]) == "world"
    assert rest.events[-1]["response"]["output"][0]["content"][0]["text"] == "Hello world"
    assert not slow.gone.is_set()


@pytest.mark.requirement("background.cancel")
async def test_cancelled_it_stops_at_its_model_and_stays_cancelled(world: World) -> None:
    slow = Slow()
    world.upstream.answers(slow)
    queued = await world.create("one", background=True)
    await until(world, queued["id"], " ")
    cancelled = await world.post(f"/v1/responses/{queued['id']}/cancel")
    assert (cancelled.status, cancelled.json["status"], cancelled.json["output"]) == (200, "cancelled", [])
    await asyncio.wait_for(slow.gone.wait(), 5)
    assert (await world.post(f"/v1/responses/{queued['id']}/cancel")).body == cancelled.body
    assert (await world.get(f"/v1/responses/{queued['id']}")).body == cancelled.body
    streamed = await world.get(f"/v1/responses/{queued['id']}?stream=true")
    assert streamed.events[-1]["response"] == cancelled.json
    assert [event["sequence_number"] for event in streamed.events] == list(range(len(streamed.events)))
    refused = await world.post("/v1/responses", {"model": "m", "input": "x", "previous_response_id": queued["id"]})
    assert refused.error["code"] == "previous_response_not_completed"


async def test_cancelling_what_has_ended_shows_it(world: World) -> None:
    queued = await world.create("one", background=True)
    ended = await world.ended(queued["id"])
    assert (await world.post(f"/v1/responses/{queued['id']}/cancel")).json == ended


@pytest.mark.requirement("background.cancel")
async def test_deleted_while_it_runs_it_stops_and_its_streams_end(world: World) -> None:
    slow = Slow()
    world.upstream.answers(slow)
    queued = await world.create("one", background=True)
    following = asyncio.create_task(world.get(f"/v1/responses/{queued['id']}?stream=true"))
    await until(world, queued["id"], " ")
    assert (await world.delete(f"/v1/responses/{queued['id']}")).json["deleted"]
    await asyncio.wait_for(slow.gone.wait(), 5)
    assert "response.completed" not in (await following).types
    assert (await world.get(f"/v1/responses/{queued['id']}")).status == 404


@pytest.mark.requirement("state.bad-parent")
async def test_what_still_runs_cannot_be_continued(world: World) -> None:
    slow = Slow()
    world.upstream.answers(slow)
    queued = await world.create("one", background=True)
    refused = await world.post("/v1/responses", {"model": "m", "input": "x", "previous_response_id": queued["id"]})
    assert (refused.status, refused.error["code"]) == (400, "previous_response_not_completed")
    slow.may_go_on.set()
    await world.ended(queued["id"])


@pytest.mark.requirement("background.runs")
async def test_a_model_server_that_refuses_ends_it_as_failed(world: World) -> None:
    world.upstream.answers(whole({"error": {"message": "too long", "code": "context_length_exceeded"}}, 400))
    queued = await world.create("one", background=True)
    ended = await world.ended(queued["id"])
    assert (ended["status"], ended["error"]["code"]) == ("failed", "context_length_exceeded")
    streamed = await world.get(f"/v1/responses/{queued['id']}?stream=true")
    assert streamed.types[-1] == "response.failed"


async def test_a_request_that_cannot_be_is_refused_before_anything_is_queued(world: World) -> None:
    reply = await world.post("/v1/responses", {"model": "m", "input": [{"type": "message", "role": 7}], "background": True})
    assert reply.status == 400


@pytest.mark.requirement("background.restart")
async def test_a_stopped_gateway_leaves_its_runs_to_the_next_one(store_url: str, tmp_path: Path) -> None:
    """One of which something was kept ends as interrupted, with the numbers and bytes before unchanged; one that had not begun runs again."""
    around: dict[str, Any] = {"api": "chat", "store": store_url, "environ": {"ANTIPHON_HOME": str(tmp_path)}}
    slow, silent = Slow(), asyncio.Event()

    async def mute(call: Call) -> None:
        silent.set()
        await call.gone()

    async with Upstream(slow) as upstream:
        async with gateway(upstream.url, **around) as url:
            world = World(url, upstream)
            begun = await world.create("begun", background=True)
            seen = await until(world, begun["id"], " ")
            world.upstream.answers(mute)
            waiting = await world.create("waiting", background=True)
            await asyncio.wait_for(silent.wait(), 5)
        upstream.answers(echo)
        async with gateway(upstream.url, **around) as url:
            world = World(url, upstream)
            failed = await world.ended(begun["id"])
            assert (failed["status"], failed["error"]) == ("failed", {"code": "server_error", "message": "interrupted by a restart"})
            streamed = await world.get(f"/v1/responses/{begun['id']}?stream=true")
            assert _body(seen) in streamed.body
            assert streamed.types[-1] == "response.failed"
            assert [event["sequence_number"] for event in streamed.events] == list(range(len(streamed.events)))
            assert streamed.events[-1]["response"] == failed
            again = await world.ended(waiting["id"])
            assert (again["status"], again["output"][0]["content"][0]["text"]) == ("completed", "re: waiting")


def _body(head_and_some: bytes) -> bytes:
    """The last whole events of a stream as it was read from the wire, without its chunks' marks."""
    return (
        head_and_some.rpartition(b"event: response.output_text.delta")[0]
        .rpartition(b"event: response.output_item.added")[2]
        .split(b"\r\n")[0]
    )
