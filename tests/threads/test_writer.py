import json
import subprocess
import sys
from pathlib import Path

import pytest
from backports import zstd

from antiphon.threads.errors import Busy, Refused
from antiphon.threads.file import Rollout
from antiphon.threads.recipe import NewThread, Recipe
from antiphon.threads.thread import Thread
from antiphon.threads.writer import Writer
from tests.threads.recorded import RECORDED
from tests.threads.samples import FLAT, Json, event, message, meta, spelled
from tests.threads.test_file import put
from tests.threads.writing import AT, new_thread, write_turn

NOTE = {"type": "agent_message", "message": "more"}
KILLED = """
import os, sys
from pathlib import Path
from antiphon.threads.writer import Writer
writer = Writer.open(Path(sys.argv[1]))
for _ in range(3):
    writer.append("event_msg", {"type": "agent_message", "message": "more"})
os._exit(9)
"""
BOTH = pytest.mark.parametrize("mode", ["legacy", "paginated"])


def lines(path: Path) -> list[Json]:
    return [json.loads(one) for one in path.read_bytes().splitlines()]


@BOTH
@pytest.mark.requirement("threads.writing")
def test_a_new_thread_reads_as_one_of_codex_s(tmp_path: Path, mode: str) -> None:
    path = new_thread(tmp_path, 1, mode)
    thread = Thread.open(path)
    [turn] = thread.turns()
    shown = [str(one.text("type")) for one in turn.items]
    assert (thread.notes, thread.meta.mode, turn.status) == ([], mode, "completed")
    assert shown == ["userMessage", "reasoning", "commandExecution", "agentMessage"]
    assert [one.text("type") for one in thread.history().items] == [
        "message",
        "reasoning",
        "function_call",
        "function_call_output",
        "message",
    ]
    assert path.relative_to(tmp_path).as_posix() == f"sessions/2026/05/01/rollout-2026-05-01T10-00-00-{thread.meta.id}.jsonl"
    ordinals = [one.get("ordinal") for one in lines(path)]
    assert ordinals == (list(range(len(ordinals))) if mode == "paginated" else [None] * len(ordinals))


@BOTH
@pytest.mark.requirement("threads.writing")
def test_an_opened_thread_keeps_its_mode(tmp_path: Path, mode: str) -> None:
    path = new_thread(tmp_path, 1, mode)
    before = path.read_bytes()
    with Writer.open(path, now=lambda: AT) as writer:
        write_turn(writer, Recipe(writer.meta.id or "", writer.is_paginated), 2)
    assert path.read_bytes().startswith(before)
    turns = list(Thread.open(path).turns())
    assert [[str(one.text("type")) for one in turn.items] for turn in turns] == [
        ["userMessage", "reasoning", "commandExecution", "agentMessage"]
    ] * 2
    numbers = [one.get("ordinal") for one in lines(path)]
    assert numbers == (list(range(len(numbers))) if mode == "paginated" else [None] * len(numbers))


@pytest.mark.requirement("threads.writing")
def test_a_fork_goes_on_at_the_ordinal_where_its_base_ends(tmp_path: Path) -> None:
    [forked] = [one for one in RECORDED if one.id == "0.169.0-forked"]
    for name, data in forked.files.items():
        (tmp_path / name).write_bytes(data)
    path = tmp_path / forked.newest.name
    last = lines(path)[-1]["ordinal"]
    with Writer.open(path) as writer:
        writer.append("event_msg", NOTE)
    assert lines(path)[-1]["ordinal"] == last + 1
    base = {"thread_id": "0199aaaa-0000-7000-8000-000000000001", "end_ordinal_exclusive": 7, "end_byte_offset": 100}
    new = NewThread(
        id="0199aaaa-0000-7000-8000-00000000000f", timestamp="t", cwd="/", cli_version="1", mode="paginated", more={"history_base": base}
    )
    with Writer.create(tmp_path / "fork.jsonl", new.meta()) as writer:
        writer.append("event_msg", NOTE)
    assert [one["ordinal"] for one in lines(tmp_path / "fork.jsonl")] == [7, 8]


