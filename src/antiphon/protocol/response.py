"""The response object: every setting echoed as OpenAI's does, in its order.

`begun` makes the object of `response.created` out of the client's request; the stream's builder turns it into the terminal one. What the
client declared is echoed in its own spelling. Not here: output items, events.
"""

from typing import Any

from msgspec import Raw

from antiphon.protocol import json
from antiphon.protocol.document import Document

MOST = 2**53
"""The first count that not every client can read."""

_NULL = Raw(b"null")

DEFAULTS: dict[str, Raw] = {
    name: Raw(spelling)
    for name, spelling in {
        "background": b"false",
        "completed_at": b"null",
        "error": b"null",
        "frequency_penalty": b"0.0",
        "incomplete_details": b"null",
        "instructions": b"null",
        "max_output_tokens": b"null",
        "max_tool_calls": b"null",
        "model": b"null",
        "output": b"[]",
        "parallel_tool_calls": b"true",
        "presence_penalty": b"0.0",
        "previous_response_id": b"null",
        "prompt_cache_key": b"null",
        "prompt_cache_retention": b"null",
        "reasoning": b'{"effort":null,"summary":null}',
        "safety_identifier": b"null",
        "service_tier": b'"auto"',
        "store": b"false",
        "temperature": b"1.0",
        "text": b'{"format":{"type":"text"}}',
        "tool_choice": b'"auto"',
        "tools": b"[]",
        "top_logprobs": b"0",
        "top_p": b"1.0",
        "truncation": b'"disabled"',
        "usage": b"null",
        "user": b"null",
        "metadata": b"{}",
    }.items()
}
"""Field → what it says where the client set nothing, in OpenAI's order."""

MEMBERS = ("id", "object", "created_at", "status", *DEFAULTS)
"""All that a response object holds, in OpenAI's order."""

ECHOED = frozenset(DEFAULTS) - {"completed_at", "error", "incomplete_details", "output", "store", "usage"}
"""The fields that repeat the client's setting. `store` does not: nothing is kept, and the answer says so."""

_MERGED = frozenset({"reasoning", "text"})
"""Objects whose absent members are shown with their defaults."""


def begun(request: Document, *, id: str, now: int) -> Document:
    """The response at its beginning: in progress, without output."""
    members: dict[str, Any] = {"id": id, "object": "response", "created_at": now, "status": "in_progress"}
    return Document.of({**members, **{name: _echo(name, request) for name in DEFAULTS}})


def echo(request: Document) -> dict[str, Raw]:
    """The settings of a request as its response shows them."""
    return {name: _echo(name, request) for name in DEFAULTS if name in ECHOED}


def _echo(name: str, request: Document) -> Raw:
    given = request.members.get(name) if name in ECHOED else None
    if given is None or json.is_null(given):
        return DEFAULTS[name]
    if name in _MERGED and json.is_object(given):
        return Document(DEFAULTS[name]).but(**json.fields(given)).raw
    return given


def count(told: Any) -> int:
    """A number of tokens out of whatever a server says of one; 0 where that is none."""
    try:
        found = int(float(told))
    except (TypeError, ValueError, OverflowError):
        return 0
    return found if 0 <= found < MOST else 0


def is_count(told: Any) -> bool:
    """Whether it is a number of tokens as clients read it."""
    return isinstance(told, int) and not isinstance(told, bool) and 0 <= told < MOST
