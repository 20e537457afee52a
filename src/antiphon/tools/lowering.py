"""The lowering table: how each kind of client tool becomes a function that any model server knows, and how its call becomes itself again.

A row is one kind, with four verbs: `declare` its function, lower a past `call` and its `output`, and `raise_call` what the model calls. The law,
property-tested: raising a lowered call gives the call. Arguments a model got wrong are a value, never an exception: the client's own parser
tells its model so.

Not here: which dialect needs lowering (`translation.dialect`), names (`names`), streaming (`stages.restore`).
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from msgspec import Raw

from antiphon.protocol import item_views, json
from antiphon.protocol.document import ABSENT, Document
from antiphon.tools.declaration import Declaration

INPUT = "input"
"""The one argument of a lowered freeform tool."""

_EMPTY_SCHEMA = Raw(b'{"type":"object","properties":{}}')


class Streams(StrEnum):
    """What a client sees while a call is being written."""

    ARGUMENTS = "arguments"
    """The arguments, piece by piece."""
    INPUT = "input"
    """The raw text out of them."""
    NOTHING = "nothing"
    """The call, when it is whole."""


@dataclass(frozen=True, slots=True)
class Lowering:
    """One row: a kind of tool, the item types of its call and output, and the four verbs."""

    kind: str
    call: str
    output: str
    declare: Callable[[Declaration, str], Document]
    lower_call: Callable[[Document, str], Document]
    lower_output: Callable[[Document, str], Document]
    raise_call: Callable[[Document, Declaration], Document]
    streams: Streams = Streams.ARGUMENTS
    """What becomes of the pieces of a call's arguments."""
    loses: Callable[[Declaration], str | None] | None = None
    """What of such a tool does not survive, in words."""
    named: str = ""
    """The name of a kind of which there is only one; its declaration has none."""


def _declare_function(declared: Declaration, name: str) -> Document:
    changes: dict[str, Any] = {} if name == declared.name else {"name": name}
    parameters = declared.document.members.get("parameters")
    if parameters is not (schema := _object_schema(parameters)):
        changes["parameters"] = schema
    return declared.document.but(**changes) if changes else declared.document


def _object_schema(parameters: Raw | None) -> Raw:
    """A schema that is an object's: strict servers take no other."""
    if parameters is None or not json.is_object(parameters):
        return _EMPTY_SCHEMA
    schema = Document(parameters)
    return parameters if schema.text("type") == "object" else schema.but(type="object").raw


def _schema_loss(declared: Declaration) -> str | None:
    parameters = declared.document.members.get("parameters", Raw(b"null"))
    schema = Document(parameters) if json.is_object(parameters) else None
    fits = json.is_null(parameters) if schema is None else schema.get("type") in (None, "object")
    return None if fits else "its parameters are not an object's, and became one"


def _lower_function_call(item: Document, name: str) -> Document:
    arguments = item.members["arguments"]
    changes: dict[str, Any] = {} if json.is_text(arguments) else {"arguments": bytes(arguments).decode()}
    if "namespace" in item or item.text("name") != name:
        changes |= {"name": name, "namespace": ABSENT}
    return item.but(**changes) if changes else item


def _lower_function_output(item: Document, where: str) -> Document:
    output = item.members.get("output", Raw(b""))
    body = item_views.output_body(output, f"{where}.output")
    return item if body is output else item.but(output=body)


def _raise_function_call(item: Document, declared: Declaration) -> Document:
    changes: dict[str, Any] = {} if item.text("name") == declared.name else {"name": declared.name}
    if declared.namespace is not None:
        changes["namespace"] = declared.namespace
    return item.but(**changes) if changes else item


_FREEFORM = "\n\nThis is a freeform tool: put the text, exactly as it is and with nothing around it, into the string `input`."


def _declare_custom(declared: Declaration, name: str) -> Document:
    schema = {
        "type": "object",
        "properties": {INPUT: {"type": "string", "description": "The whole raw text for the tool."}},
        "required": [INPUT],
        "additionalProperties": False,
    }
    description = (declared.document.text("description") or "") + _FREEFORM + _grammar(declared.document)
    return Document.of({"type": "function", "name": name, "description": description, "strict": False, "parameters": schema})


