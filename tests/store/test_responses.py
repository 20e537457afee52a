"""Responses in a store, the same on both databases."""

import asyncio
import json

import pytest

from antiphon.loop.ports import Before
from antiphon.store.operations.turns import LARGE
from antiphon.store.state import State
from tests.store.entries import OWNER, entry, new_id, said, texts

pytestmark = pytest.mark.anyio


async def kept(state: State, text: str, parent: str | None = None, **more: object) -> str:
    """Saves a response that continues another; its id."""
    behind = None if parent is None else await state.before(OWNER, parent)
    made = entry(text, behind=behind, parent=parent, **more)
    await state.save(made)
    return made.id


@pytest.mark.requirement("state.byte-for-byte")
async def test_a_response_comes_back_in_its_own_bytes(state: State) -> None:
    made = entry("hello", request={"model": "m", "tools": [{"type": "custom", "name": "x"}], "metadata": {"a": "b"}})
    await state.save(made)
    found = await state.response(OWNER, made.id)
    assert found is not None
    assert (found.document, found.status, found.background) == (made.response, "completed", False)


@pytest.mark.requirement("state.chain")
async def test_a_chain_reads_oldest_first_and_branches_from_anywhere(state: State) -> None:
    a = await kept(state, "a")
    b = await kept(state, "b", a)
    c = await kept(state, "c", b)
    b2 = await kept(state, "b2", a)
    c2 = await kept(state, "c2", b2)
    c3 = await kept(state, "c3", b2)
    assert texts(await state.before(OWNER, c)) == ["a", "re: a", "b", "re: b", "c", "re: c"]
    assert texts(await state.before(OWNER, c2)) == ["a", "re: a", "b2", "re: b2", "c2", "re: c2"]
    assert texts(await state.before(OWNER, c3)) == ["a", "re: a", "b2", "re: b2", "c3", "re: c3"]
    assert texts(await state.before(OWNER, a)) == ["a", "re: a"]


async def test_the_settings_of_what_is_continued_can_be_read(state: State) -> None:
    tool = {"type": "function", "name": "f"}
    made = await kept(state, "a", request={"model": "m", "tools": [tool]})
    before = await state.before(OWNER, made)
    assert before is not None
    assert before.settings is not None
    assert before.settings.get("tools") == [tool]


@pytest.mark.requirement("state.linear")
async def test_a_turn_writes_as_much_at_the_end_of_a_chain_as_at_its_beginning(state: State) -> None:
    parent = await kept(state, "0")
    sizes: list[dict[str, int]] = []
    for number in range(1, 61):
        parent = await kept(state, "x" * 20, parent)
        if number in (10, 20, 50, 60):
            sizes.append(await state.size())
    rows = [{name: size[name] for name in size if name != "bytes"} for size in sizes]
    assert {name: rows[1][name] - rows[0][name] for name in rows[0]} == {name: rows[3][name] - rows[2][name] for name in rows[0]}
    assert rows[3]["responses"] == 61
    assert rows[3]["items"] == 122
    assert rows[3]["large pieces"] == 1


async def test_two_that_continue_the_same_at_once_both_stand(state: State) -> None:
    a = await kept(state, "a")
    behind = await state.before(OWNER, a)
    made = [entry(f"b{number}", behind=behind, parent=a) for number in range(20)]
    await asyncio.gather(*(state.save(one) for one in made))
    for number, one in enumerate(made):
        assert texts(await state.before(OWNER, one.id)) == ["a", "re: a", f"b{number}", f"re: b{number}"]


async def test_what_failed_stands_aside(state: State) -> None:
    a = await kept(state, "a")
    failed = await kept(state, "no", a, status="failed", output=[])
    b = await kept(state, "b", a)
    before = await state.before(OWNER, failed)
    assert before is not None
    assert before.status == "failed"
    assert texts(await state.before(OWNER, b)) == ["a", "re: a", "b", "re: b"]


@pytest.mark.requirement("state.delete")
async def test_a_deleted_response_is_gone_and_what_continued_it_says_so(state: State) -> None:
    a = await kept(state, "a")
    b = await kept(state, "b", a)
    c = await kept(state, "c", b)
    assert await state.delete(OWNER, b)
    assert not await state.delete(OWNER, b)
    assert await state.response(OWNER, b) is None
    assert await state.before(OWNER, b) is None
    before = await state.before(OWNER, c)
    assert before is not None
    assert before.missing == b
    assert (await state.before(OWNER, a) or before).missing is None
    assert (await state.size())["items"] == 4


