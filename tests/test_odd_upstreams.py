"""Model servers that say anything at all in any member: the stream still ends, with an answer or a failure, and nothing breaks."""

import contextlib
import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest

from antiphon.protocol.errors import UpstreamError
from tests.test_turn import run, turn
from tests.translation.dialogue import Json, call, calls, delta
from tests.wires.upstream import responses_events

SPELLINGS = ("null", "1" + "0" * 400, '"x"', "[[]]", "{}", "")
"""The last one takes the member away."""
MARK = "<here>"
TOOLS: list[Json] = [{"type": "custom", "name": "f"}, {"type": "namespace", "name": "n", "tools": [{"type": "function", "name": "f"}]}]
CALL: Json = {"type": "function_call", "id": "fc_1", "status": "completed", "call_id": "c", "name": "f", "arguments": '{"input":"x"}'}
THOUGHT: Json = {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Hm"}]}
_PLACE: Json = {"item_id": "fc_1", "output_index": 1}
_TOLD = responses_events("hi")
_RESPONSE = _TOLD[-1]["response"] | {"output": [_TOLD[-2]["item"], CALL, THOUGHT]}
EVENTS: list[Json] = [
    *_TOLD[:-1],
    {"type": "response.output_item.added", "output_index": 1, "item": CALL | {"arguments": "", "status": "in_progress"}},
    {"type": "response.function_call_arguments.delta", **_PLACE, "delta": CALL["arguments"]},
    {"type": "response.function_call_arguments.done", **_PLACE, "name": "f", "arguments": CALL["arguments"]},
    {"type": "response.output_item.done", "output_index": 1, "item": CALL},
    {"type": "response.output_item.done", "output_index": 2, "item": THOUGHT},
    {"type": "response.completed", "response": _RESPONSE},
]
CHUNKS: list[Json] = [
    delta(role="assistant", content="hi", reasoning_content="Hm"),
    calls(call(0, "a", "f", '{"input":"x"}')),
    delta("tool_calls"),
    {
        "choices": [],
        "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3, "prompt_tokens_details": {"cached_tokens": 1}},
    },
]
SERVERS: dict[str, tuple[str, str, list[Json]]] = {
    "chat": ("chat", "chat", CHUNKS),
    "responses": ("responses", "responses", EVENTS),
    "llama.cpp": ("responses", "llama.cpp", EVENTS),
    "openai": ("responses", "openai", EVENTS),
}


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, member in members:
        yield from paths(member, (*path, name))


def odd(document: Any, path: tuple[Any, ...], spelling: str) -> bytes:
    """The document with another value in one place."""
    changed = copy.deepcopy(document)
    inner = changed
    for name in path[:-1]:
        inner = inner[name]
    inner[path[-1]] = MARK
    if not spelling:
        del inner[path[-1]]
    return json.dumps(changed).replace(f'"{MARK}"', spelling).encode()


@pytest.mark.requirement("upstreams.anything")
@pytest.mark.parametrize(("api", "dialect", "told"), SERVERS.values(), ids=SERVERS)
def test_a_stream_with_anything_in_any_member_ends(api: str, dialect: str, told: list[Json]) -> None:
    data = [json.dumps(each).encode() for each in told]
    for number, document in enumerate(told):
        for path in paths(document):
            for spelling in SPELLINGS:
                pieces = [*data[:number], odd(document, path, spelling), *data[number + 1 :]]
                made = run(
                    turn({"tools": TOOLS, "max_output_tokens": 3}, dialect, api), [b"".join(b"data: %b\n\n" % piece for piece in pieces)]
                )
                assert made[-1].type in {"response.completed", "response.incomplete", "response.failed"}, (number, path, spelling)


@pytest.mark.requirement("upstreams.anything")
@pytest.mark.parametrize("dialect", ["responses", "llama.cpp"])
def test_a_response_with_anything_in_any_member_is_an_answer_or_a_failure(dialect: str) -> None:
    for path in paths(_RESPONSE):
        for spelling in SPELLINGS:
            asked = turn({"tools": TOOLS, "max_output_tokens": "x"}, dialect, "responses")
            with contextlib.suppress(UpstreamError):
                assert asked.whole(odd(_RESPONSE, path, spelling)).members
