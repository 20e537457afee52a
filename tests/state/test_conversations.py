"""Conversations over HTTP: their items, answers in them, one at a time."""

import asyncio
import json
from typing import Any

import pytest

from tests.state.conftest import World, echo, eventually
from tests.wires.client import connect, request
from tests.wires.upstream import Call, whole

pytestmark = pytest.mark.anyio


def user(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "message", "role": "user", "content": text, **more}


async def conversation(world: World, *items: dict[str, Any], **more: Any) -> str:
    made = await world.post("/v1/conversations", {"items": list(items), **more})
    assert made.status == 200, made.body
    return made.json["id"]


async def texts(world: World, id: str, query: str = "order=asc") -> list[str]:
    listed = (await world.get(f"/v1/conversations/{id}/items?{query}")).json["data"]
    contents = [item["content"] for item in listed]
    return [content if isinstance(content, str) else content[0]["text"] for content in contents]


@pytest.mark.requirement("conversations.object")
async def test_a_conversation_is_made_shown_changed_and_deleted(world: World) -> None:
    made = await world.post("/v1/conversations", {"metadata": {"topic": "tea"}})
    assert {name: made.json[name] for name in ("object", "metadata")} == {"object": "conversation", "metadata": {"topic": "tea"}}
    id = made.json["id"]
    assert id.startswith("conv_")
    assert (await world.get(f"/v1/conversations/{id}")).body == made.body
    changed = await world.post(f"/v1/conversations/{id}", {"metadata": {"topic": "coffee", "é": "\u0000"}})
    assert (
        (await world.get(f"/v1/conversations/{id}")).json == {**made.json, "metadata": {"topic": "coffee", "é": "\u0000"}} == changed.json
    )
    assert (await world.delete(f"/v1/conversations/{id}")).json == {"id": id, "object": "conversation.deleted", "deleted": True}
    for method in (world.get, world.delete):
        gone = await method(f"/v1/conversations/{id}")
        assert (gone.status, gone.error["message"]) == (404, f"Conversation with id '{id}' not found.")


@pytest.mark.requirement("conversations.items")
async def test_items_are_added_listed_shown_and_taken_out(world: World) -> None:
    id = await conversation(world, user("one"), user("two", id="mine"))
    added = await world.post(f"/v1/conversations/{id}/items", {"items": [user("three"), {"type": "strange_item", "x": [1.0]}]})
    assert [item["type"] for item in added.json["data"]] == ["message", "strange_item"]
    listed = (await world.get(f"/v1/conversations/{id}/items?order=asc")).json
    assert listed["data"][2:] == added.json["data"]
    assert listed["data"][1]["id"] == "mine"
    assert len({item["id"] for item in listed["data"]}) == 4
    assert (await world.get(f"/v1/conversations/{id}/items?limit=1")).json["data"] == listed["data"][3:]
    assert (await world.get(f"/v1/conversations/{id}/items?limit=1&after=mine")).json["data"] == listed["data"][:1]
    for item in listed["data"]:
        assert (await world.get(f"/v1/conversations/{id}/items/{item['id']}")).json == item
    taken = await world.delete(f"/v1/conversations/{id}/items/mine")
    assert (taken.json["object"], taken.json["id"]) == ("conversation", id)
    assert [item["id"] for item in (await world.get(f"/v1/conversations/{id}/items?order=asc")).json["data"]] == [
        item["id"] for item in listed["data"] if item["id"] != "mine"
    ]
    assert (await world.get(f"/v1/conversations/{id}/items/mine")).status == 404
    assert (await world.delete(f"/v1/conversations/{id}/items/mine")).status == 404


@pytest.mark.requirement("conversations.answers")
async def test_answers_see_it_and_stand_in_it(each: World) -> None:
    id = await conversation(each, user("one"))
    made = await each.create("two", conversation=id)
    assert (made["conversation"], made["previous_response_id"]) == ({"id": id}, None)
    assert each.seen() == ["one", "two"]
    streamed = await each.stream("three", conversation={"id": id})
    assert streamed.events[-1]["response"]["conversation"] == {"id": id}
    assert each.seen() == ["one", "two", "re: two", "three"]
    assert await texts(each, id) == ["one", "two", "re: two", "three", "re: three"]
    aside = await each.create("aside", conversation=id, store=False)
    assert each.seen()[-2:] == ["re: three", "aside"]
    assert aside["store"] is False
    assert (await texts(each, id))[-1] == "re: three", "what is not stored is not in it"
    await each.create("branch", previous_response_id=made["id"])
    assert each.seen() == ["one", "two", "re: two", "branch"]
    assert (await texts(each, id))[-1] == "re: three"


