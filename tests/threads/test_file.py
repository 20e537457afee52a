import json
import os
from pathlib import Path

import pytest
from backports import zstd
from hypothesis import given
from hypothesis import strategies as st

from antiphon.threads import file, line
from antiphon.threads.errors import NotFound, Unreadable
from antiphon.threads.file import Form, Rollout
from antiphon.threads.line import Line
from tests.threads import samples

ENVELOPE = samples.spelled(*samples.ENVELOPE)
FLAT = samples.spelled(*samples.FLAT)
TYPESCRIPT = json.dumps(samples.TYPESCRIPT, indent=2).encode()
ERAS = {"envelope": ENVELOPE, "flat": FLAT, "typescript": TYPESCRIPT, "typescript-bom": b"\xef\xbb\xbf" + TYPESCRIPT}


def put(folder: Path, data: bytes, name: str = "rollout.jsonl") -> Rollout:
    (folder / name).write_bytes(data)
    return Rollout(folder / name)


def joined(lines: list[Line]) -> bytes:
    return b"".join(one.raw for one in lines)


@pytest.mark.requirement("threads.identity")
@pytest.mark.parametrize("data", ERAS.values(), ids=ERAS)
def test_the_lines_of_a_file_are_the_file(tmp_path: Path, data: bytes) -> None:
    rollout = put(tmp_path, data)
    lines = list(rollout.lines())
    assert joined(lines) == data
    assert [one.note() for one in lines if one.note()] == []
    assert [one.offset for one in lines] == [sum(each.size for each in lines[:at]) for at in range(len(lines))]
    assert [one.number for one in lines] == list(range(1, len(lines) + 1))


@pytest.mark.requirement("threads.cut")
@pytest.mark.parametrize("data", [samples.spelled(*samples.ENVELOPE[:4]), FLAT, TYPESCRIPT], ids=["envelope", "flat", "typescript"])
def test_cutting_a_file_anywhere_loses_the_last_line_at_most(tmp_path: Path, data: bytes) -> None:
    whole = list(put(tmp_path, data).lines())
    for cut in range(len(data)):
        kept = [one for one in whole if one.end <= cut]
        try:
            lines = list(put(tmp_path, data[:cut]).lines())
        except Unreadable:
            assert not kept
            continue
        assert joined(lines) == data[:cut]
        assert [(one.type, one.payload) for one in lines[: len(kept)]] == [(one.type, one.payload) for one in kept]
        assert not kept or len(lines) <= len(kept) + 2  # what is left may hold a whole item without the comma behind it


@given(
    parts=st.lists(st.one_of(st.just(b"\n"), st.binary(max_size=12), st.sampled_from([b'{"a":1}\n', b"\r\n", b"x" * 40])), max_size=20),
    chunk=st.integers(1, 24),
    stop=st.integers(0, 300),
)
@pytest.mark.requirement("threads.backwards")
def test_from_the_end_a_file_has_the_same_lines(
    tmp_path_factory: pytest.TempPathFactory, parts: list[bytes], chunk: int, stop: int
) -> None:
    rollout = put(tmp_path_factory.getbasetemp(), b"".join(parts), "any.jsonl")
    forward = [(one.offset, one.raw, one.type) for one in rollout.lines(0, stop)]
    before, file.CHUNK = file.CHUNK, chunk  # type: ignore[misc]
    try:
        back = [(one.offset, one.raw, one.type) for one in rollout.backwards(stop)]
    finally:
        file.CHUNK = before  # type: ignore[misc]
    assert back == forward[::-1]


@pytest.mark.requirement("threads.compressed")
def test_a_compressed_file_reads_as_the_plain_one(tmp_path: Path) -> None:
    plain, packed = put(tmp_path, ENVELOPE), put(tmp_path, zstd.compress(ENVELOPE), "rollout.jsonl.zst")
    assert packed.form() is Form.COMPRESSED
    assert list(packed.lines()) == list(plain.lines())
    assert list(packed.backwards()) == list(plain.backwards())
    assert list(packed.lines(ENVELOPE.index(b"\n") + 1)) == list(plain.lines(ENVELOPE.index(b"\n") + 1))


@pytest.mark.requirement("threads.compressed")
def test_compressed_data_that_ends_early_gives_what_there_is(tmp_path: Path) -> None:
    noise = samples.spelled(*(samples.message("user", os.urandom(20_000).hex()) for _ in range(20)))
    packed = put(tmp_path, zstd.compress(noise)[:-2_000], "rollout.jsonl.zst")
    lines = list(packed.lines())
    assert [one.type for one in lines[:10]] == ["response_item"] * 10
    assert (lines[-1].type, lines[-1].why) == ("", "cut off before its end")
    assert noise.startswith(joined(lines))


@pytest.mark.requirement("threads.compressed")
def test_damaged_compressed_data_is_told(tmp_path: Path) -> None:
    packed = bytearray(zstd.compress(ENVELOPE))
    packed[12] ^= 0xFF
    with pytest.raises(Unreadable, match="damaged zstd data"):
        list(put(tmp_path, bytes(packed)).lines())


@pytest.mark.requirement("threads.long-lines")
def test_a_line_over_the_limit_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line, "LONGEST", 100)
    monkeypatch.setattr(file, "CHUNK", 64)
    short = b'{"type":"event_msg","payload":{}}\n'
    rollout = put(tmp_path, short + b"x" * 1000 + b"\n" + short)
    lines = list(rollout.lines())
    assert [(one.type, one.size, one.raw == b"") for one in lines] == [("event_msg", 34, False), ("", 1001, True), ("event_msg", 34, False)]
    assert [(one.type, one.offset) for one in rollout.backwards()] == [("event_msg", 1035), ("", 34), ("event_msg", 0)]


@pytest.mark.requirement("threads.long-lines")
def test_a_line_of_ten_megabytes_is_read(tmp_path: Path) -> None:
    rollout = put(tmp_path, samples.spelled(samples.message("user", "x" * 10_000_000)))
    assert [(one.type, one.size > 10_000_000) for one in rollout.lines()] == [("response_item", True)]


@pytest.mark.requirement("threads.not-files")
@pytest.mark.parametrize("kind", ["missing", "folder", "pipe", "broken link", "object", "not the session's"])
def test_what_is_no_rollout_says_so(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "rollout.jsonl"
    match kind:
        case "folder":
            path.mkdir()
        case "pipe":
            os.mkfifo(path)
        case "broken link":
            path.symlink_to(tmp_path / "nowhere")
        case "object":
            path.write_text('{"session": 1, "items": []}')
        case "not the session's":
            path.write_text('{"items": []}')
        case _:
            pass
    with pytest.raises((NotFound, Unreadable)):
        list(Rollout(path).lines())


@pytest.mark.requirement("threads.not-files")
@pytest.mark.parametrize(
    "data", [b"", b"\n\n", os.urandom(5_000), b"\x7fELF" + b"\0" * 3_000, b"just text\n"], ids=["empty", "blank", "noise", "binary", "text"]
)
def test_any_bytes_are_lines_with_reasons(tmp_path: Path, data: bytes) -> None:
    lines = list(put(tmp_path, data).lines())
    assert joined(lines) == data
    assert all(one.type == "blank" or (one.type == "" and one.why) for one in lines)