def _grammar(tool: Document) -> str:
    """The grammar in words: a model that is not held to it should at least read it."""
    format = tool.document("format")
    definition = format.text("definition") if format is not None else None
    if format is None or not definition:
        return ""
    return f" It must match this {format.text('syntax') or ''} grammar:\n```\n{definition}\n```".replace("  ", " ", 1)


def _lower_custom_call(item: Document, name: str) -> Document:
    arguments = json.encode({INPUT: item.members["input"]}).decode()
    return Document.of({"type": "function_call", "call_id": item.members["call_id"], "name": name, "arguments": arguments})


def _lower_custom_output(item: Document, where: str) -> Document:
    body = item_views.output_body(item.members.get("output", Raw(b"")), f"{where}.output")
    return Document.of({"type": "function_call_output", "call_id": item.members.get("call_id"), "output": body})


def _raise_custom_call(item: Document, declared: Declaration) -> Document:
    members: dict[str, Any] = {"type": "custom_tool_call"}
    for name in ("id", "status", "call_id"):
        if name in item:
            members[name] = item.members[name]
    if (id := item.text("id")) is not None:
        members["id"] = custom_id(id)
    members["name"] = declared.name
    if declared.namespace is not None:
        members["namespace"] = declared.namespace
    arguments = item.text("arguments") or ""
    return Document.of({**members, INPUT: custom_input(arguments) if arguments else ""})


def _custom_loss(declared: Declaration) -> str | None:
    form = declared.document.document("format")
    return "its grammar is told to the model, not enforced" if form is not None and form.text("type") == "grammar" else None


def custom_id(id: str) -> str:
    """The id of a raised custom call: the prefix says what an item is."""
    return f"ctc_{id.removeprefix('fc_')}" if id.startswith("fc_") else id


def custom_input(arguments: str) -> str:
    """The raw text in a lowered call's arguments; what is not of our form is taken as the text itself, as far as it is one."""
    try:
        found = json.lenient(arguments)
    except ValueError:
        return arguments
    if isinstance(found, dict):
        members = json.an_object(found)
        if not members:
            return ""
        texts = [members[INPUT]] if INPUT in members else list(members.values()) if len(members) == 1 else []
        return texts[0] if texts and isinstance(texts[0], str) else arguments
    return found if isinstance(found, str) else arguments


def _declare_search(declared: Declaration, name: str) -> Document:
    parameters = _object_schema(declared.document.members.get("parameters"))
    description = declared.document.text("description") or "Searches for tools by what they do."
    return Document.of({"type": "function", "name": name, "description": description, "strict": False, "parameters": parameters})


def _lower_search_call(item: Document, name: str) -> Document:
    arguments = item.members.get("arguments", Raw(b"{}"))
    text = json.text(arguments) if json.is_text(arguments) else bytes(arguments).decode()
    return Document.of({"type": "function_call", "call_id": item.members.get("call_id"), "name": name, "arguments": text})


def _lower_output(item: Document, where: str) -> Document:
    """An output of any other kind: its call by `call_id`, or by the `id` that older clients have instead."""
    body = item_views.output_body(item.members.get("output", Raw(b"")), f"{where}.output")
    return Document.of({"type": "function_call_output", "call_id": item.text("call_id") or item.text("id"), "output": body})


def _raise_search_call(item: Document, declared: Declaration) -> Document:
    arguments = item.text("arguments") or "{}"
    members = _raised_head("tool_search_call", item)
    return Document.of({**members, "execution": "client", "arguments": an_object(arguments, otherwise="query")})


def an_object(arguments: str, *, otherwise: str) -> Raw:
    """Arguments as an object; text that is none becomes one with that text under a name."""
    try:
        if isinstance(json.value(arguments.encode()), dict):
            return Raw(arguments.encode())
    except ValueError:
        pass
    return Raw(json.encode({otherwise: arguments}))


