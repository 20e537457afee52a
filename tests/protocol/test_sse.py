"""The SSE codec: what the specification asks, and that no split of the bytes changes what comes out."""

import tracemalloc
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from antiphon.protocol import sse
from antiphon.protocol.event_views import RUN_MARKS

TEXT_DELTA = b'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","delta":"%b"}\n\n'
CALL_DELTA = b'event: response.function_call_arguments.delta\ndata: {"type":"response.function_call_arguments.delta","delta":"%b"}\n\n'


def fed(*chunks: bytes, runs: tuple[bytes, ...] = ()) -> list[tuple[bytes, bytes]]:
    """Names and data of the events in these chunks."""
    decoder = sse.Decoder(runs=runs)
    return [event for chunk in chunks for came in decoder.feed(chunk) for event in events(came)]


def events(came: sse.Frame | sse.Run) -> list[tuple[bytes, bytes]]:
    return [(each.name, each.data) for each in (sse.frames_of(came) if isinstance(came, sse.Run) else [came])]


def cut(data: bytes, places: list[int]) -> list[bytes]:
    return [data[a:b] for a, b in pairwise([0, *sorted(min(place, len(data)) for place in places), len(data)])]


READ: dict[str, tuple[bytes, list[tuple[bytes, bytes]]]] = {
    "LF": (b"event: a\ndata: 1\n\n", [(b"a", b"1")]),
    "CRLF": (b"event: a\r\ndata: 1\r\n\r\n", [(b"a", b"1")]),
    "CR": (b"event: a\rdata: 1\r\r", [(b"a", b"1")]),
    "CR and then CRLF is a blank line": (b"data: 1\r\r\ndata: 2\n\n", [(b"", b"1"), (b"", b"2")]),
    "LF and then CRLF": (b"data: 1\n\r\ndata: 2\n\n", [(b"", b"1"), (b"", b"2")]),
    "CRLF and then LF": (b"data: 1\r\n\ndata: 2\n\n", [(b"", b"1"), (b"", b"2")]),
    "CRLF and then CR": (b"data: 1\r\n\rdata: 2\n\n", [(b"", b"1"), (b"", b"2")]),
    "each event with line ends of its own": (b"data: 1\n\ndata: 2\r\n\r\ndata: 3\r\r", [(b"", b"1"), (b"", b"2"), (b"", b"3")]),
    "one CRLF is no blank line": (b"data: 1\r\ndata: 2\r\n\r\n", [(b"", b"1\n2")]),
    "no name": (b"data: 1\n\n", [(b"", b"1")]),
    "data before the name": (b"data: 1\nevent: a\n\n", [(b"a", b"1")]),
    "no space after the colon": (b"event:a\ndata:1\n\n", [(b"a", b"1")]),
    "one space is taken off, not two": (b"data:  1\n\n", [(b"", b" 1")]),
    "data over lines": (b"data: {\ndata: }\n\n", [(b"", b"{\n}")]),
    "an empty line of data": (b"data: 1\ndata\ndata:\ndata: 2\n\n", [(b"", b"1\n\n\n2")]),
    "a colon in the data": (b"data: a: b\n\n", [(b"", b"a: b")]),
    "a comment alone": (b": keep-alive\n\ndata: 1\n\n", [(b"", b"1")]),
    "a comment inside an event": (b"event: a\n: busy\ndata: 1\n\n", [(b"a", b"1")]),
    "id, retry and unknown fields": (b"id: 7\nretry: 10\nx: y\nnothing\ndata: 1\n\n", [(b"", b"1")]),
    "a name without data": (b"event: a\n\ndata: 1\n\n", [(b"", b"1")]),
    "blank lines between": (b"\n\n\ndata: 1\n\n\n\n\ndata: 2\n\n", [(b"", b"1"), (b"", b"2")]),
    "three line feeds": (b"data: 1\n\n\ndata: 2\n\n", [(b"", b"1"), (b"", b"2")]),
    "a byte order mark": (b"\xef\xbb\xbfdata: 1\n\n", [(b"", b"1")]),
    "a byte order mark later is data": (b"data: \xef\xbb\xbf1\n\n", [(b"", b"\xef\xbb\xbf1")]),
    "[DONE]": (b"data: [DONE]\n\n", [(b"", sse.DONE)]),
    "raw UTF-8 and bytes that are none": (b"data: \xc3\xa9\xff\n\n", [(b"", b"\xc3\xa9\xff")]),
    "nothing": (b"", []),
    "no blank line": (b"data: 1\n", []),
}


