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
from tests.scripted.script import Answer, Failure, Image, Json, Output, Said, Tool, View, mapping, objects
from tests.scripted.server import MODEL, Wire, main

CALL_OUTPUTS = ("function_call_output", "custom_tool_call_output")


def declared(tools: list[Json], namespace: str = "") -> Iterator[Tool]:
    for tool in tools:
        if tool.get("type") == "namespace":
            yield from declared(objects(tool.get("tools")), str(tool.get("name")))
        elif "name" in tool:
            yield Tool(tool["name"], namespace, tool["type"], mapping(tool.get("parameters")), str(tool.get("description")))


def joined(content: object) -> str:
    """The text of a content array, or the string that may stand in its place."""
    if isinstance(content, str):
        return content
    return "\n".join(str(part["text"]) for part in objects(content) if "text" in part)


def said(item: Json) -> Iterator[Said]:
    content = item.get("content")
    texts = [content] if isinstance(content, str) else [part["text"] for part in objects(content) if "text" in part]
    for text in texts:
        yield Said(str(item.get("role")), str(text))


def images(item: Json) -> Iterator[Image]:
    for part in objects(item.get("content")) + objects(item.get("output")):
        if part.get("type") == "input_image":
            yield Image.from_url(str(part.get("image_url")))


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
            tools=tuple(declared(objects(body.get("tools")))),
            said=tuple(each for item in items for each in said(item)),
            outputs=tuple(Output(item["call_id"], joined(item["output"])) for item in items if item.get("type") in CALL_OUTPUTS),
            images=tuple(image for item in items for image in images(item)),
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
