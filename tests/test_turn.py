"""One request on its way and back: what a client declared is what it is called by, whatever the upstream's stream looks like."""

import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon.protocol import request
from antiphon.protocol.document import Document
from antiphon.protocol.errors import InvalidRequest, UpstreamError
from antiphon.protocol.event_views import Event, Spoken, Streamed
from antiphon.translation.presets import DIALECTS
from antiphon.turn import Manner, Target, Turn
from tests.histories import TOOLS
from tests.translation.dialogue import Json, call, calls, complaints, delta, final, ids, output, said, sse

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


def manner(**settings: Any) -> Manner:
    return Manner(ids(), lambda: 7, **settings)


def turn(body: Json, dialect: str = "chat", api: str = "chat", **manners: Any) -> Turn:
    document = Document(json.dumps({"model": "m", "input": "hi", **body}).encode())
    return Turn(document, request.view(document), Target(api, DIALECTS[dialect], "m"), manner(**manners))


def run(asked: Turn, data: Sequence[bytes]) -> list[Streamed]:
    answer, pipeline = asked.answer(), asked.pipeline()
    events = list(pipeline.feed(answer.begin()))
    for piece in data:
        events += pipeline.feed(answer.feed(piece))
    return [*events, *pipeline.feed(answer.close())]


@dataclass(frozen=True)
class Called:
    """A call of one of TOOLS, as the model writes it and as the client must get it."""

    upstream: str
    client: Json
    arguments: str


WAYS: list[tuple[str, Json]] = [
    ("exec_command", {"type": "function_call", "name": "exec_command"}),
    ("apply_patch", {"type": "custom_tool_call", "name": "apply_patch"}),
    ("mcp__x__tool", {"type": "function_call", "name": "tool", "namespace": "mcp__x"}),
    ("mcp__x__free", {"type": "custom_tool_call", "name": "free", "namespace": "mcp__x"}),
    ("never_declared", {"type": "function_call", "name": "never_declared"}),
]


@st.composite
def called(draw: st.DrawFn, call_id: str) -> Called:
    upstream, way = draw(st.sampled_from(WAYS))
    text = draw(TEXT)
    if way["type"] == "custom_tool_call":
        return Called(upstream, {**way, "call_id": call_id, "input": text}, json.dumps({"input": text}, ensure_ascii=draw(st.booleans())))
    arguments = json.dumps({"cmd": text})
    return Called(upstream, {**way, "call_id": call_id, "arguments": arguments}, arguments)


@st.composite
def chunks(draw: st.DrawFn, made: list[Called]) -> list[Json]:
    """The calls in pieces, in any interleaving; some servers repeat the head in each piece."""
    repeats = draw(st.booleans())
    queues: list[list[Json]] = []
    for index, one in enumerate(made):
        ends = sorted(draw(st.lists(st.integers(0, len(one.arguments)), max_size=4)))
        pieces = [one.arguments[start:end] for start, end in zip([0, *ends], [*ends, len(one.arguments)], strict=True)]
        head = (one.client["call_id"], one.upstream)
        queues.append([call(index, *(head if repeats or not at else (None, None)), piece) for at, piece in enumerate(["", *pieces])])
    order = draw(st.permutations([index for index, queue in enumerate(queues) for _ in queue[1:]]))
    heads = [queue.pop(0) for queue in queues]
    return [calls(*heads), *[calls(queues[index].pop(0)) for index in order]]


@st.composite
def dialogues(draw: st.DrawFn) -> tuple[list[Called], list[Json]]:
    made = [draw(called(f"call_{number}")) for number in range(draw(st.integers(1, 4)))]
    text = draw(st.lists(st.just(delta(content="Well")), max_size=1))
    return made, [*text, *draw(chunks(made)), delta("tool_calls")]


@pytest.mark.requirement("tools.custom", "tools.namespace", "tools.round-trip", "stream.items-do-not-interleave", "stream.order")
@settings(deadline=None, max_examples=200)
@given(dialogues())
def test_calls_in_any_interleaving_come_whole_and_in_order(dialogue: tuple[list[Called], list[Json]]) -> None:
    made, told = dialogue
    events = run(turn({"tools": TOOLS}), [sse(*told)])
    assert complaints(events) == []
    items = [{key: value for key, value in item.items() if key not in ("id", "status")} for item in final(events)["output"]]
    assert [item for item in items if item["type"] != "message"] == [one.client for one in made]
    assert done_items(events) == final(events)["output"]
    assert joined_inputs(events) == [one.client["input"] for one in made if "input" in one.client]


def done_items(events: Sequence[Streamed]) -> list[Json]:
    each = [json.loads(bytes(event)) for event in events if isinstance(event, Event)]
    return [event["item"] for event in each if event["type"] == "response.output_item.done"]


