"""The bytes that the bench's model server sends and the requests that its client makes: prepared once, the same for every party."""

import json
from collections.abc import Iterable
from typing import Any

DELTAS = 200
MODEL = "bench-model"
WORDS = ("The ", "quick ", "brown ", "fox ", "jumps ", "over ", "the ", "lazy ", "dog", ". ")
TEXT = "".join(WORDS[i % len(WORDS)] for i in range(DELTAS))
USAGE = {
    "input_tokens": 100,
    "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
    "output_tokens": DELTAS,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 100 + DELTAS,
}


def _compact(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


SETTINGS: dict[str, Any] = {
    "background": False, "completed_at": None, "frequency_penalty": 0.0, "instructions": None, "max_output_tokens": None, "max_tool_calls": None,
    "parallel_tool_calls": True, "presence_penalty": 0.0, "previous_response_id": None, "prompt_cache_key": None, "prompt_cache_retention": None,
    "reasoning": {"effort": None, "summary": None}, "safety_identifier": None, "service_tier": "default", "store": False, "temperature": 1.0,
    "text": {"format": {"type": "text"}, "verbosity": "medium"}, "tool_choice": "auto", "tools": [], "top_logprobs": 0, "top_p": 1.0,
    "truncation": "disabled", "user": None, "metadata": {},
}  # fmt: skip
"""What OpenAI's own response object tells in each of the three events that hold it."""


def _response(status: str, output: list[dict[str, Any]]) -> dict[str, Any]:
    head = {"id": "resp_bench", "object": "response", "created_at": 1790000000, "status": status, "model": MODEL}
    return head | {"error": None, "incomplete_details": None} | SETTINGS | {"output": output, "usage": USAGE if output else None}


def _message(status: str, content: list[dict[str, Any]]) -> dict[str, Any]:
    return {"id": "msg_bench", "type": "message", "status": status, "role": "assistant", "content": content}


def _response_events() -> Iterable[dict[str, Any]]:
    part = {"type": "output_text", "annotations": [], "logprobs": [], "text": TEXT}
    at = {"item_id": "msg_bench", "output_index": 0, "content_index": 0}
    yield {"type": "response.created", "response": _response("in_progress", [])}
    yield {"type": "response.in_progress", "response": _response("in_progress", [])}
    yield {"type": "response.output_item.added", "output_index": 0, "item": _message("in_progress", [])}
    yield {"type": "response.content_part.added", **at, "part": part | {"text": ""}}
    for i in range(DELTAS):
        yield {"type": "response.output_text.delta", **at, "delta": WORDS[i % len(WORDS)], "logprobs": []}
    yield {"type": "response.output_text.done", **at, "text": TEXT, "logprobs": []}
    yield {"type": "response.content_part.done", **at, "part": part}
    yield {"type": "response.output_item.done", "output_index": 0, "item": _message("completed", [part])}
    yield {"type": "response.completed", "response": _response("completed", [_message("completed", [part])])}


def _chat_chunks() -> Iterable[dict[str, Any]]:
    head = {"id": "chatcmpl-bench", "object": "chat.completion.chunk", "created": 1790000000, "model": MODEL}

    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        return head | {"choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}], "usage": None}

    yield chunk({"role": "assistant", "content": ""})
    yield from (chunk({"content": WORDS[i % len(WORDS)]}) for i in range(DELTAS))
    yield chunk({}, "stop")
    yield head | {"choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": DELTAS, "total_tokens": 100 + DELTAS}}


def responses_stream() -> list[bytes]:
    """A Responses stream of 200 deltas, one SSE event each."""
    return [_named(event | {"sequence_number": number}) for number, event in enumerate(_response_events())]


def _named(event: dict[str, Any]) -> bytes:
    return b"event: " + event["type"].encode() + b"\ndata: " + _compact(event) + b"\n\n"


def chat_stream() -> list[bytes]:
    """A Chat Completions stream of 200 deltas, one SSE event each."""
    return [b"data: " + _compact(chunk) + b"\n\n" for chunk in _chat_chunks()] + [b"data: [DONE]\n\n"]


def models() -> bytes:
    """A model list with the one model."""
    return _compact({"object": "list", "data": [{"id": MODEL, "object": "model", "created": 1790000000, "owned_by": "bench"}]})


def small_request() -> bytes:
    """One short question."""
    return _compact({"model": MODEL, "input": "Tell me of the fox.", "stream": True})


def agent_request() -> bytes:
    """A turn in the middle of an agent's work: a system prompt, a dozen tools, twenty calls with their outputs; about 50 KB."""
    schema = {"type": "object", "properties": {"cmd": {"type": "string"}, "wait": {"type": "number"}}, "required": ["cmd"]}
    tools = [_function(f"tool_{i}", schema) for i in range(12)]
    items: list[dict[str, Any]] = [_input("developer", "You are a coding agent. " * 400), _input("user", "Please mend the build.")]
    for i in range(20):
        call = {
            "type": "function_call",
            "call_id": f"call_{i}",
            "name": f"tool_{i % 12}",
            "arguments": _compact({"cmd": f"make {i}"}).decode(),
        }
        items += [call, {"type": "function_call_output", "call_id": f"call_{i}", "output": "cc -O2 -c file.c\n" * 80}]
    settings = {"tool_choice": "auto", "parallel_tool_calls": True, "store": False, "include": [], "prompt_cache_key": "bench"}
    return _compact({"model": MODEL, "stream": True, "input": items, "tools": tools} | settings)


def _function(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "function", "name": name, "description": "Runs a command. " * 20, "strict": False, "parameters": schema}


def _input(role: str, text: str) -> dict[str, Any]:
    return {"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]}
