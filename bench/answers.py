"""The bytes that the bench's model server sends: prepared once, the same for every party."""

import json
from collections.abc import Iterable
from typing import Any

from bench.bodies import MODEL

DELTAS = 200
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


def responses_whole() -> bytes:
    """The same answer of a Responses server in one piece."""
    part = {"type": "output_text", "annotations": [], "logprobs": [], "text": TEXT}
    return _compact(_response("completed", [_message("completed", [part])]))


def chat_whole() -> bytes:
    """The same answer of a Chat Completions server in one piece."""
    choice = {"index": 0, "message": {"role": "assistant", "content": TEXT}, "logprobs": None, "finish_reason": "stop"}
    head = {"id": "chatcmpl-bench", "object": "chat.completion", "created": 1790000000, "model": MODEL}
    return _compact(
        head | {"choices": [choice], "usage": {"prompt_tokens": 100, "completion_tokens": DELTAS, "total_tokens": 100 + DELTAS}}
    )


def models() -> bytes:
    """A model list with the one model."""
    return _compact({"object": "list", "data": [{"id": MODEL, "object": "model", "created": 1790000000, "owned_by": "bench"}]})
