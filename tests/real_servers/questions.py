"""What real servers are asked through the gateway, and when an answer is right.

The weights are tiny: what a model says does not count, only that the answer has the form which the client asked for, or that the client was
told that it cannot have it.
"""

import json
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from antiphon.protocol.event_views import Event
from antiphon.protocol.stream_validator import StreamValidator

Json = dict[str, Any]
PATIENCE = 600.0


@dataclass(frozen=True, slots=True)
class Answered:
    """What came back: a response with a status, the events of a stream, what was told as lost."""

    status: int
    body: Json
    events: list[Json]
    lost: str

    @property
    def response(self) -> Json:
        return self.events[-1]["response"] if self.events else self.body

    def items(self, type: str) -> list[Json]:
        return [item for item in self.response["output"] if item["type"] == type]

    @property
    def text(self) -> str:
        return "".join(part["text"] for item in self.items("message") for part in item["content"])


@dataclass(frozen=True, slots=True)
class Question:
    """A request, and what is wrong with an answer; empty: nothing. `telling`: a loss that excuses it."""

    asks: Json
    wrong: Callable[[Answered], str]
    telling: str = "-"


class Asking:
    """Asks one gateway."""

    def __init__(self, url: str, model: str) -> None:
        self.url = url
        self.model = model

    def verdict(self, question: Question, cannot: str) -> str:
        """`right`, `told` where the client was told that it cannot have it, what the server does instead of what it should, or what is wrong."""
        answered = self._ask(question.asks)
        wrong = question.wrong(answered) or grammar(answered)
        if not wrong:
            return "right"
        if question.telling in answered.lost:
            return "told"
        return cannot or f"WRONG: {wrong}"

    def _ask(self, body: Json) -> Answered:
        sent = urllib.request.Request(
            f"{self.url}/responses", json.dumps({"model": self.model, **body}).encode(), {"content-type": "application/json"}
        )
        try:
            with urllib.request.urlopen(sent, timeout=PATIENCE) as answer:
                return _read(answer.status, answer.read(), answer.headers.get("x-antiphon-dropped", ""))
        except urllib.error.HTTPError as refused:
            return _read(refused.code, refused.read(), "")


def _read(status: int, body: bytes, lost: str) -> Answered:
    if body.startswith(b"{"):
        return Answered(status, json.loads(body), [], lost)
    return Answered(status, {}, [json.loads(line[6:]) for line in body.decode().splitlines() if line.startswith("data: {")], lost)


def grammar(answered: Answered) -> str:
    """What a strict reader says of the stream."""
    validator = StreamValidator()
    noted = [note for event in answered.events for note in validator.feed(Event(event["type"], json.dumps(event).encode()))]
    return "; ".join(f"{note.where} {note.why}" for note in noted)


def completed(answered: Answered) -> str:
    """It came to its end, or to the limit that was set."""
    if answered.status != 200:
        return f"{answered.status} {answered.body}"
    usage, ended = answered.response["usage"], (answered.response["status"], (answered.response["incomplete_details"] or {}).get("reason"))
    if ended not in (("completed", None), ("incomplete", "max_output_tokens")) or not answered.response["output"]:
        return f"{ended}: {answered.response['output']}"
    return "" if usage is None or usage["input_tokens"] > 0 else f"usage {usage}"


def streamed(answered: Answered) -> str:
    deltas = "".join(event["delta"] for event in answered.events if event["type"] == "response.output_text.delta")
    return completed(answered) or ("" if deltas == answered.text != "" else f"{deltas!r} is not {answered.text!r}")


def called(type: str, *names: str) -> Callable[[Answered], str]:
    def wrong(answered: Answered) -> str:
        if (why := completed(answered)) or not (calls := answered.items(type)):
            return why or f"no {type}: {answered.response['output']}"
        return "; ".join(f"a call of {call['name']}" for call in calls if call["name"] not in names) or _arguments(calls)

    return wrong


def _arguments(calls: list[Json]) -> str:
    spelled = [call["arguments"] for call in calls if "arguments" in call]
    return "" if all(isinstance(json.loads(one), dict) for one in spelled) else f"arguments {spelled}"


