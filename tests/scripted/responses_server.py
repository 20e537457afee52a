"""A Responses server that Codex can talk to directly, and a strict variant that refuses what most such servers refuse.

`open` takes every tool kind and item as OpenAI does: what Codex shows against it is the reference of the matrix.
`strict` knows functions only, as vLLM, SGLang, Ollama and LM Studio do. Run: `python -m tests.scripted.responses_server`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tests.scripted.catalogue import CODEX_MODELS
from tests.scripted.responses_events import CREATED, finished, frames
from tests.scripted.responses_rules import refusal
from tests.scripted.scenarios import SCRIPTS
from tests.scripted.script import Answer, Failure, File, Image, Json, Output, Said, Tool, View, decoded, mapping, objects
from tests.scripted.server import MODEL, Wire, main

MESSAGES = (None, "message", "agent_message")
OUTPUTS = ("function_call_output", "custom_tool_call_output", "tool_search_output")


def declared(tools: list[Json], namespace: str = "") -> Iterator[Tool]:
    for tool in tools:
        kind, schema = str(tool.get("type")), mapping(tool.get("parameters"))
        if kind == "namespace":
            yield from declared(objects(tool.get("tools")), str(tool.get("name")))
        elif kind == "tool_search" or "name" in tool:
            yield Tool(str(tool.get("name", kind)), namespace, kind, schema, str(tool.get("description")))


def offered(body: Json, items: list[Json]) -> Iterator[Tool]:
    """The tools that a request declares, in their own field or in an item."""
    yield from declared(objects(body.get("tools")))
    for item in items:
        if item.get("type") == "additional_tools":
            yield from declared(objects(item.get("tools")))


def joined(content: object) -> str:
    """The text of a content array, or the string that may stand in its place."""
    if isinstance(content, str):
        return content
    return "\n".join(str(part["text"]) for part in objects(content) if "text" in part)


def said(item: Json) -> Iterator[Said]:
    """Words with their role; what one agent tells another is a message too, and only called encrypted."""
    role = "user" if item.get("type") == "agent_message" else str(item.get("role"))
    if isinstance(item.get("content"), str):
        yield Said(role, str(item["content"]))
    for part in objects(item.get("content")):
        text = part.get("text", part.get("encrypted_content"))
        if isinstance(text, str) and item.get("type") in MESSAGES:
            yield Said(role, text)


def thoughts(items: list[Json]) -> Iterator[str]:
    for item in items:
        if item.get("type") == "reasoning":
            yield from (str(part.get("text")) for part in objects(item.get("summary")) + objects(item.get("content")))


def output(item: Json) -> Output:
    return Output(str(item.get("call_id")), joined(item.get("output")), tuple(declared(objects(item.get("tools")))))


def images(item: Json) -> Iterator[Image]:
    for part in objects(item.get("content")) + objects(item.get("output")):
        if part.get("type") == "input_image":
            yield Image.from_url(str(part.get("image_url")))


def files(item: Json) -> Iterator[File]:
    for part in objects(item.get("content")):
        if part.get("type") == "input_file":
            yield File(decoded(str(part.get("file_data"))), str(part.get("filename")))


@dataclass(frozen=True, slots=True)
class ResponsesWire:
    strict: bool = False
    path: str = "/responses"

    def refusal(self, body: Json) -> Failure | None:
        return refusal(body, strict=self.strict)

    def view(self, body: Json, number: int) -> View:
        given = body["input"]
        items = [{"role": "user", "content": given}] if isinstance(given, str) else objects(given)
        return View(
            number=number,
            model=str(body["model"]),
            tools=tuple(offered(body, items)),
            said=tuple(each for item in items for each in said(item)),
            outputs=tuple(output(item) for item in items if item.get("type") in OUTPUTS),
            images=tuple(image for item in items for image in images(item)),
            files=tuple(file for item in items for file in files(item)),
            reasoning=tuple(thoughts(items)),
            schema=mapping(mapping(mapping(body.get("text")).get("format")).get("schema")),
        )

    def stream(self, body: Json, answer: Answer, number: int) -> Iterator[bytes]:
        return frames(body, answer, number)

    def document(self, body: Json, answer: Answer, number: int) -> Json:
        return finished(body, answer, number)

    def models(self, query: Mapping[str, str]) -> Json:
        """OpenAI's list; Codex, which says its version, gets a catalogue as from OpenAI's own backend."""
        if "client_version" in query:
            return {"models": CODEX_MODELS}
        entry = {"id": MODEL, "object": "model", "created": CREATED, "owned_by": "scripted"}
        return {"object": "list", "data": [entry]}


WIRES: dict[str, Wire] = {"open": ResponsesWire(), "strict": ResponsesWire(strict=True)}

if __name__ == "__main__":
    main(WIRES, SCRIPTS)
