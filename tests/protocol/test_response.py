"""The response object at its beginning: every setting, as the client spelled it or as OpenAI's default."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.protocol import response
from antiphon.protocol.document import Document

# The fields of OpenAI's response object, in its order.
FIELDS = [
    "id",
    "object",
    "created_at",
    "status",
    "background",
    "completed_at",
    "error",
    "frequency_penalty",
    "incomplete_details",
    "instructions",
    "max_output_tokens",
    "max_tool_calls",
    "model",
    "output",
    "parallel_tool_calls",
    "presence_penalty",
    "previous_response_id",
    "prompt_cache_key",
    "prompt_cache_retention",
    "reasoning",
    "safety_identifier",
    "service_tier",
    "store",
    "temperature",
    "text",
    "tool_choice",
    "tools",
    "top_logprobs",
    "top_p",
    "truncation",
    "usage",
    "user",
    "metadata",
]


def begun(request: bytes) -> Document:
    return response.begun(Document(request), id="resp_1", now=7)


@pytest.mark.requirement("responses.settings-echo")
def test_a_bare_request_shows_the_defaults() -> None:
    shown = json.loads(bytes(begun(b'{"model":"m","input":"hi"}')))
    assert list(shown) == FIELDS
    assert (shown["id"], shown["object"], shown["created_at"], shown["status"], shown["model"]) == (
        "resp_1",
        "response",
        7,
        "in_progress",
        "m",
    )
    assert (shown["output"], shown["tools"], shown["metadata"], shown["usage"], shown["error"]) == ([], [], {}, None, None)
    assert (shown["tool_choice"], shown["temperature"], shown["text"]) == ("auto", 1.0, {"format": {"type": "text"}})


SPELLINGS: dict[str, bytes] = {
    "prompt_cache_retention": b'"24h"',
    "background": b"true",
    "frequency_penalty": b"0.50",
    "instructions": b'"Be \\u0062rief."',
    "max_output_tokens": b"1e3",
    "max_tool_calls": b"3",
    "metadata": b'{ "a" : "b" }',
    "model": b'"m\\u0031"',
    "parallel_tool_calls": b"false",
    "presence_penalty": b"-0",
    "previous_response_id": b'"resp_0"',
    "prompt_cache_key": b'"k"',
    "safety_identifier": b'"s"',
    "service_tier": b'"flex"',
    "temperature": b"0.30",
    "tool_choice": b'{ "type":"function","name":"f" }',
    "tools": b'[ {"type":"new","x" : 1.0} ]',
    "top_logprobs": b"2",
    "top_p": b"1e-1",
    "truncation": b'"auto"',
    "user": b'"u"',
}


@pytest.mark.requirement("responses.settings-echo")
@pytest.mark.parametrize(("name", "spelled"), SPELLINGS.items(), ids=SPELLINGS)
def test_a_setting_is_shown_as_it_was_spelled(name: str, spelled: bytes) -> None:
    request = b'{"%b" : %b}' % (name.encode(), spelled)
    assert bytes(begun(request).members[name]) == spelled
    assert bytes(response.echo(Document(request))[name]) == spelled


def test_every_setting_has_a_spelling_here() -> None:
    assert {*SPELLINGS, "reasoning", "text"} == response.ECHOED


@pytest.mark.requirement("responses.settings-echo")
@given(st.sampled_from(sorted(response.DEFAULTS)))
def test_null_shows_the_default(name: str) -> None:
    assert begun(b'{"%b":null}' % name.encode()).members[name] == response.DEFAULTS[name]


@pytest.mark.parametrize("name", sorted(set(response.DEFAULTS) - response.ECHOED))
def test_what_is_the_answers_own_is_not_the_requests(name: str) -> None:
    assert begun(b'{"%b":"mine"}' % name.encode()).members[name] == response.DEFAULTS[name]
    assert name not in response.echo(Document(b'{"%b":"mine"}' % name.encode()))


@pytest.mark.requirement("responses.settings-echo")
@pytest.mark.parametrize(
    ("request_", "name", "shown"),
    [
        (b'{"reasoning":{"effort":"high"}}', "reasoning", {"effort": "high", "summary": None}),
        (b'{"reasoning":{"summary":"auto","new":1}}', "reasoning", {"effort": None, "summary": "auto", "new": 1}),
        (b'{"text":{"verbosity":"low"}}', "text", {"format": {"type": "text"}, "verbosity": "low"}),
        (b'{"text":{"format":{"type":"json_object"}}}', "text", {"format": {"type": "json_object"}}),
        (b'{"reasoning":"high"}', "reasoning", "high"),
    ],
    ids=["effort alone", "summary and something new", "verbosity alone", "a format", "no object"],
)  # fmt: skip
def test_objects_show_their_absent_members(request_: bytes, name: str, shown: Any) -> None:
    assert begun(request_).get(name) == shown
