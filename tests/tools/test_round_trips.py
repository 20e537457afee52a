"""The law of lowering over all kinds of tools: a call of the past, made again by the model as it sees it, is the same call."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon.protocol import request
from antiphon.protocol.document import Document
from antiphon.tools import lowering
from antiphon.translation import chat, responses
from antiphon.translation.dialect import ChatRules, ResponsesRules
from antiphon.translation.translated import Translated

Item = dict[str, Any]

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
NAME = TEXT.filter(bool)
VALUE = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)
OBJECT = st.dictionaries(TEXT, VALUE, max_size=4)
WORDS = st.lists(TEXT, max_size=3)
ARGUMENTS = st.builds(lambda given: json.dumps(given, ensure_ascii=False), OBJECT)
"""What strict servers take; how other arguments are repaired is for `test_chat_histories`."""

KINDS: dict[str, st.SearchStrategy[Item]] = {
    "function": st.fixed_dictionaries({"name": NAME, "arguments": ARGUMENTS}, optional={"namespace": NAME}),
    "custom": st.fixed_dictionaries({"name": NAME, "input": TEXT}, optional={"namespace": NAME}),
    "tool_search": st.fixed_dictionaries({"execution": st.just("client"), "arguments": OBJECT}),
    "local_shell": st.fixed_dictionaries(
        {
            "action": st.fixed_dictionaries(
                {"type": st.just("exec"), "env": st.dictionaries(TEXT, TEXT, max_size=2), "command": WORDS},
                optional={"working_directory": TEXT, "timeout_ms": st.integers(0, 10**6), "user": TEXT},
            )
        }
    ),
    "shell": st.fixed_dictionaries(
        {
            "action": st.fixed_dictionaries(
                {"commands": WORDS}, optional={"timeout_ms": st.integers(0, 10**6), "max_output_length": st.none()}
            )
        }
    ),
    "apply_patch": st.fixed_dictionaries(
        {
            "operation": st.fixed_dictionaries(
                {"type": st.sampled_from(["create_file", "delete_file"]), "path": TEXT}, optional={"diff": TEXT}
            )
        }
    ),
}
"""By kind of tool: calls of it, without what every item has."""
UPSTREAMS: dict[str, ChatRules | ResponsesRules] = {
    "chat": ChatRules(),
    "chat, narrow names": ChatRules(name_limit=16, name_pattern="[a-z][a-z0-9_]*", found_tools="append"),
    "responses": ResponsesRules(),
}
LAW = settings(deadline=None, max_examples=40)


def declared(kind: str, call: Item) -> Item:
    """The declaration of a call's tool."""
    tool: Item = {"type": kind} | ({"name": call["name"]} if "name" in call else {})
    if "namespace" in call:
        return {"type": "namespace", "name": call["namespace"], "description": "", "tools": [tool]}
    return tool


def translated(items: list[Item], tools: list[Item], rules: ChatRules | ResponsesRules) -> Translated:
    document, _ = request.open_body(json.dumps({"model": "m", "input": items, "tools": tools}).encode())
    if isinstance(rules, ChatRules):
        return chat.translate(document, rules)
    return responses.translate(document, request.view(document), rules)


def seen(turn: Translated) -> Item:
    """The last call as the model sees it, as it would make it again."""
    if "messages" in turn.body:
        (call,) = next(message["tool_calls"] for message in reversed(turn.body.get("messages")) if message.get("tool_calls"))
        return {"type": "function_call", "call_id": call["id"], **call["function"]}
    return [item for item in turn.body.get("input") if item["type"] == "function_call"][-1]


def test_every_kind_is_here() -> None:
    assert KINDS.keys() == lowering.BY_KIND.keys()


@pytest.mark.requirement("tools.round-trip")
@pytest.mark.parametrize("rules", UPSTREAMS.values(), ids=UPSTREAMS)
@pytest.mark.parametrize("kind", KINDS)
@LAW
@given(data=st.data())
def test_a_call_made_again_is_the_same_call(kind: str, rules: ChatRules | ResponsesRules, data: st.DataObject) -> None:
    call: Item = {"type": lowering.BY_KIND[kind].call, "call_id": "c", **data.draw(KINDS[kind])}
    output = {"type": "function_call_output", "call_id": "c", "output": "done"}
    turn = translated([{"type": "message", "role": "user", "content": "go"}, call, output], [declared(kind, call)], rules)
    model = seen(turn)
    assert model["name"] in {entry.name for entry in turn.registry.callable_entries}
    assert json.loads(bytes(turn.registry.raised_call(Document(json.dumps(model).encode())))) == call


@pytest.mark.requirement("tools.round-trip", "tools.discovery")
@pytest.mark.parametrize("rules", UPSTREAMS.values(), ids=UPSTREAMS)
@pytest.mark.parametrize("kind", ["function", "custom"])
@LAW
@given(data=st.data())
def test_a_call_of_a_found_tool_made_again_is_the_same_call(kind: str, rules: ChatRules | ResponsesRules, data: st.DataObject) -> None:
    call: Item = {"type": lowering.BY_KIND[kind].call, "call_id": "c", **data.draw(KINDS[kind])}
    twin = {**call, "call_id": "d", "namespace": "twin"}
    history: list[Item] = [
        {"type": "message", "role": "user", "content": "go"},
        {"type": "tool_search_call", "call_id": "s", "execution": "client", "arguments": {}},
        {"type": "tool_search_output", "call_id": "s", "execution": "client", "tools": [declared(kind, twin), declared(kind, call)]},
    ]
    for one in (call, twin):
        history += [one, {"type": "function_call_output", "call_id": one["call_id"], "output": "done"}]
        turn = translated(history, [{"type": "tool_search", "execution": "client"}], rules)
        made = json.loads(bytes(turn.registry.raised_call(Document(json.dumps(seen(turn)).encode()))))
        assert made == one
