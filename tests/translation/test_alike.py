"""Chunks that differ in their words only are not parsed again, and nobody can tell by the events."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.protocol import response
from antiphon.protocol.document import Document
from antiphon.protocol.event_views import Event
from antiphon.translation.alike import alike
from antiphon.translation.chat_answer import ChatAnswer, ChatManner
from tests.translation.dialogue import ids

pytestmark = pytest.mark.requirement("chat.alike")

HEAD, TAIL = b'{"choices":[{"index":0,"delta":{"content":', b'},"finish_reason":null}]}'


def nothing(_: bytes) -> list[Event]:
    return []


def known(words: bytes = b'"Hi"') -> Any:
    found = alike(HEAD + words + TAIL, "content", words, nothing)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("words", "same"),
    [
        (b'"there"', True),
        (b'""', True),
        (b'"a \\"quoted\\" line\\n \\u00e9 \\/ \\\\"', True),
        ('"schön 🦦"'.encode(), True),
        (b'"half \\ud83e"', False),
        (b'"not UTF-8 \xff"', False),
        (b'"a","role":"assistant"', False),
        (b'"a"}},{"delta":{"content":"b"', False),
        (b'"no \\x escape"', False),
        (b'"raw \n line end"', False),
        (b'"open \\"', False),
        (b"null", False),
        (b'["a"]', False),
        (b"", False),
    ],
)
def test_what_stands_between_must_be_one_string(words: bytes, same: bool) -> None:
    assert known().words(HEAD + words + TAIL) == (words if same else None)


@pytest.mark.parametrize(
    "chunk",
    [
        b'{"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]}',
        b'{"choices":[{"index":1,"delta":{"content":"x"},"finish_reason":null}]}',
        HEAD + b'"x"' + TAIL[:-1],
        HEAD[:-1] + b'"x"' + TAIL,
        TAIL,
        HEAD,
        b"",
    ],
)
def test_another_chunk_is_not_alike(chunk: bytes) -> None:
    assert known().words(chunk) is None


def test_head_and_tail_do_not_overlap() -> None:
    found = alike(b'{"content":"ab"}', "content", b'"ab"', nothing)
    assert found is not None
    assert found.words(b'{"content":"}') is None


def test_where_a_field_stands_twice_nothing_is_learned() -> None:
    assert alike(b'{"content":"a","delta":{"content":"a"}}', "content", b'"a"', nothing) is None
    assert alike(b'{"content": [{"text":"a"}]}', "content", b'"a"', nothing) is None


TEXTS = st.text(max_size=12) | st.sampled_from(["<think>", "</think>", "\n", '{"a":', "}", '"', "\\", "\ud83e", "content"])
FIELDS = st.sampled_from(["content", "reasoning_content", "refusal"])
CALLS = st.builds(
    lambda index, head, words: {
        "tool_calls": [{"index": index, **head, "function": {**({"name": "f"} if head else {}), "arguments": words}}]
    },
    st.integers(0, 1),
    st.sampled_from([{}, {"id": "call_a"}]),
    st.sampled_from(['{"a"', ":1}", '{"b":"', 'x"}', ""]),
)
DELTAS = st.lists(st.builds(lambda field, words: {field: words}, FIELDS, TEXTS) | CALLS, max_size=14)
FINISH = st.sampled_from(["stop", "tool_calls", "length", None])


def events(deltas: list[dict[str, Any]], finish: str | None, *, marked: bool, escaped: bool) -> list[bytes]:
    """`marked`: every chunk has a member of its own, so that none is like another."""
    answer = ChatAnswer(response.begun(Document(b'{"model":"m"}'), id="r", now=1), ChatManner(ids(), lambda: 2))
    made = answer.begin()
    ends = [None] * len(deltas) + [finish]
    for number, (delta, end) in enumerate(zip([*deltas, {}], ends, strict=True)):
        chunk = {**({"mark": number} if marked else {}), "choices": [{"index": 0, "delta": delta, "finish_reason": end}], "usage": None}
        spelled = json.dumps(chunk, ensure_ascii=escaped).encode("utf-8", "surrogatepass" if escaped else "replace")
        made += answer.feed(b"data: " + spelled + b"\n\n")
    made += answer.close()
    return [bytes(event) for event in made]


@given(DELTAS, FINISH, st.booleans())
def test_events_are_the_same_as_with_care(deltas: list[dict[str, Any]], finish: str | None, escaped: bool) -> None:
    assert events(deltas, finish, marked=False, escaped=escaped) == events(deltas, finish, marked=True, escaped=escaped)
