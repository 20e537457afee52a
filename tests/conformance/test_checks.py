"""Each check refuses what it is there for: a check that refuses nothing would let everything pass."""

from typing import Any

import pytest

from tests.conformance.checks import CHECKS

pytestmark = pytest.mark.requirement("dialects.conformance")

USER = {"role": "user", "content": "hi"}
PICTURE = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "http://a"}}]}
CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
ASKED = {"role": "assistant", "content": None, "tool_calls": [CALL]}
OUTPUT = {"role": "tool", "tool_call_id": "c", "content": "1"}


def tool(name: str = "f", parameters: Any = None) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": {"type": "object"} if parameters is None else parameters}}


def schema(**node: Any) -> dict[str, Any]:
    return {"tools": [tool(parameters={"type": "object", "properties": {"p": node}})]}


FORCED = {"tools": [tool()], "tool_choice": "required"}
REFUSED: list[tuple[str, dict[str, Any], dict[str, Any], int]] = [
    ("fields", {"known": ["messages"]}, {"x": 1, "y": 2}, 2),
    ("no_nulls", {}, {"x": None}, 1),
    ("number", {"field": "t", "least": 0, "most": 1}, {"t": 1.5}, 1),
    ("number", {"field": "t", "least": 0, "most": 1}, {"t": 1}, 0),
    ("roles", {"known": ["user"]}, {"messages": [USER, ASKED]}, 1),
    ("system_first", {}, {"messages": [USER, {"role": "system", "content": "x"}]}, 1),
    ("conversation", {}, {"messages": [{"role": "system", "content": "x"}]}, 1),
    ("message_fields", {"role": "user", "known": ["role"]}, {}, 1),
    ("apart", {"pairs": [["tool", "user"]]}, {"messages": [ASKED, OUTPUT, USER]}, 1),
    ("last", {"known": ["user"]}, {"messages": [USER, ASKED]}, 1),
    ("assistant_content", {"known": ["text"]}, {"messages": [ASKED]}, 1),
    ("assistant_content", {"known": ["empty"]}, {"messages": [{"role": "assistant", "content": ""}]}, 1),
    ("parts", {"role": "user", "known": ["text"]}, {"messages": [PICTURE]}, 1),
    ("parts", {"role": "user", "known": ["text"]}, {"messages": [{"role": "user", "content": None}]}, 1),
    ("text_only", {"role": "user"}, {"messages": [PICTURE]}, 1),
    ("image_urls", {"beginnings": ["data:"]}, {"messages": [PICTURE]}, 1),
    ("paired", {}, {"messages": [USER, ASKED, USER]}, 1),
    ("paired", {}, {"messages": [OUTPUT]}, 1),
    ("call_ids", {"pattern": "[a-z]{9}"}, {"messages": [ASKED, OUTPUT]}, 2),
    ("call_ids", {"pattern": "c"}, {"messages": [{**ASKED, "tool_calls": [CALL, CALL]}]}, 1),
    ("thoughts", {"field": "r", "needed": True}, {"messages": [ASKED]}, 1),
    ("thoughts", {"field": "r", "needed": True}, {"messages": [ASKED], "thinking": {"type": "disabled"}}, 0),
    ("thoughts", {"field": "r"}, {"messages": [{**ASKED, "r": ""}]}, 1),
    ("thoughts", {"field": "r"}, {"messages": [{"role": "assistant", "content": "x", "r": "hm"}]}, 1),
    ("thoughts", {"field": "r", "on": "any"}, {"messages": [{"role": "assistant", "content": "x", "r": "hm"}]}, 0),
    ("no_thoughts", {"known": ["reasoning"]}, {"messages": [{**ASKED, "reasoning": "x", "reasoning_content": "x"}]}, 1),
    ("tools", {"known": ["name", "parameters"]}, {"tools": [tool("a b"), tool(parameters=[])]}, 2),
    ("tools", {"known": ["name"], "most": 1}, {"tools": [tool(), tool()]}, 3),
    ("tools", {"known": ["name"]}, {"tools": []}, 1),
    ("tools", {"known": [], "names": "g"}, {"messages": [ASKED]}, 1),
    ("schemas", {"typed": True}, schema(items=[{}]), 2),
    ("schemas", {"typed": True}, schema(type="string", anyOf=[{}]), 1),
    ("schemas", {"typed": True}, schema(type="string", enum=[None]), 1),
    ("schemas", {"lone": True}, schema(**{"$ref": "#", "title": "x"}), 1),
    ("schemas", {"refused": ["if"]}, schema(type="object", properties={"if": {"if": {}}}), 1),
    ("schemas", {"flat": True}, {"tools": [tool(parameters={"type": "object", "anyOf": []})]}, 1),
    ("tool_choice", {"words": ["auto"]}, FORCED, 1),
    ("tool_choice", {"words": ["auto"]}, {"tool_choice": "auto"}, 1),
    ("tool_choice", {"words": [], "by_name": False}, FORCED | {"tool_choice": {"function": {"name": "f"}}}, 1),
    ("tool_choice", {"words": []}, FORCED | {"tool_choice": {"function": {"name": "g"}}}, 1),
    ("tool_choice", {"words": []}, FORCED | {"tool_choice": {"type": "allowed_tools"}}, 1),
    ("forced_without_thinking", {"field": "thinking", "off": False}, FORCED, 1),
    ("forced_without_thinking", {"field": "thinking", "off": False}, FORCED | {"thinking": False}, 0),
    ("not_together", {"pair": ["x", "y"]}, {"x": 1, "y": 1}, 1),
    ("values", {"field": "x.y", "known": [1]}, {"x": {"y": 2}}, 1),
    ("response_format", {"types": ["text"]}, {"response_format": {"type": "json_schema"}}, 2),
    ("response_format", {"types": ["json_object"]}, {"response_format": {"type": "json_object", "schema": {}}}, 1),
    ("json_is_spoken_of", {}, {"response_format": {"type": "json_object"}}, 1),
]


@pytest.mark.parametrize(("check", "takes", "body", "count"), REFUSED, ids=[f"{row[0]} {number}" for number, row in enumerate(REFUSED)])
def test_what_a_check_is_for(check: str, takes: dict[str, Any], body: dict[str, Any], count: int) -> None:
    assert len(list(CHECKS[check]({"messages": [USER], **body}, **takes))) == count


def test_each_check_has_a_row_here() -> None:
    assert {row[0] for row in REFUSED} == CHECKS.keys()
