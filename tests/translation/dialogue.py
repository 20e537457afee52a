"""A chat server's words in, the client's events out: what the transcripts of this folder are written in."""

import itertools
import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from antiphon.protocol import response
from antiphon.protocol.document import Document
from antiphon.protocol.event_views import Event, Streamed
from antiphon.protocol.round_reader import RoundReader
from antiphon.protocol.stream_validator import StreamValidator
from antiphon.translation.chat_answer import ChatAnswer, ChatManner

Json = dict[str, Any]


def ids() -> Callable[[str], str]:
    """Ids that count: `msg_1`, `fc_2`."""
    numbers = itertools.count(1)
    return lambda prefix: f"{prefix}_{next(numbers)}"


def asked(**settings: Any) -> Document:
    return Document(json.dumps({"model": "m", "input": "hi", **settings}).encode())


def machine(length_cut: str = "incomplete", **settings: Any) -> ChatAnswer:
    begun = response.begun(asked(**settings), id="resp_1", now=7)
    return ChatAnswer(begun, ChatManner(ids(), lambda: 8, length_cut=length_cut))


def delta(finish: str | None = None, **said: Any) -> Json:
    return {"choices": [{"index": 0, "delta": said, "finish_reason": finish}]}


def call(index: int | None = 0, id: str | None = None, name: str | None = None, arguments: Any = None) -> Json:
    """One entry of `tool_calls`; what is None is left out."""
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    told = {"index": index, "id": id, "type": "function" if id else None, "function": function}
    return {key: value for key, value in told.items() if value is not None}


def calls(*entries: Json, finish: str | None = None) -> Json:
    return delta(finish, tool_calls=list(entries))


def sse(*chunks: Json, done: bool = True) -> bytes:
    return b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks) + (b"data: [DONE]\n\n" if done else b"")


def streamed(answer: ChatAnswer, data: bytes | Iterable[bytes]) -> list[Event]:
    made: list[Streamed] = [*answer.begin()]
    for piece in [data] if isinstance(data, bytes) else data:
        made += answer.feed(piece)
    return singly([*made, *answer.close()])


def singly(made: Iterable[Streamed]) -> list[Event]:
    """Rows of deltas as their events."""
    return [event for one in made for event in ([one] if isinstance(one, Event) else one.events())]


def complaints(events: Sequence[Streamed]) -> list[str]:
    """What a strict reader of the grammar says of the stream."""
    validator = StreamValidator()
    return [f"{note.where} {note.why}" for event in singly(events) for note in validator.feed(event)]


def final(events: Sequence[Streamed]) -> Json:
    reader = RoundReader()
    for event in events:
        if isinstance(event, Event):
            reader.feed(event)
    assert reader.response is not None
    return json.loads(bytes(reader.response))


def said(events: Sequence[Streamed]) -> list[str]:
    """A stream in short lines: the event, and what is new in it."""
    return [_short(json.loads(bytes(event))) for event in events if isinstance(event, Event)]


def _short(event: Json) -> str:
    words = event["type"].removeprefix("response.")
    for name in ("delta", "text", "arguments", "input", "refusal"):
        if name in event:
            return f"{words} {event[name]}"
    if "item" in event:
        return f"{words} {brief(event['item'])}"
    return words


def brief(item: Json) -> str:
    """An output item in one line."""
    match item["type"]:
        case "message":
            return "message " + "".join(part.get("text") or part.get("refusal", "") for part in item["content"])
        case "reasoning":
            return "reasoning " + "".join(part["text"] for part in item["summary"] + item.get("content", []))
        case "function_call":
            return f"call {item['name']} {item['call_id']} {item['arguments']}"
        case "custom_tool_call":
            return f"custom {item['name']} {item['call_id']} {item['input']}"
        case other:
            return str(other)


def output(response: Json) -> list[str]:
    return [brief(item) for item in response["output"]]
