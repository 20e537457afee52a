"""Background responses in a store: events as they come, an end, and what becomes of them when their process is gone."""

import json
from typing import Any

import pytest

from antiphon.loop.ports import Conversation, Entry, Events, Holder
from antiphon.store.state import State
from tests.store.entries import OWNER, entry, new_id, said, texts

pytestmark = pytest.mark.anyio
NOW = 1_790_000_000
ME, OTHER = Holder("me", NOW + 15), Holder("other", NOW + 40)


async def begun(state: State, **more: Any) -> Entry:
    made = entry("question", status="queued", output=[], background=True, **more)
    await state.begin(made, b'{"model":"m"}', Events(0, 2, b"event 0\n\nevent 1\n\n"), ME)
    return made


def ended(made: Entry, status: str = "completed") -> bytes:
    document = json.loads(made.response or b"")
    output = [json.loads(said("assistant", "re: question"))]
    return json.dumps({**document, "status": status, "output": output, "usage": {"input_tokens": 1}}).encode()


@pytest.mark.requirement("state.background")
async def test_it_is_there_from_the_beginning_and_goes_on_to_its_end(state: State) -> None:
    made = await begun(state)
    queued = await state.response(OWNER, made.id)
    assert queued is not None
    assert (queued.document, queued.status, queued.background) == (made.response, "queued", True)
    assert await state.go_on(made.id, Events(2, 1, b"event 2\n\n"), ME)
    running = await state.response(OWNER, made.id)
    assert running is not None
    assert (running.status, json.loads(running.document)["status"]) == ("in_progress", "in_progress")
    last = ended(made)
    assert await state.end(made.id, Events(3, 1, b"event 3\n\n"), last, ME)
    done = await state.response(OWNER, made.id)
    assert done is not None
    assert (done.document, done.status, done.background) == (last, "completed", True)
    assert texts(await state.before(OWNER, made.id)) == ["question", "re: question"]
    assert await state.take_over(OTHER, NOW + 100) == []


@pytest.mark.requirement("state.events")
async def test_events_are_given_from_any_number_on(state: State) -> None:
    made = await begun(state)
    await state.go_on(made.id, Events(2, 3, b"2\n\n3\n\n4\n\n"), ME)
    assert [events.first for events in await state.events(OWNER, made.id, -1)] == [0, 2]
    assert [events.first for events in await state.events(OWNER, made.id, 1)] == [2]
    assert [events.first for events in await state.events(OWNER, made.id, 3)] == [2]
    assert await state.events(OWNER, made.id, 4) == []
    assert await state.events("key_2", made.id, -1) == []


@pytest.mark.requirement("state.taken-over")
async def test_what_a_process_left_behind_is_taken_over_once_and_the_old_one_can_do_no_harm(state: State) -> None:
    made = await begun(state)
    assert await state.take_over(OTHER, NOW + 10) == [], "its process is believed to be there"
    taken = await state.take_over(OTHER, NOW + 16)
    assert [(one.id, one.owner, one.request, one.next, one.document) for one in taken] == [
        (made.id, OWNER, b'{"model":"m"}', 2, made.response)
    ]
    assert await state.take_over(OTHER, NOW + 16) == []
    assert not await state.go_on(made.id, Events(2, 1, b"late\n\n"), ME)
    assert not await state.end(made.id, Events(2, 1, b"late\n\n"), ended(made), ME)
    assert await state.go_on(made.id, Events(2, 1, b"mine\n\n"), OTHER)
    assert (await state.events(OWNER, made.id, 1))[0].data == b"mine\n\n"


async def test_a_clock_that_went_back_leaves_nothing_behind_for_ever(state: State) -> None:
    await begun(state)
    assert len(await state.take_over(Holder("other", NOW - 86_000), NOW - 86_400)) == 1


@pytest.mark.requirement("state.background")
async def test_it_can_be_ended_by_whoever_cancels_it_but_only_once(state: State) -> None:
    made = await begun(state)
    assert not await state.cancel("key_2", made.id, ended(made, "cancelled"), lambda _: b"no")
    assert await state.cancel(OWNER, made.id, ended(made, "cancelled"), lambda number: b"cancelled %d\n\n" % number)
    assert (await state.events(OWNER, made.id, 1))[0] == Events(2, 1, b"cancelled 2\n\n")
    assert not await state.cancel(OWNER, made.id, ended(made, "cancelled"), lambda _: b"twice")
    assert not await state.end(made.id, Events(2, 1, b"x\n\n"), ended(made), ME)
    assert not await state.go_on(made.id, Events(3, 1, b"x\n\n"), ME)
    found = await state.response(OWNER, made.id)
    assert found is not None
    assert found.status == await state.status(OWNER, made.id) == "cancelled"


async def test_deleted_while_it_runs_it_is_gone(state: State) -> None:
    made = await begun(state)
    assert await state.delete(OWNER, made.id)
    assert not await state.go_on(made.id, Events(2, 1, b"x\n\n"), ME)
    assert await state.events(OWNER, made.id, -1) == []
    assert (await state.size())["running"] == 0


@pytest.mark.parametrize(("status", "adds"), [("completed", True), ("incomplete", True), ("failed", False), ("cancelled", False)])
async def test_in_a_conversation_it_has_its_place_once_it_ended_well(state: State, status: str, adds: bool) -> None:
    id = new_id("conv")
    await state.create_conversation(OWNER, Conversation(id, NOW, b"{}"))
    made = await begun(state, conversation=id)
    assert texts(await state.conversation_items(OWNER, id)) == []
    await state.end(made.id, Events(2, 1, b"x\n\n"), ended(made, status), ME)
    assert texts(await state.conversation_items(OWNER, id)) == (["question", "re: question"] if adds else [])
    assert texts(await state.before(OWNER, made.id))[0] == "question"
