"""Requests that a client may well send and that break bridges: every item kind, calls in every disorder, odd names and schemas, every setting."""

from typing import Any

from antiphon.translation.chat_thinking import LADDER

Json = dict[str, Any]

LONG = "a_tool_whose_name_is_longer_than_any_server_takes_it_because_it_says_all"
assert len(LONG) > 70
PNG, WEBP, HTTP = "data:image/png;base64,iVBORw0KGgo=", "data:image/webp;base64,UklGRg==", "https://example.org/a.png"


def text(words: str) -> Json:
    return {"type": "input_text", "text": words}


def image(url: str, **more: Any) -> Json:
    return {"type": "input_image", "image_url": url, **more}


def said(role: str, *content: Json) -> Json:
    return {"type": "message", "role": role, "content": list(content)}


def answer(words: str) -> Json:
    return {
        "type": "message",
        "role": "assistant",
        "phase": "commentary",
        "content": [{"type": "output_text", "text": words, "annotations": []}],
    }


def call(call_id: str, name: str = "read", arguments: str = "{}", **more: Any) -> Json:
    return {"type": "function_call", "call_id": call_id, "name": name, "arguments": arguments, **more}


def output(call_id: str, body: Any = "ok") -> Json:
    return {"type": "function_call_output", "call_id": call_id, "output": body}


def thought(summary: str = "", content: str = "", sealed: str | None = None) -> Json:
    return {
        "type": "reasoning",
        "summary": [{"type": "summary_text", "text": summary}] if summary else [],
        **({"content": [{"type": "reasoning_text", "text": content}]} if content else {}),
        "encrypted_content": sealed,
    }


STRING = {"type": "string"}
PARAMETERS: dict[str, Any] = {
    "none": None,
    "empty": {},
    "no properties": {"type": "object"},
    "type beside alternatives": {"type": "object", "properties": {"p": {"type": "string", "anyOf": [{"minLength": 1}, {"type": "null"}]}}},
    "alternatives at the root": {
        "type": "object",
        "anyOf": [{"properties": {"a": STRING}, "required": ["a"]}, {"properties": {"b": STRING}}],
    },
    "no types": {
        "type": "object",
        "properties": {"mode": {"enum": ["START", "END"]}, "deep": {"properties": {"x": {"const": 1}}}, "any": {}},
    },
    "null among values": {"type": "object", "properties": {"p": {"type": "string", "enum": ["x", None], "nullable": True}}},
    "references with company": {
        "type": "object",
        "properties": {"p": {"$ref": "#/$defs/id", "description": "whose"}},
        "$defs": {"id": {"type": "string", "minLength": 1, "$ref": "#/$defs/text"}, "text": STRING},
    },
    "tuple": {"type": "object", "properties": {"p": {"type": "array", "items": [STRING, {"type": "number"}]}}},
    "conditions": {"type": "object", "properties": {"p": STRING}, "allOf": [{"if": {"required": ["p"]}, "then": {"required": ["q"]}}]},
    "Codex's own keyword": {"type": "object", "properties": {"message": {"type": "string", "encrypted": True}}},
    "patterns": {"type": "object", "properties": {"p": {"type": "string", "pattern": "(?i)x+", "format": "uuid"}}},
}
TOOLS: list[Json] = [
    {
        "type": "function",
        "name": "read",
        "description": "reads",
        "strict": False,
        "parameters": {"type": "object", "properties": {"p": STRING}},
    },
    *(
        {"type": "function", "name": f"odd {number}", "strict": None, "parameters": schema}
        for number, schema in enumerate(PARAMETERS.values())
    ),
    {
        "type": "function",
        "name": LONG,
        "strict": True,
        "parameters": {"type": "object", "properties": {}, "required": [], "additionalProperties": False},
    },
    {"type": "function", "name": "9lives"},
    {"type": "function", "name": "web.run"},
    {"type": "function", "name": "_private-tool"},
    {"type": "function", "name": "read", "description": "the same name again"},
    {
        "type": "custom",
        "name": "apply_patch",
        "description": "patches",
        "format": {"type": "grammar", "syntax": "lark", "definition": "start: X"},
    },
    {
        "type": "namespace",
        "name": "mcp__files",
        "description": "",
        "tools": [{"type": "function", "name": "read", "parameters": {"type": "object"}}],
    },
    {"type": "tool_search", "execution": "client", "description": "", "parameters": {"type": "object", "properties": {"query": STRING}}},
    {"type": "web_search", "external_web_access": True},
    {"type": "local_shell"},
    {"type": "divination", "instrument": "tea leaves"},
]
FOUND = {
    "type": "namespace",
    "name": "mcp__late",
    "tools": [{"type": "function", "name": "find", "parameters": {"type": "object"}, "defer_loading": True}],
}

