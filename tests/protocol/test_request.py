"""The client's request as far as Antiphon decides by it, and the 400 that says what is wrong with it."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.protocol import request
from antiphon.protocol.document import Document
from antiphon.protocol.errors import InvalidRequest
from antiphon.protocol.notes import Kind, Note

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8
)


def document(**members: Any) -> Document:
    return Document(json.dumps({"model": "m", "input": "hi", **members}).encode())


@pytest.mark.requirement("document.unedited")
@given(st.dictionaries(st.text(), JSON), st.booleans(), st.sampled_from([None, 1]))
def test_a_body_without_oddities_is_the_document(members: dict[str, Any], ascii: bool, indent: int | None) -> None:
    body = json.dumps(members, ensure_ascii=ascii, indent=indent).encode()
    found, notes = request.open_body(body)
    assert bytes(found) == body
    assert notes == []


MENDED: dict[str, tuple[bytes, bytes, list[Note]]] = {
    "a lone surrogate": (rb'{"a":"\ud800", "b":1.0}', rb'{"a":"\ufffd", "b":1.0}', [Note(Kind.REPAIRED, "body", "a lone surrogate escape became U+FFFD")]),
    "a key twice": (b'{"a":1.0, "b": 2, "a":3e0}', b'{"a":3e0,"b":2}', [Note(Kind.REPAIRED, "body", "a key given twice: the last one counts")]),
    "a key twice, once escaped": (rb'{"a":1,"\u0061":2}', b'{"a":2}', [Note(Kind.REPAIRED, "body", "a key given twice: the last one counts")]),
    "a byte order mark": (b'\xef\xbb\xbf{"a": 1}', b'{"a": 1}', []),
}  # fmt: skip


@pytest.mark.requirement("json.surrogates", "json.duplicate-keys")
@pytest.mark.parametrize(("body", "expected", "notes"), MENDED.values(), ids=MENDED)
def test_a_body_that_had_to_be_mended(body: bytes, expected: bytes, notes: list[Note]) -> None:
    found, told = request.open_body(body)
    assert bytes(found) == expected
    assert told == notes


REFUSED: dict[str, tuple[bytes, str, str]] = {
    "nothing": (b"", "invalid_json", "The body is not valid JSON"),
    "cut short": (b'{"model":"m"', "invalid_json", "The body is not valid JSON"),
    "more than one": (b"{}{}", "invalid_json", "trailing characters"),
    "NaN": (b'{"temperature":NaN}', "invalid_json", "invalid character"),
    "invalid UTF-8": (b'{"a":"\xff"}', "invalid_json", "invalid UTF-8 at byte 6"),
    "too deep": (b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "invalid_json", "nested too deeply"),
    "a list": (b"[]", "invalid_type", "'body': Expected `object`, got `array`"),
    "text": (b'"hi"', "invalid_type", "'body': Expected `object`, got `str`"),
}


@pytest.mark.requirement("http.invalid-request", "json.utf8", "json.not-numbers", "json.depth")
@pytest.mark.parametrize(("body", "code", "message"), REFUSED.values(), ids=REFUSED)
def test_a_body_that_cannot_be_read(body: bytes, code: str, message: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        request.open_body(body)
    failure = refused.value.failure
    assert (failure.status, failure.code) == (400, code)
    assert message in failure.message


WRONG: dict[str, tuple[dict[str, Any], str, str, str]] = {
    "no model": ({"model": None}, "model", "missing_required_parameter", "'model'"),
    "an empty model": ({"model": ""}, "model", "missing_required_parameter", "'model'"),
    "a model that is no text": ({"model": 1}, "model", "invalid_type", "Expected `str | null`, got `int`"),
    "stream in words": ({"stream": "yes"}, "stream", "invalid_type", "Expected `bool | null`, got `str`"),
    "tools that are no list": ({"tools": {}}, "tools", "invalid_type", "Expected `array | null`, got `object`"),
    "an input that is a number": ({"input": 1}, "input", "invalid_type", "`str | array | null`, got `int`"),
    "an input that is an object": ({"input": {}}, "input", "invalid_type", "`str | array | null`, got `object`"),
}


@pytest.mark.requirement("http.invalid-request")
@pytest.mark.parametrize(("members", "param", "code", "message"), WRONG.values(), ids=WRONG)
def test_a_request_that_cannot_be_routed(members: dict[str, Any], param: str, code: str, message: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        request.view(document(**members))
    failure = refused.value.failure
    assert (failure.status, failure.param, failure.code) == (400, param, code)
    assert message in failure.message


def test_what_routing_needs() -> None:
    view = request.view(document(stream=True, tools=[{"type": "function"}], unknown={"a": 1}))
    assert (view.model, view.stream, bytes(view.input)) == ("m", True, b'"hi"')
    assert [bytes(tool) for tool in view.tools or []] == [b'{"type": "function"}']


def test_routing_needs_no_input() -> None:
    assert request.view(Document(b'{"model":"m","prompt":{"id":"p"}}')).model == "m"


UNMET: dict[str, tuple[dict[str, Any], str, str]] = {
    "a response to go on from": ({"previous_response_id": "resp_1"}, "previous_response_id", "unsupported_parameter"),
    "a conversation": ({"conversation": "conv_1"}, "conversation", "unsupported_parameter"),
    "a conversation as object": ({"conversation": {"id": "conv_1"}}, "conversation", "unsupported_parameter"),
    "background": ({"background": True}, "background", "unsupported_parameter"),
    "a stored prompt": ({"prompt": {"id": "p"}}, "prompt", "unsupported_parameter"),
    "no input": ({"input": None}, "input", "missing_required_parameter"),
    "instructions that are no text": ({"instructions": ["a"]}, "instructions", "invalid_type"),
    "a temperature in words": ({"temperature": "hot"}, "temperature", "invalid_type"),
    "tokens that are no whole number": ({"max_output_tokens": 1.5}, "max_output_tokens", "invalid_type"),
    "an effort that is no text": ({"reasoning": {"effort": 3}}, "reasoning.effort", "invalid_type"),
    "a format that is no object": ({"text": {"format": "json"}}, "text.format", "invalid_type"),
    "an include that is no list": ({"include": "x"}, "include", "invalid_type"),
    "an include of something else": ({"include": ["a", 1]}, "include[1]", "invalid_type"),
}


@pytest.mark.requirement("http.invalid-request")
@pytest.mark.parametrize(("members", "param", "code"), UNMET.values(), ids=UNMET)
def test_what_cannot_be_honoured_is_refused_by_name(members: dict[str, Any], param: str, code: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        request.settings(document(**members))
    failure = refused.value.failure
    assert (failure.status, failure.param, failure.code) == (400, param, code)
    assert f"'{param}'" in failure.message


def test_settings_may_all_be_null() -> None:
    names = (
        "stream",
        "tools",
        "instructions",
        "parallel_tool_calls",
        "max_output_tokens",
        "temperature",
        "top_p",
        "reasoning",
        "text",
        "include",
    )
    nothing = dict.fromkeys((*names, "store", "background", "previous_response_id", "conversation", "prompt", "tool_choice"))
    read = request.settings(document(**nothing))
    assert [getattr(read, name) for name in names] == [None] * len(names)


def test_settings() -> None:
    read = request.settings(
        document(
            reasoning={"effort": "high", "new": 1},
            text={"format": {"type": "json_schema", "name": "n", "schema": {"a": 1.0}}, "verbosity": "low"},
        )
    )
    assert read.reasoning is not None
    assert read.reasoning.effort == "high"
    assert read.text is not None
    assert read.text.format is not None
    assert (read.text.verbosity, read.text.format.name, bytes(read.text.format.schema)) == ("low", "n", b'{"a": 1.0}')


def test_text_for_input_is_one_user_message() -> None:
    (item,) = request.items(Document(rb'{"input":"h\u00e9"}').members["input"])
    assert bytes(item) == rb'{"type":"message","role":"user","content":"h\u00e9"}'


@pytest.mark.requirement("document.unedited")
def test_items_keep_their_spelling() -> None:
    items = request.items(Document(b'{"input":[ {"a" : 1.0} , 2 ]}').members["input"])
    assert [bytes(item) for item in items] == [b'{"a" : 1.0}', b"2"]