def _raised_head(type: str, item: Document) -> dict[str, Any]:
    members: dict[str, Any] = {"type": type}
    return members | {name: item.members[name] for name in ("id", "call_id", "status") if name in item}


_STRINGS = {"type": "array", "items": {"type": "string"}}


def _declare_local_shell(declared: Declaration, name: str) -> Document:
    properties: dict[str, Any] = {
        "command": {**_STRINGS, "description": "The program and its arguments."},
        "working_directory": {"type": "string"},
        "timeout_ms": {"type": "number"},
    }
    return _shell_function(name, "Runs a command on the user's machine and returns its output.", properties, "command")


def _declare_shell(declared: Declaration, name: str) -> Document:
    properties: dict[str, Any] = {
        "commands": {**_STRINGS, "description": "Shell command lines, run one by one."},
        "timeout_ms": {"type": "number"},
    }
    return _shell_function(name, "Runs shell commands and returns their output.", properties, "commands")


def _shell_function(name: str, description: str, properties: dict[str, Any], required: str) -> Document:
    schema = {"type": "object", "properties": properties, "required": [required]}
    return Document.of({"type": "function", "name": name, "description": description, "strict": False, "parameters": schema})


def _lower_action(item: Document, name: str) -> Document:
    """A shell call: the action's members are the arguments."""
    action = item.document("action") or Document(b"{}")
    arguments = bytes(action.but(type=ABSENT)).decode()
    return Document.of({"type": "function_call", "call_id": item.text("call_id") or item.text("id"), "name": name, "arguments": arguments})


def _raise_local_shell(item: Document, declared: Declaration) -> Document:
    action = Document(an_object(item.text("arguments") or "{}", otherwise="command"))
    if (text := action.text("command")) is not None:
        action = action.but(command=["bash", "-lc", text])
    members = {"type": "exec", "env": Raw(b"{}"), **{name: spelled for name, spelled in action.members.items() if name != "type"}}
    return Document.of({**_raised_head("local_shell_call", item), "action": members})


def _raise_shell(item: Document, declared: Declaration) -> Document:
    action = Document(an_object(item.text("arguments") or "{}", otherwise="commands"))
    if (text := action.text("commands")) is not None:
        action = action.but(commands=[text])
    return Document.of({**_raised_head("shell_call", item), "action": action})


def _lower_shell_output(item: Document, where: str) -> Document:
    """A shell tool's output: a list of what each command wrote, or plain."""
    pieces = item.elements("output")
    if not pieces or not any(json.is_object(piece) and "stdout" in Document(piece) for piece in pieces):
        return _lower_output(item, where)
    text = "\n".join(bytes(piece).decode() for piece in pieces)
    return Document.of({"type": "function_call_output", "call_id": item.text("call_id") or item.text("id"), "output": text})


_OPERATIONS = ("create_file", "update_file", "delete_file")
_DIFF = (
    "What changes, for create_file and update_file: hunks that begin with a line `@@`, in which unchanged lines begin with a space, lines to "
    "remove with `-` and lines to add with `+`. Every line of a new file begins with `+`."
)


def _declare_patch(declared: Declaration, name: str) -> Document:
    properties: dict[str, Any] = {
        "type": {"type": "string", "enum": _OPERATIONS},
        "path": {"type": "string"},
        "diff": {"type": "string", "description": _DIFF},
    }
    schema = {"type": "object", "properties": properties, "required": ["type", "path"]}
    description = "Creates, updates or deletes one file."
    return Document.of({"type": "function", "name": name, "description": description, "strict": False, "parameters": schema})


def _lower_patch(item: Document, name: str) -> Document:
    operation = item.document("operation") or Document(b"{}")
    arguments = bytes(operation).decode()
    return Document.of({"type": "function_call", "call_id": item.text("call_id") or item.text("id"), "name": name, "arguments": arguments})


def _lower_patch_output(item: Document, where: str) -> Document:
    """What the client says of it; often that is no more than how it went."""
    said = _lower_output(item, where)
    return said if said.text("output") != "" else said.but(output=item.text("status") or "")


