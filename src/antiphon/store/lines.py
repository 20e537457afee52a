"""Lines of an export: JSON objects in which whatever a client or a model said keeps its spelling."""

from typing import Any

from antiphon.protocol import json
from antiphon.protocol.document import Document

_SPELLED = frozenset({"input", "response", "metadata"})
"""Members that hold what was on the wire."""


def read(line: bytes) -> dict[str, Any]:
    """The object of a line. Raises ValueError where it is none."""
    document = Document(line)
    return {name: _value(document, name) for name in document.members}


def _value(document: Document, name: str) -> Any:
    raw = document.members[name]
    if name == "conversation" and json.is_object(raw):
        return read(bytes(raw))
    if name == "input":
        return document.elements(name)
    return raw if name in _SPELLED and not json.is_null(raw) else json.value(raw)


def write(line: dict[str, Any]) -> bytes:
    """The line of an object."""
    return json.one_line(json.encode(line)) + b"\n"
