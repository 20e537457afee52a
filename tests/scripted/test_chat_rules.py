"""The strict chat server: what it takes, and one row for each thing that it refuses."""

import asyncio
import json
from typing import Any

import aiohttp
import pytest

from tests.scripted.chat_server import ChatWire
from tests.scripted.scenarios import SCRIPTS
from tests.scripted.script import Json
from tests.scripted.server import ScriptedServer

PIXEL = "data:image/png;base64,iVBORw0KGgo="
SCHEMA: Json = {"type": "object", "properties": {"cmd": {"type": "string"}}, "required": ["cmd"]}
TOOL: Json = {"type": "function", "function": {"name": "run", "description": "Runs.", "parameters": SCHEMA, "strict": False}}
SYSTEM: Json = {"role": "system", "content": "Be brief."}
USER: Json = {"role": "user", "content": "hello"}
IMAGE: Json = {"type": "image_url", "image_url": {"url": PIXEL, "detail": "high"}}


def call(call_id: str, name: str = "run", arguments: str = "{}") -> Json:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def calls(*each: Json) -> Json:
    return {"role": "assistant", "content": None, "tool_calls": list(each)}


def result(call_id: str, content: Any = "done") -> Json:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def messages(*each: Json) -> Json:
    return {"messages": list(each)}


def named(name: Any) -> Json:
    return {"type": "function", "function": {"name": name, "parameters": SCHEMA}}


def with_parameters(parameters: Any) -> Json:
    return {"type": "function", "function": {"name": "run", "parameters": parameters}}


async def _answered(body: Any) -> tuple[int, Json]:
    async with ScriptedServer(ChatWire(), SCRIPTS["text"]) as server, aiohttp.ClientSession() as client:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        async with client.post(f"{server.url}/chat/completions", data=data) as response:
            assert server.exchanges[0].status == response.status
            return response.status, await response.json()


def answered(body: Any) -> tuple[int, Json]:
    return asyncio.run(_answered(body))


