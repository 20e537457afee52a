"""`tool_choice` in every form, on both APIs: what it becomes there, and what is told."""

import json
from typing import Any

import pytest

from antiphon.protocol import request
from antiphon.protocol.notes import Kind
from antiphon.tools.choice import Choice
from antiphon.translation import chat, responses
from antiphon.translation.dialect import ChatRules, ResponsesRules
from antiphon.translation.translated import Translated

pytestmark = pytest.mark.requirement("tools.allowed")

TOOLS: list[dict[str, Any]] = [
    {"type": "function", "name": "run"},
    {"type": "function", "name": "echo"},
    {
        "type": "namespace",
        "name": "mcp__a",
        "description": "",
        "tools": [{"type": "function", "name": "echo"}, {"type": "custom", "name": "draw"}],
    },
    {"type": "tool_search", "execution": "client", "parameters": {"type": "object"}},
    {"type": "shell", "environment": {"type": "local"}},
    {"type": "web_search"},
]
FOUND = {"type": "namespace", "name": "mcp__late", "description": "", "tools": [{"type": "function", "name": "found"}]}
SEARCHED = [
    {"role": "user", "content": "go"},
    {"type": "tool_search_call", "call_id": "s", "execution": "client", "arguments": {"query": "x"}},
    {"type": "tool_search_output", "call_id": "s", "execution": "client", "status": "completed", "tools": [FOUND]},
]
TOLD = frozenset({"none", "required", "named"})
NO_SUCH = ["dropped tool_choice"]


def one(name: str) -> Choice:
    return Choice("required", (name,))


FORMS: dict[str, tuple[Any, Choice | None, list[str]]] = {
    "auto": ("auto", Choice("auto"), []),
    "none": ("none", Choice("none"), []),
    "required": ("required", Choice("required"), []),
    "null": (None, None, []),
    "a word of tomorrow": ("sometimes", Choice("sometimes"), []),
    "a function": ({"type": "function", "name": "run"}, one("run"), []),
    "a function as Chat Completions nests it": ({"type": "function", "function": {"name": "run"}}, one("run"), []),
    "a function of a namespace": ({"type": "function", "name": "echo", "namespace": "mcp__a"}, one("mcp__a__echo"), []),
    "a function of none": ({"type": "function", "name": "echo"}, one("echo"), []),
    "by its joined name": ({"type": "function", "name": "mcp__a__echo"}, one("mcp__a__echo"), []),
    "by its name with a dot": ({"type": "function", "name": "mcp__a.echo"}, one("mcp__a__echo"), []),
    "by a name that only one namespace has": ({"type": "custom", "name": "draw"}, one("mcp__a__draw"), []),
    "a freeform tool of a namespace": ({"type": "custom", "name": "draw", "namespace": "mcp__a"}, one("mcp__a__draw"), []),
    "the search": ({"type": "tool_search"}, one("tool_search"), []),
    "the shell": ({"type": "shell"}, one("shell"), []),
    "a found tool, through the dispatcher": ({"type": "function", "name": "found", "namespace": "mcp__late"}, one("call_tool"), []),
    "a whole namespace": ({"type": "namespace", "name": "mcp__a"}, Choice("required", ("mcp__a__echo", "mcp__a__draw")), []),
    "a tool nobody declared": ({"type": "function", "name": "other"}, None, NO_SUCH),
    "a tool of another namespace": ({"type": "function", "name": "echo", "namespace": "mcp__b"}, None, NO_SUCH),
    "a tool that nobody here runs": ({"type": "web_search"}, None, NO_SUCH),
    "some are allowed": (
        {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "run"}, {"type": "namespace", "name": "mcp__a"}]},
        Choice("auto", ("run", "mcp__a__echo", "mcp__a__draw")),
        [],
    ),
    "one is allowed and must be called": (
        {"type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": "echo", "namespace": "mcp__a"}]},
        one("mcp__a__echo"),
        [],
    ),
    "allowed as Chat Completions nests it": (
        {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [{"type": "function", "function": {"name": "run"}}]}},
        one("run"),
        [],
    ),
    "one of those allowed is not there": (
        {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "web_search"}, {"type": "function", "name": "run"}]},
        Choice("auto", ("run",)),
        ["dropped tool_choice.tools[0]"],
    ),
    "none of those allowed is there": (
        {"type": "allowed_tools", "mode": "required", "tools": [{"type": "web_search"}]},
        Choice("none"),
        ["dropped tool_choice.tools[0]"],
    ),
    "none is allowed": ({"type": "allowed_tools", "mode": "auto", "tools": []}, Choice("none"), []),
}  # fmt: skip


