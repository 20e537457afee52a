"""The tools of one request: who is declared, under which name, and what is told of the others."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon.protocol.document import Document
from antiphon.protocol.errors import InvalidRequest
from antiphon.protocol.notes import Note
from antiphon.tools import declaration, names, registry
from antiphon.tools.names import NameRules
from antiphon.tools.registry import Registry

RULES = NameRules(64)
FUNCTION = {"type": "function", "parameters": {"type": "object", "properties": {}}}


def build(*tools: dict[str, Any]) -> tuple[Registry, list[Note]]:
    return registry.build(declaration.read([Document(json.dumps(tool).encode()).raw for tool in tools]), RULES)


def function(name: Any, **more: Any) -> dict[str, Any]:
    return {**FUNCTION, "name": name, **more}


def namespace(name: str, *tools: dict[str, Any]) -> dict[str, Any]:
    return {"type": "namespace", "name": name, "description": "", "tools": list(tools)}


def told(notes: list[Note]) -> list[tuple[str, str]]:
    return [(note.kind.value, note.where) for note in notes]


def test_a_namespace_is_flattened_in_its_place() -> None:
    made, notes = build(function("a"), namespace("mcp__x", function("b"), {"type": "custom", "name": "c"}), function("d"))
    assert list(made.entries) == ["a", "mcp__x__b", "mcp__x__c", "d"]
    assert told(notes) == [("renamed", "tools[1].tools[0]"), ("renamed", "tools[1].tools[1]")]


LEFT_OUT = {
    "web search": ([{"type": "web_search", "external_web_access": True}], "tools[0]"),
    "an unknown kind": ([{"type": "teleport", "name": "there"}], "tools[0]"),
    "a namespace in a namespace": ([namespace("a", namespace("b", function("c")))], "tools[0].tools[0]"),
    "an unrunnable member": ([namespace("a", {"type": "web_search"})], "tools[0].tools[0]"),
}


@pytest.mark.requirement("tools.unrunnable")
@pytest.mark.parametrize(("tools", "where"), LEFT_OUT.values(), ids=LEFT_OUT)
def test_what_nobody_runs_is_left_out_and_told(tools: list[dict[str, Any]], where: str) -> None:
    made, notes = build(*tools, function("f"))
    assert list(made.entries) == ["f"]
    assert told(notes) == [("dropped", where)]


SKIPPED = {
    "a second of one name": ([function("f", description="first"), function("f", description="second")], "tools[1]"),
    "of another kind": ([function("f", description="first"), {"type": "custom", "name": "f"}], "tools[1]"),
    "empty name": ([function("f", description="first"), function("")], "tools[1]"),
    "null name": ([function("f", description="first"), function(None)], "tools[1]"),
    "absent name": ([function("f", description="first"), FUNCTION], "tools[1]"),
}


@pytest.mark.requirement("tools.duplicates")
@pytest.mark.parametrize(("tools", "where"), SKIPPED.values(), ids=SKIPPED)
def test_the_first_of_a_name_wins_and_nameless_tools_are_skipped(tools: list[dict[str, Any]], where: str) -> None:
    made, notes = build(*tools)
    assert [entry.function.text("description") for entry in made.entries.values()] == ["first"]
    assert told(notes) == [("dropped", where)]


@pytest.mark.requirement("tools.duplicates")
def test_one_name_in_two_namespaces_is_two_tools() -> None:
    made, _ = build(function("f"), namespace("a", function("f")), namespace("b", function("f")))
    assert list(made.entries) == ["f", "a__f", "b__f"]


ODD = ["__proto__", "constructor", "hasOwnProperty", "toString", "", " ", ".", "a b", "💥", "n" * 1000, "\x00", "a\nb", '"', "null", "-"]


@pytest.mark.requirement("tools.odd-names")
@pytest.mark.parametrize("name", ODD, ids=ascii)
def test_an_odd_name_works_or_is_told(name: str) -> None:
    made, notes = build(function(name), function("plain"))
    if not name:
        assert told(notes) == [("dropped", "tools[0]")]
        return
    upstream = made.upstream_name(None, name)
    entry = made.entry(upstream)
    assert names.is_fit(upstream, RULES)
    assert entry is not None
    assert entry.declared.name == name
    assert told(notes) == ([] if upstream == name else [("renamed", "tools[0]")])


def test_a_name_that_is_no_string_is_refused_by_path() -> None:
    with pytest.raises(InvalidRequest, match=r"tools\[0\]\.tools\[0\]\.name"):
        build(namespace("a", function(7)))


PAIR = st.tuples(st.sampled_from([None, "a", "a_", "a__b", "ä"]), st.sampled_from(["a", "b", "_b", "b__c", "a__b", "c", "x y", "ü"]))


@pytest.mark.requirement("names.unambiguous", "names.deterministic")
@settings(deadline=None, max_examples=300)
@given(st.lists(PAIR, unique=True, max_size=10))
def test_every_declared_tool_has_a_name_of_its_own(pairs: list[tuple[str | None, str]]) -> None:
    made, _ = build(*[function(name) if space is None else namespace(space, function(name)) for space, name in pairs])
    assert [made.entries[made.upstream_name(*pair)].declared.key for pair in pairs] == pairs
    plain = {name for space, name in pairs if space is None}
    for pair in pairs:
        best = next(names.candidates(*pair, RULES))
        assert made.upstream_name(*pair) == best or best in plain


@pytest.mark.requirement("names.unambiguous")
def test_a_name_that_another_tool_bears_is_not_given_twice() -> None:
    """Even where a client declares the very names that would be made."""
    pair = ("a", "b__c")
    made_names = [name for name, _ in zip(names.candidates(*pair, RULES), range(6), strict=False)]
    made, _ = build(namespace("a", function("b__c")), *[function(name) for name in made_names])
    assert len(made.entries) == 7
    assert made.entries[made.upstream_name(*pair)].declared.key == pair
    assert [made.upstream_name(None, name) for name in made_names] == made_names


@pytest.mark.requirement("names.history")
def test_calls_of_tools_no_longer_declared_are_named_by_the_same_rule() -> None:
    before, _ = build(namespace("mcp__x", function("b")), namespace("a", function("b__c")), function("too long " * 20))
    after, _ = build(function("other"))
    for pair in (("mcp__x", "b"), ("a", "b__c"), (None, "too long " * 20), (None, "plain")):
        assert before.upstream_name(*pair) == after.upstream_name(*pair)


def test_only_a_tool_that_reads_the_same_on_both_sides_is_plain() -> None:
    made, _ = build(function("f"), function("x y"), {"type": "custom", "name": "c"}, namespace("n", function("f")))
    assert [entry.is_plain for entry in made.entries.values()] == [True, False, False, False]


@pytest.mark.requirement("names.unambiguous")
def test_the_dispatcher_takes_no_name_that_a_tool_has() -> None:
    made, _ = build({"type": "tool_search"}, function("call_tool"))
    assert made.dispatcher is not None
    assert made.dispatcher not in made.entries
    assert names.is_fit(made.dispatcher, RULES)


@pytest.mark.requirement("names.unambiguous")
def test_found_tools_never_share_a_name() -> None:
    made, _ = build({"type": "tool_search"}, function("plain"))
    found = [function("a__b"), namespace("a", function("b")), namespace("plain", function("x"))]
    entries = made.find(declaration.read([Document(json.dumps(tool).encode()).raw for tool in found]))
    assert [made.entry(entry.name) for entry in entries] == entries
    assert len({entry.name for entry in entries}) == 3
