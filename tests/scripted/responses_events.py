"""An Answer as the events of a Responses stream, in the order and with the fields that OpenAI sends.

Written out from the outside on purpose: nothing here may come from Antiphon's own builder. Above: `responses_server`.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass

from tests.scripted.script import Answer, Call, Json, Part, Reasoning, Text, Usage, pieces
from tests.scripted.server import cut

CREATED = 1_790_000_000
ECHOED = {
    "background": False,
    "instructions": None,
    "max_output_tokens": None,
    "max_tool_calls": None,
    "metadata": {},
    "parallel_tool_calls": True,
    "previous_response_id": None,
    "prompt_cache_key": None,
    "reasoning": {"effort": None, "summary": None},
    "safety_identifier": None,
    "service_tier": "auto",
    "store": True,
    "temperature": 1.0,
    "text": {"format": {"type": "text"}, "verbosity": "medium"},
    "tool_choice": "auto",
    "tools": [],
    "top_logprobs": 0,
    "top_p": 1.0,
    "truncation": "disabled",
    "user": None,
}


def usage_document(usage: Usage) -> Json:
    return {
        "input_tokens": usage.input,
        "input_tokens_details": {"cached_tokens": usage.cached, "cache_write_tokens": 0},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.input + usage.output,
    }


def response(body: Json, number: int, status: str) -> Json:
    """The response object without output: every setting comes back, given or default."""
    given = {name: body[name] for name in ECHOED if name in body}
    head: Json = {"id": f"resp_{number:04}", "object": "response", "created_at": CREATED, "status": status}
    tail: Json = {"error": None, "incomplete_details": None, "output": [], "usage": None}
    return head | {"model": body["model"]} | ECHOED | given | tail


def finished(body: Json, answer: Answer, number: int) -> Json:
    """The response object of the terminal event."""
    whole = answer.parts[:-1] if answer.breaks_off else answer.parts
    output = [item(part, number, index, "completed") for index, part in enumerate(whole)]
    document = response(body, number, "completed") | {"output": output, "usage": usage_document(answer.usage)}
    if answer.ending == "length":
        document |= {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
        if output and "status" in output[-1]:
            output[-1]["status"] = "incomplete"
    return document


def item(part: Part, number: int, index: int, status: str) -> Json:
    """One output item; while it is `in_progress` it is still empty."""
    done = status != "in_progress"
    name = f"{number:04}_{index}"
    match part:
        case Text(text):
            content = [{"type": "output_text", "text": text, "annotations": [], "logprobs": []}] if done else []
            return {"type": "message", "id": f"msg_{name}", "status": status, "role": "assistant", "content": content}
        case Reasoning(text):
            summary = [{"type": "summary_text", "text": text}] if done else []
            return {"type": "reasoning", "id": f"rs_{name}", "summary": summary, "encrypted_content": f"sealed_{name}"}
        case Call():
            return _call(part, name, status)


def _call(call: Call, name: str, status: str) -> Json:
    tool, done = call.tool, status != "in_progress"
    head: Json = {"status": status, "call_id": f"call_{name}"}
    if tool.kind == "tool_search":
        arguments = call.payload if done else {}
        return head | {"type": "tool_search_call", "id": f"tsc_{name}", "execution": "client", "arguments": arguments}
    space = {"namespace": tool.namespace} if tool.namespace else {}
    if tool.kind == "custom":
        return head | {"type": "custom_tool_call", "id": f"ctc_{name}", "name": tool.name, "input": call.payload if done else ""} | space
    return head | {"type": "function_call", "id": f"fc_{name}", "name": tool.name, "arguments": call.arguments if done else ""} | space


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a part stands: what all of its events repeat."""

    item_id: str
    output_index: int

    def event(self, kind: str, **fields: object) -> Json:
        return {"type": f"response.{kind}", "item_id": self.item_id, "output_index": self.output_index} | fields


def _text_events(at: _Place, text: str) -> Iterator[Json]:
    part: Json = {"type": "output_text", "annotations": [], "logprobs": []}
    yield at.event("content_part.added", content_index=0, part=part | {"text": ""})
    for delta in pieces(text):
        yield at.event("output_text.delta", content_index=0, delta=delta, logprobs=[])
    yield at.event("output_text.done", content_index=0, text=text, logprobs=[])
    yield at.event("content_part.done", content_index=0, part=part | {"text": text})


def _reasoning_events(at: _Place, text: str) -> Iterator[Json]:
    part: Json = {"type": "summary_text"}
    yield at.event("reasoning_summary_part.added", summary_index=0, part=part | {"text": ""})
    for delta in pieces(text):
        yield at.event("reasoning_summary_text.delta", summary_index=0, delta=delta)
    yield at.event("reasoning_summary_text.done", summary_index=0, text=text)
    yield at.event("reasoning_summary_part.done", summary_index=0, part=part | {"text": text})


def _call_events(at: _Place, call: Call) -> Iterator[Json]:
    if call.tool.kind == "tool_search":
        return
    if call.tool.kind == "custom":
        text, kind, name = str(call.payload), "custom_tool_call_input", "input"
    else:
        text, kind, name = call.arguments, "function_call_arguments", "arguments"
    for delta in pieces(text):
        yield at.event(f"{kind}.delta", delta=delta)
    yield at.event(f"{kind}.done", **{name: text})


def part_events(part: Part, number: int, index: int) -> Iterator[Json]:
    """All events of one output item."""
    opened = item(part, number, index, "in_progress")
    at = _Place(opened["id"], index)
    yield {"type": "response.output_item.added", "output_index": index, "item": opened}
    match part:
        case Text(text):
            yield from _text_events(at, text)
        case Reasoning(text):
            yield from _reasoning_events(at, text)
        case Call():
            yield from _call_events(at, part)
    yield {"type": "response.output_item.done", "output_index": index, "item": item(part, number, index, "completed")}


def events(body: Json, answer: Answer, number: int) -> Iterator[Json]:
    """The whole stream, or as much of it as there is when the answer breaks off."""
    yield {"type": "response.created", "response": response(body, number, "in_progress")}
    yield {"type": "response.in_progress", "response": response(body, number, "in_progress")}
    for index, part in enumerate(answer.parts):
        of_part = list(part_events(part, number, index))
        yield from cut(of_part, answer) if part is answer.parts[-1] else of_part
    if answer.ending in ("complete", "length"):
        document = finished(body, answer, number)
        yield {"type": f"response.{document['status']}", "response": document}


def frames(body: Json, answer: Answer, number: int) -> Iterator[bytes]:
    for sequence, event in enumerate(events(body, answer, number)):
        numbered = json.dumps(event | {"sequence_number": sequence}, ensure_ascii=False)
        yield f"event: {event['type']}\ndata: {numbered}\n\n".encode()
