"""Events: their type is the data's, their bytes are the frame's for as long as nobody edits them."""

import json as python_json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.protocol import sse, stream_rules
from antiphon.protocol.document import Document
from antiphon.protocol.event_views import RUN_MARKS, Event, Run, of_frame


def read(data: bytes) -> Event:
    (frame,) = sse.Decoder().feed(data)
    assert isinstance(frame, sse.Frame)
    return of_frame(frame)


KEPT: dict[str, tuple[bytes, str]] = {
    "as we write it": (b'event: response.created\ndata: {"type":"response.created","a": 1.0}\n\n', "response.created"),
    "spelled otherwise": (b'event: response.created\ndata: { "a" : 1.0, "type" : "response.created" }\n\n', "response.created"),
    "CRLF": (b'event: response.created\r\ndata: {"type":"response.created"}\r\n\r\n', "response.created"),
    "with a comment": (b': busy\nevent: response.created\ndata: {"type":"response.created"}\n\n', "response.created"),
    "text outside ASCII": ('event: response.output_text.delta\ndata: {"type":"response.output_text.delta","delta":"é"}\n\n'.encode(), "response.output_text.delta"),
    "a pair": (b'event: response.created\ndata: {"type":"response.created","a":"\\ud83d\\ude00"}\n\n', "response.created"),
    "an unknown type": (b'event: response.new\ndata: {"type":"response.new","a":1.0}\n\n', "response.new"),
}  # fmt: skip


@pytest.mark.requirement("document.unedited")
@pytest.mark.parametrize(("data", "type"), KEPT.values(), ids=KEPT)
def test_an_event_keeps_its_bytes(data: bytes, type: str) -> None:
    event = read(data)
    assert event.type == type
    assert event.wire() == data


WRITTEN: dict[str, tuple[bytes, bytes]] = {
    "no name": (b'data: {"type":"response.created"}\n\n', b'{"type":"response.created"}'),
    "a wrong name": (b'event: message\ndata: {"type":"response.created"}\n\n', b'{"type":"response.created"}'),
    "a name of another event": (b'event: response.failed\ndata: {"type":"response.created"}\n\n', b'{"type":"response.created"}'),
    "a name that is no text": (b'event: \xff\ndata: {"type":"response.created"}\n\n', b'{"type":"response.created"}'),
    "data over lines": (b'event: response.created\ndata: {\ndata: "type":"response.created"}\n\n', b'{ "type":"response.created"}'),
    "data over lines, its type in the first": (b'event: response.created\ndata: {"type":"response.created"\ndata: ,"a":1}\n\n', b'{"type":"response.created" ,"a":1}'),
    "a lone surrogate": (b'event: response.created\ndata: {"type":"response.created","a":"\\ud800"}\n\n', b'{"type":"response.created","a":"\\ufffd"}'),
    "bytes that are no text": (b'event: response.created\ndata: {"type":"response.created","a":"\xff"}\n\n', '{"type":"response.created","a":"\ufffd"}'.encode()),
}  # fmt: skip


@pytest.mark.requirement("json.utf8", "json.surrogates")
@pytest.mark.parametrize(("data", "expected"), WRITTEN.values(), ids=WRITTEN)
def test_an_event_that_had_to_be_mended_is_written_again(data: bytes, expected: bytes) -> None:
    event = read(data)
    assert event.type == "response.created"
    assert event.wire() == b"event: response.created\ndata: " + expected + b"\n\n"


@pytest.mark.parametrize(
    "data", [b"[DONE]", b"[]", b'"a"', b"{", b'{"type":1}', b'{"type":null}', b"\xff", b'{"type":"response.completed","resp'], ids=repr
)
def test_what_is_no_event_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError):
        of_frame(sse.Frame(b"", data, b"data: " + data + b"\n\n"))


def test_an_event_without_a_type_has_none() -> None:
    assert read(b"data: {}\n\n").type == ""


def test_an_edit_makes_another_event() -> None:
    event = read(b'event: response.created\ndata: {"type":"response.created","a": 1.0}\n\n')
    edited = event.but(b=2)
    assert edited.type == "response.created"
    assert edited.wire() == b'event: response.created\ndata: {"type":"response.created","a":1.0,"b":2}\n\n'
    assert event.but(type="error").wire().startswith(b'event: error\ndata: {"type":"error"')


def test_an_event_of_our_own() -> None:
    event = Event.made("error", {"code": "x", "error": Document(b'{"a" : 1}')})
    assert event.wire() == b'event: error\ndata: {"type":"error","code":"x","error":{"a" : 1}}\n\n'


@given(st.dictionaries(st.text(), st.none() | st.text() | st.lists(st.text()) | st.dictionaries(st.text(), st.text())))
def test_what_a_client_spelled_over_lines_stays_one_event(members: dict[str, object]) -> None:
    """A response repeats the client's settings in their spelling; a line end in it must not end the event's data."""
    spelled = Document(python_json.dumps(members, indent=2, ensure_ascii=False).encode())
    for event in (Event.made("response.created", {"response": spelled}), Event("response.created", b"{}").but(response=spelled)):
        again = read(event.wire())
        assert again.get("response") == members


RUN = (
    b'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","delta":"a"}\n\n'
    b'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","delta":"b"}\n\n'
    b'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","delta":"c"}\n\n'
)


def run_of(data: bytes) -> Run:
    (run,) = sse.Decoder(runs=RUN_MARKS).feed(data)
    assert isinstance(run, sse.Run)
    return Run(run)


def test_a_run_is_its_events() -> None:
    run = run_of(RUN)
    assert (run.type, run.count) == ("response.output_text.delta", 3)
    assert run.wire() == RUN
    assert [event.text("delta") for event in run.events()] == ["a", "b", "c"]
    assert b"".join(event.wire() for event in run.events()) == RUN


def test_a_run_gives_its_first_event() -> None:
    first, others = run_of(RUN).split()
    assert (first.type, first.text("delta")) == ("response.output_text.delta", "a")
    assert others is not None
    assert (others.count, first.wire() + others.wire()) == (2, RUN)


@pytest.mark.parametrize("type", sorted(stream_rules.DELTAS))
def test_every_delta_may_be_one_of_a_run(type: str) -> None:
    data = sse.encode(type.encode(), b'{"type":"%b","delta":"a"}' % type.encode())
    assert run_of(data * 2).type == type