@pytest.mark.requirement("sse.line-ends")
@pytest.mark.parametrize(("data", "expected"), READ.values(), ids=READ)
def test_reads(data: bytes, expected: list[tuple[bytes, bytes]]) -> None:
    assert fed(data) == expected


@pytest.mark.requirement("sse.split-anywhere", "sse.line-ends")
@pytest.mark.parametrize(("data", "expected"), READ.values(), ids=READ)
def test_reads_byte_by_byte(data: bytes, expected: list[tuple[bytes, bytes]]) -> None:
    assert fed(*[data[i : i + 1] for i in range(len(data))]) == expected


LINE = st.sampled_from([
    b"data: 1", b"data: {", b"data", b"data:x", b"event: a", b"event:", b": comment", b"id: 3", b"unknown", b"data: \xf0\x9f\x98\x80", b"",
])  # fmt: skip
END = st.sampled_from([b"\n", b"\r\n", b"\r"])
WIRE = st.lists(st.tuples(LINE, END).map(b"".join), max_size=30).map(b"".join)
PLAIN = st.lists(
    st.sampled_from([TEXT_DELTA % b"a", TEXT_DELTA % "é".encode(), CALL_DELTA % b"b", b"data: 1\n\n", b": c\n\n", b"\n", TEXT_DELTA[:-1] + b"data: 2\n\n"]),
    max_size=20,
).map(b"".join)  # fmt: skip
CUTS = st.lists(st.integers(0, 400), max_size=12)


@pytest.mark.requirement("sse.split-anywhere")
@given(head=st.sampled_from([b"", b"\xef\xbb\xbf"]), wire=st.one_of(WIRE, PLAIN), places=CUTS)
@example(head=b"", wire=b"data: 1\r\n\r\n", places=[10])
@example(head=b"\xef\xbb\xbf", wire=b"data: 1\n\n", places=[1, 2])
def test_a_split_anywhere_gives_the_same_events(head: bytes, wire: bytes, places: list[int]) -> None:
    data = head + wire
    whole = fed(data)
    assert fed(*cut(data, places)) == whole
    assert fed(*cut(data, places), runs=RUN_MARKS) == whole


def by_the_book(data: bytes) -> list[tuple[bytes, bytes]]:
    """The specification's algorithm, line by line."""
    lines = data.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")[:-1]
    found: list[tuple[bytes, bytes]] = []
    name, held = b"", None
    for line in lines:
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if not line:
            found += [] if held is None else [(name, held)]
            name, held = b"", None
        elif field == b"data":
            held = value if held is None else held + b"\n" + value
        elif field == b"event":
            name = value
    return found


@pytest.mark.requirement("sse.line-ends")
@given(wire=st.one_of(WIRE, PLAIN))
def test_reads_what_the_specification_reads(wire: bytes) -> None:
    assert fed(wire, runs=RUN_MARKS) == by_the_book(wire)


@given(wire=st.one_of(WIRE, PLAIN).filter(lambda wire: b": c" not in wire), places=CUTS)
def test_frames_forwarded_as_they_came_are_the_same_stream(wire: bytes, places: list[int]) -> None:
    decoder = sse.Decoder(runs=RUN_MARKS)
    forwarded = b"".join(came.raw for chunk in cut(wire, places) for came in decoder.feed(chunk))
    assert fed(forwarded) == fed(wire)


@pytest.mark.requirement("sse.unfinished")
@pytest.mark.parametrize("tail", [b"data: 2", b"data: 2\n", b"data: 2\r\n", b"data: 2\r", b"event: a\ndata: 2\n"], ids=repr)
def test_an_unfinished_event_is_none(tail: bytes) -> None:
    decoder = sse.Decoder()
    assert [frame.data for frame in decoder.feed(b"data: 1\n\n" + tail) if isinstance(frame, sse.Frame)] == [b"1"]
    assert decoder.rest == tail


# Runs: deltas of one kind, one behind the other, that nobody has to look inside.

