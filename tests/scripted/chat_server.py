"""A Chat Completions server that takes nothing it need not take (`chat_rules`), and answers by script.

Streams as OpenAI does: one chunk per delta, the finish reason in a chunk of its own, usage only if it was asked for.
Run: `python -m tests.scripted.chat_server`.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tests.scripted.chat_rules import refusal
from tests.scripted.scenarios import SCRIPTS
from tests.scripted.script import (
    Answer,
    Call,
    Failure,
    File,
    Image,
    Json,
    Output,
    Part,
    Reasoning,
    Said,
    Text,
    Tool,
    Usage,
    View,
    decoded,
    mapping,
    objects,
    pieces,
)
from tests.scripted.server import MODEL, Wire, cut, main

CREATED = 1_790_000_000
REASONING = ("reasoning_content", "reasoning")


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """How a real server words what it streams, where it differs from OpenAI."""

    reasoning: str = "reasoning_content"
    repeats: bool = False  # every delta of a call repeats its id, type and name
    whole: bool = False  # a part is one delta
    call_finish: str = "tool_calls"
    usage_at_finish: bool = False  # in the chunk of the finish reason, not in one of its own
    owner: str = "scripted"  # of its models: some servers are known by it
    wants_reasoning: bool = False  # refuses a tool call of the running turn without the thoughts that led to it


STYLES = {
    "strict": Style(),
    "llama-cpp-python": Style(repeats=True),
    "ollama": Style(reasoning="reasoning", whole=True, usage_at_finish=True),
    "deepseek": Style(wants_reasoning=True),
    "vllm": Style(reasoning="reasoning", call_finish="stop", owner="vllm"),
}


def texts(message: Json) -> list[str]:
    content = message.get("content")
    if isinstance(content, str):
        return [content]
    return [str(part["text"]) for part in objects(content) if part.get("type") == "text"]


def images(message: Json) -> Iterator[Image]:
    for part in objects(message.get("content")):
        if part.get("type") == "image_url":
            yield Image.from_url(str(part["image_url"]["url"]))


def files(message: Json) -> Iterator[File]:
    for part in objects(message.get("content")):
        if part.get("type") == "file":
            yield File(decoded(str(part["file"].get("file_data"))), str(part["file"].get("filename")))


def declared(body: Json) -> Iterator[Tool]:
    for tool in objects(body.get("tools")):
        function = mapping(tool.get("function"))
        parameters, description = mapping(function.get("parameters")), str(function.get("description"))
        yield Tool(function["name"], parameters=parameters, description=description)


def usage_document(usage: Usage) -> Json:
    return {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cached},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    }


def finish_reason(answer: Answer, style: Style) -> str:
    if answer.ending == "length":
        return "length"
    return style.call_finish if any(isinstance(part, Call) for part in answer.parts) else "stop"


def call_id(number: int, index: int) -> str:
    return f"call_{number:04}_{index}"


def deltas(part: Part, call_id: str, index: int, style: Style) -> Iterator[Json]:
    split = (lambda text: [text]) if style.whole else pieces
    match part:
        case Text(text):
            yield from ({"content": piece} for piece in split(text))
        case Reasoning(text):
            yield from ({style.reasoning: piece} for piece in split(text))
        case Call():
            yield from ({"tool_calls": [call]} for call in call_deltas(part, call_id, index, style))


def call_deltas(call: Call, call_id: str, index: int, style: Style) -> Iterator[Json]:
    head: Json = {"index": index, "id": call_id, "type": "function"}
    if style.whole:
        yield head | {"function": {"name": call.tool.name, "arguments": call.arguments}}
        return
    yield head | {"function": {"name": call.tool.name, "arguments": ""}}
    for piece in pieces(call.arguments):
        if style.repeats:
            yield head | {"function": {"name": call.tool.name, "arguments": piece}}
        else:
            yield {"index": index, "function": {"arguments": piece}}


def chunk(body: Json, number: int, **fields: object) -> Json:
    head: Json = {"id": f"chatcmpl-{number:04}", "object": "chat.completion.chunk", "created": CREATED, "model": body["model"]}
    return head | {"system_fingerprint": "fp_scripted"} | fields


def choice(delta: Json, finish: str | None = None) -> list[Json]:
    return [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}]


def chunks(body: Json, answer: Answer, number: int, style: Style) -> Iterator[Json]:
    asked = mapping(body.get("stream_options")).get("include_usage") is True
    waiting: Json = {"usage": None} if asked else {}
    yield chunk(body, number, choices=choice({"role": "assistant", "content": ""}), **waiting)
    call_index = 0
    for part in answer.parts:
        of_calls = deltas(part, call_id(number, call_index), call_index, style)
        of_part = [chunk(body, number, choices=choice(delta), **waiting) for delta in of_calls]
        yield from cut(of_part, answer) if part is answer.parts[-1] else of_part
        call_index += isinstance(part, Call)
    if answer.ending in ("complete", "length"):
        yield from ending(chunk(body, number, choices=choice({}, finish_reason(answer, style)), **waiting), answer, style)


def ending(last: Json, answer: Answer, style: Style) -> Iterator[Json]:
    """The chunk with the finish reason, and usage, if it was asked for, in or after it."""
    if "usage" not in last:
        yield last
    elif style.usage_at_finish:
        yield last | {"usage": usage_document(answer.usage)}
    else:
        yield last
        yield last | {"choices": [], "usage": usage_document(answer.usage)}


def written(call: Call, answer: Answer) -> str:
    """The arguments, as far as they were written when the limit came."""
    broken = answer.breaks_off and call is answer.parts[-1]
    return call.arguments[: len(call.arguments) // 2] if broken else call.arguments


def message(answer: Answer, number: int, style: Style) -> Json:
    calls = [part for part in answer.parts if isinstance(part, Call)]
    document: Json = {
        "role": "assistant",
        "content": "".join(part.text for part in answer.parts if isinstance(part, Text)) or None,
        "refusal": None,
        "annotations": [],
    }
    reasoning = "".join(part.text for part in answer.parts if isinstance(part, Reasoning))
    if reasoning:
        document[style.reasoning] = reasoning
    if calls:
        document["tool_calls"] = [
            {"id": call_id(number, index), "type": "function", "function": {"name": call.tool.name, "arguments": written(call, answer)}}
            for index, call in enumerate(calls)
        ]
    return document


@dataclass(frozen=True, slots=True)
class ChatWire:
    style: Style = Style()
    path: str = "/chat/completions"
    only: str = ""  # the one model that it has; any name will do where there is none

    def refusal(self, body: Json) -> Failure | None:
        if self.only and body.get("model") != self.only:
            return Failure(status=404, message=f"The model `{body.get('model')}` does not exist.", code="model_not_found")
        return refusal(body, wants_reasoning=self.style.wants_reasoning)

    def view(self, body: Json, number: int) -> View:
        messages = objects(body["messages"])
        return View(
            number=number,
            model=str(body["model"]),
            tools=tuple(declared(body)),
            said=tuple(Said(str(each["role"]), text) for each in messages for text in texts(each) if each["role"] != "tool"),
            outputs=tuple(Output(each["tool_call_id"], "\n".join(texts(each))) for each in messages if each["role"] == "tool"),
            images=tuple(image for each in messages for image in images(each)),
            files=tuple(file for each in messages for file in files(each)),
            reasoning=tuple(str(each[name]) for each in messages for name in REASONING if each.get(name)),
            schema=mapping(mapping(mapping(body.get("response_format")).get("json_schema")).get("schema")),
        )

    def stream(self, body: Json, answer: Answer, number: int) -> Iterator[bytes]:
        for document in chunks(body, answer, number, self.style):
            yield f"data: {json.dumps(document, ensure_ascii=False)}\n\n".encode()
        if answer.ending in ("complete", "length"):
            yield b"data: [DONE]\n\n"

    def document(self, body: Json, answer: Answer, number: int) -> Json:
        said, why = message(answer, number, self.style), finish_reason(answer, self.style)
        picked = {"index": 0, "message": said, "logprobs": None, "finish_reason": why}
        return chunk(body, number, choices=[picked], usage=usage_document(answer.usage)) | {"object": "chat.completion"}

    def models(self, query: Mapping[str, str]) -> Json:
        """As vLLM lists its one model, with the length it was started with."""
        entry: Json = {"id": MODEL, "object": "model", "created": CREATED, "owned_by": self.style.owner, "root": MODEL, "parent": None}
        return {"object": "list", "data": [entry | {"max_model_len": 65536, "permission": []}]}


WIRES: dict[str, Wire] = {name: ChatWire(style) for name, style in STYLES.items()}

if __name__ == "__main__":
    main(WIRES, SCRIPTS)
