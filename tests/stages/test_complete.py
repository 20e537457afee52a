"""What llama.cpp and others leave out of their events is filled in; what is there is never changed."""

import json
from typing import Any

import pytest

from antiphon.protocol import response
from antiphon.protocol.document import Document
from antiphon.protocol.event_views import Event
from antiphon.protocol.stream_validator import StreamValidator
from antiphon.stages.complete import Complete
from antiphon.stages.numbering import Numbering
from antiphon.stages.pipeline import Pipeline
from tests.stages.wire import arrived, frame, read
from tests.translation.dialogue import ids

MESSAGE = {"type": "message", "role": "assistant", "status": "completed", "content": []}
CALL = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}", "status": "completed"}
PART = {"type": "output_text", "text": "Hi", "annotations": []}


def complete() -> Complete:
    begun = response.begun(Document(b'{"model":"m","input":"hi","temperature":0.5}'), id="resp_1", now=7)
    return Complete(lambda: begun, new_id=ids())


def spare(*, ids_told: bool) -> bytes:
    """A stream with nothing in it but what is new, as llama.cpp's."""
    message = {**MESSAGE, **({"id": "m"} if ids_told else {})}
    call = {**CALL, **({"id": "f"} if ids_told else {})}
    at = {"item_id": "m"} if ids_told else {}
    return b"".join(
        (
            frame("response.created", response={"id": "r", "object": "response", "status": "in_progress"}),
            frame("response.output_item.added", item=message),
            frame("response.content_part.added", part={**PART, "text": ""}, **at),
            frame("response.output_text.delta", delta="H", **at),
            frame("response.output_text.delta", delta="i", **at),
            frame("response.output_text.done", text="Hi", **at),
            frame("response.content_part.done", part=PART, **at),
            frame("response.output_item.done", item=message),
            frame("response.output_item.added", item=call),
            frame("response.function_call_arguments.delta", delta="{}"),
            frame("response.function_call_arguments.done", arguments="{}"),
            frame("response.output_item.done", item=call),
            frame("response.completed", response={"id": "r", "status": "completed", "usage": {"input_tokens": 3, "output_tokens": 4, "total_tokens": 7}}),
        )
    )  # fmt: skip


@pytest.mark.requirement("responses.completed-events", "stream.order")
@pytest.mark.parametrize("runs", [False, True], ids=["one by one", "runs"])
@pytest.mark.parametrize("ids_told", [False, True], ids=["no ids", "ids"])
def test_a_spare_stream_becomes_a_whole_one(ids_told: bool, runs: bool) -> None:
    made = Pipeline([complete()]).feed(arrived(spare(ids_told=ids_told), runs=runs))
    events = [each for one in made for each in ([one] if isinstance(one, Event) else one.events())]
    validator = StreamValidator()
    assert [note for each in events for note in validator.feed(each)] == []
    told = [read(each) for each in events]
    assert [each.get("output_index") for each in told] == [None, *[0] * 7, *[1] * 4, None]
    assert [each["content_index"] for each in told if "content_index" in each] == [0] * 5
    items = [each["item"]["id"] for each in told if "item" in each]
    assert items[0] == items[1] != items[2] == items[3]
    assert {each["item_id"] for each in told if "item_id" in each} == set(items)


@pytest.mark.requirement("responses.completed-events")
def test_the_response_object_gets_every_setting() -> None:
    told = [read(each) for each in Pipeline([complete()]).feed(arrived(spare(ids_told=True))) if isinstance(each, Event)]
    for each in (told[0]["response"], told[-1]["response"]):
        assert (each["id"], each["temperature"], each["tools"]) == ("r", 0.5, [])
        assert response.DEFAULTS.keys() <= each.keys()


USAGES: dict[str, tuple[dict[str, Any], tuple[int, int, int]]] = {
    "no details": ({"input_tokens": 3, "output_tokens": 4, "total_tokens": 7}, (3, 4, 7)),
    "empty details": (
        {"input_tokens": 3, "output_tokens": 4, "total_tokens": 7, "input_tokens_details": {}, "output_tokens_details": None},
        (3, 4, 7),
    ),
    "no total": ({"input_tokens": 3, "output_tokens": 4}, (3, 4, 7)),
    "input alone": ({"input_tokens": 3, "output_tokens": None}, (3, 0, 3)),
    "nothing": ({}, (0, 0, 0)),
}


@pytest.mark.requirement("responses.completed-events")
@pytest.mark.parametrize(("told", "counts"), USAGES.values(), ids=USAGES)
def test_usage_gets_every_number(told: dict[str, Any], counts: tuple[int, int, int]) -> None:
    usage: dict[str, Any] = json.loads(bytes(complete().response(Document(json.dumps({"usage": told}).encode()))))["usage"]
    assert (usage["input_tokens"], usage["output_tokens"], usage["total_tokens"]) == counts
    assert usage["input_tokens_details"] == {"cached_tokens": 0, "cache_write_tokens": 0}
    assert usage["output_tokens_details"] == {"reasoning_tokens": 0}


