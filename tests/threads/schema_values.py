"""Hypothesis strategies out of JSON Schemas, as far as ours and Codex's use them."""

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

Json = dict[str, Any]
ANY = st.sampled_from([None, True, -5, 2**53, "", "tëxt", [], [1, "a", None], {}, {"a": {"b": [1.5]}, "": None}])


def valid(schema: Json) -> st.SearchStrategy[Any]:
    """Values that a whole schema allows."""
    return _values(schema, _Parts({**schema.get("definitions", {}), **schema.get("$defs", {})}))


class _Parts:
    """What a schema refers to; the strategy of each is made once."""

    def __init__(self, schemas: Json) -> None:
        self._schemas = schemas
        self._made: dict[str, st.SearchStrategy[Any]] = {}

    def values(self, name: str) -> st.SearchStrategy[Any]:
        if name not in self._made:
            self._made[name] = _values(self._schemas[name], self)
        return self._made[name]


def _values(schema: Json | bool, parts: _Parts) -> st.SearchStrategy[Any]:
    if isinstance(schema, bool) or not schema:
        return ANY
    if "$ref" in schema:
        return parts.values(schema["$ref"].rpartition("/")[2])
    for several in ("oneOf", "anyOf", "allOf"):
        if several in schema:
            return st.one_of(
                [_values({**_rest(schema, several), **one} if isinstance(one, dict) else one, parts) for one in schema[several]]
            )
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if "const" in schema:
        return st.just(schema["const"])
    types = schema.get("type", "any")
    return st.one_of([KINDS[type](schema, parts) for type in (types if isinstance(types, list) else [types])])


def _rest(schema: Json, name: str) -> Json:
    return {key: value for key, value in schema.items() if key not in (name, "default", "description", "title")}


def _object(schema: Json, parts: _Parts) -> st.SearchStrategy[Any]:
    told = {name: _values(one, parts) for name, one in schema.get("properties", {}).items()}
    required = {name: told.get(name, ANY) for name in schema.get("required", [])}
    optional = {name: value for name, value in told.items() if name not in required}
    known = st.fixed_dictionaries(required, optional=optional)
    others = schema.get("additionalProperties", True)
    if others is False:
        return known
    more = st.dictionaries(st.text(min_size=1, max_size=4).map(lambda name: f"x{name}"), _values(others, parts), max_size=1)
    return st.tuples(more, known).map(lambda both: {**both[0], **both[1]})


def _text(schema: Json, parts: _Parts) -> st.SearchStrategy[Any]:
    excluded = schema.get("not", {}).get("enum", [])
    return st.text(max_size=8).filter(lambda text: text not in excluded)


KINDS: dict[str, Callable[[Json, _Parts], st.SearchStrategy[Any]]] = {
    "any": lambda _, __: ANY,
    "null": lambda _, __: st.none(),
    "boolean": lambda _, __: st.booleans(),
    "string": _text,
    "integer": lambda schema, _: st.integers(int(schema.get("minimum", -(2**53))), 2**53),
    "number": lambda _, __: st.integers(0, 1000),
    "array": lambda schema, parts: st.lists(_values(schema.get("items", True), parts), max_size=3),
    "object": _object,
}