@pytest.mark.requirement("threads.crash")
@pytest.mark.parametrize(
    ("mode", "end", "expected"),
    [
        pytest.param("legacy", b"", b"", id="whole"),
        pytest.param("legacy", b'{"timestamp":"t","type":"event_msg","payload":{"type":"x"}}', b"\n", id="only the line end is missing"),
        pytest.param("legacy", b'{"timestamp":"t","ty', b"\n", id="cut, legacy"),
        pytest.param("paginated", b'{"timestamp":"t","ty', None, id="cut, paginated"),
    ],
)
def test_a_line_that_was_cut_is_closed_before_the_next(tmp_path: Path, mode: str, end: bytes, expected: bytes | None) -> None:
    path = put(tmp_path, spelled(meta(history_mode=mode), event("agent_message", message="a"))).path
    before = path.read_bytes()
    path.write_bytes(before + end)
    with Writer.open(path, now=lambda: AT) as writer:
        writer.append("event_msg", NOTE)
    kept = before if expected is None else before + end + expected
    assert path.read_bytes().startswith(kept + b'{"timestamp":"2026-05-01T10:00:00.000Z",')
    assert json.loads(path.read_bytes().splitlines()[-1])["payload"] == NOTE


@pytest.mark.requirement("threads.one-writer")
def test_a_second_writer_is_refused(tmp_path: Path) -> None:
    path = new_thread(tmp_path, 1)
    with Writer.open(path), pytest.raises(Busy, match="already has an active writer"):
        Writer.open(path)
    Writer.open(path).close()
    assert [one.name for one in (tmp_path / "thread-writer-locks").iterdir()] == ["019b0000-0000-7000-8000-000000000001.lock"]


@pytest.mark.requirement("threads.one-writer")
@pytest.mark.parametrize("how", ["appended", "replaced", "deleted"])
def test_what_somebody_else_did_to_the_file_is_noticed(tmp_path: Path, how: str) -> None:
    path = put(tmp_path, spelled(meta())).path
    with Writer.open(path) as writer:
        match how:
            case "appended":
                with path.open("ab") as file:
                    file.write(b"{}\n")
            case "replaced":
                (tmp_path / "other").write_bytes(path.read_bytes())
                (tmp_path / "other").replace(path)
            case _:
                path.unlink()
        with pytest.raises(Busy, match="by somebody else"):
            writer.append("event_msg", NOTE)


@pytest.mark.requirement("threads.compressed")
def test_a_compressed_thread_is_unpacked_when_it_goes_on(tmp_path: Path) -> None:
    data = spelled(meta(), message("user", "one"))
    packed = put(tmp_path, zstd.compress(data), "rollout.jsonl.zst").path
    with Writer.open(packed) as writer:
        writer.append("event_msg", NOTE)
        assert writer.path == tmp_path / "rollout.jsonl"
    assert [one.name for one in tmp_path.iterdir()] == ["rollout.jsonl"]
    assert (tmp_path / "rollout.jsonl").read_bytes().startswith(data)


@pytest.mark.requirement("threads.writing")
def test_what_cannot_be_written_to(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="convert it first"):
        Writer.open(put(tmp_path, spelled(*FLAT)).path)
    with pytest.raises(Refused, match="does not know"):
        Writer.open(put(tmp_path, spelled(meta(history_mode="tomorrow"))).path)
    with pytest.raises(Refused, match="lacks cwd") as lacking:
        Writer.create(tmp_path / "new.jsonl", {"id": "x", "timestamp": "t", "originator": "o", "cli_version": "1"})
    assert lacking.value.param == "cwd"
    put(tmp_path, b"", "there.jsonl")
    with pytest.raises(Refused, match="already there"):
        Writer.create(tmp_path / "there.jsonl", meta()["payload"])
    assert not (tmp_path / "new.jsonl").exists()


@pytest.mark.requirement("threads.crash")
def test_a_writer_that_is_killed_leaves_whole_lines(tmp_path: Path) -> None:
    path = new_thread(tmp_path, 1)
    killed = subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    assert killed.returncode == 9
    thread = Thread.open(path)
    assert thread.notes == []
    assert [one.payload.text("message") for one in list(Rollout(path).lines())[-3:]] == ["more"] * 3
    Writer.open(path).close()