@pytest.mark.requirement("responses.completed-events")
def test_counts_become_whole_numbers() -> None:
    told: dict[str, Any] = {
        "input_tokens": "5",
        "output_tokens": 1.5,
        "total_tokens": True,
        "input_tokens_details": {"cached_tokens": 2**63},
    }
    usage = json.loads(bytes(complete().response(Document(json.dumps({"usage": told}).encode()))))["usage"]
    assert (usage["input_tokens"], usage["output_tokens"], usage["total_tokens"]) == (5, 1, 6)
    assert usage["input_tokens_details"]["cached_tokens"] == 0


MESSAGE_M = {**MESSAGE, "id": "m"}
CALL_F = {**CALL, "id": "f"}
ADDED, DONE = "response.output_item.added", "response.output_item.done"
UNTOLD: dict[str, tuple[list[bytes], list[Any], list[str]]] = {
    "no item": ([], [MESSAGE_M, CALL_F], [f"{ADDED} m", f"{DONE} m", f"{ADDED} f", f"{DONE} f"]),
    "a beginning without its end": ([frame(ADDED, output_index=0, item=MESSAGE_M)], [MESSAGE_M], [f"{ADDED} m", f"{DONE} m"]),
    "one of two": (
        [frame(ADDED, output_index=0, item=MESSAGE_M), frame(DONE, output_index=0, item=MESSAGE_M)],
        [MESSAGE_M, CALL_F],
        [f"{ADDED} m", f"{DONE} m", f"{ADDED} f", f"{DONE} f"],
    ),
    "items that the end leaves out": (
        [frame(ADDED, item=MESSAGE_M), frame(DONE, item=MESSAGE_M), frame(ADDED, item=CALL_F), frame(DONE, item=CALL_F)],
        [],
        [f"{ADDED} m", f"{DONE} m", f"{ADDED} f", f"{DONE} f"],
    ),
}


@pytest.mark.requirement("responses.untold-items")
@pytest.mark.parametrize(("before", "output", "told"), UNTOLD.values(), ids=UNTOLD)
@pytest.mark.parametrize("end", ["completed", "incomplete"])
def test_every_item_has_its_events_and_is_in_the_end(before: list[bytes], output: list[Any], told: list[str], end: str) -> None:
    data = b"".join([*before, frame(f"response.{end}", response={"id": "r", "status": end, "output": output})])
    events = [read(one) for one in Pipeline([complete()]).feed(arrived(data)) if isinstance(one, Event)]
    assert [f"{event['type']} {event['item']['id']}" for event in events[:-1]] == told
    assert [item["id"] for item in events[-1]["response"]["output"]] == list(dict.fromkeys(line.split()[1] for line in told))


SHAPES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "arguments as an object": ({**CALL_F, "arguments": {"x": 1.0}}, {**CALL_F, "arguments": '{"x":1.0}'}),
    "a call without arguments": ({**CALL_F, "arguments": None}, {**CALL_F, "arguments": ""}),
    "a call without a call_id": ({key: value for key, value in CALL_F.items() if key != "call_id"}, {**CALL_F, "call_id": "f"}),
    "a thought without a summary": ({"type": "reasoning", "id": "r"}, {"type": "reasoning", "id": "r", "summary": []}),
    "content as text": ({**MESSAGE_M, "content": "Hi"}, {**MESSAGE_M, "content": [PART | {"text": "Hi"}]}),
    "no content": ({**MESSAGE_M, "content": None}, MESSAGE_M),
}


@pytest.mark.requirement("responses.item-shapes")
@pytest.mark.parametrize(("given", "shown"), SHAPES.values(), ids=SHAPES)
def test_items_that_codex_would_pass_over_are_put_into_shape(given: dict[str, Any], shown: dict[str, Any]) -> None:
    data = frame(DONE, output_index=0, item=given) + frame(
        "response.completed", response={"id": "r", "status": "completed", "output": [given]}
    )
    done, ended = [read(one) for one in Pipeline([complete()]).feed(arrived(data)) if isinstance(one, Event)]
    assert done["item"] == shown
    assert ended["response"]["output"] == [shown]


def test_no_usage_stays_none() -> None:
    assert complete().response(Document(b'{"usage":null}')).get("usage") is None


@pytest.mark.requirement("responses.completed-events")
def test_events_that_lack_nothing_keep_their_bytes() -> None:
    settings = json.loads(bytes(response.begun(Document(b'{"model":"m"}'), id="r", now=7)))
    item = {**MESSAGE, "id": "m"}
    places = {"item_id": "m", "output_index": 0, "content_index": 0}
    data = b"".join(
        (
            frame("response.created", response=settings, sequence_number=0),
            frame("response.output_item.added", output_index=0, item=item, sequence_number=1),
            frame("response.content_part.added", **places, part=PART, sequence_number=2),
            frame("response.output_text.delta", **places, delta="Hi", sequence_number=3),
            frame("response.new_kind.of_event", anything=[1.0], sequence_number=4),
            frame("response.output_item.done", output_index=0, item=item, sequence_number=5),
            frame("response.completed", response={**settings, "output": [item]}, sequence_number=6),
        )
    )
    assert Numbering().wire(Pipeline([complete()]).feed(arrived(data))) == data


def test_what_is_null_is_there_and_what_is_there_stays() -> None:
    told = complete().response(Document(b'{"id":"r","temperature":null,"top_p":0.10,"unknown":1.0}'))
    assert [bytes(told.members[name]) for name in ("temperature", "top_p", "unknown")] == [b"null", b"0.10", b"1.0"]
