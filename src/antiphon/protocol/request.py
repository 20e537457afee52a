"""The client's request, read as far as Antiphon itself decides by it. The document travels on; this view never does.

Fields that only the upstream understands are not looked at. What cannot be honoured without keeping state is refused by name rather than
passed over: a silently lost history is the worst answer there is.
"""

from typing import Any

import msgspec
from msgspec import Raw

from antiphon.protocol import item_views, json
from antiphon.protocol.document import Document
from antiphon.protocol.errors import InvalidRequest
from antiphon.protocol.notes import Kind, Note

_NONE = Raw(b"")


class ModelView(msgspec.Struct, kw_only=True):
    """What routing needs of every request, of whatever API."""

    model: str | None = None


class RequestView(ModelView, kw_only=True):
    """What streaming and tools need of every request to the Responses API."""

    stream: bool | None = None
    input: Raw = _NONE
    tools: list[Raw] | None = None
    store: bool | None = None
    background: bool | None = None
    previous_response_id: str | None = None


class ReasoningView(msgspec.Struct):
    """`reasoning`."""

    effort: str | None = None
    summary: str | None = None


class FormatView(msgspec.Struct):
    """`text.format`."""

    type: str = "text"
    name: str | None = None
    schema: Raw = _NONE
    strict: bool | None = None
    description: str | None = None


class TextView(msgspec.Struct):
    """`text`."""

    format: FormatView | None = None
    verbosity: str | None = None


class StreamOptionsView(msgspec.Struct):
    """`stream_options`."""

    include_obfuscation: bool | None = None


class SettingsView(RequestView, kw_only=True):
    """The settings that a translation to another API must understand."""

    instructions: str | None = None
    tool_choice: Raw = _NONE
    parallel_tool_calls: bool | None = None
    max_output_tokens: int | None = None
    max_tool_calls: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_logprobs: int | None = None
    reasoning: ReasoningView | None = None
    text: TextView | None = None
    stream_options: StreamOptionsView | None = None
    include: list[str] | None = None


class ChoiceView(msgspec.Struct):
    """`tool_choice`, where it is an object."""

    tools: list[dict[str, Raw]] | None = None


_MODEL = json.reader(ModelView)
_REQUEST = json.reader(RequestView)
_CHOICE = json.reader(str | ChoiceView | None)
_INPUT = json.reader(str | list[Raw] | None)
_SETTINGS = json.reader(SettingsView)


def open_body(body: bytes) -> tuple[Document, list[Note]]:
    """The request document out of a body, and what had to be mended in it."""
    try:
        data, surrogates = json.check(body)
        document = Document(data)
        members = document.members
    except json.WrongType as wrong:
        raise item_views.wrong_type(wrong) from None
    except json.BadJson as bad:
        raise InvalidRequest(f"The body is not valid JSON: {bad}.", code="invalid_json") from None
    notes = [Note(Kind.REPAIRED, "body", "a lone surrogate escape became U+FFFD")] if surrogates else []
    if json.repeats(data, members):
        document = Document.of(dict(members))
        notes.append(Note(Kind.REPAIRED, "body", "a key given twice: the last one counts"))
    return document, notes


def model(document: Document) -> str:
    """The model that a request of any API names."""
    return _named(_view(document, _MODEL))


def view(document: Document) -> RequestView:
    """What every request to the Responses API is routed by."""
    request: RequestView = _with_input(document, _REQUEST)
    _named(request)
    if len(memoryview(request.input)) and not (json.is_text(request.input) or json.is_array(request.input)):
        item_views.shaped(request.input, _INPUT, "input")
    return request


def _named(request: ModelView) -> str:
    if not request.model:
        raise InvalidRequest("Missing required parameter: 'model'.", param="model", code="missing_required_parameter")
    return request.model


def settings(document: Document) -> SettingsView:
    """All that a translation needs; refuses what needs state."""
    read: SettingsView = _with_input(document, _SETTINGS)
    for name, given in (("previous_response_id", read.previous_response_id), ("conversation", document.get("conversation"))):
        if given is not None:
            raise InvalidRequest(
                f"'{name}' needs stored responses, and this gateway keeps none: send the whole history in 'input'.",
                param=name,
                code="unsupported_parameter",
            )
    for name, given in (("background", read.background), ("prompt", document.get("prompt"))):
        if given:
            raise InvalidRequest(f"'{name}' is not supported for this model.", param=name, code="unsupported_parameter")
    if not len(memoryview(read.input)) or json.is_null(read.input):
        raise InvalidRequest("Missing required parameter: 'input'.", param="input", code="missing_required_parameter")
    return read


def choice(spelled: Raw) -> Document | None:
    """A `tool_choice` that is an object; None where it is a word, or not given."""
    if not len(memoryview(spelled)):
        return None
    item_views.shaped(spelled, _CHOICE, "tool_choice")
    return Document(spelled) if json.is_object(spelled) else None


def items(spelled: Raw) -> list[Raw]:
    """The input items: a bare string is one user message."""
    if json.is_text(spelled):
        return [Document.of({"type": "message", "role": "user", "content": spelled}).raw]
    return json.elements(spelled)


def _with_input(document: Document, reader: "msgspec.json.Decoder[Any]") -> Any:
    read: RequestView = _view(document, reader)
    read.input = document.members.get("input", _NONE)
    return read


def _view(document: Document, reader: "msgspec.json.Decoder[Any]") -> Any:
    """All but the input, which may be megabytes long, through a view."""
    try:
        return json.view(json.encode({name: spelled for name, spelled in document.members.items() if name != "input"}), reader)
    except json.WrongType as wrong:
        raise item_views.wrong_type(wrong) from None
    except json.BadJson as bad:
        raise InvalidRequest(f"The body is not valid JSON: {bad}.", code="invalid_json") from None
