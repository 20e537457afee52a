"""Deferred tools: searched for, shown in the search's output, called through one dispatcher, restored to what the client knows."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.protocol.document import Document
from antiphon.protocol.notes import Kind
from antiphon.protocol.request import open_body
from antiphon.tools import discovery
from antiphon.translation import chat
from antiphon.translation.dialect import ChatRules
from antiphon.translation.translated import Translated

pytestmark = pytest.mark.requirement("tools.discovery")

SEARCH = {
    "type": "tool_search",
    "execution": "client",
    "description": "find tools",
    "parameters": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
}


def server(name: str, *tools: dict[str, Any]) -> dict[str, Any]:
    return {"type": "namespace", "name": f"mcp__{name}", "description": "", "tools": list(tools)}


def function(name: str) -> dict[str, Any]:
    return {
        "type": "function",
        "name": name,
        "description": f"does {name}",
        "strict": False,
        "defer_loading": True,
        "parameters": {"type": "object"},
    }


FOUND = [server("one", function("echo")), server("two", function("echo"), {"type": "custom", "name": "draw", "description": "draws"})]
SEARCHED: list[dict[str, Any]] = [
    {"type": "message", "role": "user", "content": "echo"},
    {"type": "tool_search_call", "call_id": "s", "execution": "client", "status": "completed", "arguments": {"query": "echo"}},
    {"type": "tool_search_output", "call_id": "s", "execution": "client", "status": "completed", "tools": FOUND},
]


def translated(items: list[dict[str, Any]], rules: ChatRules | None = None) -> Translated:
    document, _ = open_body(json.dumps({"model": "m", "tools": [SEARCH], "input": items}).encode())
    return chat.translate(document, rules or ChatRules())


def tool_names(turn: Translated) -> list[str]:
    return [tool["function"]["name"] for tool in turn.body.get("tools")]


def test_the_search_and_the_dispatcher_are_declared_from_the_start() -> None:
    before, after = translated(SEARCHED[:1]), translated(SEARCHED)
    assert tool_names(before) == ["tool_search", "call_tool"]
    assert bytes(before.body.members["tools"]) == bytes(after.body.members["tools"])
    assert after.body.get("messages")[: len(before.body.get("messages"))] == before.body.get("messages")


def test_the_result_of_a_search_names_what_can_be_called() -> None:
    said = translated(SEARCHED).body.get("messages")[-1]
    assert said["role"] == "tool"
    assert [name in said["content"] for name in ("mcp__one__echo", "mcp__two__echo", "mcp__two__draw", "does echo", "call_tool")] == [
        True
    ] * 5


@pytest.mark.parametrize(
    ("called", "raised"),
    [
        (
            {"name": "mcp__two__echo", "arguments": {"q": 1.0}},
            {"type": "function_call", "name": "echo", "namespace": "mcp__two", "arguments": '{"q":1.0}'},
        ),
        (
            {"name": "mcp__one__echo", "arguments": '{"q":1}'},
            {"type": "function_call", "name": "echo", "namespace": "mcp__one", "arguments": '{"q":1}'},
        ),
        (
            {"name": "mcp__two__draw", "arguments": {"input": "a\nb"}},
            {"type": "custom_tool_call", "name": "draw", "namespace": "mcp__two", "input": "a\nb"},
        ),
        (
            {"name": "mcp__one.echo", "arguments": {}},
            {"type": "function_call", "name": "echo", "namespace": "mcp__one", "arguments": "{}"},
        ),
        (
            {"name": "draw", "arguments": {"input": "a"}},
            {"type": "custom_tool_call", "name": "draw", "namespace": "mcp__two", "input": "a"},
        ),
        ({"name": "echo", "arguments": {}}, {"type": "function_call", "name": "echo", "arguments": "{}"}),
        (
            {"name": "mcp__one__echo", "q": 1},
            {"type": "function_call", "name": "echo", "namespace": "mcp__one", "arguments": '{"q":1}'},
        ),
        ({"name": "never_found", "arguments": {}}, {"type": "function_call", "name": "never_found", "arguments": "{}"}),
    ],
    ids=[
        "the right server",
        "arguments as text",
        "a freeform tool",
        "with a dot",
        "a bare name that only one has",
        "a bare name that two have",
        "arguments beside the name",
        "a tool nobody found",
    ],
)
def test_a_dispatched_call_comes_back_as_the_tool_it_meant(called: dict[str, Any], raised: dict[str, Any]) -> None:
    call = Document.of(
        {"type": "function_call", "id": "fc_1", "call_id": "c", "name": "call_tool", "arguments": json.dumps(called, separators=(",", ":"))}
    )
    made = json.loads(bytes(translated(SEARCHED).registry.raised_call(call)))
    assert {name: made.get(name) for name in raised} == raised


@pytest.mark.parametrize("arguments", ["", "{", "[]", '{"arguments":{}}', "no json"], ids=repr)
def test_a_dispatcher_called_wrongly_is_handed_on_as_it_came(arguments: str) -> None:
    call = Document.of({"type": "function_call", "call_id": "c", "name": "call_tool", "arguments": arguments})
    assert translated(SEARCHED).registry.raised_call(call) is call


@given(st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5), max_size=4))
def test_raising_a_dispatched_call_gives_the_call(arguments: dict[str, Any]) -> None:
    call = {
        "type": "function_call",
        "call_id": "c",
        "name": "echo",
        "namespace": "mcp__two",
        "arguments": json.dumps(arguments, ensure_ascii=False),
    }
    turn = translated([*SEARCHED, call])
    lowered = turn.body.get("messages")[-2]["tool_calls"][0]["function"]
    assert lowered["name"] == "call_tool"
    raised = turn.registry.raised_call(Document.of({"type": "function_call", "call_id": "c", **lowered}))
    assert json.loads(bytes(raised)) == call


def test_a_search_call_comes_back_with_object_arguments() -> None:
    registry = translated(SEARCHED[:1]).registry
    call = {
        "type": "function_call",
        "id": "fc_1",
        "call_id": "c",
        "status": "completed",
        "name": "tool_search",
        "arguments": '{"query":"x"}',
    }
    raised = json.loads(bytes(registry.raised_call(Document.of(call))))
    assert raised == {
        "type": "tool_search_call", "id": "fc_1", "call_id": "c", "status": "completed", "execution": "client", "arguments": {"query": "x"},
    }  # fmt: skip


def test_appended_tools_are_callable_by_name_and_the_moved_prefix_is_noted() -> None:
    turn = translated(SEARCHED, ChatRules(found_tools="append"))
    assert tool_names(turn) == ["tool_search", "mcp__one__echo", "mcp__two__echo", "mcp__two__draw"]
    assert moved(turn) == ["input[2]"]


def moved(turn: Translated) -> list[str]:
    return [note.where for note in turn.notes if note.kind is Kind.MOVED]


MORE: list[dict[str, Any]] = [
    {**SEARCHED[1], "call_id": "t"},
    {**SEARCHED[2], "call_id": "t", "tools": [server("three", function("echo"))]},
]
ANSWER = {"type": "message", "role": "assistant", "content": "done"}
AGAIN: dict[str, tuple[list[dict[str, Any]], list[str]]] = {
    "before any search": ([], []),
    "the search came since the model spoke": (SEARCHED[1:], ["input[2]"]),
    "the request before had it": ([*SEARCHED[1:], ANSWER, SEARCHED[0]], []),
    "a second search": ([*SEARCHED[1:], *MORE], ["input[4]"]),
    "a second search for the same": ([*SEARCHED[1:], {**SEARCHED[1], "call_id": "t"}, {**SEARCHED[2], "call_id": "t"}], []),
    "tools in the input, at its beginning": ([{"type": "additional_tools", "tools": [function("x")]}, ANSWER], []),
    "tools in the input, late": ([ANSWER, {"type": "additional_tools", "tools": [function("x")]}], ["input[2]"]),
    "tools in the input, late, and the model spoke since": ([ANSWER, {"type": "additional_tools", "tools": [function("x")]}, ANSWER], []),
}


@pytest.mark.parametrize(("items", "where"), AGAIN.values(), ids=AGAIN)
def test_a_moved_prefix_is_told_at_the_item_that_moved_it_and_once(items: list[dict[str, Any]], where: list[str]) -> None:
    assert moved(translated([SEARCHED[0], *items], ChatRules(found_tools="append"))) == where


@pytest.mark.parametrize(
    ("rules", "moves"), [(ChatRules(), []), (ChatRules(found_tools="append"), ["input[2]", "input[5]"])], ids=["dispatch", "append"]
)
def test_what_stands_in_the_tools_moves_where_it_is_told_and_nowhere_else(rules: ChatRules, moves: list[str]) -> None:
    items = [*SEARCHED, ANSWER, *MORE, ANSWER]
    before, breaks, told = "", list[str](), list[str]()
    for end in range(1, len(items) + 1):
        if items[end - 1].get("type") == "tool_search_call":
            continue  # nobody asks before the search is answered
        turn = translated(items[:end], rules)
        told += moved(turn)
        now = bytes(turn.body.members["tools"]).decode()
        breaks += [f"input[{end - 1}]"] if before and now != before else []
        before = now
    assert told == breaks == moves


def test_what_was_found_and_nobody_runs_is_told() -> None:
    found = [server("one", {"type": "web_search"}, function("echo"))]
    turn = translated([*SEARCHED[:2], {**SEARCHED[2], "tools": found}])
    assert [note.where for note in turn.notes if note.kind is Kind.DROPPED] == ["input[2].tools[0].tools[0]"]
    assert "Found 1 tool" in turn.body.get("messages")[-1]["content"]


def test_a_search_that_found_nothing_says_so() -> None:
    assert json.loads(discovery.found_text([], "call_tool")) == "No tools found."


def test_a_search_that_a_server_should_run_is_left_out() -> None:
    document, _ = open_body(json.dumps({"model": "m", "tools": [{**SEARCH, "execution": "server"}], "input": "hi"}).encode())
    turn = chat.translate(document, ChatRules())
    assert "tools" not in turn.body
    assert [note.where for note in turn.notes] == ["tools[0]"]