TAKEN: dict[str, Json] = {
    "a prompt": {},
    "a system message first": messages(SYSTEM, USER),
    "two user messages": messages(USER, USER),
    "text parts": messages({"role": "user", "content": [{"type": "text", "text": "hello"}]}),
    "an image of the user": messages(USER, {"role": "user", "content": [IMAGE, {"type": "text", "text": "hello"}]}),
    "tools": {"tools": [TOOL], "tool_choice": "auto", "parallel_tool_calls": True},
    "a named tool": {"tools": [TOOL], "tool_choice": {"type": "function", "function": {"name": "run"}}},
    "a call and its result": messages(USER, calls(call("a")), result("a"), USER),
    "parallel calls in one message": messages(USER, calls(call("a"), call("b")), result("b"), result("a")),
    "a name of 64 characters": {"tools": [named("x" * 64)]},
    "words beside a call": messages(USER, calls(call("a")) | {"content": "I look."}, result("a", [{"type": "text", "text": "done"}])),
    "reasoning given back": messages(USER, {"role": "assistant", "content": "yes", "reasoning_content": "hm"}, USER),
    "sampling": {"temperature": 0.5, "max_tokens": 9, "seed": 1, "stop": ["x"], "prompt_cache_key": "k", "store": False},
}
REFUSED: dict[str, tuple[Any, str]] = {
    "no JSON": (b'{"model":', "the body is no JSON"),
    "no object": ([], "the body is no JSON object"),
    "no model": ({"model": None}, "model: required"),
    "no messages": ({"messages": []}, "messages: required"),
    "an unknown role": (messages({"role": "bot", "content": "x"}), "messages[0].role: unknown role 'bot'"),
    "a developer message": (messages({"role": "developer", "content": "x"}, USER), "messages[0].role: unknown role 'developer'"),
    "a later system message": (messages(USER, SYSTEM), "messages[1].role: there may be one system message"),
    "two system messages": (messages(SYSTEM, SYSTEM, USER), "messages[1].role: there may be one system message"),
    "a field of Responses": ({"input": "hello"}, "input: unknown parameter"),
    "include": ({"include": []}, "include: unknown parameter"),
    "client_metadata": ({"client_metadata": {}}, "client_metadata: unknown parameter"),
    "reasoning": ({"reasoning": {"effort": "low"}}, "reasoning: unknown parameter"),
    "text": ({"text": {"verbosity": "low"}}, "text: unknown parameter"),
    "instructions": ({"instructions": "x"}, "instructions: unknown parameter"),
    "max_output_tokens": ({"max_output_tokens": 9}, "max_output_tokens: unknown parameter"),
    "usage asked for without a stream": ({"stream_options": {"include_usage": True}}, "stream_options: only allowed when stream"),
    "a field of a message item": (messages(USER | {"type": "message"}), "messages[0].type: unknown field of a user message"),
    "user content null": (messages(USER | {"content": None}), "messages[0].content: a user message needs"),
    "user content empty": (messages(USER | {"content": []}), "messages[0].content: a user message needs"),
    "an input_text part": (
        messages(USER | {"content": [{"type": "input_text", "text": "x"}]}),
        "takes parts ('text', 'image_url', 'file')",
    ),
    "an image in a system message": (messages(SYSTEM | {"content": [IMAGE]}), "takes parts ('text',)"),
    "a file without its data": (
        messages(USER | {"content": [{"type": "file", "file": {"filename": "a.pdf"}}]}),
        "messages[0].content[0].file: expected an object with file_data or file_id",
    ),
    "an image URL as a string": (
        messages(USER | {"content": [{"type": "image_url", "image_url": PIXEL}]}),
        "messages[0].content[0].image_url: expected an object with url",
    ),
    "an image in a tool message": (
        messages(USER, calls(call("a")), result("a", [IMAGE])),
        "messages[2].content[0].type: a tool message takes parts ('text',), got 'image_url'",
    ),
    "tool content null": (messages(USER, calls(call("a")), result("a", None)), "messages[2].content: a tool message needs"),
    "a tool message without a call": (messages(USER, result("a")), "messages[1]: no call 'a' waits"),
    "a tool message for an earlier call": (
        messages(USER, calls(call("a")), result("a"), USER, result("a")),
        "messages[4]: no call 'a' waits",
    ),
    "two results of one call": (messages(USER, calls(call("a")), result("a"), result("a")), "messages[3]: no call 'a' waits"),
    "a call left unanswered": (messages(USER, calls(call("a")), USER), "messages[2]: these tool calls have no tool message"),
    "a call unanswered at the end": (messages(USER, calls(call("a"), call("b")), result("a")), "right behind them: b"),
    "a result not right behind": (messages(USER, calls(call("a")), USER, result("a")), "messages[2]: these tool calls"),
    "parallel calls in two messages": (
        messages(USER, calls(call("a")), calls(call("b")), result("a"), result("b")),
        "messages[2]: two assistant messages follow each other",
    ),
    "two answers in a row": (
        messages(USER, {"role": "assistant", "content": "one"}, {"role": "assistant", "content": "two"}),
        "messages[2]: two assistant messages follow each other",
    ),
    "an empty assistant message": (messages(USER, {"role": "assistant", "content": ""}), "messages[1]: an assistant message needs"),
    "no calls in tool_calls": (
        messages(USER, {"role": "assistant", "content": "x", "tool_calls": []}),
        "messages[1].tool_calls: expected a list of at least one call",
    ),
    "a call without id": (messages(USER, calls(call("a") | {"id": None})), "messages[1].tool_calls[0]: a call needs a string id"),
    "a call of a dotted name": (messages(USER, calls(call("a", "mcp.run"))), "tool_calls[0].function.name: function name 'mcp.run'"),
    "arguments that are no JSON": (
        messages(USER, calls(call("a", arguments='{"cmd":'))),
        "tool_calls[0].function.arguments: expected a string that holds a JSON object",
    ),
    "arguments that are no object": (messages(USER, calls(call("a", arguments='"ls"'))), "holds a JSON object"),
    "no tools": ({"tools": []}, "tools: expected a list of at least one tool"),
    "no tools but a choice": ({"tools": [], "tool_choice": "auto"}, "tools: expected a list of at least one tool"),
    "a choice without tools": ({"tool_choice": "auto"}, "tool_choice: only allowed when tools are given"),
    "parallel calls without tools": ({"parallel_tool_calls": True}, "parallel_tool_calls: only allowed when tools are given"),
    "a choice of another tool": (
        {"tools": [TOOL], "tool_choice": {"type": "function", "function": {"name": "other"}}},
        "tool_choice: expected one of",
    ),
    "a custom tool": ({"tools": [{"type": "custom", "name": "apply_patch"}]}, "tools[0].type: unsupported tool type 'custom'"),
    "a namespace": ({"tools": [{"type": "namespace", "name": "n", "tools": []}]}, "unsupported tool type 'namespace'"),
    "a web search": ({"tools": [{"type": "web_search"}]}, "tools[0].type: unsupported tool type 'web_search'"),
    "a flat function": ({"tools": [{"type": "function", "name": "run", "parameters": SCHEMA}]}, "tools[0].name: unknown field"),
    "the same name twice": ({"tools": [TOOL, TOOL]}, "tools: tool names must be unique, 'run' is there 2 times"),
    "a name of 65 characters": ({"tools": [named("x" * 65)]}, "tools[0].function.name: function name"),
    "a name with a space": ({"tools": [named("a b")]}, "tools[0].function.name: function name 'a b'"),
    "an empty name": ({"tools": [named("")]}, "tools[0].function.name: function name ''"),
    "no name": ({"tools": [named(None)]}, "tools[0].function.name: function name None"),
    "parameters null": ({"tools": [with_parameters(None)]}, "tools[0].function.parameters: expected an object, got None"),
    "parameters of another type": ({"tools": [with_parameters({"type": "string"})]}, "schema must be of type 'object'"),
    "parameters without a type": ({"tools": [with_parameters({})]}, "schema must be of type 'object'"),
}


@pytest.mark.parametrize("change", TAKEN.values(), ids=TAKEN)
def test_takes(change: Json) -> None:
    status, document = answered({"model": "m", "messages": [USER]} | change)
    assert (status, document["choices"][0]["message"]["content"]) == (200, "You said: hello")


@pytest.mark.parametrize(("change", "message"), REFUSED.values(), ids=REFUSED)
def test_refuses(change: Any, message: str) -> None:
    body = {"model": "m", "messages": [USER]} | change if isinstance(change, dict) else change
    status, document = answered(body)
    assert status == 400
    assert message in document["error"]["message"]
