"""Chunks that differ in their words only are not parsed again, and nobody can tell by the events."""

import json
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.protocol import response
from antiphon.protocol.document import Document
from antiphon.protocol.event_views import Event, Spoken
from antiphon.stages.numbering import Numbering
from antiphon.translation.alike import WINDOW, alike
from antiphon.translation.chat_answer import ChatAnswer, ChatManner
from tests.translation.dialogue import ids

pytestmark = pytest.mark.requirement("chat.alike")

HEAD, TAIL = b'data: {"choices":[{"index":0,"delta":{"content":', b'},"finish_reason":null}]}\n\n'
OTHER = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'


def nothing(_: Sequence[bytes]) -> list[Event]:
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
        (b'"two"\n"strings"', False),
        (b'"open \\"', False),
        (b"null", False),
        (b'["a"]', False),
        (b"", False),
    ],
)
def test_what_stands_between_must_be_one_string(words: bytes, same: bool) -> None:
    """Alone, and behind and before others."""
    chunk, before = HEAD + words + TAIL, HEAD + b'"a"' + TAIL
    assert known().row(chunk, 0) == (([words], len(chunk)) if same else ([], 0))
    assert known().row(before + chunk + before, 0)[0] in (([b'"a"', words, b'"a"'],) if same else ([b'"a"'], []))


def test_a_row_ends_at_the_first_other_event() -> None:
    one, two = HEAD + b'"a"' + TAIL, HEAD + b'"b"' + TAIL
    assert known().row(OTHER + one + two + OTHER + one, len(OTHER)) == ([b'"a"', b'"b"'], len(OTHER + one + two))


def test_a_row_ends_at_an_event_that_is_not_whole_yet() -> None:
    one, two = HEAD + b'"a"' + TAIL, HEAD + b'"b"' + TAIL
    for cut in range(1, len(two)):
        assert known().row(one + two[:cut], 0) == ([b'"a"'], len(one))


def test_a_row_longer_than_the_window_comes_in_pieces() -> None:
    count, at, taken = 3 * WINDOW // len(HEAD + TAIL), 0, 0
    stream = (HEAD + b'"word"' + TAIL) * count
    while at < len(stream):
        words, at = known().row(stream, at)
        taken += len(words)
        assert 0 < len(words) < count
    assert taken == count


@pytest.mark.parametrize(
    "chunk",
    [
        OTHER,
        b'data: {"choices":[{"index":1,"delta":{"content":"x"},"finish_reason":null}]}\n\n',
        HEAD + b'"x"' + TAIL[:-1],
        HEAD[:-1] + b'"x"' + TAIL,
        TAIL,
        HEAD,
        b"",
    ],
)
def test_another_chunk_is_not_alike(chunk: bytes) -> None:
    assert known().row(chunk, 0) == ([], 0)


def test_head_and_tail_do_not_overlap() -> None:
    found = alike(b'{"content":"ab"}', "content", b'"ab"', nothing)
    assert found is not None
    assert found.row(b'{"content":"}', 0) == ([], 0)


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


LINES = st.sampled_from([("data: ", "\n\n"), ("data:", "\n\n"), ("data: ", "\r\n\r\n"), ("event: message\ndata: ", "\n\n")])


def stream(deltas: list[dict[str, Any]], finish: str | None, *, marked: bool, escaped: bool, lines: tuple[str, str]) -> bytes:
    """`marked`: every chunk has a member of its own, so that none is like another."""
    ends = [None] * len(deltas) + [finish]
    sent = b""
    for number, (delta, end) in enumerate(zip([*deltas, {}], ends, strict=True)):
        chunk = {**({"mark": number} if marked else {}), "choices": [{"index": 0, "delta": delta, "finish_reason": end}], "usage": None}
        spelled = json.dumps(chunk, ensure_ascii=escaped).encode("utf-8", "surrogatepass" if escaped else "replace")
        sent += lines[0].encode() + spelled + lines[1].encode()
    return sent


def events(pieces: Iterable[bytes]) -> bytes:
    """What goes to the client."""
    answer = ChatAnswer(response.begun(Document(b'{"model":"m"}'), id="r", now=1), ChatManner(ids(), lambda: 2))
    numbering = Numbering()
    wire = numbering.wire(answer.begin())
    for piece in pieces:
        wire += numbering.wire(answer.feed(piece))
    return wire + numbering.wire(answer.close())


@given(DELTAS, FINISH, st.booleans(), LINES, st.lists(st.integers(0, 4_000), max_size=5))
def test_events_are_the_same_as_with_care(
    deltas: list[dict[str, Any]], finish: str | None, escaped: bool, lines: tuple[str, str], cuts: list[int]
) -> None:
    careful = stream(deltas, finish, marked=True, escaped=escaped, lines=lines)
    given = stream(deltas, finish, marked=False, escaped=escaped, lines=lines)
    at = sorted({0, *(cut % len(given) for cut in cuts), len(given)})
    assert events(given[start:end] for start, end in pairwise(at)) == events([careful])


def test_words_alike_are_one_row() -> None:
    """Fails where nobody makes use of it."""
    chunks = stream([{"content": f"word {number}"} for number in range(50)], "stop", marked=False, escaped=False, lines=("data: ", "\n\n"))
    answer = ChatAnswer(response.begun(Document(b'{"model":"m"}'), id="r", now=1), ChatManner(ids(), lambda: 2))
    assert [made.count for made in answer.feed(chunks) if isinstance(made, Spoken)] == [49]


def test_words_with_their_own_weights_keep_them() -> None:
    weights = {"content": [{"token": "x", "logprob": -0.5, "bytes": [120], "top_logprobs": []}]}
    chunks = [{"choices": [{"index": 0, "delta": {"content": word}, "logprobs": weights, "finish_reason": None}]} for word in "abc"]
    answer = ChatAnswer(response.begun(Document(b'{"model":"m"}'), id="r", now=1), ChatManner(ids(), lambda: 2, logprobs=True))
    made = answer.feed(b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks))
    deltas = [event for event in made if isinstance(event, Event) and event.type == "response.output_text.delta"]
    assert [(event.get("delta"), event.get("logprobs")[0]["logprob"]) for event in deltas] == [("a", -0.5), ("b", -0.5), ("c", -0.5)]
