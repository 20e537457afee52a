"""Tools that a client keeps back until its model has searched for them, and how a model that knows no such thing gets at them.

The search is a function of its own. What it found stays where it was found, in the search's output, as text; so the tools at the head of the
prompt never change and its prefix holds. A found tool is called through one dispatcher that is declared from the start:
`call_tool(name, arguments)`. A dialect may have found tools appended to the declared ones instead; that moves the prefix, and is noted.

Not here: who searches (the client does), names (`names`), the rows of single kinds (`lowering`).
"""

from collections.abc import Iterable
from typing import Any

from msgspec import Raw

from antiphon.protocol import json
from antiphon.protocol.document import ABSENT, Document

DISPATCHER = "call_tool"

_DISPATCHER_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "description": "The tool's name, exactly as the search showed it."},
        "arguments": {"type": "object", "description": "The tool's own arguments, as its parameters say."},
    },
    "required": ["name", "arguments"],
}


def dispatcher(name: str) -> Document:
    """The function through which found tools are called."""
    description = "Calls a tool that a tool search has found. Search first: only tools that a search has shown can be called."
    members = {"type": "function", "name": name, "description": description, "strict": False, "parameters": _DISPATCHER_SCHEMA}
    return Document.of(members)


def found_text(functions: Iterable[Document], dispatcher: str | None) -> bytes:
    """The result of a search, as a model reads it: a spelled string."""
    tools = [{name: one.members[name] for name in ("name", "description", "parameters") if name in one} for one in functions]
    if not tools:
        return json.encode("No tools found.")
    how = f"Call one with {dispatcher}(name, arguments)." if dispatcher else "They can be called now."
    return json.encode(f"Found {len(tools)} tool(s). {how}\n" + "\n".join(json.encode(tool).decode() for tool in tools))


def dispatched(name: str, arguments: str) -> str:
    """A call of a found tool as the dispatcher's arguments; JSON keeps its spelling."""
    try:
        spelled: Any = Raw(arguments.encode()) if isinstance(json.value(arguments.encode()), dict) else arguments
    except ValueError:
        spelled = arguments
    return json.encode({"name": name, "arguments": spelled}).decode()


def undispatched(arguments: str) -> tuple[str, str] | None:
    """The found tool's name and arguments, out of the dispatcher's; None where there is no name in them.

    Arguments may be spelled in a string, or stand beside the name, as some models put them.
    """
    try:
        call = Document(arguments.encode())
        name = call.text("name")
        inner = call.members.get("arguments") or call.but(name=ABSENT).raw
        return None if name is None else (name, json.text(inner) if json.is_text(inner) else bytes(inner).decode())
    except ValueError:
        return None
