"""A Chat Completions usage in the Responses API's words.

Not here: where in a chunk servers put it (`chat_answer`).
"""

from typing import Any

from msgspec import Raw

from antiphon.protocol import json, response
from antiphon.protocol.document import Document

PLACES: dict[str, tuple[tuple[str, ...], ...]] = {
    "cached_tokens": (("prompt_tokens_details", "cached_tokens"), ("prompt_cache_hit_tokens",), ("cached_tokens",)),
    "cache_write_tokens": (("prompt_tokens_details", "cache_write_tokens"), ("cache_creation_input_tokens",)),
    "reasoning_tokens": (("completion_tokens_details", "reasoning_tokens"), ("reasoning_tokens",)),
}
"""Where servers tell the details of their usage, most common first."""


def told(spelled: Raw) -> Raw | None:
    """Usage in the Responses API's words, whose clients need every number; None where nothing was counted."""
    counts = json.an_object(json.value(spelled))
    if not counts.keys() & {"prompt_tokens", "completion_tokens"}:
        return None
    input_tokens, output_tokens = _count(counts, "prompt_tokens"), _count(counts, "completion_tokens")
    return Document.of(
        {
            "input_tokens": input_tokens,
            "input_tokens_details": {
                "cached_tokens": _detail(counts, "cached_tokens"),
                "cache_write_tokens": _detail(counts, "cache_write_tokens"),
            },
            "output_tokens": output_tokens,
            "output_tokens_details": {"reasoning_tokens": _detail(counts, "reasoning_tokens")},
            "total_tokens": _count(counts, "total_tokens") or input_tokens + output_tokens,
        }
    ).raw


def _count(counts: Any, *path: str) -> int:
    for name in path:
        counts = json.an_object(counts).get(name)
    return response.count(counts)


def _detail(counts: dict[str, Any], name: str) -> int:
    return next((found for path in PLACES[name] if (found := _count(counts, *path))), 0)
