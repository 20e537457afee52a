"""OpenAI's own Python SDK on every route that keeps state, sync and async, on both databases, with a key of its own."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import openai
import pytest
from openai import AsyncOpenAI, OpenAI

from tests.state.keyed import Keyed, keyed

pytestmark = [pytest.mark.anyio, pytest.mark.real]


@pytest.fixture
async def both(store_url: str, tmp_path: Path) -> AsyncIterator[Keyed]:
    async with keyed(store_url, tmp_path) as made:
        yield made


def user(text: str) -> dict[str, str]:
    return {"type": "message", "role": "user", "content": text}


def drive(client: OpenAI) -> dict[str, object]:
    """Everything, in the words of somebody who uses the SDK; what came out of it."""
    one = client.responses.create(model="m", input="one", metadata={"a": "b"})
    two = client.responses.create(model="m", input="two", previous_response_id=one.id)
    with client.responses.stream(model="m", input="three", previous_response_id=two.id) as stream:
        for _ in stream:
            pass
        three = stream.get_final_response()
    raw = client.responses.with_raw_response.create(model="m", input="raw")
    again = client.responses.with_raw_response.retrieve(raw.parse().id, include=["reasoning.encrypted_content"])
    assert again.content == raw.content, "byte for byte"
    items = list(client.responses.input_items.list(three.id, limit=2, order="asc"))
    counted = client.responses.input_tokens.count(model="m", input="four", previous_response_id=three.id)
    client.responses.delete(one.id)
    with pytest.raises(openai.NotFoundError) as gone:
        client.responses.retrieve(one.id)
    with pytest.raises(openai.BadRequestError) as broken:
        client.responses.create(model="m", input="x", previous_response_id=three.id)
    with pytest.raises(openai.BadRequestError) as synchronous:
        client.responses.cancel(two.id)
    talk = client.conversations.create(items=[user("hello")], metadata={"topic": "tea"})  # pyright: ignore[reportArgumentType]
    client.conversations.update(talk.id, metadata={"topic": "coffee"})
    client.conversations.items.create(talk.id, items=[user("more")])  # pyright: ignore[reportArgumentType]
    client.responses.create(model="m", input="in it", conversation=talk.id)
    said = list(client.conversations.items.list(talk.id, order="asc", limit=3))
    first = client.conversations.items.retrieve(said[0].id or "", conversation_id=talk.id)
    client.conversations.items.delete(said[0].id or "", conversation_id=talk.id)
    topic = client.conversations.retrieve(talk.id).metadata
    deleted = client.conversations.delete(talk.id)
    return {
        "one": one.output_text, "kept": (one.to_dict()["store"], one.metadata, two.previous_response_id == one.id), "three": three.output_text,
        "items": len(items), "counted": counted.input_tokens > 10, "gone": gone.value.code, "broken": broken.value.code,
        "synchronous": synchronous.value.body, "said": len(said), "first": first.type, "topic": topic, "deleted": deleted.deleted,
    }  # fmt: skip


async def drive_async(client: AsyncOpenAI) -> dict[str, object]:
    """The same, awaited."""
    one = await client.responses.create(model="m", input="one", metadata={"a": "b"})
    two = await client.responses.create(model="m", input="two", previous_response_id=one.id)
    async with client.responses.stream(model="m", input="three", previous_response_id=two.id) as stream:
        async for _ in stream:
            pass
        three = await stream.get_final_response()
    items = [item async for item in client.responses.input_items.list(three.id, limit=2, order="asc")]
    counted = await client.responses.input_tokens.count(model="m", input="four", previous_response_id=three.id)
    await client.responses.delete(one.id)
    with pytest.raises(openai.NotFoundError) as gone:
        await client.responses.retrieve(one.id)
    with pytest.raises(openai.BadRequestError) as broken:
        await client.responses.create(model="m", input="x", previous_response_id=three.id)
    with pytest.raises(openai.BadRequestError) as synchronous:
        await client.responses.cancel(two.id)
    talk = await client.conversations.create(items=[user("hello")], metadata={"topic": "tea"})  # pyright: ignore[reportArgumentType]
    await client.conversations.update(talk.id, metadata={"topic": "coffee"})
    await client.conversations.items.create(talk.id, items=[user("more")])  # pyright: ignore[reportArgumentType]
    await client.responses.create(model="m", input="in it", conversation=talk.id)
    said = [item async for item in client.conversations.items.list(talk.id, order="asc", limit=3)]
    first = await client.conversations.items.retrieve(said[0].id or "", conversation_id=talk.id)
    await client.conversations.items.delete(said[0].id or "", conversation_id=talk.id)
    topic = (await client.conversations.retrieve(talk.id)).metadata
    deleted = await client.conversations.delete(talk.id)
    return {
        "one": one.output_text, "kept": (one.to_dict()["store"], one.metadata, two.previous_response_id == one.id), "three": three.output_text,
        "items": len(items), "counted": counted.input_tokens > 10, "gone": gone.value.code, "broken": broken.value.code,
        "synchronous": synchronous.value.body, "said": len(said), "first": first.type, "topic": topic, "deleted": deleted.deleted,
    }  # fmt: skip


CAME_OUT = {
    "one": "re: one", "kept": (True, {"a": "b"}, True), "three": "re: three", "items": 5, "counted": True, "gone": None,
    "broken": "previous_response_not_found",
    "synchronous": {"message": "Cannot cancel a synchronous response.", "type": "invalid_request_error", "param": None, "code": None},
    "said": 4, "first": "message", "topic": {"topic": "coffee"}, "deleted": True,
}  # fmt: skip


@pytest.mark.requirement("state.sdk")
async def test_the_sync_client(both: Keyed) -> None:
    with OpenAI(base_url=f"{both.one.url}/v1", api_key=both.secrets[0], max_retries=0) as client:
        assert await asyncio.to_thread(drive, client) == CAME_OUT


@pytest.mark.requirement("state.sdk")
async def test_the_async_client(both: Keyed) -> None:
    async with AsyncOpenAI(base_url=f"{both.one.url}/v1", api_key=both.secrets[0], max_retries=0) as client:
        assert await drive_async(client) == CAME_OUT


def background(client: OpenAI) -> None:
    queued = client.responses.create(model="m", input="slow", background=True)
    assert queued.status == "queued"
    while client.responses.retrieve(queued.id).status in ("queued", "in_progress"):
        pass
    assert client.responses.retrieve(queued.id).output_text == "re: slow"
    with client.responses.create(model="m", input="streamed", background=True, stream=True) as stream:
        events = list(stream)
    with client.responses.retrieve(events[0].response.id, stream=True, starting_after=3) as resumed:  # pyright: ignore[reportAttributeAccessIssue]
        assert [event.to_dict() for event in resumed] == [event.to_dict() for event in events[4:]]
    with client.responses.stream(response_id=queued.id, starting_after=1) as known:
        assert known.get_final_response().output_text == "re: slow"
    assert client.responses.cancel(queued.id).status == "completed"


@pytest.mark.requirement("state.sdk")
async def test_the_sync_client_in_the_background(both: Keyed) -> None:
    with OpenAI(base_url=f"{both.one.url}/v1", api_key=both.secrets[0], max_retries=0) as client:
        await asyncio.to_thread(background, client)


@pytest.mark.requirement("state.sdk")
async def test_the_async_client_in_the_background(both: Keyed) -> None:
    async with AsyncOpenAI(base_url=f"{both.one.url}/v1", api_key=both.secrets[0], max_retries=0) as client:
        stream = await client.responses.create(model="m", input="streamed", background=True, stream=True)
        events = [event async for event in stream]
        resumed = await client.responses.retrieve(events[0].response.id, stream=True, starting_after=3)  # pyright: ignore[reportAttributeAccessIssue]
        assert [event.to_dict() async for event in resumed] == [event.to_dict() for event in events[4:]]


@pytest.mark.requirement("keys.needed")
async def test_it_knows_a_refused_key(both: Keyed) -> None:
    async with AsyncOpenAI(base_url=f"{both.one.url}/v1", api_key="sk-wrong", max_retries=0) as client:
        with pytest.raises(openai.AuthenticationError) as refused:
            await client.responses.create(model="m", input="x")
    assert (refused.value.status_code, refused.value.code) == (401, "invalid_api_key")
