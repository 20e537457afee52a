"""Schemas as servers take them: each repair alone, and what no repair may do."""

import json
from typing import Any

import pytest

from antiphon.protocol.document import Document
from antiphon.protocol.notes import Kind, Note
from antiphon.translation.schemas import REPAIRS, SchemaRules, fitted

pytestmark = pytest.mark.requirement("dialects.schemas")


def fit(schema: Any, rules: SchemaRules) -> tuple[Any, list[Note]]:
    notes: list[Note] = []
    function = Document.of({"type": "function", "name": "f", "parameters": schema})
    made = fitted(function, "tools[0]", rules, notes)
    return json.loads(bytes(made.members["parameters"])), notes


def obj(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


STRING, NULL = {"type": "string"}, {"type": "null"}
A, B = obj(a=STRING) | {"required": ["a", "x"]}, obj(b=STRING) | {"required": ["x"]}
REPAIRED: dict[str, tuple[str, Any, Any]] = {
    "a type beside alternatives": (
        "types_in_branches",
        obj(p={"type": "string", "anyOf": [{"enum": ["x"]}, {"type": "null"}]}),
        obj(p={"anyOf": [{"type": "string", "enum": ["x"]}, {"type": "null"}]}),
    ),
    "a list of types beside alternatives": (
        "types_in_branches",
        obj(p={"type": ["string", "null"], "oneOf": [{"minLength": 1}, True]}),
        obj(p={"oneOf": [{"type": ["string", "null"], "minLength": 1}, True]}),
    ),
    "no type, but values": ("types", obj(p={"enum": ["x"]}, q={"const": 1}), obj(p={"type": "string", "enum": ["x"]}, q={"type": "integer", "const": 1})),
    "no type, but keywords": (
        "types",
        obj(p={"properties": {"q": {}}}, r={"items": {}}),
        obj(p={"type": "object", "properties": {"q": {"type": "string"}}}, r={"type": "array", "items": {}}),
    ),
    "a type is known by alternatives": ("types", obj(p={"anyOf": [STRING, NULL]}, q=True), obj(p={"anyOf": [STRING, NULL]}, q=True)),
    "a reference with company": (
        "lone_refs",
        obj(p={"$ref": "#/$defs/s", "description": "d"}) | {"$defs": {"s": {"$ref": "#/$defs/t", "type": "string"}, "t": STRING}},
        obj(p={"$ref": "#/$defs/s"}) | {"$defs": {"s": {"$ref": "#/$defs/t"}, "t": STRING}},
    ),
    "a tuple": ("no_tuples", obj(p={"type": "array", "items": [STRING, NULL]}), obj(p={"type": "array", "prefixItems": [STRING, NULL]})),
    "null among values": ("no_nulls", obj(p={"type": "string", "enum": ["x", None]}), obj(p={"type": "string", "enum": ["x"]})),
    "alternatives at the root": ("flat_root", {"type": "object", "anyOf": [A, B]}, obj(a=STRING, b=STRING) | {"required": ["x"]}),
    "all of some at the root": ("flat_root", obj(c=STRING) | {"allOf": [A, B]}, obj(a=STRING, b=STRING, c=STRING) | {"required": ["a", "x"]}),
    "alternatives of what is required": (
        "flat_root",
        obj(a=STRING, b=STRING) | {"required": ["b"], "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
        obj(a=STRING, b=STRING) | {"required": ["b"]},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("name", "schema", "repaired"), REPAIRED.values(), ids=REPAIRED)
def test_repairs(name: str, schema: Any, repaired: Any) -> None:
    made, notes = fit(schema, SchemaRules(repairs=frozenset({name})))
    assert made == repaired
    assert [note.kind for note in notes] == ([Kind.REPAIRED] if schema != repaired else [])
    assert fit(made, SchemaRules(repairs=frozenset({name}))) == (made, [])  # once is enough


def test_each_repair_has_a_row_here() -> None:
    assert {name for name, _, _ in REPAIRED.values()} == REPAIRS.keys()


# Members that an author named like keywords, and values that look like schemas.
TRICKY = obj(
    anyOf=STRING,
    items=STRING,
    encrypted={"type": "string", "default": {"encrypted": 1, "items": [1]}, "examples": [{"anyOf": [1], "type": "x"}]},
    **{"$ref": STRING},
)


@pytest.mark.parametrize("name", REPAIRS)
def test_what_an_author_named_like_a_keyword_stays(name: str) -> None:
    assert fit(TRICKY, SchemaRules(frozenset({"encrypted"}), frozenset({name}))) == (TRICKY, [])


def test_keywords_are_left_out_and_told() -> None:
    made, notes = fit(obj(a={"type": "string", "encrypted": True}), SchemaRules(frozenset({"encrypted"})))
    assert made == obj(a=STRING)
    assert [(note.kind, note.where) for note in notes] == [(Kind.CHANGED, "tools[0].parameters")]


def test_a_schema_that_needs_nothing_keeps_its_bytes() -> None:
    function = Document(b'{"name":"f",  "parameters":{"type":"object", "properties":{"n":{"type":"number","const":1.0}}}}')
    assert fitted(function, "", SchemaRules(frozenset({"encrypted"}), frozenset(REPAIRS)), []) is function


@pytest.mark.parametrize(
    "odd", [True, None, [], "x", {"anyOf": 5}, {"properties": 5}, {"items": []}, {"required": 5, "anyOf": [{}]}, {"enum": 5}]
)
def test_odd_schemas_break_nothing(odd: Any) -> None:
    fit(odd, SchemaRules(frozenset({"x"}), frozenset(REPAIRS)))
    fit(obj(p=odd), SchemaRules(frozenset({"x"}), frozenset(REPAIRS)))