@pytest.mark.requirement("conversations.answers")
async def test_a_background_answer_stands_in_it_when_it_has_ended(world: World) -> None:
    id = await conversation(world, user("one"))
    queued = await world.create("two", conversation=id, background=True)
    await world.ended(queued["id"])
    assert await texts(world, id) == ["one", "two", "re: two"]

    async def is_free() -> bool:
        return (await world.post("/v1/responses", {"model": "m", "input": "three", "conversation": id})).status == 200

    await eventually(is_free)


@pytest.mark.requirement("state.conversation-locked")
async def test_two_answers_at_once_are_one_too_many(world: World) -> None:
    id = await conversation(world, user("one"))
    may_answer, asked = asyncio.Event(), asyncio.Event()

    async def waiting(call: Call) -> None:
        asked.set()
        await may_answer.wait()
        await echo(call)

    world.upstream.answers(waiting)
    first = asyncio.create_task(world.create("two", conversation=id))
    await asyncio.wait_for(asked.wait(), 10)
    for more in ({}, {"stream": True}, {"background": True}):
        refused = await world.post("/v1/responses", {"model": "m", "input": "x", "conversation": id, **more})
        assert (refused.status, refused.error["code"], refused.error["param"]) == (400, "conversation_locked", "conversation")
    assert (await world.post(f"/v1/conversations/{id}/items", {"items": [user("meanwhile")]})).status == 200
    may_answer.set()
    await first
    assert await texts(world, id) == ["one", "meanwhile", "two", "re: two"]
    await world.create("three", conversation=id)


@pytest.mark.requirement("state.conversation-locked")
async def test_a_client_that_goes_and_a_server_that_refuses_leave_it_free(world: World) -> None:
    id = await conversation(world, user("one"))
    gone = asyncio.Event()

    async def until_gone(call: Call) -> None:
        await call.gone()
        gone.set()

    world.upstream.answers(until_gone)
    async with connect(world.url) as client:
        await client.send(request(world.url, {"model": "m", "input": "x", "conversation": id, "stream": True}))
        await asyncio.wait_for(world.upstream.arrived.wait(), 10)
        client.hang_up()
    await asyncio.wait_for(gone.wait(), 10)
    world.upstream.answers(whole({"error": {"message": "no"}}, 400))

    async def is_asked() -> bool:
        return (await world.post("/v1/responses", {"model": "m", "input": "x", "conversation": id})).error["code"] != "conversation_locked"

    await eventually(is_asked)
    world.upstream.answers(echo)
    await world.create("two", conversation=id)
    assert await texts(world, id) == ["one", "two", "re: two"]


@pytest.mark.parametrize(
    ("path", "body", "status", "param"),
    [
        ("/v1/conversations", {"items": "x"}, 400, "items"),
        ("/v1/conversations", {"items": [user("x")] * 21}, 400, "items"),
        ("/v1/conversations", {"items": [{"type": "message"}]}, 400, "items[0]"),
        ("/v1/conversations", {"metadata": "x"}, 400, "metadata"),
        ("/v1/conversations", {"metadata": {"a": 1}}, 400, "metadata"),
        ("/v1/conversations", {"metadata": {str(n): "x" for n in range(17)}}, 400, "metadata"),
        ("/v1/conversations", {"metadata": {"a": "x" * 513}}, 400, "metadata"),
        ("/v1/conversations", b"not json", 400, None),
        ("/v1/conversations/ID", {}, 400, "metadata"),
        ("/v1/conversations/ID/items", {}, 400, "items"),
        ("/v1/conversations/conv_none/items", {"items": []}, 404, None),
        ("/v1/conversations/conv_none", {"metadata": {}}, 404, None),
        ("/v1/conversations/%00", {"metadata": {}}, 404, None),
    ],
)
async def test_what_cannot_be_is_refused_by_name(world: World, path: str, body: Any, status: int, param: str | None) -> None:
    id = await conversation(world)
    reply = await world.post(path.replace("ID", id), body)
    assert (reply.status, reply.error["param"]) == (status, param), reply.body


async def test_an_empty_body_makes_an_empty_conversation(world: World) -> None:
    made = await world.post("/v1/conversations")
    assert (made.status, made.json["metadata"]) == (200, {})
    assert await texts(world, made.json["id"]) == []
    refused = await world.post("/v1/responses", {"model": "m", "input": "x", "conversation": "conv_none"})
    assert (refused.status, refused.error["message"]) == (404, "Conversation with id 'conv_none' not found.")
    assert json.loads(refused.body)["error"]["type"] == "invalid_request_error"
