"""A Responses server's stream: its own bytes until it breaks off, and then a failure that Codex reads."""

import json
from typing import Any

import pytest

from antiphon.protocol import response
from antiphon.protocol.document import Document
from antiphon.protocol.event_views import Event, Run
from antiphon.translation.responses_answer import ResponsesAnswer

TEMPLATE = response.begun(Document(b'{"model":"m","input":"hi"}'), id="resp_ours", now=7)


def frame(type: str, **members: Any) -> bytes:
    return f"event: {type}\ndata: {json.dumps({'type': type, **members}, separators=(',', ':'))}\n\n".encode()


def machine() -> ResponsesAnswer:
    return ResponsesAnswer(lambda: TEMPLATE)


def run(*data: bytes) -> tuple[bytes, list[dict[str, Any]]]:
    answer = machine()
    events: list[Event | Run] = []
    for piece in data:
        events += answer.feed(piece)
    events += answer.close()
    each = [one for event in events for one in ([event] if isinstance(event, Event) else event.events())]
    return b"".join(event.wire() for event in events), [json.loads(bytes(one)) for one in each]


CREATED = frame("response.created", response={"id": "resp_9", "model": "m", "status": "in_progress", "output": []})
DELTAS = b"".join(frame("response.output_text.delta", item_id="m", output_index=0, content_index=0, delta=word) for word in "abc")
COMPLETED = frame("response.completed", response={"id": "resp_9", "status": "completed", "output": []})


@pytest.mark.requirement("responses.pass-through", "document.unedited")
@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_a_good_stream_keeps_its_bytes(size: int) -> None:
    data = CREATED + frame("response.new.kind", x=[1]) + DELTAS + COMPLETED
    assert run(*[data[at : at + size] for at in range(0, len(data), size)])[0] == data


def test_nothing_behind_the_end_goes_on() -> None:
    assert run(CREATED + COMPLETED + DELTAS + b"data: [DONE]\n\n")[0] == CREATED + COMPLETED
    assert run(CREATED + COMPLETED, DELTAS)[0] == CREATED + COMPLETED


@pytest.mark.requirement("stream.keep-alive", "stream.order")
@pytest.mark.parametrize("begins", ["created", "queued"])
def test_a_stream_that_was_begun_for_the_upstream_has_one_beginning(begins: str) -> None:
    answer = machine()
    early = answer.begin_early()
    going = frame("response.in_progress", response={"id": "resp_9", "status": "in_progress", "output": []})
    rest = answer.feed(CREATED.replace(b"response.created", f"response.{begins}".encode()) + going + DELTAS + COMPLETED)
    types = [one.type for one in (*early, *rest)]
    assert types[:2] == ["response.created", "response.in_progress"]
    assert types.count("response.created") == types.count("response.in_progress") == 1
    assert "response.queued" not in types
    assert types[-1] == "response.completed"
    assert early[0].document("response") == TEMPLATE


@pytest.mark.requirement("stream.keep-alive", "stream.truncation-is-failure")
def test_one_that_was_begun_for_it_and_breaks_off_or_does_not_stream() -> None:
    answer = machine()
    answer.begin_early()
    assert [event.type for event in answer.close()] == ["response.failed"]
    answer = machine()
    answer.begin_early()
    whole = json.dumps({"id": "resp_9", "object": "response", "status": "completed", "output": []}).encode()
    assert [one.type for one in answer.whole(whole)] == ["response.completed"]


ENDS_BADLY = {
    "an end without a response": (CREATED + frame("response.completed", response=None), "resp_9"),
    "no terminal event": (CREATED + DELTAS, "resp_9"),
    "nothing": (b"", "resp_ours"),
    "inside the terminal event": (CREATED + COMPLETED[:-2], "resp_9"),
    "only [DONE]": (CREATED + b"data: [DONE]\n\n", "resp_9"),
    "garbage": (CREATED + b"data: <html>\n\n" + COMPLETED, "resp_9"),
}


@pytest.mark.requirement("stream.truncation-is-failure")
@pytest.mark.parametrize(("data", "id"), ENDS_BADLY.values(), ids=ENDS_BADLY)
def test_a_stream_that_breaks_off_is_a_failure(data: bytes, id: str) -> None:
    _, events = run(data)
    assert events[-1]["type"] == "response.failed"
    told = events[-1]["response"]
    assert (told["id"], told["status"], told["error"]["code"]) == (id, "failed", "server_error")
    assert [event["type"] for event in events].count("response.completed") == 0


