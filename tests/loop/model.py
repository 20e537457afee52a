"""A model in rounds: what it says and calls each time it is asked, on either API, streamed or whole."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.wires.upstream import Call, Upstream, data, head, named

Json = dict[str, Any]
WORDS = re.compile(r"\S+\s*")


@dataclass(frozen=True, slots=True)
class Round:
    """One answer: words, calls of (name, arguments), and how it ends."""

    says: str = ""
    calls: Sequence[tuple[str, Json]] = ()
    status: int = 200
    breaks: bool = False


@dataclass(slots=True)
class Model:
    """Feed to an `Upstream`; remembers the bodies it was sent."""

    api: str
    rounds: list[Round]
    asked: list[Json] = field(default_factory=list[Json])

    async def answer(self, call: Call) -> None:
        body = json.loads(call.body or b"{}")
        if not body:
            await call.send(head(404, "application/json", content_length="2") + b"{}")
            return
        self.asked.append(body)
        round = self.rounds[min(len(self.asked), len(self.rounds)) - 1]
        if round.status != 200:
            error = json.dumps({"error": {"message": "it broke", "code": "broken"}}).encode()
            await call.send(head(round.status, "application/json", content_length=str(len(error))) + error)
            return
        make = _chat if self.api == "chat" else _responses
        number = len(self.asked)
        sent = make(round, number, streams=bool(body.get("stream")))
        await call.send(sent)

    def prompts(self) -> list[Any]:
        """What the model saw each time: its messages, or its input."""
        return [body["messages"] if self.api == "chat" else body["input"] for body in self.asked]


def serving(model: Model) -> Upstream:
    upstream = Upstream()
    upstream.answers(model.answer)
    return upstream


def _ids(number: int, calls: Iterable[Any]) -> list[str]:
    return [f"call_{number}_{index}" for index, _ in enumerate(calls)]


def _chat(round: Round, number: int, *, streams: bool) -> bytes:
    told = [
        {"id": id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for id, (name, arguments) in zip(_ids(number, round.calls), round.calls, strict=True)
    ]
    finish = "tool_calls" if told else "stop"
    usage = {"prompt_tokens": 10, "completion_tokens": 3, "total_tokens": 13, "prompt_tokens_details": {"cached_tokens": 4}}
    if not streams:
        message = {"role": "assistant", "content": round.says or None, "tool_calls": told}
        body = json.dumps({"id": "c", "choices": [{"index": 0, "message": message, "finish_reason": finish}], "usage": usage}).encode()
        return head(200, "application/json", content_length=str(len(body))) + body
    said = [{"choices": [{"index": 0, "delta": {"content": word}, "finish_reason": None}]} for word in WORDS.findall(round.says)]
    said += [
        {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": index, **call}]}, "finish_reason": None}]}
        for index, call in enumerate(told)
    ]
    if round.breaks:
        return head() + data(*said)
    end: Json = {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}
    return head() + data(*said, end, {"choices": [], "usage": usage}, b"[DONE]")


def _responses(round: Round, number: int, *, streams: bool) -> bytes:
    items: list[Json] = []
    if round.says:
        part = {"type": "output_text", "text": round.says, "annotations": []}
        items.append({"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": [part]})
    for id, (name, arguments) in zip(_ids(number, round.calls), round.calls, strict=True):
        told = {"call_id": id, "name": name, "arguments": json.dumps(arguments), "status": "completed"}
        items.append({"id": f"fc_{id}", "type": "function_call", **told})
    usage = {
        "input_tokens": 10, "input_tokens_details": {"cached_tokens": 4}, "output_tokens": 3, "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 13,
    }  # fmt: skip
    own = {"id": f"resp_up_{number}", "object": "response", "created_at": number, "status": "in_progress", "model": "m", "output": []}
    ended = own | {"status": "completed", "output": items, "usage": usage}
    if not streams:
        body = json.dumps(ended).encode()
        return head(200, "application/json", content_length=str(len(body))) + body
    events: list[Json] = [{"type": "response.created", "response": own}, {"type": "response.in_progress", "response": own}]
    for index, item in enumerate(items):
        events += list(_item(index, item))
    if not round.breaks:
        events.append({"type": "response.completed", "response": ended})
    return head() + named(*({**event, "sequence_number": count} for count, event in enumerate(events)))


def _item(index: int, item: Json) -> Iterable[Json]:
    at = {"item_id": item["id"], "output_index": index}
    begun = {**item, "status": "in_progress", **({"content": []} if "content" in item else {"arguments": ""})}
    yield {"type": "response.output_item.added", "output_index": index, "item": begun}
    if "content" in item:
        part = item["content"][0]
        yield {"type": "response.content_part.added", **at, "content_index": 0, "part": {**part, "text": ""}}
        for word in WORDS.findall(part["text"]):
            yield {"type": "response.output_text.delta", **at, "content_index": 0, "delta": word, "logprobs": []}
        yield {"type": "response.output_text.done", **at, "content_index": 0, "text": part["text"], "logprobs": []}
        yield {"type": "response.content_part.done", **at, "content_index": 0, "part": part}
    else:
        yield {"type": "response.function_call_arguments.delta", **at, "delta": item["arguments"]}
        yield {"type": "response.function_call_arguments.done", **at, "name": item["name"], "arguments": item["arguments"]}
    yield {"type": "response.output_item.done", "output_index": index, "item": item}
