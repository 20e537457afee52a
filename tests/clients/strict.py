"""Answers held against the models of OpenAI's own SDK, more strictly than it does itself.

Every member that the SDK requires must be there and of its very type, and no member may be there that the SDK does not know, at any depth.
"""

from collections.abc import Iterator
from typing import Any, get_args

from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.responses import Response, ResponseCustomToolCall, ResponseFunctionCallArgumentsDoneEvent, ResponseStreamEvent
from pydantic import BaseModel, ValidationError

from tests.wires.client import events

UNION = get_args(get_args(ResponseStreamEvent)[0])
EVENTS: dict[str, type[BaseModel]] = {name: one for one in UNION for name in get_args(one.model_fields["type"].annotation)}
BEYOND: dict[type[BaseModel], frozenset[str]] = {
    Response: frozenset({"frequency_penalty", "presence_penalty", "store"}),  # in OpenAI's own answers
    ResponseCustomToolCall: frozenset({"status"}),  # the same
    ResponseFunctionCallArgumentsDoneEvent: frozenset({"name"}),  # required by the SDKs of 2025
}
"""What is sent beyond what the newest SDK has a field for, and why."""


def complaints(path: str, kind: str, body: bytes) -> list[str]:
    """What is wrong with the body of an answer with status 200."""
    is_chat = path == "/v1/chat/completions"
    if not kind.startswith("text/event-stream"):
        return [*_held(ChatCompletion if is_chat else Response, body)]
    found: list[str] = []
    for number, event in enumerate(events(body)):
        model = ChatCompletionChunk if is_chat else EVENTS.get(event.get("type", ""))
        told = [f"no such event: {event}"] if model is None else _held(model, event)
        found += [f"event {number}, {event.get('type')}: {one}" for one in told]
    return found


def _held(model: type[BaseModel], given: Any) -> Iterator[str]:
    try:
        made = model.model_validate_json(given, strict=True) if isinstance(given, bytes) else model.model_validate(given, strict=True)
    except ValidationError as wrong:
        yield from (f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in wrong.errors())
        return
    yield from (f"{name}: not known to the SDK" for name in _unknown(made, ""))


def _unknown(value: Any, where: str) -> Iterator[str]:
    match value:
        case BaseModel():
            extra = (value.model_extra or {}).keys() - BEYOND.get(type(value), frozenset())
            yield from (f"{where}{name}" for name in sorted(extra))
            for name in type(value).model_fields:
                yield from _unknown(getattr(value, name), f"{where}{name}.")
        case list():
            for number, each in enumerate(value):
                yield from _unknown(each, f"{where}{number}.")
        case _:
            return
