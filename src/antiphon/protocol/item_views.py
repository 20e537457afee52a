"""Views of every item and part that Codex and OpenAI's clients are known to send or take, of every generation.

A view is for reading: the document it was read from is what travels on. A type that is not in `ITEMS` has no view, is told as unknown, and
travels as it came wherever the upstream may have it. Not here: which upstream may have what (`translation.dialect`).
"""

from typing import Any

import msgspec
from msgspec import Raw

from antiphon.protocol import json
from antiphon.protocol.document import Document
from antiphon.protocol.errors import InvalidRequest

_NONE = Raw(b"")


class Item(msgspec.Struct, kw_only=True):
    """What every item may have. An item without a type but with a role is a message: OpenAI's short form."""

    type: str = "message"
    id: str | None = None
    status: str | None = None


class Message(Item):
    """Something said, in `content`: a string, or parts."""

    role: str
    content: Raw = _NONE
    phase: str | None = None


class Reasoning(Item):
    """What the model thought: readable summary and content, and a sealed part only its maker can read."""

    summary: list["Part"] = []
    content: list["Part"] | None = None
    encrypted_content: str | None = None


class FunctionCall(Item):
    """A call with JSON arguments in a string."""

    call_id: str
    name: str
    arguments: Raw
    namespace: str | None = None


class CustomCall(Item):
    """A call with raw text."""

    call_id: str
    name: str
    input: str
    namespace: str | None = None


class CallOutput(Item):
    """The result of a call: a string, content parts, or the object form of older clients. Without `call_id` it stands for itself."""

    call_id: str | None = None
    name: str | None = None
    namespace: str | None = None
    output: Raw = _NONE


class ToolSearchCall(Item):
    """A search over deferred tools; its arguments are an object."""

    execution: str
    arguments: Raw = _NONE
    call_id: str | None = None


class ToolSearchOutput(Item):
    """The tools that a search found."""

    execution: str
    tools: list[Raw] = []
    call_id: str | None = None


class LocalShellCall(Item):
    """The shell call of older clients."""

    action: Raw = _NONE
    call_id: str | None = None


class PatchCall(Item):
    """A call of OpenAI's own tool for patches, which its client runs."""

    operation: Raw = _NONE
    call_id: str | None = None


class HostedCall(Item):
    """A call that its server ran itself: web search, file search, code, images, MCP."""

    action: Raw = _NONE
    result: Raw = _NONE


class GhostSnapshot(Item):
    """A commit that older Codex made to undo to; no model needs it."""

    ghost_commit: Raw = _NONE


class AgentMessage(Item):
    """A message between agents."""

    author: str = ""
    recipient: str = ""
    content: list["Part"] = []


class AdditionalTools(Item):
    """Tools declared inside the input (Responses-Lite)."""

    role: str = "developer"
    tools: list[Raw] = []


class Compaction(Item):
    """A stand-in for what came before, sealed by most servers."""

    encrypted_content: str | None = None
    summary: Raw = _NONE
    content: Raw = _NONE


class ConfigurationUpdate(Item):
    """A change of settings in the middle of a thread."""

    reasoning: Raw = _NONE


class ItemReference(Item):
    """Another item, by its id."""


class Part(msgspec.Struct, kw_only=True):
    """A content part of any type."""

    type: str = "input_text"
    text: str | None = None
    refusal: str | None = None
    image_url: Raw = _NONE
    detail: str | None = None
    file_id: str | None = None
    file_url: str | None = None
    file_data: str | None = None
    filename: str | None = None
    input_audio: Raw = _NONE
    audio_url: str | None = None
    encrypted_content: str | None = None


class OutputObject(msgspec.Struct):
    """The object form of a call's output; `success` is for people."""

    content: Raw = _NONE
    body: Raw = _NONE
    success: bool | None = None


ITEMS: dict[str, type[Item]] = {
    "message": Message,
    "reasoning": Reasoning,
    "function_call": FunctionCall,
    "function_call_output": CallOutput,
    "custom_tool_call": CustomCall,
    "custom_tool_call_output": CallOutput,
    "tool_search_call": ToolSearchCall,
    "tool_search_output": ToolSearchOutput,
    "local_shell_call": LocalShellCall,
    "local_shell_call_output": CallOutput,
    "shell_call": LocalShellCall,
    "shell_call_output": CallOutput,
    "apply_patch_call": PatchCall,
    "apply_patch_call_output": CallOutput,
    "web_search_call": HostedCall,
    "file_search_call": HostedCall,
    "code_interpreter_call": HostedCall,
    "computer_call": HostedCall,
    "computer_call_output": CallOutput,
    "image_generation_call": HostedCall,
    "mcp_list_tools": HostedCall,
    "mcp_call": HostedCall,
    "mcp_approval_request": HostedCall,
    "mcp_approval_response": HostedCall,
    "ghost_snapshot": GhostSnapshot,
    "agent_message": AgentMessage,
    "additional_tools": AdditionalTools,
    "compaction": Compaction,
    "compaction_summary": Compaction,
    "context_compaction": Compaction,
    "compaction_trigger": Item,
    "configuration_update": ConfigurationUpdate,
    "item_reference": ItemReference,
}

_READERS = {name: json.reader(view) for name, view in ITEMS.items()}
_HEAD = json.reader(Item)
_PARTS = json.reader(list[Part])
_OUTPUT = json.reader(OutputObject)
_BODY = json.reader(str | list[Part])


def kind(item: Raw | Document, where: str) -> str:
    """An item's type; an item that is not an object is refused."""
    return shaped(item, _HEAD, where).type


def read(item: Raw | Document, where: str) -> Item | None:
    """An item through its view; None where no view is known for its type. A known type with wrong members is refused by path."""
    reader = _READERS.get(kind(item, where))
    return None if reader is None else shaped(item, reader, where)


def parts(spelled: Raw, where: str) -> list[Part]:
    """Content parts, out of a string or an array."""
    if len(memoryview(spelled)) == 0 or json.is_null(spelled):
        return []
    if json.is_text(spelled):
        return [Part(text=json.text(spelled))]
    return shaped(spelled, _PARTS, where)


def output_body(spelled: Raw, where: str) -> Raw:
    """A call's output as a string or an array, out of any form it may have."""
    if json.is_text(spelled):
        return spelled
    if json.is_object(spelled):
        told = shaped(spelled, _OUTPUT, where)
        name = "content" if len(memoryview(told.content)) else "body"
        where, spelled = f"{where}.{name}", told.content if name == "content" else told.body
    if len(memoryview(spelled)) == 0 or json.is_null(spelled):
        return Raw(b'""')
    if not json.is_text(spelled):
        shaped(spelled, _BODY, where)
    return spelled


def shaped(what: Raw | Document, reader: "msgspec.json.Decoder[Any]", where: str) -> Any:
    """A part of the request through a view; what does not fit is refused by path."""
    try:
        return json.view(what.raw if isinstance(what, Document) else what, reader)
    except json.WrongType as wrong:
        raise wrong_type(wrong, where) from None
    except json.BadJson as bad:
        raise InvalidRequest(f"Invalid JSON at '{where}': {bad}.", param=where) from None


def wrong_type(wrong: json.WrongType, where: str = "") -> InvalidRequest:
    """A 400 that names the path, what was expected and what was there."""
    path = f"{where}{wrong.path if wrong.path.startswith('[') or not wrong.path or not where else '.' + wrong.path}"
    return InvalidRequest(f"Invalid value at '{path or 'body'}': {wrong.expected}.", param=path or None, code="invalid_type")
