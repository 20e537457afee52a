"""How much of a prompt stays where it was: each request laid out as a chat template does, tools first, then messages.

A model server keeps the tokens it has read; the next request is fast only as far as it begins alike. The template is
Hermes' in outline. Not here: any rule of Antiphon; a body is read as it reached the upstream.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from tests.scripted.script import Json, listing, mapping, objects
from tests.scripted.server import Exchange

UNSEEN = ("id", "status", "encrypted_content", "annotations", "logprobs", "phase")
"""Fields of items that no template shows."""


def rendered(body: Json) -> str:
    """The prompt of a chat or Responses request, without the words that open the answer."""
    told = objects(body.get("tools"))
    items = listing(body.get("messages", body.get("input")))
    blocks = [_tools(told)] if told else []
    if isinstance(body.get("instructions"), str):
        blocks.append(_block("system", str(body["instructions"])))
    if isinstance(body.get("input"), str):
        blocks.append(_block("user", str(body["input"])))
    return "".join([*blocks, *(_message(mapping(item)) for item in items)])


def _block(role: str, text: str) -> str:
    return f"<|im_start|>{role}\n{text}<|im_end|>\n"


def _tools(told: list[Json]) -> str:
    lines = "\n".join(json.dumps(tool, ensure_ascii=False) for tool in told)
    return _block("system", f"You may call these functions:\n<tools>\n{lines}\n</tools>\n")


def _message(item: Json) -> str:
    role = str(item.get("role", item.get("type")))
    kept = {name: value for name, value in item.items() if name not in (*UNSEEN, "role", "content", "tool_calls", "tool_call_id")}
    return _block(role, "\n".join([*_thoughts(kept), *_parts(item.get("content")), *_calls(item), *_rest(kept)]))


def _thoughts(kept: Json) -> Iterator[str]:
    for name in ("reasoning_content", "reasoning"):
        if isinstance(kept.get(name), str):
            yield f"<think>\n{kept.pop(name)}\n</think>"


def _parts(content: object) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    for part in objects(content):
        yield str(part["text"]) if "text" in part else json.dumps(part, ensure_ascii=False)


def _calls(item: Json) -> Iterator[str]:
    for call in objects(item.get("tool_calls")):
        yield f"<tool_call>\n{json.dumps(mapping(call.get('function')), ensure_ascii=False)}\n</tool_call>"


def _rest(kept: Json) -> Iterator[str]:
    """What an item of the Responses API holds beside its content: calls, outputs, summaries."""
    if kept.keys() - {"type", "name"}:
        yield json.dumps(kept, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Break:
    """Where a later request of a conversation does not begin as the one before it."""

    thread: str
    number: int
    before: str
    after: str

    def __str__(self) -> str:
        name = f" of {self.thread!r}" if self.thread else ""
        return f"request {self.number}{name} does not begin as the one before: had …{self.before!r}, has …{self.after!r}"


@dataclass(frozen=True, slots=True)
class Stability:
    """The smallest part of a prompt that stayed, over all pairs of requests of a conversation; 1.0 is all of it."""

    prefix_stable_ratio: float = 1.0
    breaks: tuple[Break, ...] = ()


def alike(old: str, new: str) -> int:
    """How many characters both begin with."""
    return next((index for index, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1]), min(len(old), len(new)))


def stability(exchanges: Iterable[Exchange]) -> Stability:
    threads: dict[str, list[Exchange]] = {}
    for exchange in exchanges:
        threads.setdefault(exchange.thread, []).append(exchange)
    ratios, breaks = [1.0], list[Break]()
    for name, thread in threads.items():
        for before, after in pairwise(thread):
            old, new = rendered(before.body), rendered(after.body)
            kept = alike(old, new)
            if kept < len(old):
                ratios.append(kept / len(old))
                breaks.append(Break(name, after.number, old[max(0, kept - 30) : kept + 60], new[max(0, kept - 30) : kept + 60]))
    return Stability(min(ratios), tuple(breaks))