RUNS: dict[str, tuple[bytes, list[int | bytes]]] = {
    "one kind": (TEXT_DELTA % b"a" * 3, [3]),
    "two kinds": (TEXT_DELTA % b"a" * 2 + CALL_DELTA % b"b" * 4, [2, 4]),
    "another event between": (TEXT_DELTA % b"a" + b"data: 1\n\n" + TEXT_DELTA % b"a", [1, b"1", 1]),
    "raw UTF-8 is looked at": (TEXT_DELTA % b"a" + TEXT_DELTA % "é".encode(), [b"a", "é".encode()]),
    "a third line is looked at": (TEXT_DELTA[:-1] % b"a" + b"data: 2\n\n", [b'a"}\n2']),
    "a comment ends a run": (TEXT_DELTA % b"a" + b": busy\n\n" + TEXT_DELTA % b"b", [1, 1]),
}


@pytest.mark.parametrize(("data", "expected"), RUNS.values(), ids=RUNS)
def test_runs(data: bytes, expected: list[int | bytes]) -> None:
    came = sse.Decoder(runs=RUN_MARKS).feed(data)
    assert len(came) == len(expected)
    for found, wanted in zip(came, expected, strict=True):
        if isinstance(wanted, int):
            assert isinstance(found, sse.Run)
            assert found.length == wanted
        else:
            assert isinstance(found, sse.Frame)
            assert wanted in found.data


def test_runs_keep_their_bytes() -> None:
    data = TEXT_DELTA % b"a" * 3 + CALL_DELTA % b"b" * 2
    assert b"".join(came.raw for came in sse.Decoder(runs=RUN_MARKS).feed(data)) == data


def test_a_run_splits_into_its_first_event_and_the_others() -> None:
    (run,) = sse.Decoder(runs=RUN_MARKS).feed(TEXT_DELTA % b"a" + TEXT_DELTA % b"b")
    assert isinstance(run, sse.Run)
    first, others = sse.split(run)
    assert first == sse.frames_of(run)[0]
    assert others is not None
    last, nothing = sse.split(others)
    assert last == sse.frames_of(run)[1]
    assert nothing is None


def test_many_deltas_in_other_scripts_cost_in_proportion() -> None:
    """One byte outside ASCII at the end must not make every event before it look through the whole run again."""
    data = TEXT_DELTA % b"a" * 20_000 + TEXT_DELTA % "é".encode()
    assert len(fed(data, runs=RUN_MARKS)) == 20_001  # with a second look for each event: minutes


# Bounds.


@pytest.mark.requirement("sse.bounded")
@pytest.mark.parametrize("end", [b"\n\n", b"\r\n\r\n"], ids=["LF", "CRLF"])
def test_an_event_over_the_limit_is_refused(end: bytes) -> None:
    decoder = sse.Decoder(limit=100)
    assert [frame.raw for frame in decoder.feed(b"data: 1" + end)] == [b"data: 1" + end]
    decoder.feed(b"data: " + b"x" * 90)
    with pytest.raises(sse.TooLong, match="longer than 100 bytes"):
        decoder.feed(b"xxxxx")


@pytest.mark.requirement("sse.bounded")
@pytest.mark.parametrize("end", [b"\n\n", b"\r\n\r\n"], ids=["LF", "CRLF"])
def test_the_limit_is_of_one_event_not_of_one_read(end: bytes) -> None:
    assert len(sse.Decoder(limit=100).feed((b"data: 1" + end) * 100)) == 100


@pytest.mark.requirement("sse.bounded")
@pytest.mark.parametrize("piece", [b"x" * 65_536, b"data: " + b"x" * 65_529 + b"\n"], ids=["one line", "many lines"])
def test_a_long_event_costs_memory_in_proportion(piece: bytes) -> None:
    decoder = sse.Decoder()
    tracemalloc.start()
    try:
        decoder.feed(b"data: 1\n")
        for _ in range(320):  # 20 MB
            assert decoder.feed(piece) == []
        assert len(decoder.feed(b"\n\n")) == 1
        assert tracemalloc.get_traced_memory()[1] < 8 * 320 * len(piece)
    finally:
        tracemalloc.stop()


@given(
    name=st.sampled_from([b"response.created", b"error"]),
    data=st.text().map(lambda text: text.encode().replace(b"\r", b"").replace(b"\n", b"")),
)
def test_what_is_encoded_is_read_again(name: bytes, data: bytes) -> None:
    assert fed(sse.encode(name, data)) == [(name, data)]
