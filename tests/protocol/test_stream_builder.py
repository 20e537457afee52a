"""Whatever a model says, in whatever order: the stream that is built keeps to the grammar and holds all that was said."""

import json
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from antiphon.protocol import stream_builder, stream_rules
from antiphon.protocol.document import Document
from antiphon.protocol.event_views import Event, Spoken
from antiphon.protocol.failures import Failure
from antiphon.protocol.round_reader import RoundReader
from antiphon.protocol.stream_builder import REASONING, REFUSAL, SUMMARY, TEXT, StreamBuilder
from antiphon.protocol.stream_rules import Phase
from antiphon.protocol.stream_validator import StreamValidator

RESPONSE = Document(b'{"id":"resp_1","object":"response","created_at":1.0,"status":"in_progress","error":null,"output":[],"usage":null}')
USAGE = Raw(b'{"input_tokens":3,"output_tokens":4,"total_tokens":7}')


def builder() -> StreamBuilder:
    return StreamBuilder(RESPONSE)


def quoted(text: str) -> bytes:
    return json.dumps(text, ensure_ascii=False).encode("utf-8", "surrogatepass")


def plain(event: Event) -> dict[str, Any]:
    return json.loads(bytes(event))


def singly(made: Iterable[Event | Spoken]) -> list[Event]:
    return [event for one in made for event in ([one] if isinstance(one, Event) else one.events())]


def events(*made: Iterable[Event | Spoken]) -> list[dict[str, Any]]:
    return [plain(event) for some in made for event in singly(some)]


# Transcripts.


