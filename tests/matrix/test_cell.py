"""The matrix sees what is wrong: each kind of mismatch as a row, without any Codex."""

from dataclasses import replace
from typing import Any

import pytest

from tests.matrix.cell import Ran, differences, moves, problems, undeclared
from tests.matrix.codex import Done
from tests.matrix.prompt import Break, stability
from tests.matrix.row import DISCONNECTED, Moved, Row, Step
from tests.matrix.rows import BY_NAME, ROWS
from tests.matrix.versions import VERSIONS, adapted
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


def user(*texts: str) -> list[Json]:
    return [{"role": "user", "content": text} for text in texts]


CALL: Json = {"role": "assistant", "content": None, "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f"}}]}
PREFIXES: dict[str, tuple[Ran, str]] = {
    "appended": (requests({"messages": user("one")}, {"messages": user("one", "two")}), ""),
    "the same again": (requests({"messages": user("one")}, {"messages": user("one")}), ""),
    "items without ids": (requests({"input": [{"role": "user", "id": "a"}]}, {"input": [{"role": "user", "id": "b"}]}), ""),
    "changed": (requests({"messages": user("one", "two")}, {"messages": user("one", "2", "3")}), "had …'"),
    "another call": (requests({"messages": [CALL]}, {"messages": [CALL | {"tool_calls": []}]}), "request 2 does not begin"),
    "shortened": (requests({"messages": user("one", "two")}, {"messages": user("one")}), "request 2 does not begin"),
    "other tools": (requests({"tools": [{"name": "a"}]}, {"tools": [{"name": "b"}]}), "<tools>"),
    "a tool more": (requests({"tools": [{"name": "a"}]}, {"tools": [{"name": "a"}, {"name": "b"}]}), "</tools>"),
}


@pytest.mark.parametrize(("ran", "expected"), PREFIXES.values(), ids=PREFIXES)
def test_a_moved_prefix_is_seen(ran: Ran, expected: str) -> None:
    stable = stability(ran.exchanges)
    found = "\n".join(map(str, stable.breaks))
    assert bool(found) == bool(expected) == (stable.prefix_stable_ratio < 1.0)
    assert expected in found


MOVES: dict[str, tuple[Moved | None, str, str, list[str]]] = {
    "where it has to": (Moved(at="b$", why="", logged="moved 'input"), "a b", "moved 'input[1]'", []),
    "where it must not": (None, "a b", "", ["does not begin as"]),
    "elsewhere": (Moved(at="x", why=""), "a b", "", ["should have moved at 'x'"]),
    "nowhere": (Moved(at="x", why=""), "", "", ["should have moved at 'x'"]),
    "untold": (Moved(at="b$", why="", logged="moved"), "a b", "dropped", ["not told"]),
}


@pytest.mark.parametrize(("expected", "before", "log", "found"), MOVES.values(), ids=MOVES)
def test_a_prompt_may_move_where_it_has_to(expected: Moved | None, before: str, log: str, found: list[str]) -> None:
    problems = list(moves(expected, [Break("", 2, before, "c")] if before else [], log))
    assert len(problems) == len(found)
    assert all(words in problem for words, problem in zip(found, problems, strict=True))


def test_conversations_are_compared_with_themselves() -> None:
    bodies = (("", user("one")), ("child", user("task")), ("", user("one", "two")), ("child", user("task", "more")))
    exchanges = [Exchange(number, {}, {"messages": given}, thread=thread) for number, (thread, given) in enumerate(bodies, 1)]
    assert stability(exchanges).prefix_stable_ratio == 1.0
    assert stability(replace(each, thread="") for each in exchanges).prefix_stable_ratio < 1.0


def test_a_row_that_proves_nothing_is_a_problem() -> None:
    row = replace(ROW, declared=("web_search",))
    assert list(undeclared(row, RAN)) == ["Codex declared no tool of type web_search, only []"]
    assert list(undeclared(row, requests({"tools": [{"type": "web_search"}]}))) == []


def test_row_names_are_unique() -> None:
    assert len(ROWS) == len(BY_NAME)


def test_exceptions_are_about_rows_there_are() -> None:
    for version in VERSIONS.values():
        assert version.lacks.keys() | version.differs.keys() <= BY_NAME.keys()


@pytest.mark.parametrize("version", VERSIONS.values(), ids=VERSIONS)
def test_every_row_can_be_adapted(version: Any) -> None:
    for row in ROWS:
        assert adapted(row, version).name == row.name
