"""Responses that are kept: continued, shown, listed, deleted."""

import json
from typing import Any

import pytest

from tests.state.conftest import World, echo
from tests.wires.client import Reply
from tests.wires.upstream import chunks, data, streaming, whole

pytestmark = pytest.mark.anyio


def error(reply: Reply) -> tuple[int, str | None, str | None]:
    return reply.status, reply.error["code"], reply.error["param"]


@pytest.mark.requirement("state.byte-for-byte")
async def test_what_is_shown_later_is_what_was_sent_byte_for_byte(each: World) -> None:
    streamed = await each.stream("one", metadata={"a": "b"}, tools=[{"type": "function", "name": "f", "parameters": {}}])
    assert streamed.types[-1] == "response.completed"
    id = streamed.events[-1]["response"]["id"]
    kept = await each.get(f"/v1/responses/{id}")
    assert kept.body in streamed.body
    assert kept.json == streamed.events[-1]["response"]
    one_piece = await each.post("/v1/responses", {"model": "m", "input": "two"})
    again = await each.get(f"/v1/responses/{one_piece.json['id']}")
    assert again.body == one_piece.body
    assert again.headers["content-type"] == "application/json"


@pytest.mark.requirement("state.continued")
async def test_what_continues_a_response_sees_all_before_it(each: World) -> None:
    one = await each.create("one")
    two = await each.create("two", previous_response_id=one["id"])
    assert each.seen() == ["one", "re: one", "two"]
    assert (two["previous_response_id"], two["store"], two["background"]) == (one["id"], True, False)
    three = await each.stream("three", previous_response_id=two["id"])
    assert three.status == 200, three.body
    assert each.seen() == ["one", "re: one", "two", "re: two", "three"]
    assert {event["response"]["id"] for event in three.events if "response" in event} == {three.events[-1]["response"]["id"]}
    await each.create("aside", previous_response_id=one["id"])
    assert each.seen() == ["one", "re: one", "aside"]


async def test_each_response_has_an_id_of_its_own_whatever_the_server_calls_it(each: World) -> None:
    assert len({(await each.create("one"))["id"] for _ in range(3)}) == 3


@pytest.mark.requirement("state.upstream-keeps-nothing")
async def test_a_responses_server_is_told_to_keep_nothing(each: World) -> None:
    one = await each.create("one")
    await each.create("two", previous_response_id=one["id"], conversation=None, background=False)
    sent = json.loads(each.upstream.posts[-1].body)
    if "input" in sent:
        assert sent["store"] is False
    assert sent.keys() & {"previous_response_id", "conversation", "background"} == set()


@pytest.mark.requirement("state.effective-settings")
async def test_tools_survive_unless_said_otherwise_and_nothing_else_does(world: World) -> None:
    tool = {"type": "function", "name": "weather", "description": "d", "parameters": {"type": "object", "properties": {}}, "strict": True}
    one = await world.create("one", tools=[tool], tool_choice="required", instructions="Be brief.", temperature=0.5)
    two = await world.create("two", previous_response_id=one["id"])
    sent = json.loads(world.upstream.posts[-1].body)
    assert [one["function"]["name"] for one in sent["tools"]] == ["weather"]
    assert sent.get("tool_choice", "auto") == "auto"
    assert "temperature" not in sent
    assert world.seen() == ["one", "re: one", "two"]
    assert (two["tools"], two["instructions"], two["tool_choice"]) == ([tool], None, "auto")
    three = await world.create("three", previous_response_id=two["id"], tools=[], instructions="Be long.")
    sent = json.loads(world.upstream.posts[-1].body)
    assert "tools" not in sent
    assert world.seen() == ["Be long.", "one", "re: one", "two", "re: two", "three"]
    assert three["tools"] == []


@pytest.mark.requirement("state.continued-items")
async def test_calls_of_every_kind_and_unknown_items_are_continued(world: World) -> None:
    tools = [
        {"type": "namespace", "name": "mcp__box", "tools": [{"type": "function", "name": "open", "parameters": {"type": "object"}}]},
        {"type": "custom", "name": "apply_patch", "description": "d"},
    ]
    call = {"id": "c1", "function": {"name": "mcp__box__open", "arguments": '{"a":1}'}, "index": 0, "type": "function"}
    patch = {"id": "c2", "function": {"name": "apply_patch", "arguments": '{"input":"*** Begin"}'}, "index": 1, "type": "function"}
    answer = {
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": None, "tool_calls": [call, patch]}, "finish_reason": "tool_calls"}
        ]
    }
    world.upstream.answers(whole(answer))
    strange = {"type": "strange_new_item", "id": "x", "deep": {"er": [1]}}
    one = await world.create([{"role": "user", "content": "go"}, strange], tools=tools)
    assert [(item["type"], item["name"], item.get("namespace")) for item in one["output"]] == [
        ("function_call", "open", "mcp__box"), ("custom_tool_call", "apply_patch", None),
    ]  # fmt: skip
    world.upstream.answers(echo)
    outputs = [
        {"type": "function_call_output", "call_id": "c1", "output": "opened"},
        {"type": "custom_tool_call_output", "call_id": "c2", "output": "patched"},
    ]
    await world.create(outputs, previous_response_id=one["id"])
    sent = json.loads(world.upstream.posts[-1].body)["messages"]
    assert [message["role"] for message in sent] == ["user", "assistant", "tool", "tool"]
    assert [call["function"]["name"] for call in sent[1]["tool_calls"]] == ["mcp__box__open", "apply_patch"]
    assert [message["content"] for message in sent[2:]] == ["opened", "patched"]
    listed = (await world.get(f"/v1/responses/{one['id']}/input_items?order=asc")).json["data"]
    assert listed[1] == strange