def joined_inputs(events: Sequence[Streamed]) -> list[str]:
    """The freeform texts as their deltas give them; each must be what its done event says."""
    each = [json.loads(bytes(event)) for event in events if isinstance(event, Event)]
    deltas = [event for event in each if event["type"] == "response.custom_tool_call_input.delta"]
    done = [event for event in each if event["type"] == "response.custom_tool_call_input.done"]
    joined = ["".join(delta["delta"] for delta in deltas if delta["item_id"] == whole["item_id"]) for whole in done]
    assert joined == [whole["input"] for whole in done]
    return joined


@pytest.mark.requirement("stream.round-reader", "chat.json")
@settings(deadline=None)
@given(dialogues())
def test_the_json_answer_holds_what_the_stream_does(dialogue: tuple[list[Called], list[Json]]) -> None:
    made, told = dialogue
    used = {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}
    content = "Well" if any("content" in chunk["choices"][0]["delta"] for chunk in told) else None
    message = {
        "role": "assistant",
        "content": content,
        "tool_calls": [call(None, one.client["call_id"], one.upstream, one.arguments) for one in made],
    }
    body = {"choices": [{"message": message, "finish_reason": "tool_calls"}], "usage": used}
    whole = json.loads(bytes(turn({"tools": TOOLS}).whole(json.dumps(body).encode())))
    stream = final(run(turn({"tools": TOOLS}), [sse(*told, {"choices": [], "usage": used})]))
    assert [without_ids(item) for item in whole["output"]] == [without_ids(item) for item in stream["output"]]
    assert {**whole, "output": None} == {**stream, "output": None}


def without_ids(item: Json) -> Json:
    return {**item, "id": ""}


@pytest.mark.requirement("chat.json")
def test_calls_of_a_json_answer_without_ids_are_told_apart() -> None:
    entries = [call(None, None, "exec_command", "{}"), call(None, None, "exec_command", "{}")]
    body = {"choices": [{"message": {"content": None, "tool_calls": entries}, "finish_reason": "stop"}]}
    told = json.loads(bytes(turn({"tools": TOOLS}).whole(json.dumps(body).encode())))
    assert len({item["call_id"] for item in told["output"]}) == len(told["output"]) == 2


@pytest.mark.requirement("stream.truncation-is-failure")
@pytest.mark.parametrize(
    "body", [b"", b"<html>", b"{}", b"[]", b'{"choices":[]}', b'{"choices":[{}]}', b'{"error":{"message":"no"}}'], ids=ascii
)
@pytest.mark.parametrize("api", ["chat", "responses"])
def test_a_json_answer_that_is_none_is_an_upstream_error(body: bytes, api: str) -> None:
    with pytest.raises(UpstreamError) as failed:
        turn({}, "chat", api).whole(body)
    assert failed.value.failure.status >= 500


def test_a_custom_call_streams_as_raw_text() -> None:
    """The whole transcript, word by word, as Codex reads it."""
    pieces = ['{"inp', 'ut":"*** Begin', "\\nPatch\\u00e9", '"}']
    told = [calls(call(0, "c", "apply_patch", "")), *[calls(call(0, arguments=piece)) for piece in pieces], delta("tool_calls")]
    events = run(turn({"tools": TOOLS}), [sse(*told)])
    assert said(events) == [
        "created",
        "in_progress",
        "output_item.added custom apply_patch c ",
        "custom_tool_call_input.delta *** Begin",
        "custom_tool_call_input.delta \nPatché",
        "custom_tool_call_input.done *** Begin\nPatché",
        "output_item.done custom apply_patch c *** Begin\nPatché",
        "completed",
    ]
    assert complaints(events) == []


@pytest.mark.requirement("tools.namespace", "tools.custom")
def test_created_and_terminal_events_hold_the_tools_as_declared() -> None:
    chat = run(turn({"tools": TOOLS}), [sse(delta("stop"))])
    native = run(turn({"tools": TOOLS}, "vllm", "responses"), [responses_stream({"tools": [{"type": "function", "name": "mcp__x__tool"}]})])
    for events in (chat, native):
        for event in events:
            assert isinstance(event, Event)
            assert json.loads(bytes(event))["response"]["tools"] == TOOLS


def responses_stream(settings: Json, *items: Json) -> bytes:
    """What a Responses server streams whose response object shows the settings it was told."""
    begun = {"id": "resp_9", "object": "response", "status": "in_progress", "output": [], **settings}
    events: list[Json] = [{"type": "response.created", "response": begun}]
    for index, item in enumerate(items):
        arguments = {"type": "response.function_call_arguments", "item_id": item["id"], "output_index": index}
        events += [
            {"type": "response.output_item.added", "output_index": index, "item": {**item, "arguments": ""}},
            *[{**arguments, "type": "response.function_call_arguments.delta", "delta": letter} for letter in item["arguments"]],
            {**arguments, "type": "response.function_call_arguments.done", "arguments": item["arguments"], "name": item["name"]},
            {"type": "response.output_item.done", "output_index": index, "item": item},
        ]
    events.append({"type": "response.completed", "response": {**begun, "status": "completed", "output": list(items)}})
    each = [f"event: {event['type']}\ndata: {json.dumps({**event, 'sequence_number': number})}\n\n" for number, event in enumerate(events)]
    return "".join(each).encode()