@pytest.mark.requirement("stream.order")
def test_a_message() -> None:
    build = builder()
    place = {"item_id": "msg_1_0", "output_index": 0, "content_index": 0}
    message = {"type": "message", "id": "msg_1_0", "role": "assistant"}
    part = {"type": "output_text", "annotations": [], "logprobs": []}
    item = {**message, "status": "completed", "content": [{**part, "text": "Hi you"}]}
    response = json.loads(bytes(RESPONSE))
    assert events(build.begin(), build.speak(TEXT, b'"Hi"'), build.speak(TEXT, Raw(b'" you"')), build.complete(USAGE, now=5)) == [
        {"type": "response.created", "response": response},
        {"type": "response.in_progress", "response": response},
        {"type": "response.output_item.added", "output_index": 0, "item": {**message, "status": "in_progress", "content": []}},
        {"type": "response.content_part.added", **place, "part": {**part, "text": ""}},
        {"type": "response.output_text.delta", **place, "delta": "Hi", "logprobs": []},
        {"type": "response.output_text.delta", **place, "delta": " you", "logprobs": []},
        {"type": "response.output_text.done", **place, "text": "Hi you", "logprobs": []},
        {"type": "response.content_part.done", **place, "part": {**part, "text": "Hi you"}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {
            "type": "response.completed",
            "response": {**response, "status": "completed", "completed_at": 5, "output": [item], "usage": json.loads(bytes(USAGE))},
        },
    ]


@pytest.mark.requirement("stream.order")
def test_a_call() -> None:
    build = builder()
    call = {"type": "function_call", "id": "fc_1_0", "call_id": "call_1", "name": "run"}
    assert events(build.call("run", "call_1"), build.arguments(b'"{\\"a\\":"'), build.arguments(b'"1}"'), build.close()) == [
        {"type": "response.output_item.added", "output_index": 0, "item": {**call, "status": "in_progress", "arguments": ""}},
        {"type": "response.function_call_arguments.delta", "item_id": "fc_1_0", "output_index": 0, "delta": '{"a":'},
        {"type": "response.function_call_arguments.delta", "item_id": "fc_1_0", "output_index": 0, "delta": "1}"},
        {"type": "response.function_call_arguments.done", "item_id": "fc_1_0", "output_index": 0, "name": "run", "arguments": '{"a":1}'},
        {"type": "response.output_item.done", "output_index": 0, "item": {**call, "status": "completed", "arguments": '{"a":1}'}},
    ]


@pytest.mark.requirement("stream.order")
def test_pieces_at_once_are_pieces_one_by_one() -> None:
    at_once, one_by_one = builder(), builder()
    pieces = [b'"Hi"', b'" you"', b'"!"']
    spoken = [*at_once.speak(TEXT, *pieces), *at_once.speak(TEXT, *pieces)]
    assert [made.count for made in spoken if isinstance(made, Spoken)] == [3, 3]
    singles = [one_by_one.speak(TEXT, piece) for piece in pieces * 2]
    assert events(spoken, at_once.close()) == events(*singles, one_by_one.close())


@pytest.mark.parametrize(
    ("channel", "item"),
    [
        (REFUSAL, {"type": "message", "id": "msg_1_0", "status": "completed", "role": "assistant", "content": [{"type": "refusal", "refusal": "no"}]}),
        (SUMMARY, {"type": "reasoning", "id": "rs_1_0", "summary": [{"type": "summary_text", "text": "no"}]}),
        (REASONING, {"type": "reasoning", "id": "rs_1_0", "summary": [], "content": [{"type": "reasoning_text", "text": "no"}]}),
    ],
    ids=["refusal", "summary", "reasoning"],
)  # fmt: skip
def test_what_else_is_said(channel: Any, item: dict[str, Any]) -> None:
    build = builder()
    build.speak(channel, b'"n"')
    build.speak(channel, b'"o"')
    *_, done = events(build.close())
    assert done == {"type": "response.output_item.done", "output_index": 0, "item": item}


def test_a_call_without_arguments_has_an_empty_object() -> None:
    build = builder()
    build.call("run", "call_1")
    done, item = events(build.close())
    assert done["arguments"] == item["item"]["arguments"] == "{}"


def test_arguments_without_a_call_are_nothing() -> None:
    build = builder()
    assert build.arguments(b'"{}"') == []
    build.speak(TEXT, b'"Hi"')
    assert build.arguments(b'"{}"') == []


def test_closing_nothing_is_nothing() -> None:
    assert builder().close() == []


@pytest.mark.requirement("stream.cut-call")
def test_a_call_that_was_cut_is_in_no_output() -> None:
    build = builder()
    build.speak(TEXT, b'"Hi"')
    build.call("run", "call_1")
    build.arguments(b'"{\\"cmd\\":\\"rm -r"')
    build.abandon()
    (ended,) = events(build.incomplete("max_output_tokens", None))
    assert [item["type"] for item in ended["response"]["output"]] == ["message"]


@pytest.mark.requirement("stream.length-cut")
def test_an_answer_cut_by_length_keeps_its_text() -> None:
    build = builder()
    build.speak(TEXT, b'"Hi"')
    build.abandon()  # text is no call: it stays
    *_, done, ended = events(build.incomplete("max_output_tokens", USAGE))
    assert done["type"] == "response.output_item.done"
    response = ended["response"]
    assert (ended["type"], response["status"]) == ("response.incomplete", "incomplete")
    assert response["incomplete_details"] == {"reason": "max_output_tokens"}
    assert response["output"] == [done["item"]]
    assert response["usage"]["total_tokens"] == 7


@pytest.mark.requirement("failures.in-stream", "stream.cut-call")
def test_a_failure_leaves_what_was_open_open() -> None:
    build = builder()
    build.speak(TEXT, b'"Hi"')
    build.call("run", "call_1")
    (ended,) = events(build.fail(Failure(400, "too long", "context_length_exceeded")))
    response = ended["response"]
    assert (ended["type"], response["status"]) == ("response.failed", "failed")
    assert response["error"] == {"code": "context_length_exceeded", "message": "too long"}
    assert [item["type"] for item in response["output"]] == ["message"]


def test_a_surrogate_pair_cut_between_pieces_is_whole_in_the_item() -> None:
    build = builder()
    build.speak(TEXT, rb'"\ud83d"')
    build.speak(TEXT, rb'"\ude00"')
    done = events(build.close())[0]
    assert done["text"] == "😀"


def test_names_are_spelled_whatever_they_hold() -> None:
    build = builder()
    added = events(build.call('a"b\\\n😀', 'c"d'))[0]
    assert (added["item"]["name"], added["item"]["call_id"]) == ('a"b\\\n😀', 'c"d')


# The law: what is built is what the grammar allows, and nothing that was said is lost.

CHANNELS = {"text": TEXT, "refusal": REFUSAL, "summary": SUMMARY, "reasoning": REASONING}
SAID = st.tuples(st.sampled_from(sorted(CHANNELS)), st.text(max_size=6))
CALLED = st.tuples(st.just("call"), st.text(max_size=6))
GIVEN = st.tuples(st.just("arguments"), st.text(max_size=6))
CLOSED = st.tuples(st.just("close"), st.just(""))
ENDS: dict[str, Callable[[StreamBuilder], list[Event]]] = {
    "complete": lambda build: build.complete(USAGE, now=5),
    "incomplete": lambda build: build.incomplete("max_output_tokens", None),
    "cut": lambda build: [] if build.abandon() else build.incomplete("max_output_tokens", None),
    "fail": lambda build: build.fail(Failure(500, "no")),
}


def spoken(build: StreamBuilder, kind: str, text: str) -> list[Event]:
    match kind:
        case "call":
            return build.call("run", text)
        case "arguments":
            return build.arguments(quoted(text))
        case "close":
            return build.close()
        case _:
            return singly(build.speak(CHANNELS[kind], quoted(text[:1]), quoted(text[1:])))


@pytest.mark.requirement("stream.order", "stream.items-do-not-interleave", "stream.round-reader")
@given(st.lists(st.one_of(SAID, CALLED, GIVEN, CLOSED), max_size=25), st.sampled_from(sorted(ENDS)))
def test_what_is_built_keeps_to_the_grammar(said: list[tuple[str, str]], end: str) -> None:
    build = builder()
    stream = [*build.begin(), *[event for kind, text in said for event in spoken(build, kind, text)], *ENDS[end](build)]
    validator, reader = StreamValidator(), RoundReader()
    notes = [note for event in stream for note in validator.feed(event)]
    assert notes == []
    assert validator.phase is Phase.ENDED
    for event in stream:
        assert event.text("type") == event.type  # and so it is JSON
        reader.feed(event)
    response = reader.response
    assert response is not None
    assert [bytes(item) for item in response.elements("output")] == [bytes(item) for item in reader.output]
    assert_deltas_are_the_whole([plain(event) for event in stream])
    if end != "fail":
        told = [text for kind, text in said if kind == "text"]
        assert "".join(texts(response)) == "".join(told)


def texts(response: Document) -> list[str]:
    items = json.loads(bytes(response))["output"]
    return [part["text"] for item in items for part in item.get("content", []) if part["type"] == "output_text"]


def assert_deltas_are_the_whole(stream: list[dict[str, Any]]) -> None:
    """Each item's deltas joined are its done event's text and its own."""
    deltas = {index: "" for event in stream if (index := event.get("output_index")) is not None}
    for event in stream:
        index = event.get("output_index")
        if event["type"] in stream_rules.DELTAS:
            deltas[index] += event["delta"]
        elif event["type"].endswith(("_text.done", "refusal.done", "arguments.done")):
            whole = next(event[name] for name in ("text", "refusal", "arguments") if name in event)
            assert whole == deltas[index] or (whole, deltas[index]) == ("{}", "")


@pytest.mark.parametrize("channel", [TEXT, REFUSAL, SUMMARY, REASONING], ids=lambda channel: channel.part)
def test_every_channel_is_in_the_grammar(channel: Any) -> None:
    for name in (channel.part_added, channel.delta, channel.done, channel.part_done):
        assert (channel.item, name, channel.part) in stream_rules.STEPS
    assert channel.part in stream_builder._EMPTY_PART