def an_object(answered: Answered) -> str:
    if why := completed(answered):
        return why
    try:
        return "" if isinstance(json.loads(answered.text), dict) else answered.text
    except ValueError:
        return f"no JSON: {answered.text!r}"


def cut(answered: Answered) -> str:
    if answered.status != 200:
        return f"{answered.status} {answered.body}"
    told = answered.response["status"], answered.response["incomplete_details"]
    return "" if told == ("incomplete", {"reason": "max_output_tokens"}) else str(told)


def too_long(answered: Answered) -> str:
    error = answered.body.get("error", {})
    return (
        ""
        if (answered.status, error.get("code")) == (400, "context_length_exceeded")
        else f"{answered.status} {error or answered.response}"
    )


def tool(name: str, **more: Any) -> Json:
    parameters = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": False}
    return {"type": "function", "name": name, "description": f"{name} of a city", "parameters": parameters, **more}


def said(role: str, text: str) -> Json:
    return {"type": "message", "role": role, "content": [{"type": "input_text" if role != "assistant" else "output_text", "text": text}]}


WEATHER = "What is the weather in Paris? Use a tool."
TWO = [tool("get_weather"), {"type": "namespace", "name": "mcp__clock", "description": "", "tools": [tool("get_time")]}]
PAST: list[Json] = [
    said("developer", "Be brief."),
    said("user", "What is the weather in Paris, and what time is it there?"),
    {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Two calls."}], "encrypted_content": None},
    {"type": "function_call", "call_id": "call_1", "name": "get_weather", "arguments": '{"city": "Paris"}'},
    {"type": "function_call", "call_id": "call_2", "namespace": "mcp__clock", "name": "get_time", "arguments": '{"city": "Paris"}'},
    {"type": "function_call_output", "call_id": "call_2", "output": [{"type": "input_text", "text": "noon"}]},
    {"type": "function_call_output", "call_id": "call_1", "output": "sunny"},
    said("developer", "The user reads nothing but English."),
]
SCHEMA = {"type": "json_schema", "name": "place", "strict": True, "schema": tool("x")["parameters"]}

QUESTIONS: dict[str, Question] = {
    "text": Question({"input": "What is the capital of France?", "max_output_tokens": 60}, completed),
    "stream": Question({"input": "What is the capital of France?", "max_output_tokens": 60, "stream": True}, streamed),
    "a tool must be called": Question(
        {"input": WEATHER, "tools": TWO, "tool_choice": "required", "max_output_tokens": 200},
        called("function_call", "get_weather", "get_time"),
        "tool_choice",
    ),
    "that one, streamed": Question(
        {
            "input": WEATHER,
            "tools": TWO,
            "tool_choice": {"type": "function", "name": "get_weather"},
            "max_output_tokens": 200,
            "stream": True,
        },
        called("function_call", "get_weather"),
        "tool_choice",
    ),
    "a freeform tool": Question(
        {
            "input": "Write a file.",
            "tools": [{"type": "custom", "name": "apply_patch", "description": "patches"}],
            "tool_choice": "required",
            "max_output_tokens": 200,
            "stream": True,
        },
        called("custom_tool_call", "apply_patch"),
        "tool_choice",
    ),
    "two calls and what came of them": Question(
        {"input": PAST, "tools": TWO, "max_output_tokens": 60}, lambda a: "" if a.status == 200 else completed(a)
    ),
    "reasoning effort": Question(
        {"input": "Say hi.", "reasoning": {"effort": "minimal"}, "max_output_tokens": 60, "stream": True}, completed
    ),
    "by a schema": Question({"input": "Name a city.", "text": {"format": SCHEMA}, "max_output_tokens": 200}, an_object, "text.format"),
    "cut by a limit": Question({"input": "What is the capital of France?", "max_output_tokens": 3}, cut),
    "cut, streamed": Question({"input": "What is the capital of France?", "max_output_tokens": 3, "stream": True}, cut),
    "too long": Question({"input": "word " * 20_000}, too_long),
    "too long, streamed": Question({"input": "word " * 20_000, "stream": True}, too_long),
}