@pytest.mark.requirement("state.bad-parent")
@pytest.mark.parametrize(
    ("id", "code"),
    [
        ("resp_nowhere", "previous_response_not_found"),
        ("resp_" + "0" * 48, "previous_response_not_found"),
        ("conv_1", "invalid_value"),
        ("resp_'; --", "invalid_value"),
        ("resp_\0", "invalid_value"),
        ("resp_é", "invalid_value"),
        ("", "invalid_value"),
        ("resp_" + "x" * 10_000, "string_above_max_length"),
    ],
    ids=["nowhere", "well-formed", "other kind", "quote", "nul", "letters", "empty", "10 KB"],
)
async def test_a_parent_that_cannot_be_is_refused_in_openais_words(world: World, id: str, code: str) -> None:
    reply = await world.post("/v1/responses", {"model": "m", "input": "x", "previous_response_id": id})
    assert error(reply) == (400, code, "previous_response_id")
    assert len(reply.body) < 600
    assert world.upstream.posts == []
    for path in ("", "/input_items"):
        shown = await world.get(f"/v1/responses/{''.join(f'%{byte:02x}' for byte in id.encode()[:300]) or '%20'}{path}")
        assert shown.status == 404


@pytest.mark.requirement("state.bad-parent")
async def test_a_parent_of_another_type_or_beside_a_conversation_is_refused(world: World) -> None:
    assert error(await world.post("/v1/responses", {"model": "m", "input": "x", "previous_response_id": 7}))[:2] == (400, "invalid_type")
    assert error(await world.post("/v1/responses", {"model": "m", "input": "x", "conversation": 7}))[:2] == (400, "invalid_type")
    both = {"model": "m", "input": "x", "previous_response_id": "resp_1", "conversation": "conv_1"}
    assert error(await world.post("/v1/responses", both))[:2] == (400, "mutually_exclusive_parameters")
    assert error(await world.post("/v1/responses", {"model": "m", "input": "x", "background": True, "store": False}))[:2] == (
        400,
        "invalid_value",
    )


@pytest.mark.requirement("state.bad-parent")
async def test_what_failed_has_nothing_to_continue_and_a_cut_answer_has(world: World) -> None:
    world.upstream.answers(streaming(data(*chunks("half", finish=None))))
    failed = (await world.stream("one")).events[-1]
    assert failed["type"] == "response.failed"
    kept = (await world.get(f"/v1/responses/{failed['response']['id']}")).json
    assert kept == failed["response"]
    refused = await world.post("/v1/responses", {"model": "m", "input": "x", "previous_response_id": kept["id"]})
    assert error(refused) == (400, "previous_response_not_completed", "previous_response_id")
    world.upstream.answers(streaming(data(*chunks("cut", finish="length"), b"[DONE]")))
    cut = (await world.stream("one")).events[-1]["response"]
    assert cut["status"] == "incomplete"
    world.upstream.answers(whole({"choices": [{"index": 0, "message": {"role": "assistant", "content": "ok"}, "finish_reason": "stop"}]}))
    await world.create("go on", previous_response_id=cut["id"])
    assert world.seen() == ["one", "cut", "go on"]


@pytest.mark.requirement("state.delete")
async def test_a_deleted_response_is_gone_and_its_chain_has_a_gap_that_is_told(world: World) -> None:
    one = await world.create("one")
    two = await world.create("two", previous_response_id=one["id"])
    deleted = await world.delete(f"/v1/responses/{one['id']}")
    assert deleted.json == {"id": one["id"], "object": "response", "deleted": True}
    for reply in (await world.get(f"/v1/responses/{one['id']}"), await world.delete(f"/v1/responses/{one['id']}")):
        assert (reply.status, reply.error["message"]) == (404, f"Response with id '{one['id']}' not found.")
    assert (await world.get(f"/v1/responses/{two['id']}")).json == two
    refused = await world.post("/v1/responses", {"model": "m", "input": "x", "previous_response_id": two["id"]})
    assert error(refused) == (400, "previous_response_not_found", "previous_response_id")
    assert one["id"] in refused.error["message"]


