"""What the strict Chat Completions server refuses with 400, as one list of rules.

Each rule is one that some real server has: OpenAI's own checks, or the chat templates and validators of vLLM, llama.cpp,
Mistral, DeepSeek and Groq. Together they are stricter than any one of them, which is the point.
"""

import json
from collections.abc import Iterator
from typing import Any

from tests.scripted.refusals import Complaint, first, indexed, named, parameters, unique
from tests.scripted.script import Failure, Json, listing, mapping, objects

# The parameters of "Create chat completion" in OpenAI's API reference, deprecated ones too.
# fmt: off
FIELDS = frozenset({
    "audio", "frequency_penalty", "function_call", "functions", "logit_bias", "logprobs", "max_completion_tokens", "max_tokens",
    "messages", "metadata", "modalities", "model", "n", "parallel_tool_calls", "prediction", "presence_penalty",
    "prompt_cache_key", "prompt_cache_retention", "reasoning_effort", "response_format", "safety_identifier", "seed",
    "service_tier", "stop", "store", "stream", "stream_options", "temperature", "tool_choice", "tools", "top_logprobs", "top_p",
    "user", "verbosity", "web_search_options",
})
# fmt: on
# `reasoning_content` and `reasoning` are how DeepSeek and gpt-oss servers take a model's own reasoning back.
MESSAGE_FIELDS = {
    "system": {"role", "content", "name"},
    "user": {"role", "content", "name"},
    "assistant": {"role", "content", "name", "tool_calls", "refusal", "reasoning_content", "reasoning"},
    "tool": {"role", "content", "tool_call_id"},
}
PART_FIELDS = {"text": {"type", "text"}, "image_url": {"type", "image_url"}, "file": {"type", "file"}}
PARTS = {"system": ("text",), "user": ("text", "image_url", "file"), "assistant": ("text",), "tool": ("text",)}
FUNCTION_FIELDS = {"name", "description", "parameters", "strict"}
CHOICES = ("auto", "none", "required")


def top_level(body: Json) -> Iterator[Complaint]:
    for name in sorted(body.keys() - FIELDS):
        yield Complaint(name, "unknown parameter")
    if not isinstance(body.get("model"), str):
        yield Complaint("model", "required, a string")
    if not objects(body.get("messages")):
        yield Complaint("messages", "required, a list of at least one message")
    if "stream_options" in body and body.get("stream") is not True:
        yield Complaint("stream_options", "only allowed when stream is true")


def roles(body: Json) -> Iterator[Complaint]:
    for path, item in indexed(body["messages"], "messages"):
        role = mapping(item).get("role")
        if role not in MESSAGE_FIELDS:
            yield Complaint(f"{path}.role", f"unknown role {role!r}, expected one of {sorted(MESSAGE_FIELDS)}")
            continue
        for name in sorted(item.keys() - MESSAGE_FIELDS[role]):
            yield Complaint(f"{path}.{name}", f"unknown field of a {role} message")


def system_first(body: Json) -> Iterator[Complaint]:
    for index, message in enumerate(objects(body["messages"])):
        if index and message["role"] == "system":
            yield Complaint(f"messages[{index}].role", "there may be one system message, and it must be the first")


def contents(body: Json) -> Iterator[Complaint]:
    for path, message in indexed(body["messages"], "messages"):
        content, role = message.get("content"), message["role"]
        if role == "assistant" and not content:
            continue
        if not isinstance(content, str) and not listing(content):
            yield Complaint(f"{path}.content", f"a {role} message needs a string or a list of parts, got {content!r}")
        for at, part in indexed(content, f"{path}.content"):
            yield from _part(mapping(part), at, role)


def _part(part: Json, path: str, role: str) -> Iterator[Complaint]:
    kind = part.get("type")
    if kind not in PARTS[role]:
        yield Complaint(f"{path}.type", f"a {role} message takes parts {PARTS[role]}, got {kind!r}")
        return
    for name in sorted(part.keys() - PART_FIELDS[str(kind)]):
        yield Complaint(f"{path}.{name}", f"unknown field of a part of type {kind}")
    url = mapping(part.get("image_url")).get("url")
    if kind == "text" and not isinstance(part.get("text"), str):
        yield Complaint(f"{path}.text", "a string is required")
    if kind == "image_url" and not str(url).startswith(("data:image/", "http://", "https://")):
        yield Complaint(f"{path}.image_url", "expected an object with url, a data: or http URL")
    if kind == "file" and not mapping(part.get("file")).keys() & {"file_data", "file_id"}:
        yield Complaint(f"{path}.file", "expected an object with file_data or file_id")


