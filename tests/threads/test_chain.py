from pathlib import Path

import pytest

from antiphon.protocol.notes import Kind
from antiphon.threads.thread import Thread
from tests.threads.samples import Json, message, meta, spelled

A, B, C = (f"0199aaaa-0000-7000-8000-00000000000{n}" for n in "abc")


def numbered(first: int, *lines: Json) -> bytes:
    return spelled(*({**line, "ordinal": number} for number, line in enumerate(lines, first)))


def based(id: str, on: str, ordinal: int, byte: int) -> Json:
    base = {"thread_id": on, "end_ordinal_exclusive": ordinal, "end_byte_offset": byte}
    return meta(id, history_mode="paginated", history_base=base)


def write(folder: Path, id: str, data: bytes, rollout: str = "") -> Path:
    path = folder / f"rollout-2026-01-01T00-00-00-{id}{f'_{rollout}' if rollout else ''}.jsonl"
    path.write_bytes(data)
    return path


def words(thread: Thread) -> list[str]:
    return [item.get("content")[0]["text"] for item in thread.history().items]


@pytest.mark.requirement("threads.chains")
def test_a_fork_begins_in_another_file_and_goes_on_in_its_own(tmp_path: Path) -> None:
    first = numbered(0, meta(A, history_mode="paginated"), message("user", "one"))
    write(tmp_path, A, first + numbered(2, message("user", "not the fork's")))
    second = numbered(2, based(B, A, 2, len(first)), message("user", "two"))
    write(tmp_path, B, second + numbered(4, message("user", "nor this")))
    newest = write(tmp_path, C, numbered(4, based(C, B, 4, len(second)), message("user", "three")))
    thread = Thread.open(newest)
    assert words(thread) == ["one", "two", "three"]
    assert [line.ordinal for line in thread.lines()] == [0, 1, 2, 3, 4, 5]
    assert [line.ordinal for line in thread.backwards()] == [5, 4, 3, 2, 1, 0]
    assert (thread.meta.id, thread.notes) == (C, [])


@pytest.mark.requirement("threads.chains")
def test_a_reverted_thread_goes_on_in_a_file_with_two_ids(tmp_path: Path) -> None:
    first = numbered(0, meta(A, history_mode="paginated"), message("user", "one"))
    write(tmp_path, A, first + numbered(2, message("user", "reverted")))
    newest = write(tmp_path, A, numbered(2, based(A, A, 2, len(first)), message("user", "two")), rollout=B)
    fork = write(tmp_path, C, numbered(4, based(C, B, 4, 10_000)))
    assert words(Thread.open(newest)) == ["one", "two"]
    assert words(Thread.open(fork)) == ["one", "two"]


@pytest.mark.requirement("threads.chains")
def test_lines_behind_the_ordinal_are_not_the_fork_s_wherever_the_offset_points(tmp_path: Path) -> None:
    write(tmp_path, A, numbered(0, meta(A, history_mode="paginated"), message("user", "one"), message("user", "behind")))
    assert words(Thread.open(write(tmp_path, B, numbered(2, based(B, A, 2, 10_000))))) == ["one"]


@pytest.mark.requirement("threads.chains")
@pytest.mark.parametrize(
    ("others", "why"),
    [
        pytest.param({}, "the thread's beginning is missing", id="missing"),
        pytest.param({A: numbered(0, based(A, B, 9, 9_999))}, "in a circle", id="a circle of two"),
        pytest.param({A: None}, "cannot be read", id="no file"),
    ],
)
def test_a_broken_chain_is_told_and_the_rest_is_read(tmp_path: Path, others: dict[str, bytes | None], why: str) -> None:
    for id, data in others.items():
        if data is None:
            (tmp_path / f"rollout-2026-01-01T00-00-00-{id}.jsonl").symlink_to(tmp_path / "fifo-that-is-not-there")
        else:
            write(tmp_path, id, data)
    thread = Thread.open(write(tmp_path, B, numbered(9, based(B, A, 9, 9_999), message("user", "kept"))))
    assert words(thread) == ["kept"]
    assert [note.kind for note in thread.chain.notes] == [Kind.BROKEN]
    assert why in thread.chain.notes[0].why or why == "cannot be read"


@pytest.mark.requirement("threads.chains")
def test_a_file_that_refers_to_itself(tmp_path: Path) -> None:
    thread = Thread.open(write(tmp_path, A, numbered(3, based(A, A, 3, 400), message("user", "kept"))))
    assert words(thread) == ["kept"]
    assert "in a circle" in thread.notes[0].why
