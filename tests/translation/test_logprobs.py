"""How sure a chat model was of its words: in each delta, and in the finished text."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from antiphon.protocol import notes, response
from antiphon.protocol.document import Document
from antiphon.translation import chat, logprobs
from antiphon.translation.chat_answer import ChatAnswer, ChatManner
from antiphon.translation.dialect import ChatRules
from tests.translation.dialogue import delta, final, ids, sse, streamed

STOP = delta("stop")
OTHER = {"token": "no", "logprob": -2.5, "bytes": [110, 111]}
TOKEN = {"token": "né", "logprob": -0.25, "bytes": [110, 195, 169], "top_logprobs": [OTHER]}
BRIEF = {"token": "né", "logprob": -0.25, "top_logprobs": [{"token": "no", "logprob": -2.5}]}


def machine(*, wanted: bool = True) -> ChatAnswer:
    begun = response.begun(Document(b'{"model":"m"}'), id="resp_1", now=7)
    return ChatAnswer(begun, ChatManner(ids(), lambda: 8, logprobs=wanted))


def said(words: str, *tokens: dict[str, Any] | None) -> dict[str, Any]:
    return {
        "choices": [{"index": 0, "delta": {"content": words}, "logprobs": {"content": tokens} if tokens else None, "finish_reason": None}]
    }


@pytest.mark.requirement("chat.logprobs")
def test_each_delta_and_the_finished_text_have_their_tokens() -> None:
    other = TOKEN | {"token": "!", "bytes": [33], "top_logprobs": []}
    events = streamed(machine(), sse(said("né", TOKEN), said("?"), said("!!", other, other), STOP))
    deltas = [event.get("logprobs") for event in events if event.type.endswith("text.delta")]
    plain = {"token": "!", "logprob": -0.25, "top_logprobs": []}
    assert deltas == [[BRIEF], [], [plain, plain]]
    (done,) = (event.get("logprobs") for event in events if event.type.endswith("text.done"))
    assert done == [BRIEF, plain, plain]
    (part,) = final(events)["output"][0]["content"]
    assert part["logprobs"] == [TOKEN, other, other]


@pytest.mark.requirement("chat.logprobs")
def test_what_nobody_asked_for_is_not_told() -> None:
    events = streamed(machine(wanted=False), sse(said("né", TOKEN), STOP))
    assert final(events)["output"][0]["content"][0]["logprobs"] == []


@pytest.mark.requirement("chat.logprobs")
def test_an_answer_that_is_no_stream_has_them_too() -> None:
    choice = {"index": 0, "message": {"role": "assistant", "content": "né"}, "logprobs": {"content": [TOKEN]}, "finish_reason": "stop"}
    answer = machine()
    events = [*answer.begin(), *answer.whole(json.dumps({"choices": [choice]}).encode())]
    assert final(events)["output"][0]["content"][0]["logprobs"] == [TOKEN]


@pytest.mark.requirement("chat.logprobs")
def test_a_server_that_tells_none_is_noted() -> None:
    answer = machine()
    streamed(answer, sse(said("yes"), STOP))
    assert [(note.where, note.why) for note in notes.losses(answer.notes)] == [("include", "the model server told no logprobs")]


ODD = ["null", "7", "[]", "{}", '{"content":null}', '{"content":[{"token":1}]}', '{"tokens":["a"],"token_logprobs":[0]}', '{"content":"a"}']


@pytest.mark.parametrize("spelled", ODD)
def test_other_forms_are_none(spelled: str) -> None:
    assert logprobs.read(Raw(spelled.encode())) == []


@given(st.text(), st.floats(allow_nan=False, allow_infinity=False))
def test_bytes_that_a_server_leaves_out_are_the_tokens(token: str, weight: float) -> None:
    spelled = json.dumps({"content": [{"token": token, "logprob": weight}]}).encode("utf-8", "replace")
    (told,) = logprobs.read(Raw(spelled)) or [{"bytes": list(token.encode("utf-8", "replace"))}]
    assert bytes(told["bytes"]) == token.encode("utf-8", "replace")


ASKED: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "by include": ({"include": [logprobs.WISH]}, {"logprobs": True}),
    "by a number": ({"top_logprobs": 3}, {"logprobs": True, "top_logprobs": 3}),
    "by both": ({"include": [logprobs.WISH], "top_logprobs": 3}, {"logprobs": True, "top_logprobs": 3}),
    "not at all": ({"include": [], "top_logprobs": 0}, {}),
}


@pytest.mark.requirement("chat.logprobs", "chat.parameters")
@pytest.mark.parametrize("row", ASKED)
@pytest.mark.parametrize("has", [True, False])
def test_they_are_asked_for(row: str, has: bool) -> None:
    asked, sent = ASKED[row]
    document = Document.of({"model": "m", "input": "hi", **asked})
    made = chat.translate(document, ChatRules(logprobs=has))
    assert {name: made.body.get(name) for name in ("logprobs", "top_logprobs") if name in made.body} == (sent if has else {})
    assert made.logprobs == (has and bool(sent))
    told = [note.where for note in notes.losses(made.notes)]
    assert told == ([] if has else [f"{name}[0]" if name == "include" else name for name, value in asked.items() if value])
