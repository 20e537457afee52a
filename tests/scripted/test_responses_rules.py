"""The scripted Responses servers: what both take, and what only the strict one refuses."""

import pytest

from tests.scripted.responses_rules import refusal
from tests.scripted.script import Json

SCHEMA: Json = {"type": "object", "properties": {}}
FUNCTION: Json = {"type": "function", "name": "run", "strict": False, "parameters": SCHEMA}
CALL: Json = {"type": "function_call", "id": "fc_1", "call_id": "a", "name": "run", "arguments": "{}"}
RESULT: Json = {"type": "function_call_output", "id": "fco_1", "call_id": "a", "output": "done"}
DEVELOPER: Json = {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "x"}]}

BOTH_TAKE: dict[str, Json] = {
    "a string": {"input": "hello"},
    "developer messages": {"input": [DEVELOPER, DEVELOPER]},
    "a call and its result": {"input": [CALL, RESULT]},
    "an image in a result": {"input": [CALL, RESULT | {"output": [{"type": "input_image", "image_url": "data:image/png;base64,AA=="}]}]},
    "functions": {"tools": [FUNCTION], "tool_choice": "auto"},
    "no tools": {"tools": [], "tool_choice": "auto"},
}
BOTH_REFUSE: dict[str, tuple[Json, str]] = {
    "no input": ({"input": None}, "input: required"),
    "a field of chat": ({"messages": []}, "messages: unknown parameter"),
    "an unknown role": ({"input": [{"role": "tool", "content": "x"}]}, "input[0].role: expected one of"),
    "a call without result": ({"input": [CALL]}, "no tool output found for function call a"),
    "a result without call": ({"input": [RESULT]}, "no tool call found for function call output with call_id a"),
}
STRICT_REFUSES: dict[str, tuple[Json, str]] = {
    "a custom tool": ({"tools": [{"type": "custom", "name": "apply_patch"}]}, "tools[0].type: unsupported tool type 'custom'"),
    "a namespace": ({"tools": [{"type": "namespace", "name": "n", "tools": [FUNCTION]}]}, "unsupported tool type 'namespace'"),
    "a web search": ({"tools": [{"type": "web_search"}]}, "tools[0].type: unsupported tool type 'web_search'"),
    "the same name twice": ({"tools": [FUNCTION, FUNCTION]}, "tools: tool names must be unique"),
    "a dotted name": ({"tools": [FUNCTION | {"name": "a.b"}]}, "tools[0].name: function name 'a.b'"),
    "parameters null": ({"tools": [FUNCTION | {"parameters": None}]}, "tools[0].parameters: expected an object"),
    "a namespaced call": ({"input": [CALL | {"namespace": "n"}, RESULT]}, "input[0].namespace: extra fields not permitted"),
    "a custom call": (
        {"input": [{"type": "custom_tool_call", "call_id": "a", "name": "p", "input": "x"}, RESULT | {"type": "custom_tool_call_output"}]},
        "input[0]: unknown item type 'custom_tool_call'",
    ),
    "an unknown item": ({"input": [{"type": "agent_message"}]}, "input[0]: unknown item type 'agent_message'"),
}


def refused(change: Json, *, strict: bool) -> str:
    failure = refusal({"model": "m", "input": "hello"} | change, strict=strict)
    return failure.message if failure else ""


@pytest.mark.parametrize("change", BOTH_TAKE.values(), ids=BOTH_TAKE)
def test_both_take(change: Json) -> None:
    assert [refused(change, strict=False), refused(change, strict=True)] == ["", ""]


@pytest.mark.parametrize(("change", "message"), BOTH_REFUSE.values(), ids=BOTH_REFUSE)
def test_both_refuse(change: Json, message: str) -> None:
    assert message in refused(change, strict=False)
    assert message in refused(change, strict=True)


@pytest.mark.parametrize(("change", "message"), STRICT_REFUSES.values(), ids=STRICT_REFUSES)
def test_only_the_strict_one_refuses(change: Json, message: str) -> None:
    assert refused(change, strict=False) == ""
    assert message in refused(change, strict=True)