@pytest.mark.requirement("tools.custom", "tools.namespace", "tools.round-trip")
@settings(deadline=None)
@given(st.data(), st.integers(1, 3))
def test_a_responses_upstreams_calls_are_restored(data: st.DataObject, count: int) -> None:
    made = [data.draw(called(f"call_{number}")) for number in range(count)]
    items = [
        {"type": "function_call", "id": f"fc_{one.client['call_id']}", "call_id": one.client["call_id"], "name": one.upstream, "arguments": one.arguments, "status": "completed"}
        for one in made
    ]  # fmt: skip
    events = run(turn({"tools": TOOLS}, "responses", "responses"), [responses_stream({}, *items)])
    assert complaints(events) == []
    told = [{key: value for key, value in item.items() if key not in ("id", "status")} for item in final(events)["output"]]
    assert told == [one.client for one in made]
    assert joined_inputs(events) == [one.client["input"] for one in made if "input" in one.client]


# An alias changes routing only.

ALIASED = {name: (name, api) for name, api in itertools.chain([("openai", "responses"), ("responses", "responses"), ("chat", "chat")])}


@pytest.mark.requirement("models.alias")
@pytest.mark.parametrize(("dialect", "api"), ALIASED.values(), ids=ALIASED)
def test_an_alias_changes_the_model_and_nothing_else(dialect: str, api: str) -> None:
    document = Document(b'{"model": "fast", "input":[{"role":"user","content":"hi"}],  "temperature":1e0, "stream":true}')
    view = request.view(document)
    plain = Turn(document, view, Target(api, DIALECTS[dialect], "fast"), manner())
    aliased = Turn(document, view, Target(api, DIALECTS[dialect], "real"), manner())
    assert {**json.loads(aliased.body), "model": "fast"} == json.loads(plain.body)
    assert json.loads(aliased.body)["model"] == "real"
    data = responses_stream({"model": "real"}) if api == "responses" else sse({**delta("stop"), "model": "real"})
    for event in run(aliased, [data]):
        assert isinstance(event, Event)
        assert json.loads(bytes(event))["response"]["model"] == "fast"


def test_no_alias_and_nothing_lowered_means_the_upstreams_own_bytes() -> None:
    asked = turn({"tools": [{"type": "function", "name": "f", "parameters": {"type": "object"}}]}, "openai", "responses")
    data = responses_stream(
        {"model": "m"}, {"type": "function_call", "id": "fc_1", "call_id": "c", "name": "f", "arguments": '{"input":"x"}'}
    )
    events = run(asked, [data])
    assert b"".join(event.wire() for event in events if not isinstance(event, Spoken)) == data


# Strict: what would be lost is refused.


def test_strict_refuses_what_would_be_lost_by_name() -> None:
    with pytest.raises(InvalidRequest, match="'truncated_by'") as refused:
        turn({"truncated_by": "me"}, strict=True)
    assert (refused.value.failure.status, refused.value.failure.param) == (400, "truncated_by")


def test_strict_lets_pass_what_is_only_renamed_or_repaired() -> None:
    asked = turn({"tools": [{"type": "function", "name": "x y", "parameters": None}]}, strict=True)
    assert [note.kind.value for note in asked.notes] == ["renamed"]


# Failures.

LATER = {
    "upstream's own": (429, {}, "3", "3"),
    "none": (429, {}, None, None),
    "by setting": (429, {"retry_after_default": 9}, None, "9"),
    "its own before the setting": (429, {"retry_after_default": 9}, "3", "3"),
    "not for others": (500, {"retry_after_default": 9}, None, None),
}


@pytest.mark.requirement("failures.rate-limit")
@pytest.mark.parametrize(("status", "settings_", "told", "shown"), LATER.values(), ids=LATER)
def test_retry_after(status: int, settings_: dict[str, Any], told: str | None, shown: str | None) -> None:
    assert turn({}, **settings_).failure(status, b"{}", retry_after=told).retry_after == shown


def test_a_dialects_own_wording_of_a_failure() -> None:
    body = b'{"error":{"type":"exceed_context_size_error","message":"too much","code":400}}'
    assert turn({}, "llama.cpp").failure(400, body, retry_after=None).code == "context_length_exceeded"


@pytest.mark.requirement("responses.no-history-echo")
@pytest.mark.parametrize(("dialect", "api"), ALIASED.values(), ids=ALIASED)
def test_the_answer_holds_no_item_of_the_request(dialect: str, api: str) -> None:
    items = [
        {"type": "message", "role": "user", "content": "hi"},
        {"type": "function_call", "call_id": "old", "name": "exec_command", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "old", "output": "done"},
    ]
    data = sse(delta(content="Hi"), delta("stop")) if api == "chat" else responses_stream({})
    events = run(turn({"input": items, "tools": TOOLS}, dialect, api), [data])
    assert "old" not in "".join(bytes(event).decode() for event in events if isinstance(event, Event))
    assert output(final(events)) == (["message Hi"] if api == "chat" else [])
