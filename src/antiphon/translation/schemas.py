"""A tool's JSON schema in the form that a server takes: without keywords it does not know, and with some shapes written otherwise.

A schema is a hint to the model, and the client checks the arguments itself: a looser schema loses nothing but help. What is rewritten is data
(`schema_repairs` of a dialect, each a name in `REPAIRS`). Not here: whether arguments fit a schema.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, cast

from antiphon.protocol import json
from antiphon.protocol.document import Document
from antiphon.protocol.notes import Kind, Note

Schema = dict[str, Any]


class SchemaRules(NamedTuple):
    """Keywords that are left out, and the repairs that are made."""

    drops: frozenset[str] = frozenset()
    repairs: frozenset[str] = frozenset()


def fitted(function: Document, where: str, rules: SchemaRules, notes: list[Note]) -> Document:
    """A function tool whose schema the server takes."""
    spelled = function.members.get("parameters")
    if spelled is None or not (rules.repairs or any(f'"{word}"'.encode() in bytes(spelled) for word in rules.drops)):
        return function
    told = json.value(spelled)
    kept = _without(told, rules.drops)
    if kept != told:
        notes.append(Note(Kind.CHANGED, f"{where}.parameters", "without keywords not known there"))
    made = kept
    for name, repair in REPAIRS.items():
        made = repair(made) if name in rules.repairs else made
    if made != kept:
        notes.append(Note(Kind.REPAIRED, f"{where}.parameters", "written as the server takes it"))
    return function if made == told else function.but(parameters=made)


_NAMING = frozenset({"properties", "$defs", "definitions", "patternProperties", "dependentSchemas"})
"""Keywords whose members are named by the tool's author: one may be named like a keyword."""
_LITERAL = frozenset({"enum", "const", "default", "examples", "required", "type"})
"""Keywords that hold values, not schemas."""
_BRANCHES = ("anyOf", "oneOf")


def _mapped(schema: Any, change: Callable[[Schema], Schema]) -> Any:
    """A schema with every schema in it changed, from within."""
    if isinstance(schema, list):
        return [_mapped(one, change) for one in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    made: Schema = {}
    for key, value in json.an_object(schema).items():
        if key in _NAMING:
            made[key] = {name: _mapped(one, change) for name, one in json.an_object(value).items()}
        else:
            made[key] = value if key in _LITERAL else _mapped(value, change)
    return change(made)


def _without(schema: Any, keywords: frozenset[str]) -> Any:
    return _mapped(schema, lambda node: {key: value for key, value in node.items() if key not in keywords})


def _types_in_branches(schema: Schema) -> Schema:
    """The type beside alternatives becomes the type of each."""
    branches = next((key for key in _BRANCHES if isinstance(schema.get(key), list)), None)
    if branches is None or "type" not in schema:
        return schema
    kept = {key: value for key, value in schema.items() if key != "type"}
    kept[branches] = [
        {"type": schema["type"], **branch} if isinstance(branch, dict) and "type" not in branch else branch for branch in schema[branches]
    ]
    return kept


def _types(schema: Schema) -> Schema:
    """Every property says its type; what its values are, or that it holds properties, says it where the author did not."""
    named = schema.get("properties")
    if not isinstance(named, dict):
        return schema
    return {**schema, "properties": {name: _typed(one) for name, one in json.an_object(named).items()}}


def _typed(schema: Any) -> Any:
    node = json.an_object(schema)
    if not isinstance(schema, dict) or node.keys() & {"type", "$ref", "anyOf", "oneOf", "allOf"}:
        return cast("Any", schema)
    values = _listed(node, "enum") or ([node["const"]] if "const" in node else [])
    type = _TYPE_NAMES.get(values[0].__class__, "string") if values else _type_by_keyword(node)
    return {"type": type, **node}


_TYPE_NAMES = {bool: "boolean", int: "integer", float: "number", dict: "object", list: "array"}


def _type_by_keyword(node: Schema) -> str:
    if node.keys() & {"properties", "additionalProperties", "required"}:
        return "object"
    return "array" if "items" in node else "string"


def _lone_refs(schema: Schema) -> Schema:
    """A reference stands alone: older drafts knew nothing beside it."""
    return {"$ref": schema["$ref"]} if "$ref" in schema else schema


def _no_tuples(schema: Schema) -> Schema:
    """A list of items, one after the other, is told by the keyword that newer drafts have for it."""
    if not isinstance(schema.get("items"), list):
        return schema
    return {"prefixItems" if key == "items" else key: value for key, value in schema.items()}


def _no_nulls(schema: Schema) -> Schema:
    """No null among the values: a property that may be null may as well be left out."""
    if not isinstance(schema.get("enum"), list) or None not in schema["enum"]:
        return schema
    return {**schema, "enum": [value for value in schema["enum"] if value is not None]}


def _flat_root(schema: Any) -> Any:
    """An object at the root without alternatives: their properties become its own, required only where all of them say so."""
    if not isinstance(schema, dict):
        return schema
    root = json.an_object(schema)
    either, all_of = [_objects(root, key) for key in _BRANCHES], _objects(root, "allOf")
    if not any(either) and not all_of:
        return root
    kept = {key: value for key, value in root.items() if key not in (*_BRANCHES, "allOf")}
    properties: Schema = {}
    for one in (*either[0], *either[1], *all_of, kept):
        properties |= json.an_object(one.get("properties"))
    required = set[str]().union(*map(_required, (kept, *all_of)))
    for branches in filter(None, either):
        required |= _required(branches[0]).intersection(*map(_required, branches))
    return {**kept, "type": "object", "properties": properties, "required": sorted(required)}


def _objects(schema: Schema, key: str) -> list[Schema]:
    return [json.an_object(one) for one in _listed(schema, key) if isinstance(one, dict)]


def _required(schema: Schema) -> set[str]:
    return {name for name in _listed(schema, "required") if isinstance(name, str)}


def _listed(schema: Schema, key: str) -> list[Any]:
    found = schema.get(key)
    return cast("list[Any]", found) if isinstance(found, list) else []


REPAIRS: dict[str, Callable[[Any], Any]] = {
    "flat_root": _flat_root,
    "lone_refs": lambda schema: _mapped(schema, _lone_refs),
    "no_nulls": lambda schema: _mapped(schema, _no_nulls),
    "no_tuples": lambda schema: _mapped(schema, _no_tuples),
    "types": lambda schema: _mapped(schema, _types),
    "types_in_branches": lambda schema: _mapped(schema, _types_in_branches),
}
"""Name → the repair, in the order in which they are made."""
