"""Sequence numbers: from 0 without a gap; what came numbered rightly keeps its bytes."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon.protocol.event_views import Event, Spoken
from antiphon.stages.numbering import Numbering
from tests.stages.wire import arrived, event, frame

DELTA = "response.output_text.delta"


def numbers(wire: bytes) -> list[int]:
    return [json.loads(block.split(b"data: ", 1)[1])["sequence_number"] for block in wire.split(b"\n\n")[:-1]]


def stream(*numbered: int | None) -> bytes:
    told = [{} if number is None else {"sequence_number": number} for number in numbered]
    return b"".join(frame(DELTA, item_id="m", delta=str(at), **more) for at, more in enumerate(told))


ROWS = {
    "as it should be": ((0, 1, 2), True),
    "none at all": ((None, None, None), False),
    "from 1": ((1, 2, 3), False),
    "a gap": ((0, 1, 3), False),
    "one twice": ((0, 0, 1), False),
    "some": ((0, None, 2), False),
    "backwards": ((2, 1, 0), False),
}


@pytest.mark.requirement("stream.order")
@pytest.mark.parametrize("runs", [False, True], ids=["one by one", "runs"])
@pytest.mark.parametrize(("numbered", "same"), ROWS.values(), ids=ROWS)
def test_numbers_rise_by_one_from_zero(numbered: tuple[int | None, ...], same: bool, runs: bool) -> None:
    data, numbering = stream(*numbered), Numbering()
    wire = numbering.wire(arrived(data, runs=runs))
    assert numbers(wire) == [0, 1, 2]
    assert numbering.last == 2
    assert (wire == data) is same


@pytest.mark.requirement("stream.order", "responses.completed-events")
@settings(deadline=None)
@given(st.lists(st.none() | st.integers(0, 6), max_size=12), st.booleans())
def test_whatever_the_upstream_did(numbered: list[int | None], runs: bool) -> None:
    wire = Numbering().wire(arrived(stream(*numbered), runs=runs))
    assert numbers(wire) == list(range(len(numbered)))
    assert [json.loads(block.split(b"data: ", 1)[1])["delta"] for block in wire.split(b"\n\n")[:-1]] == [
        str(at) for at in range(len(numbered))
    ]


def test_a_row_of_our_own_is_its_events_numbered() -> None:
    row = Spoken(DELTA, (b'{"type":"%b","delta":' % DELTA.encode(), b"}"), [b'"a"', b'"b"', b'"\\"sequence_number\\":9"'])
    wire = Numbering().wire([event("a"), row, event("b")])
    assert numbers(wire) == [0, 1, 2, 3, 4]
    assert wire == Numbering().wire([event("a"), *row.events(), event("b")])


def test_from_an_added_event_on_all_are_renumbered() -> None:
    first, second, third = (each for each in arrived(stream(0, 1, 2)))
    wire = Numbering().wire([first, event("response.in_progress", response={}), second, third])
    assert numbers(wire) == [0, 1, 2, 3]
    assert wire.startswith(stream(0))


def test_a_text_that_looks_like_a_number_is_none() -> None:
    data = frame(DELTA, item_id="m", delta='"sequence_number":0}', sequence_number=7)
    assert numbers(Numbering().wire(arrived(data))) == [0]
    assert numbers(Numbering().wire([Event(DELTA, b'{"type":"%b","delta":"x"}' % DELTA.encode())])) == [0]
