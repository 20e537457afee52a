"""Conversations in a store, the same on both databases."""

import asyncio
from collections.abc import Sequence

import pytest

from antiphon.loop.ports import Conversation, Entry, Holder
from antiphon.store.state import State
from tests.store.entries import OWNER, entry, new_id, said, texts

pytestmark = pytest.mark.anyio
NOW = 1_790_000_000


async def conversation(state: State, *items: bytes) -> str:
    id = new_id("conv")
    await state.create_conversation(OWNER, Conversation(id, NOW, b'{"a":"b"}'))
    if items:
        await state.save(added(id, items))
    return id


def added(conversation: str, items: Sequence[bytes]) -> Entry:
    return Entry(id=new_id("items"), owner=OWNER, created_at=NOW, status="items", input=items, conversation=conversation)


@pytest.mark.requirement("state.conversations")
async def test_items_and_responses_stand_in_the_order_they_came(state: State) -> None:
    id = await conversation(state, said("user", "one"), said("assistant", "two"))
    await state.save(entry("three", conversation=id))
    await state.save(added(id, [said("user", "four")]))
    assert texts(await state.conversation_items(OWNER, id)) == ["one", "two", "three", "re: three", "four"]


@pytest.mark.requirement("state.conversations")
async def test_what_continues_a_response_of_a_conversation_does_not_add_to_it(state: State) -> None:
    id = await conversation(state, said("user", "one"))
    made = entry("two", conversation=id)
    await state.save(made)
    await state.save(entry("aside", behind=await state.before(OWNER, made.id), parent=made.id))
    await state.save(entry("three", conversation=id))
    assert texts(await state.conversation_items(OWNER, id)) == ["one", "two", "re: two", "three", "re: three"]


async def test_what_failed_does_not_add_to_it(state: State) -> None:
    id = await conversation(state, said("user", "one"))
    failed = entry("two", conversation=id, status="failed", output=[])
    await state.save(failed)
    assert texts(await state.conversation_items(OWNER, id)) == ["one"]
    assert (await state.response(OWNER, failed.id)) is not None


async def test_items_are_taken_out_and_responses_keep_what_they_said(state: State) -> None:
    id = await conversation(state, said("user", "one"), said("user", "two"))
    made = entry("three", conversation=id)
    await state.save(made)
    before = await state.conversation_items(OWNER, id)
    assert before is not None
    for item in (before.items[0], before.items[3]):
        await state.delete_item(OWNER, id, item.holder, item.number)
    assert texts(await state.conversation_items(OWNER, id)) == ["two", "three"]
    found = await state.response(OWNER, made.id)
    assert found is not None
    assert found.document == made.response


async def test_a_deleted_response_leaves_the_conversation_without_a_gap(state: State) -> None:
    id = await conversation(state, said("user", "one"))
    made = entry("two", conversation=id)
    await state.save(made)
    await state.delete(OWNER, made.id)
    before = await state.conversation_items(OWNER, id)
    assert texts(before) == ["one"]
    assert before is not None
    assert before.missing is None


async def test_metadata_is_set_and_a_deleted_conversation_is_gone(state: State) -> None:
    id = await conversation(state, said("user", "one"))
    made = entry("two", conversation=id)
    await state.save(made)
    assert await state.update_conversation(OWNER, id, b'{"c":"d"}') == Conversation(id, NOW, b'{"c":"d"}')
    assert await state.delete_conversation(OWNER, id)
    assert not await state.delete_conversation(OWNER, id)
    assert await state.conversation(OWNER, id) is None
    assert await state.conversation_items(OWNER, id) is None
    assert texts(await state.before(OWNER, made.id)) == ["one", "two", "re: two"], "its responses stay"
    await state.save(late := entry("late", conversation=id))
    assert texts(await state.before(OWNER, late.id)) == ["late", "re: late"], "an answer that was under way is kept by itself"


@pytest.mark.requirement("state.owners")
async def test_a_conversation_is_its_owners(state: State) -> None:
    id = await conversation(state, said("user", "one"))
    assert await state.conversation("key_2", id) is None
    assert await state.conversation_items("key_2", id) is None
    assert await state.update_conversation("key_2", id, b"{}") is None
    assert not await state.delete_conversation("key_2", id)
    assert not await state.hold("key_2", id, Holder("p", NOW + 9), NOW)
    foreign = entry("two", conversation=id, owner="key_2")
    await state.save(foreign)
    assert texts(await state.conversation_items(OWNER, id)) == ["one"]


@pytest.mark.requirement("state.conversation-locked")
async def test_one_answer_at_a_time_has_a_conversation(state: State) -> None:
    id = await conversation(state)
    one, two = Holder("one", NOW + 15), Holder("two", NOW + 15)
    assert await state.hold(OWNER, id, one, NOW)
    assert not await state.hold(OWNER, id, two, NOW)
    assert not await state.hold(OWNER, id, one, NOW), "not even for the same process"
    await state.let_go(OWNER, id, two)
    assert not await state.hold(OWNER, id, two, NOW), "only its holder lets go"
    await state.let_go(OWNER, id, one)
    assert await state.hold(OWNER, id, two, NOW)


@pytest.mark.requirement("state.conversation-locked")
async def test_a_hold_ends_when_its_holder_is_not_heard_of(state: State) -> None:
    id = await conversation(state)
    assert await state.hold(OWNER, id, Holder("one", NOW + 15), NOW)
    await state.still_here(Holder("one", NOW + 30))
    assert not await state.hold(OWNER, id, Holder("two", NOW + 35), NOW + 20)
    assert await state.hold(OWNER, id, Holder("two", NOW + 46), NOW + 31)
    assert await state.hold(OWNER, id, Holder("three", NOW - 85_000), NOW - 86_000), "a clock that went back a day holds nobody up"


async def test_those_that_add_at_once_are_all_there(state: State) -> None:
    id = await conversation(state)
    await asyncio.gather(*(state.save(entry(str(number), conversation=id)) for number in range(30)))
    found = texts(await state.conversation_items(OWNER, id))
    assert sorted(found[::2], key=int) == [str(number) for number in range(30)]
    assert found[1::2] == [f"re: {text}" for text in found[::2]]