HISTORY: list[Json] = [
    said("developer", text("Be brief."), image(PNG)),
    said("system", text("Be kind.")),
    said("user", text("<environment>")),
    said(
        "user",
        text("What is this?"),
        image(PNG, detail="original"),
        image(HTTP),
        image(WEBP),
        {"type": "input_file", "file_id": "f"},
        {"type": "hologram"},
    ),
    thought(content="Let me look."),
    answer(""),
    call("call_parallel_1", arguments='{"p": "a"}'),
    call("call_parallel_2", namespace="mcp__files"),
    {"type": "custom_tool_call", "call_id": "call_parallel_3", "name": "apply_patch", "input": "*** Begin Patch"},
    output("call_parallel_2", [text("Wall time: 0.1"), image(PNG, detail="high"), image(PNG)]),
    said("developer", text("The user is impatient.")),
    {"type": "custom_tool_call_output", "call_id": "call_parallel_3", "output": {"content": "done", "success": True}},
    output("call_parallel_1"),
    said("user", text("Well?")),
    thought(summary="**Reading**"),
    answer("I read on."),
    call("call_without_an_answer", LONG),
    thought(sealed="gAAAA"),
    call("twice"),
    call("twice"),
    output("twice", "first"),
    output("twice", "second"),
    output("call_without_an_answer", "late"),
    output("of_nobody", "an orphan"),
    {"type": "tool_search_call", "call_id": "search", "execution": "client", "arguments": {"query": "find"}},
    {"type": "tool_search_output", "call_id": "search", "execution": "client", "status": "completed", "tools": [FOUND]},
    call("call_late", "find", namespace="mcp__late"),
    output("call_late", []),
    {"type": "local_shell_call", "call_id": "shell", "status": "completed", "action": {"type": "exec", "command": ["ls"]}},
    {"type": "local_shell_call_output", "call_id": "shell", "output": "a\nb"},
    call("x" * 90, "gone_since", "not json"),
    output("x" * 90, None),
    call("", "web.run"),
    output("", ""),
    {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "q"}},
    {"type": "image_generation_call", "id": "ig_1", "status": "completed", "result": "AA=="},
    {
        "type": "agent_message",
        "author": "/lead",
        "recipient": "/lead/child",
        "content": [text("do"), {"type": "encrypted_content", "encrypted_content": "it"}],
    },
    {"type": "additional_tools", "role": "developer", "tools": [{"type": "function", "name": "extra", "parameters": {"type": "object"}}]},
    {"type": "ghost_snapshot", "ghost_commit": {}},
    {"type": "compaction", "encrypted_content": "x"},
    {"type": "teleport", "to": 1.0},
    answer("Here is the end of it."),
    {"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]},
    said("tool", text("an odd role")),
    said("user", text("Thank you.")),
    said("user"),
]
SCHEMA = {
    "type": "json_schema",
    "name": "answer",
    "strict": True,
    "schema": {"type": "object", "properties": {"a": STRING}, "required": ["a"]},
}
NAMED = {"type": "function", "name": "read"}

SETTINGS: dict[str, Json] = {
    "nothing more": {},
    "a stream": {"stream": True, "store": False, "include": ["reasoning.encrypted_content"], "parallel_tool_calls": True, "tool_choice": "auto"},
    "samplers": {"temperature": 1.9, "top_p": 0, "seed": 7, "presence_penalty": 1, "frequency_penalty": -1, "stop": ["x"], "top_k": 5, "min_p": 0.1},
    "nulls": dict.fromkeys(("temperature", "top_p", "seed", "stop", "max_output_tokens", "user", "metadata", "tool_choice", "text", "reasoning", "instructions")),
    "limits": {"max_output_tokens": 100, "top_logprobs": 3, "truncation": "auto", "service_tier": "default"},
    "whose": {"user": "me", "metadata": {"a": "b"}, "prompt_cache_key": "k", "safety_identifier": "me", "client_metadata": {"x": "y"}, "service_tier": "flex"},
    "one call at a time": {"parallel_tool_calls": False},
    "no tools at all": {"tools": [], "tool_choice": "auto", "parallel_tool_calls": True},
    "any object": {"text": {"format": {"type": "json_object"}, "verbosity": "low"}, "instructions": "Answer in JSON."},
    "a schema": {"text": {"format": SCHEMA}},
    **{f"choice: {word}": {"tool_choice": word} for word in ("none", "auto", "required")},
    "choice: by name": {"tool_choice": NAMED},
    "choice: of some": {"tool_choice": {"type": "allowed_tools", "mode": "required", "tools": [NAMED]}},
    "choice: of the custom tool": {"tool_choice": {"type": "custom", "name": "apply_patch"}},
    "choice: by name, thinking hard": {"tool_choice": NAMED, "reasoning": {"effort": "high", "summary": "auto"}},
    **{f"effort: {effort}": {"reasoning": {"effort": effort}} for effort in LADDER},
}  # fmt: skip
INPUTS: dict[str, Any] = {
    "everything": HISTORY,
    "ends with outputs": HISTORY[:13],
    "ends with an answer": HISTORY[:17][:-1],
    "one line": "hi",
    "ends with a picture": [*HISTORY[:9], output("call_parallel_1", [image(PNG)])],
}

REQUESTS: dict[str, Json] = {
    **{name: {"input": HISTORY, "tools": TOOLS, "instructions": "You are Codex.", **settings} for name, settings in SETTINGS.items()},
    **{name: {"input": items, "tools": TOOLS, "stream": True} for name, items in INPUTS.items()},
}
"""Name → the request, but for its model."""