def _raise_patch(item: Document, declared: Declaration) -> Document:
    operation = an_object(item.text("arguments") or "{}", otherwise="diff")
    return Document.of({**_raised_head("apply_patch_call", item), "operation": operation})


FUNCTION = Lowering(
    "function", "function_call", "function_call_output",
    _declare_function, _lower_function_call, _lower_function_output, _raise_function_call, loses=_schema_loss,
)  # fmt: skip
CUSTOM = Lowering(
    "custom", "custom_tool_call", "custom_tool_call_output",
    _declare_custom, _lower_custom_call, _lower_custom_output, _raise_custom_call, Streams.INPUT, _custom_loss,
)  # fmt: skip
TOOL_SEARCH = Lowering(
    "tool_search", "tool_search_call", "tool_search_output",
    _declare_search, _lower_search_call, _lower_output, _raise_search_call, Streams.NOTHING, named="tool_search",
)  # fmt: skip
LOCAL_SHELL = Lowering(
    "local_shell", "local_shell_call", "local_shell_call_output",
    _declare_local_shell, _lower_action, _lower_output, _raise_local_shell, Streams.NOTHING, named="local_shell",
)  # fmt: skip
SHELL = Lowering(
    "shell", "shell_call", "shell_call_output",
    _declare_shell, _lower_action, _lower_shell_output, _raise_shell, Streams.NOTHING, named="shell",
)  # fmt: skip
APPLY_PATCH = Lowering(
    "apply_patch", "apply_patch_call", "apply_patch_call_output",
    _declare_patch, _lower_patch, _lower_patch_output, _raise_patch, Streams.NOTHING, named="apply_patch",
)  # fmt: skip

ROWS: tuple[Lowering, ...] = (FUNCTION, CUSTOM, TOOL_SEARCH, LOCAL_SHELL, SHELL, APPLY_PATCH)
BY_KIND = {row.kind: row for row in ROWS}
BY_CALL = {row.call: row for row in ROWS}
BY_OUTPUT = {row.output: row for row in ROWS}


def _escaped(control: re.Match[str]) -> str:
    return f"\\u{ord(control[0]):04x}"


class InputUnwrapper:
    """Takes the raw text out of `{"input":"…"}` while it streams.

    The text inside is already spelled as JSON needs it, so a piece goes out without being decoded. Arguments of another form give no pieces; the
    finished call has them.
    """

    _HEAD = re.compile(r'\s*\{\s*"input"\s*:\s*"')
    # A high surrogate waits for what follows it. At an escape that is none (`\\d`), the arguments are not JSON, and the text ends.
    _BODY = re.compile(
        r'(?:[^"\\]|\\["\\/bfnrt]|\\u(?![dD][89abAB])[0-9a-fA-F]{4}'
        r"|\\u[dD][89abAB][0-9a-fA-F]{2}(?:\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?=[^\\]|\\[^u]|\\u[^dD]|\\u[dD][^c-fC-F])))*"
    )
    _CONTROL = re.compile(r"[\x00-\x1f]")

    def __init__(self) -> None:
        self._begun = False
        self._held = ""
        self._undecoded = b""

    def feed(self, piece: bytes) -> bytes | None:
        """A spelled piece of the arguments in, a spelled piece of the text out; None where there is nothing yet."""
        text = self._decode(piece)
        if text is None:
            return None
        self._held += text
        if not self._begun:
            head = self._HEAD.match(self._held)
            if head is None:
                return None
            self._begun, self._held = True, self._held[head.end() :]
        body = self._BODY.match(self._held)
        taken = body[0] if body is not None else ""
        self._held = self._held[len(taken) :]
        return json.mend(b'"' + self._CONTROL.sub(_escaped, taken).encode() + b'"') if taken else None

    def _decode(self, piece: bytes) -> str | None:
        """The piece's text; held back while it ends in half a surrogate pair."""
        whole = json.joined_text([self._undecoded, piece]) if self._undecoded else piece
        try:
            text = json.text(whole)
        except ValueError:
            self._undecoded = whole
            return None
        self._undecoded = b""
        return text
