"""Real Codex is the measure: what it sends when it resumes a file is what Antiphon rebuilds out of it."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from antiphon.history.normalisation import Senses, normalised
from antiphon.protocol.document import Document
from antiphon.threads.context import is_context
from antiphon.threads.errors import Busy
from antiphon.threads.folder import ids
from antiphon.threads.recipe import Recipe
from antiphon.threads.thread import Thread
from antiphon.threads.truncation import UNKNOWN_MODEL
from antiphon.threads.writer import Writer
from tests.eras.resumed import Json, Resumed, Served, plain, resume, served, without_ids
from tests.threads.recorded import RECORDED, Recorded
from tests.threads.writing import new_thread, write_turn

AT_ONCE = 3
UNREADABLE = {"0.20.0"}  # by the newest Codex
OTHERWISE = {"0.42.0-compacted"}  # that version put all that users had said into one message; later ones rebuild it as we do


def rebuilt(thread: Thread) -> list[Json]:
    """The history for the scripted model: pictures, no sounds, none in their own size."""
    items = normalised(thread.history(UNKNOWN_MODEL).items, Senses(audio=False, original=False)).items
    return [plain(json.loads(bytes(item))) for item in items]


async def all_resumed(recorded: Sequence[Recorded], *, by_itself: bool = False) -> list[Resumed]:
    """Each by the newest Codex, or by the version that wrote it."""
    turns = asyncio.Semaphore(AT_ONCE)

    async def one(each: Recorded) -> Resumed:
        async with turns:
            return await resume(each.files, each.newest.name, **({"version": each.version} if by_itself else {}))

    return await asyncio.gather(*map(one, recorded))


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.requirement("threads.history")
@pytest.mark.usefixtures("codex_binary")
def test_codex_sends_what_is_rebuilt() -> None:
    readable = [one for one in RECORDED if one.version not in UNREADABLE]
    for recorded, resumed in zip(readable, asyncio.run(all_resumed(readable)), strict=True):
        assert resumed.exit == 0, (recorded.id, resumed.errors)
        assert resumed.sent[len(resumed.sent) - len(resumed.new) :] == resumed.new, recorded.id
        assert resumed.past == rebuilt(recorded.thread()), recorded.id


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.full
@pytest.mark.requirement("threads.history")
def test_each_version_sends_of_its_own_what_is_rebuilt() -> None:
    compared = [one for one in RECORDED if one.id not in OTHERWISE]
    for recorded, resumed in zip(compared, asyncio.run(all_resumed(compared, by_itself=True)), strict=True):
        assert resumed.exit == 0, (recorded.id, resumed.errors)
        assert conversation(resumed.past) == conversation(rebuilt(recorded.thread())), recorded.id


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.requirement("threads.turns")
@pytest.mark.usefixtures("codex_binary")
def test_codex_shows_the_same_turns_as_far_as_it_shows_any() -> None:
    legacy = [one for one in RECORDED if one.version not in UNREADABLE and one.thread().meta.mode == "legacy"]
    for recorded, told in zip(legacy, asyncio.run(all_read(legacy)), strict=True):
        ours = [_plain(json.loads(bytes(turn.document()))) for turn in recorded.thread().turns(complete=False)]
        assert ours == [_plain(turn) for turn in told], recorded.id


async def all_read(recorded: Sequence[Recorded]) -> list[list[Json]]:
    """The turns of each thread as the newest Codex tells them; one server reads all, as their ids differ by version only."""
    turns = asyncio.Semaphore(AT_ONCE)

    async def one(each: Recorded) -> list[Json]:
        async with turns, served(each.files) as server:
            told = await server.ask("thread/read", {"threadId": ids(each.newest.name)[0], "includeTurns": True})
            return told["thread"]["turns"]

    return await asyncio.gather(*map(one, recorded))


def _plain(told: Any) -> Any:
    """Without what is null, and without the one field that is not of the file."""
    if isinstance(told, dict):
        return {name: _plain(value) for name, value in told.items() if value is not None and name != "rootTurnId"}
    return [_plain(value) for value in told] if isinstance(told, list) else told


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.requirement("threads.writing", "threads.one-writer")
@pytest.mark.usefixtures("codex_binary")
def test_codex_lists_shows_and_continues_what_antiphon_writes(tmp_path: Path) -> None:
    paths = {mode: new_thread(tmp_path, number, mode) for number, mode in enumerate(("legacy", "paginated"), 1)}
    asyncio.run(_goes_on({path.name: path.read_bytes() for path in paths.values()}))


async def _goes_on(files: Mapping[str, bytes]) -> None:
    known = {ids(name)[0]: name for name in files}
    async with served(files) as server:
        listed = await server.ask("thread/list", {})
        assert {(one["id"], one["preview"]) for one in listed["data"]} == {(id, "hello there") for id in known}
        for id, name in known.items():
            resumed = await server.ask("thread/resume", {"threadId": id})
            assert [item["type"] for turn in resumed["thread"]["turns"] for item in turn["items"]][:1] == ["userMessage"]
            assert (await server.turn(id, "and on"))["status"] == "completed"
            with pytest.raises(Busy):
                Writer.open(server.place / name)
        await _other_way(server, known)


async def _other_way(server: Served, known: Mapping[str, str]) -> None:
    """Antiphon goes on with what Codex went on with, once Codex lets go of it."""
    for id in known:
        await server.ask("thread/archive", {"threadId": id})
        await server.ask("thread/unarchive", {"threadId": id})
    for name in known.values():
        path = next(server.home.rglob(name))
        with Writer.open(path) as writer:
            write_turn(writer, Recipe(writer.meta.id or "", writer.is_paginated), 7, "a third time")
        thread = Thread.open(path)
        said = ["".join(part["text"] for part in turn.items[0].get("content")) for turn in thread.turns()]
        assert (said, thread.notes) == (["hello there", "and on", "a third time"], [])
    for id in known:
        told = await server.ask("thread/resume", {"threadId": id})
        assert (await server.turn(id, "and a fourth"))["status"] == "completed"
        assert told["thread"]["id"] == id


def conversation(items: Sequence[Json]) -> list[Json]:
    """What old versions do otherwise than the newest, taken out: they put the context of the run in front of a compacted history, and 0.20 of
    any; from 0.98 to 0.125 they word the JSON of a tool's output anew.
    """
    return [_worded(item) for item in without_ids(items) if not is_context(Document.of(item))]


def _worded(item: Json) -> Json:
    output = item.get("output")
    if not isinstance(output, str) or not output.startswith('{"output":'):
        return item
    told = json.loads(output)
    about = told["metadata"]
    text = f"Exit code: {about['exit_code']}\nWall time: {about['duration_seconds']} seconds\nOutput:\n{told['output']}"
    return {**item, "output": text}
