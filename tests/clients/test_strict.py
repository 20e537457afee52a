"""The strict check itself: it finds what a client's own parser would pass over."""

import json
from typing import Any

import pytest

from tests.clients.strict import complaints
from tests.wires.upstream import named, response, responses_events

WHOLE = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "created_at": 1.0}
DELTA = 4


def stream(**changes: Any) -> bytes:
    events = responses_events("a", **WHOLE)
    events[-1]["response"]["usage"]["input_tokens_details"]["cache_write_tokens"] = 0
    events[DELTA] = {name: value for name, value in (events[DELTA] | changes).items() if value != "absent"}
    return named(*events)


def body(**changes: Any) -> bytes:
    made = response("a", **WHOLE) | changes
    made["usage"] = made["usage"] | {"input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0}}
    return json.dumps(made).encode()


ROWS = {
    "a good stream": ("text/event-stream", stream(), []),
    "a good answer": ("application/json", body(), []),
    "a member is missing": ("text/event-stream", stream(output_index="absent"), ["output_index: Field required"]),
    "a member of another type": ("text/event-stream", stream(output_index="0"), ["output_index: Input should be a valid integer"]),
    "a member that nobody knows": ("text/event-stream", stream(color="red"), ["color: not known to the SDK"]),
    "an event that nobody knows": ("text/event-stream", stream(type="response.sung"), ["no such event"]),
    "a setting of another type": ("application/json", body(background="no"), ["background: Input should be a valid boolean"]),
    "a setting that nobody knows": ("application/json", body(mood="good"), ["mood: not known to the SDK"]),
}


@pytest.mark.requirement("clients.strict")
@pytest.mark.parametrize("row", ROWS)
def test_what_is_wrong_is_found(row: str) -> None:
    kind, sent, expected = ROWS[row]
    found = complaints("/v1/responses", kind, sent)
    assert len(found) == len(expected), found
    assert all(words in one for words, one in zip(expected, found, strict=True))
