"""What the scripted Responses servers refuse with 400; the `strict` rows are those of servers that only know functions."""

from collections.abc import Iterator

from tests.scripted.refusals import Complaint, first, indexed, named, parameters, unique
from tests.scripted.script import Failure, Json, mapping, objects

STRICT_ITEMS = {
    "message": {"id", "type", "role", "content", "status", "phase"},
    "function_call": {"id", "type", "call_id", "name", "arguments", "status"},
    "function_call_output": {"id", "type", "call_id", "output", "status"},
    "reasoning": {"id", "type", "summary", "content", "encrypted_content", "status"},
}
ROLES = ("user", "assistant", "system", "developer")
CALLS = ("function_call", "custom_tool_call", "tool_search_call")


def top_level(body: Json) -> Iterator[Complaint]:
    for name, kinds in (("model", str), ("input", (str, list))):
        if not isinstance(body.get(name), kinds):
            yield Complaint(name, "required")
    for name in ("messages", "max_tokens", "response_format"):
        if name in body:
            yield Complaint(name, "unknown parameter")


def roles(body: Json) -> Iterator[Complaint]:
    for path, item in indexed(body["input"], "input"):
        message = mapping(item)
        if message.get("type", "message") == "message" and message.get("role") not in ROLES:
            yield Complaint(f"{path}.role", f"expected one of {ROLES}, got {message.get('role')!r}")


def pairing(body: Json) -> Iterator[Complaint]:
    """Every output answers a call before it, every call has its output."""
    items = objects(body["input"])
    calls = [item.get("call_id") for item in items if item.get("type") in CALLS]
    outputs = [item.get("call_id") for item in items if str(item.get("type")).endswith(("call_output", "search_output"))]
    for call_id in outputs:
        if call_id not in calls:
            yield Complaint("input", f"no tool call found for function call output with call_id {call_id}")
    for call_id in calls:
        if call_id not in outputs:
            yield Complaint("input", f"no tool output found for function call {call_id}")


def strict_items(body: Json) -> Iterator[Complaint]:
    for path, item in indexed(body["input"], "input"):
        given = mapping(item)
        kind = str(given.get("type", "message"))
        if kind not in STRICT_ITEMS:
            yield Complaint(path, f"unknown item type {kind!r}")
            continue
        for name in given.keys() - STRICT_ITEMS[kind]:
            yield Complaint(f"{path}.{name}", f"extra fields not permitted in {kind}")
        if kind == "function_call":
            yield from named(given.get("name"), f"{path}.name", "function")


def strict_tools(body: Json) -> Iterator[Complaint]:
    names: list[str] = []
    for path, item in indexed(body.get("tools"), "tools"):
        tool = mapping(item)
        if tool.get("type") != "function":
            yield Complaint(f"{path}.type", f"unsupported tool type {tool.get('type')!r}, only 'function' is")
        yield from named(tool.get("name"), f"{path}.name", "function")
        yield from parameters(tool.get("parameters"), f"{path}.parameters")
        names.append(str(tool.get("name")))
    yield from unique(names, "tools")


OPEN = (top_level, roles, pairing)
STRICT = (*OPEN, strict_items, strict_tools)


def refusal(body: Json, *, strict: bool) -> Failure | None:
    return first(STRICT if strict else OPEN, body)
