"""Events in, the response out."""

import json
from typing import Any

import pytest

from antiphon.protocol import stream_rules as rules
from antiphon.protocol.event_views import Event
from antiphon.protocol.round_reader import RoundReader

ITEM = {"type": "message", "id": "msg_1"}


def read(*events: tuple[str, dict[str, Any]]) -> RoundReader:
    reader = RoundReader()
    for type, members in events:
        reader.feed(Event(type, json.dumps({"type": type, **members}).encode()))
    return reader


CREATED = (rules.CREATED, {"response": {"id": "r", "status": "in_progress"}})
DONE = (rules.ITEM_DONE, {"output_index": 0, "item": ITEM})


def response(reader: RoundReader) -> Any:
    return None if reader.response is None else json.loads(bytes(reader.response))


@pytest.mark.requirement("stream.round-reader")
@pytest.mark.parametrize("end", sorted(rules.TERMINAL))
def test_the_response_is_the_terminal_events(end: str) -> None:
    told = {"id": "r", "status": "x", "output": [{"type": "other"}], "usage": {"total_tokens": 1}}
    assert response(read(CREATED, DONE, (end, {"response": told}))) == told


@pytest.mark.requirement("stream.round-reader")
@pytest.mark.parametrize("output", [{}, {"output": []}, {"output": None}], ids=["none", "empty", "null"])
def test_items_that_the_terminal_event_left_out_are_those_that_were_done(output: dict[str, Any]) -> None:
    reader = read(CREATED, DONE, (rules.COMPLETED, {"response": {"id": "r", **output}}))
    assert response(reader) == {"id": "r", "output": [ITEM]}


def test_a_response_without_items_is_as_it_was_told() -> None:
    assert response(read(CREATED, (rules.COMPLETED, {"response": {"id": "r", "output": []}}))) == {"id": "r", "output": []}


@pytest.mark.requirement("stream.truncation-is-failure")
@pytest.mark.parametrize(
    "events",
    [[], [CREATED], [CREATED, DONE], [CREATED, (rules.ERROR, {"message": "no"})], [CREATED, (rules.COMPLETED, {})], [CREATED, (rules.COMPLETED, {"response": "r"})]],
    ids=["nothing", "begun", "an item", "an error", "an end without a response", "an end with another response"],
)  # fmt: skip
def test_without_a_good_end_there_is_no_response(events: list[tuple[str, dict[str, Any]]]) -> None:
    assert response(read(*events)) is None


def test_what_begun_and_ended_it_can_be_asked() -> None:
    reader = read(
        CREATED, (rules.IN_PROGRESS, {"response": {"id": "r2"}}), (rules.ITEM_ADDED, {"item": ITEM}), (rules.ITEM_DONE, {"item": "x"})
    )
    assert reader.begun is not None
    assert reader.begun.text("id") == "r2"
    assert reader.ended is None
    assert reader.output == []