@pytest.mark.requirement("state.owners")
async def test_what_is_somebody_elses_is_not_there(state: State) -> None:
    a = await kept(state, "a")
    assert await state.response("key_2", a) is None
    assert await state.before("key_2", a) is None
    assert await state.inputs("key_2", a) is None
    assert not await state.delete("key_2", a)
    assert await state.response(OWNER, a) is not None


@pytest.mark.requirement("state.large-once")
async def test_large_items_are_kept_once_for_each_owner_and_go_with_their_last_use(state: State) -> None:
    image = said("user", "i" * LARGE)
    first = await kept(state, "a", input=[image])
    second = await kept(state, "b", first, input=[image, image])
    other = await kept(state, "c", owner="key_2", input=[image])
    assert (await state.size())["large pieces"] == 2 + 2  # the image and the form, of two owners
    inputs = await state.inputs(OWNER, second)
    assert inputs is not None
    assert [item.data for item in inputs if item.is_input] == [image] * 3
    await state.delete(OWNER, first)
    assert (await state.size())["large pieces"] == 4
    await state.delete(OWNER, second)
    await state.delete("key_2", other)
    assert (await state.size())["large pieces"] == 0


@pytest.mark.requirement("state.item-ids")
async def test_items_are_found_by_their_ids_which_need_not_be_unique(state: State) -> None:
    same = [said("assistant", text, id="msg_1") for text in ("older", "newer")]
    first = await kept(state, "a", output=[same[0]])
    second = await kept(state, "b", first, output=[same[1]])
    await kept(state, "c", owner="key_2", output=[said("assistant", "foreign", id="msg_1")])
    made = f"msg_{second.removeprefix('resp_')}_in0"
    found = await state.named(OWNER, ["msg_1", made, "msg_9", f"{made[:-1]}9"])
    assert found == {"msg_1": same[1], made: said("user", "b")}
    assert await state.named("key_2", [made]) == {}


async def test_input_is_what_led_to_the_response(state: State) -> None:
    a = await kept(state, "a")
    b = await kept(state, "b", a)
    inputs = await state.inputs(OWNER, b)
    assert inputs is not None
    assert [json.loads(item.data)["content"] for item in inputs] == ["a", "re: a", "b"]


@pytest.mark.requirement("state.odd-ids")
@pytest.mark.parametrize("id", ["", "resp_'; DROP TABLE turns; --", 'resp_"', "resp_%", "é" * 10_000, "resp_\ufffd", "resp_\\0"])
async def test_no_id_is_too_odd(state: State, id: str) -> None:
    assert await state.response(OWNER, id) is None
    assert await state.before(OWNER, id) is None
    assert not await state.delete(OWNER, id)
    assert await state.named(OWNER, [id]) == {}
    assert await state.conversation(OWNER, id) is None


async def test_items_that_are_no_objects_are_kept_as_they_are(state: State) -> None:
    made = entry("a", input=[b'"text"', b"17", b"null", b'{"type":"\\u0000"}'])
    await state.save(made)
    before = await state.before(OWNER, made.id)
    assert before is not None
    assert [item.data for item in before.items if item.is_input] == list(made.input)


async def test_many_items_in_one_turn(state: State) -> None:
    made = entry("a", input=[said("user", str(number)) for number in range(3000)])
    await state.save(made)
    assert texts(await state.before(OWNER, made.id))[2998:] == ["2998", "2999", "re: a"]


async def test_a_chain_over_many_branches_is_read_whole(state: State) -> None:
    """Each turn branches off the one before, so that every turn has a lane of its own."""
    parent = await kept(state, "0")
    for number in range(1, 40):
        await kept(state, "aside", parent)
        parent = await kept(state, str(number), parent)
    found: Before | None = await state.before(OWNER, parent)
    assert texts(found)[::2] == [str(number) for number in range(40)]


def test_ids_are_made_anew() -> None:
    assert new_id() != new_id()