def translated(spelled: Any, rules: ChatRules | ResponsesRules, tools: list[dict[str, Any]] = TOOLS) -> Translated:
    document, _ = request.open_body(json.dumps({"model": "m", "tools": tools, "tool_choice": spelled, "input": SEARCHED}).encode())
    if isinstance(rules, ChatRules):
        return chat.translate(document, rules)
    return responses.translate(document, request.view(document), rules)


def told(turn: Translated) -> list[str]:
    return [f"{note.kind} {note.where}" for note in turn.notes if note.where.startswith("tool_choice")]


def spelled_for_chat(choice: Choice | None, *, knows_lists: bool) -> Any:
    functions = [{"type": "function", "function": {"name": name}} for name in choice.names] if choice else []
    if choice is None or choice.one:
        return functions[0] if choice else None
    if functions and knows_lists:
        return {"type": "allowed_tools", "allowed_tools": {"mode": choice.mode, "tools": functions}}
    return choice.mode


@pytest.mark.parametrize("knows_lists", [False, True], ids=["no lists", "lists"])
@pytest.mark.parametrize(("spelled", "choice", "lost"), FORMS.values(), ids=FORMS)
def test_a_choice_for_a_chat_server(spelled: Any, choice: Choice | None, lost: list[str], *, knows_lists: bool) -> None:
    turn = translated(spelled, ChatRules(tool_choice=TOLD | ({"allowed"} if knows_lists else set())))
    assert turn.choice == choice
    assert turn.body.get("tool_choice") == spelled_for_chat(choice, knows_lists=knows_lists)
    unheard = choice is not None and choice.names and not choice.one and not knows_lists
    assert told(turn) == lost + (["changed tool_choice.tools"] if unheard else [])


@pytest.mark.parametrize(("spelled", "choice", "lost"), FORMS.values(), ids=FORMS)
def test_a_choice_for_a_responses_server(spelled: Any, choice: Choice | None, lost: list[str]) -> None:
    turn = translated(spelled, ResponsesRules())
    functions = [{"type": "function", "name": name} for name in choice.names] if choice else []
    many = {"type": "allowed_tools", "mode": choice.mode, "tools": functions} if choice and functions else choice and choice.mode
    assert turn.choice == choice
    assert turn.body.get("tool_choice") == (functions[0] if choice and choice.one else many)
    assert told(turn) == lost


@pytest.mark.parametrize("tools", [[], [{"type": "web_search"}]], ids=["no tools", "none that anybody runs"])
@pytest.mark.parametrize("rules", [ChatRules(), ResponsesRules()], ids=["chat", "responses"])
@pytest.mark.parametrize(
    ("spelled", "lost"), [("auto", []), ("none", []), ("required", NO_SUCH), ({"type": "function", "name": "run"}, NO_SUCH)]
)
def test_without_tools_there_is_nothing_to_choose(
    spelled: Any, lost: list[str], rules: ChatRules | ResponsesRules, tools: list[dict[str, Any]]
) -> None:
    document, _ = request.open_body(
        json.dumps({"model": "m", "tools": tools, "tool_choice": spelled, "input": "hi", "parallel_tool_calls": False}).encode()
    )
    turn = chat.translate(document, rules) if isinstance(rules, ChatRules) else responses.translate(document, request.view(document), rules)
    assert not {"tools", "tool_choice", "parallel_tool_calls"} & turn.body.members.keys()
    assert told(turn) == lost


@pytest.mark.parametrize("rules", [ChatRules(), ResponsesRules()], ids=["chat", "responses"])
def test_a_count_of_calls_that_a_server_runs_itself_loses_nothing(rules: ChatRules | ResponsesRules) -> None:
    document, _ = request.open_body(json.dumps({"model": "m", "tools": TOOLS[:1], "input": "hi", "max_tool_calls": 2}).encode())
    turn = chat.translate(document, rules) if isinstance(rules, ChatRules) else responses.translate(document, request.view(document), rules)
    assert [note for note in turn.notes if note.kind is not Kind.RENAMED] == []
