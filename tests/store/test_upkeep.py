"""Pruning, taking out, taking in, and reading by hand."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from antiphon.loop.ports import Conversation, Entry, Events, Holder, Key
from antiphon.store.lines import read, write
from antiphon.store.operations.turns import LARGE
from antiphon.store.state import State, store
from tests.databases.postgres import Cluster
from tests.store.entries import OWNER, entry, new_id, said, texts

pytestmark = pytest.mark.anyio
NOW = 1_790_000_000
DAY = 86_400


async def saved(state: State, text: str, parent: str | None = None, **more: Any) -> str:
    behind = None if parent is None else await state.before(OWNER, parent)
    made = entry(text, behind=behind, parent=parent, **more)
    await state.save(made)
    return made.id


@pytest.mark.requirement("state.retention")
async def test_pruning_takes_what_nobody_has_used_since_and_nothing_that_is_needed(state: State) -> None:
    old = await saved(state, "old", input=[said("user", "i" * LARGE)], created_at=NOW - 40 * DAY)
    used = await saved(state, "used", created_at=NOW - 40 * DAY)
    newest = await saved(state, "newest", used, created_at=NOW - DAY)
    branched = await saved(state, "branched", created_at=NOW - 40 * DAY)
    await saved(state, "first", branched, created_at=NOW - 39 * DAY)
    branch = await saved(state, "branch", branched, created_at=NOW)
    conversation = new_id("conv")
    await state.create_conversation(OWNER, Conversation(conversation, NOW - 40 * DAY, b"{}"))
    said_there = await saved(state, "there", conversation=conversation, created_at=NOW - 40 * DAY)
    running = entry("slow", status="queued", output=[], background=True, created_at=NOW - 40 * DAY)
    await state.begin(running, b"{}", Events(0, 1, b"x\n\n"), Holder("me", NOW))

    assert (await state.prune(before=NOW - 30 * DAY, events_before=NOW - DAY))["responses"] == 1
    assert await state.response(OWNER, old) is None
    for kept in (used, newest, branched, branch, said_there, running.id):
        assert await state.response(OWNER, kept) is not None
    assert len(await state.events(OWNER, running.id, -1)) == 1

    pruned = await state.prune(before=NOW + DAY, events_before=NOW + DAY)
    assert pruned["responses"] == 5, "a lane with a branch goes once its branch is gone"
    assert {name: count for name, count in (await state.size()).items() if name != "bytes"} == {
        "responses": 2, "items": 3, "conversations": 1, "running": 1, "large pieces": 1,
    }  # fmt: skip


async def test_streams_of_background_responses_go_earlier_than_they_do(state: State) -> None:
    made = entry("slow", status="queued", output=[], background=True, created_at=NOW - 2 * DAY)
    me = Holder("me", NOW)
    await state.begin(made, b"{}", Events(0, 1, b"x\n\n"), me)
    await state.end(made.id, Events(1, 1, b"y\n\n"), made.response or b"", me)
    assert (await state.prune(before=0, events_before=NOW - DAY))["pieces of streams"] == 2
    assert await state.events(OWNER, made.id, -1) == []
    assert await state.response(OWNER, made.id) is not None


@pytest.mark.requirement("state.export")
async def test_what_is_taken_out_of_one_store_stands_in_another_as_it_was(state: State, tmp_path: Path) -> None:
    a = await saved(state, "a", input=[said("user", "i" * LARGE), said("user", "nul \u0000, é, 😀")])
    b = await saved(state, "b", a)
    b2 = await saved(state, "b2", a, status="failed", output=[])
    c = await saved(state, "c", b)
    await state.delete(OWNER, b)
    conversation = new_id("conv")
    await state.create_conversation(OWNER, Conversation(conversation, NOW, b'{"x":"y"}'))
    await state.save(
        Entry(
            id=new_id("items"),
            owner=OWNER,
            created_at=NOW,
            status="items",
            input=[said("user", "one"), said("user", "gone")],
            conversation=conversation,
        )
    )
    there = await saved(state, "two", conversation=conversation)
    items = await state.conversation_items(OWNER, conversation)
    assert items is not None
    await state.delete_item(OWNER, conversation, items.items[1].holder, 1)
    await state.delete_item(OWNER, conversation, there, 1)
    await state.add_key(Key("key_1", "laptop", b"h" * 32, NOW, models=("a*",), per_minute=3))
    lines = [write(line) async for line in state.export()]

    other = store("memory", tmp_path)
    assert other is not None
    await other.open()
    lanes: dict[int, int] = {}
    assert all([await other.add(read(line), lanes) for line in lines])
    again: dict[int, int] = {}
    turns = [line for line in lines if b'"kind":"turn"' in line]
    assert not any([await other.add(read(line), again) for line in lines][-len(turns) :]), "a second time adds no turn"
    for id in (a, b2, c, there):
        before, after = await state.response(OWNER, id), await other.response(OWNER, id)
        assert before == after
        assert before is not None
    found = await other.before(OWNER, c)
    assert found is not None
    assert found.missing == b
    assert texts(await other.before(OWNER, b2)) == texts(await state.before(OWNER, b2))
    assert texts(await other.conversation_items(OWNER, conversation)) == ["one", "two"]
    assert await other.conversation(OWNER, conversation) == Conversation(conversation, NOW, b'{"x":"y"}')
    assert await other.keys() == await state.keys()
    await other.save(entry("three", conversation=conversation))
    assert texts(await other.conversation_items(OWNER, conversation))[-1] == "re: three", "and goes on from there"
    await other.close()


@pytest.mark.requirement("state.views")
async def test_the_file_can_be_read_with_plain_sql(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    state = store(str(path), tmp_path)
    assert state is not None
    await state.open()
    a = await saved(state, "hello \u0000 é")
    await saved(state, "again", a)
    await state.close()
    with sqlite3.connect(path) as plain:
        rows = plain.execute("SELECT id, model, status, previous_response_id, input_tokens FROM responses ORDER BY position").fetchall()
        assert rows[0] == (a, "m", "completed", None, 3)
        assert rows[1][3] == a
        items = plain.execute("SELECT part, type, role, item FROM response_items WHERE response = ? ORDER BY number", (a,)).fetchall()
        assert [row[:3] for row in items] == [("input", "message", "user"), ("output", "message", "assistant")]
        assert json.loads(items[0][3])["content"] == "hello \u0000 é"
        assert plain.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    plain.close()


@pytest.mark.real
@pytest.mark.requirement("state.views")
async def test_postgresql_can_be_read_with_plain_sql(postgres: Cluster, tmp_path: Path) -> None:
    url = postgres.url()
    schema = url.partition("search_path=")[2]
    state = store(url, tmp_path)
    assert state is not None
    await state.open()
    a = await saved(state, "hello \u0000 é")
    await saved(state, "again", a)
    await state.close()
    assert postgres.sql(f"SELECT id, model, input_tokens FROM {schema}.responses ORDER BY position").splitlines()[0] == f"{a}|m|3"
    told = postgres.sql(f"SELECT part, type, role FROM {schema}.response_items ORDER BY position, number")
    assert told.splitlines() == ["input||", "output||", "input|message|user", "output|message|assistant"], (
        "JSON with \\u0000 has no type there"
    )
    assert "hello" in postgres.sql(f"SELECT item FROM {schema}.response_items ORDER BY position, number LIMIT 1")
    assert postgres.sql(f"SELECT count(*) FROM {schema}.conversation_list, {schema}.key_list") == "0"