@pytest.mark.requirement("failures.in-stream")
def test_a_bare_error_is_a_failure() -> None:
    _, events = run(CREATED + b'data: {"error":{"message":"maximum context length is 8 tokens","code":400}}\n\n' + COMPLETED)
    assert [event["type"] for event in events] == ["response.created", "response.failed"]
    assert events[-1]["response"]["error"]["code"] == "context_length_exceeded"


ERRORS = {
    "flat, as OpenAI's": {"code": "rate_limit_exceeded", "message": "slow down", "param": None},
    "nested": {"error": {"code": "rate_limit_exceeded", "message": "slow down", "type": "x"}},
}


@pytest.mark.requirement("failures.in-stream")
@pytest.mark.parametrize("members", ERRORS.values(), ids=ERRORS)
def test_an_error_event_is_followed_by_what_codex_reads(members: dict[str, Any]) -> None:
    _, events = run(CREATED + frame("error", **members) + COMPLETED)
    assert [event["type"] for event in events] == ["response.created", "error", "response.failed"]
    assert events[-1]["response"]["error"] == {"code": "rate_limit_exceeded", "message": "slow down"}


WHOLE: dict[str, tuple[str, str]] = {
    "completed": ("completed", "response.completed"),
    "incomplete": ("incomplete", "response.incomplete"),
    "failed": ("failed", "response.failed"),
    "cancelled": ("cancelled", "response.failed"),
}


@pytest.mark.parametrize(("status", "type"), WHOLE.values(), ids=WHOLE)
def test_an_answer_that_did_not_stream_becomes_a_stream(status: str, type: str) -> None:
    item = {"type": "message", "id": "m", "content": []}
    events = machine().whole(json.dumps({"id": "r", "status": status, "output": [item]}).encode())
    assert [event.type for event in events] == ["response.created", "response.output_item.added", "response.output_item.done", type]
    first = events[0]
    assert isinstance(first, Event)
    assert json.loads(bytes(first))["response"] == {"id": "r", "status": "in_progress", "output": []}


@pytest.mark.requirement("stream.truncation-is-failure")
@pytest.mark.parametrize("status", ["in_progress", "queued", "tired"])
def test_a_response_that_has_not_ended_is_no_answer(status: str) -> None:
    events = machine().whole(json.dumps({"id": "r", "status": status, "output": []}).encode())
    assert [event.type for event in events] == ["response.failed"]


@pytest.mark.requirement("stream.other-shape")
def test_a_response_in_place_of_a_stream_and_a_stream_in_place_of_a_response() -> None:
    body = json.dumps({"id": "r", "status": "completed", "output": []}, indent=1).encode()
    assert [event["type"] for event in run(b"\n", body)[1]] == ["response.created", "response.completed"]
    assert b"".join(event.wire() for event in machine().whole(CREATED + DELTAS + COMPLETED)) == CREATED + DELTAS + COMPLETED
    assert run(b'{"error":{"message":"The model `x` does not exist"}}')[1][-1]["response"]["error"]["code"] == "model_not_found"


def test_events_without_data_are_passed_over() -> None:
    assert run(b"data:\n\ndata: \n\n" + CREATED + b"event: ping\ndata\n\n" + COMPLETED + b"data:  [DONE] \n\n")[0] == CREATED + COMPLETED


FAILED: dict[str, tuple[dict[str, Any] | None, str | None]] = {
    "words under a code that says nothing": ({"code": "server_error", "message": "maximum context length is 8 tokens"}, "context_length_exceeded"),
    "no code": ({"code": None, "message": "boom"}, "server_error"),
    "a code of its own": ({"code": "their_code", "message": "boom"}, "their_code"),
    "no error": (None, None),
}  # fmt: skip


@pytest.mark.requirement("failures.in-stream")
@pytest.mark.parametrize(("error", "code"), FAILED.values(), ids=FAILED)
def test_the_upstreams_own_failure_travels_under_the_code_that_clients_act_on(error: dict[str, Any] | None, code: str | None) -> None:
    data = frame("response.failed", response={"id": "resp_9", "status": "failed", "error": error})
    wire, events = run(CREATED + data)
    assert (events[-1]["response"]["error"] or {}).get("code") == code
    assert (wire == CREATED + data) is ((error or {}).get("code") == code)
