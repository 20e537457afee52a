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
}


@pytest.mark.parametrize(("status", "type"), WHOLE.values(), ids=WHOLE)
def test_an_answer_that_did_not_stream_becomes_a_stream(status: str, type: str) -> None:
    item = {"type": "message", "id": "m", "content": []}
    events = machine().whole(json.dumps({"id": "r", "status": status, "output": [item]}).encode())
    assert [event.type for event in events] == ["response.created", "response.output_item.added", "response.output_item.done", type]
    assert json.loads(bytes(events[0]))["response"] == {"id": "r", "status": "in_progress", "output": []}
