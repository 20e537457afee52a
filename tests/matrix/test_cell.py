"""The matrix sees what is wrong: each kind of mismatch as a row, without any Codex."""

from dataclasses import replace
from typing import Any

import pytest

from tests.matrix.cell import Ran, differences, moved, problems, undeclared
from tests.matrix.codex import Done
from tests.matrix.rows import BY_NAME, DISCONNECTED, ROWS, Row, Step
from tests.scripted.script import Json
from tests.scripted.server import Exchange


def item(kind: str, **fields: object) -> Json:
    return {"type": "item.completed", "item": {"id": "item_0", "type": kind} | fields}


ANSWER = item("agent_message", text="You said: hello")
TURN: Json = {"type": "turn.completed", "usage": {"input_tokens": 100}}
FAILED: Json = {"type": "turn.failed", "error": {"message": "stream disconnected before completion: eof"}}
ROW = Row(name="row", script="text", steps=(Step(last="You said: hello", usage={"input_tokens": 100}),), requests=1)
FAILING = replace(ROW, steps=(Step(exit=1, error="disconnected", items=()),), masks=(DISCONNECTED,))
RAN = Ran(steps=(Done(0, "", ""),), shown=([ANSWER, TURN],), exchanges=[Exchange(1, {}, {})], files={}, seconds=0.1)
BROKEN = replace(RAN, steps=(Done(1, "", ""),), shown=([FAILED],))

WRONG: dict[str, tuple[Row, Ran, str]] = {
    "another exit": (ROW, replace(RAN, steps=(Done(1, "", ""),)), "process 1: exit 1, expected 0"),
    "no end": (ROW, replace(RAN, steps=(Done(None, "", ""),)), "process 1: took too long"),
    "another last message": (ROW, replace(RAN, shown=([item("agent_message", text="You"), TURN],)), "last message 'You', expected"),
    "no message": (ROW, replace(RAN, shown=([TURN],)), "items (), expected ('agent_message',)"),
    "a metadata warning": (ROW, replace(RAN, shown=([item("error"), ANSWER, TURN],)), "items ('error', 'agent_message')"),
    "an unexpected failure": (ROW, replace(RAN, shown=([ANSWER, TURN, FAILED],)), "turn failed with 'stream disconnected"),
    "no failure": (FAILING, replace(BROKEN, shown=([],)), "turn failed with '', expected 'disconnected'"),
    "another usage": (ROW, replace(RAN, shown=([ANSWER, TURN | {"usage": {}}],)), "usage {}, expected {'input_tokens': 100}"),
    "one request more": (ROW, replace(RAN, exchanges=RAN.exchanges * 2), "2 requests reached the upstream, expected 1"),
    "a file not written": (
        replace(ROW, files_after={"a": b"x"}),
        replace(RAN, files={"a": None}),
        "file a holds None, expected b'x'",
    ),
    "a refused request": (ROW, replace(RAN, exchanges=[Exchange(1, {}, {}, 400, "unknown role")]), "refused request 1: unknown role"),
}


@pytest.mark.parametrize(("row", "ran", "expected"), WRONG.values(), ids=WRONG)
def test_a_mismatch_is_a_problem(row: Row, ran: Ran, expected: str) -> None:
    assert expected in "\n".join(problems(row, ran))


@pytest.mark.parametrize(("row", "ran"), [(ROW, RAN), (FAILING, BROKEN)], ids=["answer", "failure"])
def test_what_is_expected_is_no_problem(row: Row, ran: Ran) -> None:
    assert list(problems(row, ran)) == []


def test_other_events_than_directly_are_a_difference() -> None:
    other = replace(RAN, shown=([ANSWER | {"extra": 1}, TURN],))
    assert list(differences(ROW, RAN, RAN)) == []
    assert '"extra": 1' in "\n".join(differences(ROW, other, RAN))


def test_ids_and_masked_words_are_no_difference() -> None:
    renamed = replace(RAN, shown=([item("agent_message", text="You said: hello", id="item_7"), TURN],))
    reworded = replace(BROKEN, shown=([{"type": "turn.failed", "error": {"message": f"{DISCONNECTED[0][:-2]}other"}}],))
    assert list(differences(ROW, renamed, RAN)) == []
    assert list(differences(FAILING, reworded, BROKEN)) == []
    assert list(differences(replace(FAILING, masks=()), reworded, BROKEN)) != []


def test_order_counts_unless_calls_are_parallel() -> None:
    first, second = item("command_execution", command="a"), item("command_execution", command="b")
    one, other = (replace(RAN, shown=([*pair, TURN],)) for pair in ((first, second), (second, first)))
    assert list(differences(ROW, one, other)) != []
    assert list(differences(replace(ROW, unordered=True), one, other)) == []


def requests(*bodies: Any) -> Ran:
    return replace(RAN, exchanges=[Exchange(number, {}, body) for number, body in enumerate(bodies, 1)])


PREFIXES: dict[str, tuple[Ran, str]] = {
    "appended": (requests({"input": [1]}, {"input": [1, 2]}), ""),
    "the same again": (requests({"input": [1]}, {"input": [1]}), ""),
    "changed": (requests({"messages": [1, 2]}, {"messages": [1, 3, 4]}), "request 2: messages[1] is not what it was"),
    "shortened": (requests({"input": [1, 2]}, {"input": [1]}), "request 2: input[1] is not what it was"),
    "other tools": (requests({"tools": [1]}, {"tools": [2]}), "request 2 has other tools"),
}


@pytest.mark.parametrize(("ran", "expected"), PREFIXES.values(), ids=PREFIXES)
def test_a_moved_prefix_is_a_problem(ran: Ran, expected: str) -> None:
    found = "\n".join(moved(ran))
    assert bool(found) == bool(expected)
    assert expected in found


def test_a_row_that_proves_nothing_is_a_problem() -> None:
    row = replace(ROW, declared=("web_search",))
    assert list(undeclared(row, RAN)) == ["Codex declared no tool of type web_search, only []"]
    assert list(undeclared(row, requests({"tools": [{"type": "web_search"}]}))) == []


def test_row_names_are_unique() -> None:
    assert len(ROWS) == len(BY_NAME)