@pytest.mark.requirement("state.store-false")
async def test_what_is_not_to_be_stored_is_nowhere(world: World) -> None:
    one = await world.create("one")
    aside = await world.create("aside", previous_response_id=one["id"], store=False)
    assert world.seen() == ["one", "re: one", "aside"], "it may continue what was stored"
    assert (aside["store"], aside["previous_response_id"]) == (False, one["id"])
    assert (await world.get(f"/v1/responses/{aside['id']}")).status == 404
    alone = await world.create("alone", store=False)
    assert (await world.get(f"/v1/responses/{alone['id']}")).status == 404
    assert alone["store"] is False


@pytest.mark.requirement("state.input-items")
async def test_input_items_are_listed_in_pages_with_ids(world: World) -> None:
    one = await world.create([{"role": "user", "content": f"{number}"} for number in range(3)])
    two = await world.create("last", previous_response_id=one["id"])
    path = f"/v1/responses/{two['id']}/input_items"
    texts = ["0", "1", "2", "re: 2", "last"]

    def shown(page: Any) -> list[str]:
        contents = [item["content"] for item in page["data"]]
        return [content if isinstance(content, str) else content[0]["text"] for content in contents]

    everything = (await world.get(f"{path}?order=asc")).json
    assert shown(everything) == texts
    assert (everything["object"], everything["has_more"]) == ("list", False)
    ids = [item["id"] for item in everything["data"]]
    assert (everything["first_id"], everything["last_id"]) == (ids[0], ids[-1])
    assert len(set(ids)) == 5
    newest = (await world.get(f"{path}?limit=2")).json
    assert (shown(newest), newest["has_more"]) == (["last", "re: 2"], True)
    rest = (await world.get(f"{path}?limit=3&after={newest['last_id']}")).json
    assert (shown(rest), rest["has_more"]) == (["2", "1", "0"], False)
    assert shown((await world.get(f"{path}?order=asc&after={ids[3]}")).json) == ["last"]
    assert (await world.get(f"{path}?order=asc&after={ids[4]}")).json["data"] == []


@pytest.mark.parametrize(
    ("query", "status", "code", "param"),
    [
        ("limit=0", 400, "integer_below_min_value", "limit"),
        ("limit=101", 400, "integer_above_max_value", "limit"),
        ("limit=x", 400, "invalid_type", "limit"),
        ("limit=9999999999999999", 400, "invalid_type", "limit"),
        ("order=up", 400, "invalid_value", "order"),
        ("after=msg_nowhere", 404, None, None),
        ("include=all", 400, "invalid_value", "include[0]"),
        ("include[]=reasoning.encrypted_content&include[]=x", 400, "invalid_value", "include[1]"),
    ],
)
async def test_odd_questions_are_refused_by_name(world: World, query: str, status: int, code: str | None, param: str | None) -> None:
    one = await world.create("one")
    assert error(await world.get(f"/v1/responses/{one['id']}/input_items?{query}")) == (status, code, param)


@pytest.mark.requirement("state.references")
async def test_an_item_may_stand_for_one_that_is_kept(world: World) -> None:
    one = await world.create("one")
    listed = (await world.get(f"/v1/responses/{one['id']}/input_items")).json["data"]
    items = [
        {"type": "item_reference", "id": listed[0]["id"]},
        {"type": "item_reference", "id": one["output"][0]["id"]},
        {"role": "user", "content": "two"},
    ]
    two = await world.create(items)
    assert world.seen() == ["one", "re: one", "two"]
    await world.create(items, store=False)
    assert world.seen() == ["one", "re: one", "two"], "also where nothing is to be kept"
    await world.create("three", previous_response_id=two["id"])
    assert world.seen() == ["one", "re: one", "two", "re: two", "three"], "and where it is continued"
    refused = await world.post("/v1/responses", {"model": "m", "input": [{"type": "item_reference", "id": "msg_nowhere"}]})
    assert (refused.status, refused.error["param"]) == (400, "input")
    assert "Item with id 'msg_nowhere' not found." in refused.error["message"]


async def test_only_background_responses_are_streamed_again_or_cancelled(world: World) -> None:
    one = await world.create("one")
    streamed = await world.get(f"/v1/responses/{one['id']}?stream=true")
    assert (streamed.status, streamed.error["param"]) == (400, "stream")
    cancelled = await world.post(f"/v1/responses/{one['id']}/cancel")
    assert (cancelled.status, cancelled.error["message"]) == (400, "Cannot cancel a synchronous response.")
    assert (await world.post("/v1/responses/resp_nowhere/cancel")).status == 404
