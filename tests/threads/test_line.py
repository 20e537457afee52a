import json

import pytest

from antiphon.protocol.notes import Kind
from antiphon.threads.line import Era, opened
from tests.threads import samples

FLAT_TYPES = ["session_meta", "state", "response_item", "state", "response_item", "response_item", "response_item"]


def read(text: str | bytes) -> tuple[str, str, str]:
    raw = text.encode() if isinstance(text, str) else text
    one = opened(raw, number=7, offset=0)
    return one.type, one.kind, one.why


@pytest.mark.requirement("threads.eras")
def test_a_flat_file_reads_as_any_other() -> None:
    lines = [opened(samples.spelled(each), number=1, offset=0) for each in samples.FLAT]
    assert [one.type for one in lines] == FLAT_TYPES
    assert {one.era for one in lines} == {Era.FLAT}
    assert lines[0].payload.text("id") == samples.THREAD
    assert lines[4].kind == "function_call"


@pytest.mark.requirement("threads.eras")
def test_an_envelope_is_opened() -> None:
    one = opened(samples.spelled(samples.line("event_msg", {"type": "turn_started", "turn_id": "t"}, ordinal=4)), number=3, offset=10)
    assert (one.type, one.kind, one.ordinal, one.timestamp, one.era) == ("event_msg", "task_started", 4, samples.AT, Era.ENVELOPE)
    assert one.end == 10 + one.size


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("  \n", ("blank", "", ""), id="blank"),
        pytest.param('{"role":"user","content":"hi"}\n', ("response_item", "message", ""), id="an item without a type"),
        pytest.param('{"type":"brand_new","x":1}\n', ("response_item", "brand_new", ""), id="an unknown flat item"),
        pytest.param('{"timestamp":"t","type":"brand_new","x":1}\n', ("brand_new", "brand_new", ""), id="an unknown line"),
        pytest.param('{"timestamp":"t","type":"response_item"}\n', ("", "", "response_item without a payload"), id="no payload"),
        pytest.param(
            '{"timestamp":"t","type":"event_msg","payload":[]}\n', ("", "", "event_msg without a payload"), id="payload no object"
        ),
        pytest.param("{}\n", ("", "", "no type, no payload, no id"), id="nothing in it"),
        pytest.param("[1]\n", ("", "", "JSON, and no object"), id="no object"),
        pytest.param('{"a":1', ("", "", "cut off before its end"), id="cut"),
        pytest.param('{"a":1\n', ("", "", "not JSON: Input data was truncated"), id="broken"),
        pytest.param("\0" * 20 + "\n", ("", "", "not JSON: JSON is malformed: invalid character (byte 0)"), id="zeros"),
        pytest.param('{"a":' + "[" * 20_000 + "\n", ("", "", "not JSON: nested too deeply"), id="deep"),
    ],
)
@pytest.mark.requirement("threads.skipped")
def test_what_cannot_be_read_says_why(text: str, expected: tuple[str, str, str]) -> None:
    assert read(text) == expected


@pytest.mark.requirement("threads.skipped")
def test_damaged_text_is_mended_and_told() -> None:
    one = opened(b'{"type":"event_msg","payload":{"type":"agent_message","message":"a\xff"}}\n', number=5, offset=0)
    note = one.note()
    assert one.payload.text("message") == "a\ufffd"
    assert note is not None
    assert (note.kind, note.where, note.why) == (Kind.REPAIRED, "line 5", "invalid UTF-8 became U+FFFD")


@pytest.mark.requirement("threads.skipped")
@pytest.mark.parametrize(
    ("given", "kind"),
    [({"type": "tomorrow", "payload": {}}, Kind.UNKNOWN), ({"type": "compacted"}, Kind.DROPPED), (samples.meta(), None)],
    ids=["unknown", "unreadable", "known"],
)
def test_notes(given: samples.Json, kind: Kind | None) -> None:
    note = opened(json.dumps(given).encode() + b"\n", number=2, offset=0).note()
    assert (note and note.kind, note and note.where) == ((kind, "line 2") if kind else (None, None))