def assistants(body: Json) -> Iterator[Complaint]:
    before = ""
    for path, message in indexed(body["messages"], "messages"):
        role = message["role"]
        if role == before == "assistant":
            yield Complaint(path, "two assistant messages follow each other; all calls of a turn belong into one message")
        if role == "assistant" and not message.get("content") and not message.get("tool_calls"):
            yield Complaint(path, "an assistant message needs content or tool_calls")
        if "tool_calls" in message:
            yield from _tool_calls(message["tool_calls"], f"{path}.tool_calls")
        before = role


def _tool_calls(calls: Any, path: str) -> Iterator[Complaint]:
    if not listing(calls):
        yield Complaint(path, f"expected a list of at least one call, got {calls!r}")
    for at, item in indexed(calls, path):
        call = mapping(item)
        function = mapping(call.get("function"))
        if not isinstance(call.get("id"), str) or call.get("type") != "function":
            yield Complaint(at, "a call needs a string id and the type 'function'")
        yield from named(function.get("name"), f"{at}.function.name", "function")
        if not _is_json_object(function.get("arguments")):
            yield Complaint(f"{at}.function.arguments", "expected a string that holds a JSON object")


def _is_json_object(text: Any) -> bool:
    try:
        return isinstance(text, str) and isinstance(json.loads(text), dict)
    except ValueError:
        return False


def pairing(body: Json) -> Iterator[Complaint]:
    """Tool messages stand right behind the assistant message with their calls, and answer all of them."""
    open_calls: list[str] = []
    for path, message in indexed(body["messages"], "messages"):
        if message["role"] == "tool":
            call_id = message.get("tool_call_id")
            if call_id not in open_calls:
                yield Complaint(path, f"no call {call_id!r} waits for an answer in the assistant message before this block")
                continue
            open_calls.remove(call_id)
            continue
        yield from _unanswered(open_calls, path)
        open_calls = [call["id"] for call in objects(message.get("tool_calls"))]
    yield from _unanswered(open_calls, "messages")


def _unanswered(calls: list[str], path: str) -> Iterator[Complaint]:
    if calls:
        yield Complaint(path, f"these tool calls have no tool message right behind them: {', '.join(calls)}")


def tools(body: Json) -> Iterator[Complaint]:
    if "tools" not in body:
        for name in ("tool_choice", "parallel_tool_calls"):
            if name in body:
                yield Complaint(name, "only allowed when tools are given")
        return
    if not listing(body["tools"]):
        yield Complaint("tools", f"expected a list of at least one tool, got {body['tools']!r}")
    for path, item in indexed(body["tools"], "tools"):
        yield from _tool(mapping(item), path)
    yield from unique([str(mapping(tool.get("function")).get("name")) for tool in objects(body["tools"])], "tools")


def _tool(tool: Json, path: str) -> Iterator[Complaint]:
    if tool.get("type") != "function":
        yield Complaint(f"{path}.type", f"unsupported tool type {tool.get('type')!r}, only 'function' is")
    function = mapping(tool.get("function"))
    for name in sorted((tool.keys() - {"type", "function"}) | (function.keys() - FUNCTION_FIELDS)):
        yield Complaint(f"{path}.{name}", "unknown field of a tool")
    yield from named(function.get("name"), f"{path}.function.name", "function")
    yield from parameters(function.get("parameters"), f"{path}.function.parameters")


def tool_choice(body: Json) -> Iterator[Complaint]:
    choice = body.get("tool_choice", "auto")
    names = [mapping(tool.get("function")).get("name") for tool in objects(body.get("tools"))]
    wanted = mapping(mapping(choice).get("function")).get("name")
    if choice not in CHOICES and wanted not in names:
        yield Complaint("tool_choice", f"expected one of {CHOICES} or a declared function, got {choice!r}")


def reasoning_back(body: Json) -> Iterator[Complaint]:
    """As DeepSeek's thinking mode: within a turn, the thoughts before a tool call belong to the call."""
    messages = objects(body["messages"])
    since = max((index for index, message in enumerate(messages) if message["role"] == "user"), default=0)
    for index, message in enumerate(messages):
        if index > since and message.get("tool_calls") and not message.get("reasoning_content"):
            yield Complaint(f"messages[{index}].reasoning_content", "in the thinking mode it must be passed back to the API")


# In the order in which they may rely on each other: `roles` before all that read a role.
RULES = (top_level, roles, system_first, contents, assistants, pairing, tools, tool_choice)


def refusal(body: Json, *, wants_reasoning: bool = False) -> Failure | None:
    return first((*RULES, reasoning_back) if wants_reasoning else RULES, body)
