"""The items of a history that a client sends along to resume, as types: what is accepted, and what the JSON Schemas are made of.

Wide enough for every generation of the schemas and for what binaries of each really take: outputs as string, array or object, reasoning without an
id, snapshots with nothing in them. A type that is not in `ITEMS` is kept and not looked into. Not here: what of a history a model is sent
(`history.normalisation`).
"""

from typing import Any, Final, Literal

import msgspec
from msgspec import Raw

from antiphon.protocol import item_views, json
from antiphon.protocol.document import Document
from antiphon.threads.errors import Refused


class _Tagged(msgspec.Struct, kw_only=True, tag_field="type"):
    """What says its own type."""


class InputText(_Tagged, tag="input_text"):
    """Text that was put in."""

    text: str


class InputImage(_Tagged, tag="input_image"):
    """A picture, by a data URL."""

    image_url: str
    detail: Literal["auto", "low", "high", "original"] | None = None


class InputAudio(_Tagged, tag="input_audio"):
    """A sound, by a data URL."""

    audio_url: str


class OutputText(_Tagged, tag="output_text"):
    """Text that the model wrote."""

    text: str


class EncryptedPart(_Tagged, tag="encrypted_content"):
    """What only its maker can read."""

    encrypted_content: str


class SummaryText(_Tagged, tag="summary_text"):
    """A part of a summary of thoughts."""

    text: str


class ReasoningText(_Tagged, tag="reasoning_text"):
    """A part of thoughts."""

    text: str


class PlainText(_Tagged, tag="text"):
    """The same, as older servers had it."""

    text: str


OutputParts = list[InputText | InputImage | InputAudio | EncryptedPart]


class OutputObject(msgspec.Struct, kw_only=True):
    """The object form of an output: `body` in the schemas of early 2026, `content` in older clients."""

    body: str | OutputParts | None = None
    content: str | OutputParts | None = None
    success: bool | None = None


Output = str | OutputParts | OutputObject


class LocalShellAction(_Tagged, kw_only=True, tag="exec"):
    """A command to run."""

    command: list[str]
    env: dict[str, str] | None = None
    timeout_ms: int | None = None
    user: str | None = None
    working_directory: str | None = None


class _Item(_Tagged, kw_only=True):
    id: str | None = None


class Message(_Item, tag="message"):
    """Something said."""

    role: str
    content: list[InputText | InputImage | InputAudio | OutputText]
    phase: str | None = None
    end_turn: bool | None = None


class AgentMessage(_Item, tag="agent_message"):
    """Something one agent told another."""

    author: str
    recipient: str
    content: list[InputText | EncryptedPart]


class Reasoning(_Item, tag="reasoning"):
    """Thoughts."""

    summary: list[SummaryText]
    content: list[ReasoningText | PlainText] | None = None
    encrypted_content: str | None = None


class LocalShellCall(_Item, tag="local_shell_call"):
    """A command, as the oldest versions called for it."""

    action: LocalShellAction
    status: Literal["completed", "in_progress", "incomplete"]
    call_id: str | None = None


class FunctionCall(_Item, tag="function_call"):
    """A call with arguments."""

    call_id: str
    name: str
    arguments: str
    namespace: str | None = None


class FunctionCallOutput(_Item, tag="function_call_output"):
    """What came of it."""

    output: Output
    call_id: str | None = None
    name: str | None = None
    namespace: str | None = None


class CustomToolCall(_Item, tag="custom_tool_call"):
    """A call with plain text."""

    call_id: str
    name: str
    input: str
    status: str | None = None
    namespace: str | None = None


class CustomToolCallOutput(_Item, tag="custom_tool_call_output"):
    """What came of it."""

    call_id: str
    output: Output
    name: str | None = None


class ToolSearchCall(_Item, tag="tool_search_call"):
    """A search over the client's tools."""

    execution: str
    arguments: Any
    call_id: str | None = None
    status: str | None = None


class ToolSearchOutput(_Item, tag="tool_search_output"):
    """The tools it found."""

    execution: str
    status: str
    tools: list[Any]
    call_id: str | None = None


class WebSearchCall(_Item, tag="web_search_call"):
    """A search of the web, done by the server."""

    action: dict[str, Any] | None = None
    status: str | None = None


class ImageGenerationCall(_Item, tag="image_generation_call"):
    """A picture made by the server."""

    result: str
    status: str
    revised_prompt: str | None = None


class GhostSnapshot(_Item, tag="ghost_snapshot"):
    """A commit to undo to; no model sees it."""

    ghost_commit: dict[str, Any] | None = None


class Compaction(_Item, tag="compaction"):
    """A sealed stand-in for what came before."""

    encrypted_content: str


class CompactionSummary(_Item, tag="compaction_summary"):
    """The same, by its former name."""

    encrypted_content: str


class ContextCompaction(_Item, tag="context_compaction"):
    """The same, made by the client."""

    encrypted_content: str | None = None


class CompactionTrigger(_Item, tag="compaction_trigger"):
    """A request to compact; no model sees it."""


class AdditionalTools(_Item, tag="additional_tools"):
    """Tools declared in the input."""

    role: str
    tools: list[Any]


class ConfigurationUpdate(_Item, tag="configuration_update"):
    """A change of settings; no model sees it."""

    reasoning: Any


class Other(_Item, tag="other"):
    """What a schema says for all types that it does not know."""


ITEMS: Final[dict[str, type[msgspec.Struct]]] = {
    str(shape.__struct_config__.tag): shape
    for shape in (
        Message,
        AgentMessage,
        Reasoning,
        LocalShellCall,
        FunctionCall,
        FunctionCallOutput,
        CustomToolCall,
        CustomToolCallOutput,
        ToolSearchCall,
        ToolSearchOutput,
        WebSearchCall,
        ImageGenerationCall,
        GhostSnapshot,
        Compaction,
        CompactionSummary,
        ContextCompaction,
        CompactionTrigger,
        AdditionalTools,
        ConfigurationUpdate,
        Other,
    )
}
"""Item type → its shape."""

_READERS: Final = {name: json.reader(shape) for name, shape in ITEMS.items()}


def checked(item: Raw, where: str) -> Document:
    """An item of a history; what cannot be one is refused by path."""
    if not json.is_object(item):
        raise Refused(f"Invalid request: {where} is no object", param=where)
    document = Document(item)
    type = document.text("type")
    if type is None:
        raise Refused(f"Invalid request: {where} lacks the field `type`", param=where)
    reader = _READERS.get(type)
    if reader is not None:
        _shaped(item, reader, where)
    return document


def plain(item: Document, where: str) -> Document:
    """The item with its output in the form that is sent: a string or an array."""
    output = item.members.get("output")
    if output is None or not json.is_object(output) or item.text("type") not in ("function_call_output", "custom_tool_call_output"):
        return item
    return item.but(output=item_views.output_body(output, f"{where}.output"))


def _shaped(item: Raw, reader: "msgspec.json.Decoder[Any]", where: str) -> None:
    try:
        json.view(item, reader)
    except json.WrongType as wrong:
        path = f"{where}.{wrong.path}" if wrong.path else where
        raise Refused(f"Invalid request: {path}: {wrong.expected}", param=path) from None
    except json.BadJson as bad:
        raise Refused(f"Invalid request: {where}: {bad}", param=where) from None
