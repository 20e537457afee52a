"""The client's items and tools in base form: messages, reasoning, function calls and their outputs, and function tools.

Both APIs start from here: a Responses upstream gets the lowered items, a chat upstream the messages made of them. An item without a base form
is left out and told. Not here: order and pairing (`history.pairing`), what a request body looks like (`chat`, `responses`).
"""

from collections.abc import Iterable
from typing import Any, cast

from msgspec import Raw

from antiphon.history.pairing import Lowered
from antiphon.protocol import item_views, json
from antiphon.protocol.document import Document
from antiphon.protocol.item_views import CallOutput, CustomCall, FunctionCall, Message
from antiphon.protocol.notes import Kind, Note
from antiphon.tools import lowering
from antiphon.tools.registry import Registry


def lower(items: Iterable[Raw], registry: Registry, notes: list[Note], *, also: frozenset[str] = frozenset()) -> list[Lowered]:
    """The items in base form, in their order; those of the types in `also` as they are."""
    lowered: list[Lowered] = []
    for number, raw in enumerate(items):
        where = f"input[{number}]"
        view = item_views.read(raw, where)
        one = None if view is None else _base(view, Document(raw), where, registry)
        if one is None and (type := item_views.kind(raw, where)) in also:
            one = Lowered(type, Document(raw), where)
        if one is not None:
            lowered.append(one)
        else:
            notes.append(Note(Kind.DROPPED, where, _reason(raw, where, known=view is not None)))
    return lowered


def _reason(raw: Raw, where: str, *, known: bool) -> str:
    type = item_views.kind(raw, where)
    return f"{type} has no form there" if known else f"{type} is not known"


def _base(view: item_views.Item, document: Document, where: str, registry: Registry) -> Lowered | None:
    match view:
        case Message():
            return Lowered("message", document, where, role=view.role)
        case FunctionCall() | CustomCall():
            row = lowering.BY_CALL[view.type]
            call = row.lower_call(document, registry.upstream_name(view.namespace, view.name))
            return Lowered("function_call", call, where, call_id=view.call_id)
        case CallOutput() if view.type in lowering.BY_OUTPUT:
            output = lowering.BY_OUTPUT[view.type].lower_output(document, where)
            return Lowered("function_call_output", output, where, call_id=view.call_id)
        case item_views.Reasoning():
            return Lowered("reasoning", document, where)
        case _:
            return None


def functions(registry: Registry, keywords: frozenset[str], notes: list[Note]) -> list[Document]:
    """The function tools for an upstream that does not know some keywords of a schema."""
    made: list[Document] = []
    for entry in registry.entries.values():
        made.append(without_keywords(entry.function, keywords))
        if made[-1] is not entry.function:
            notes.append(Note(Kind.CHANGED, f"{entry.declared.where}.parameters", "without keywords not known there"))
    return made


def without_keywords(function: Document, keywords: frozenset[str]) -> Document:
    """A function tool whose schema has no keyword that the upstream does not know."""
    schema = function.members.get("parameters")
    if schema is None or not any(f'"{word}"'.encode() in bytes(schema) for word in keywords):
        return function
    told = json.value(schema)
    kept = _stripped(told, keywords)
    return function if kept == told else function.but(parameters=kept)


_NAMING = frozenset({"properties", "$defs", "definitions", "patternProperties", "dependentSchemas"})
"""Keywords whose members are named by the tool's author: one may be named like a keyword."""
_LITERAL = frozenset({"enum", "const", "default", "examples"})
"""Keywords that hold values, not schemas."""


def _stripped(schema: Any, keywords: frozenset[str]) -> Any:
    """A schema without some keywords."""
    if isinstance(schema, list):
        return [_stripped(one, keywords) for one in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    kept: dict[str, Any] = {}
    for key, value in json.an_object(schema).items():
        if key in _NAMING:
            kept[key] = {name: _stripped(one, keywords) for name, one in json.an_object(value).items()}
        elif key in _LITERAL:
            kept[key] = value
        elif key not in keywords:
            kept[key] = _stripped(value, keywords)
    return kept
