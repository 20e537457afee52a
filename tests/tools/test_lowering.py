"""The lowering table: declared as functions, and the law raise(lower(call)) = call."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon.protocol.document import Document
from antiphon.protocol.errors import InvalidRequest
from antiphon.protocol.notes import Kind
from antiphon.tools import declaration, lowering, registry
from antiphon.tools.names import NameRules
from antiphon.tools.registry import Registry

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
NAME = TEXT.filter(bool)
NAMESPACE = st.none() | NAME
RULES = NameRules(64)


def doc(what: dict[str, Any]) -> Document:
    return Document(json.dumps(what).encode())


def read(document: Document) -> Any:
    return json.loads(bytes(document))


def declare(kind: str, name: str, namespace: str | None = None, **more: Any) -> Registry:
    tool: dict[str, Any] = {"type": kind, "name": name, **more}
    if namespace is not None:
        tool = {"type": "namespace", "name": namespace, "tools": [tool]}
    return registry.build(declaration.read([doc(tool).raw]), RULES)[0]


def there_and_back(kind: str, item: dict[str, Any]) -> tuple[Any, Any]:
    """A past call as the upstream sees it, and as it would come back."""
    row = lowering.BY_KIND[kind]
    entry = next(iter(declare(kind, item["name"], item.get("namespace")).entries.values()))
    lowered = row.lower_call(doc(item), entry.name)
    return read(lowered), read(row.raise_call(lowered, entry.declared))


@pytest.mark.requirement("tools.round-trip", "tools.function")
@settings(deadline=None)
@given(NAME, TEXT)
def test_a_function_call_survives(name: str, arguments: str) -> None:
    item = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": name, "arguments": arguments, "status": "completed"}
    lowered, raised = there_and_back("function", item)
    assert raised == item
    assert lowered["arguments"] == arguments


@pytest.mark.requirement("tools.round-trip", "tools.namespace")
@settings(deadline=None)
@given(NAME, NAME, TEXT)
def test_a_namespaced_call_survives(namespace: str, name: str, arguments: str) -> None:
    item = {"type": "function_call", "call_id": "c", "name": name, "namespace": namespace, "arguments": arguments}
    lowered, raised = there_and_back("function", item)
    assert raised == item
    assert "namespace" not in lowered


@pytest.mark.requirement("tools.round-trip", "tools.custom")
@settings(deadline=None)
@given(NAME, NAMESPACE, TEXT)
def test_a_custom_call_survives(name: str, namespace: str | None, text: str) -> None:
    item = {"type": "custom_tool_call", "call_id": "c", "name": name, "input": text}
    item |= {} if namespace is None else {"namespace": namespace}
    lowered, raised = there_and_back("custom", item)
    assert raised == item
    assert (lowered["type"], json.loads(lowered["arguments"])) == ("function_call", {"input": text})


@pytest.mark.requirement("tools.round-trip")
@settings(deadline=None)
@given(st.dictionaries(TEXT, st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXT))
def test_a_tool_search_call_survives(arguments: dict[str, Any]) -> None:
    item = {"type": "tool_search_call", "call_id": "c", "execution": "client", "arguments": arguments}
    entry = next(iter(registry.build(declaration.read([doc({"type": "tool_search"}).raw]), RULES)[0].entries.values()))
    lowered = lowering.TOOL_SEARCH.lower_call(doc(item), entry.name)
    assert read(lowering.TOOL_SEARCH.raise_call(lowered, entry.declared)) == item


GIVEN_ARGUMENTS = {
    "of our form": ('{"input":"a\\nb"}', "a\nb"),
    "with white space": (' { "input" : "x" } ', "x"),
    "raw line ends": ('{"input":"a\nb"}', "a\nb"),
    "more beside it": ('{"input":"x","note":"y"}', "x"),
    "another name": ('{"patch":"*** Begin Patch"}', "*** Begin Patch"),
    "a bare string": ('"*** Begin Patch"', "*** Begin Patch"),
    "the text itself": ("*** Begin Patch", "*** Begin Patch"),
    "cut": ('{"input":"x', '{"input":"x'),
    "an escape that is none": (r'{"input":"\d"}', r'{"input":"\d"}'),
    "not a string": ('{"input":7}', '{"input":7}'),
    "several names": ('{"a":"x","b":"y"}', '{"a":"x","b":"y"}'),
    "nothing": ("", ""),
    "an empty object": ("{}", ""),
    "lone surrogate": (r'{"input":"a\ud800"}', "a\ufffd"),
    "too deep": ("[" * 100_000, "[" * 100_000),
}


@pytest.mark.requirement("tools.round-trip")
@pytest.mark.parametrize(("arguments", "text"), GIVEN_ARGUMENTS.values(), ids=GIVEN_ARGUMENTS)
def test_what_a_model_got_wrong_is_a_value(arguments: str, text: str) -> None:
    entry = next(iter(declare("custom", "apply_patch").entries.values()))
    item = doc({"type": "function_call", "id": "fc_1", "call_id": "c", "name": "apply_patch", "arguments": arguments})
    raised = read(lowering.CUSTOM.raise_call(item, entry.declared))
    assert raised == {"type": "custom_tool_call", "id": "ctc_1", "call_id": "c", "name": "apply_patch", "input": text}


@pytest.mark.requirement("tools.round-trip")
@settings(deadline=None)
@given(TEXT)
def test_any_arguments_can_be_raised(arguments: str) -> None:
    assert isinstance(lowering.custom_input(arguments), str)


PARAMETERS = {
    "null": (None, {"type": "object", "properties": {}}),
    "absent": (..., {"type": "object", "properties": {}}),
    "not an object": ([], {"type": "object", "properties": {}}),
    "without a type": ({"properties": {"a": {}}}, {"properties": {"a": {}}, "type": "object"}),
    "nullable": ({"type": ["object", "null"]}, {"type": "object"}),
    "good": ({"type": "object", "anyOf": [{}]}, {"type": "object", "anyOf": [{}]}),
}


@pytest.mark.requirement("chat.parameters")
@pytest.mark.parametrize("kind", ["function", "tool_search"])
@pytest.mark.parametrize(("parameters", "sent"), PARAMETERS.values(), ids=PARAMETERS)
def test_parameters_are_always_an_object(kind: str, parameters: Any, sent: Any) -> None:
    given_tool = {} if parameters is ... else {"parameters": parameters}
    assert read(declare(kind, "f", **given_tool).functions[0])["parameters"] == sent


@pytest.mark.requirement("responses.table-edits")
@pytest.mark.parametrize(("parameters", "told"), [(None, 0), ({}, 0), ({"type": "object"}, 0), ([], 1), ("x", 1), ({"type": "array"}, 1)])
def test_parameters_that_became_others_are_told(parameters: Any, told: int) -> None:
    tool = doc({"type": "function", "name": "f", "parameters": parameters})
    _, notes = registry.build(declaration.read([tool.raw]), RULES)
    assert [(note.kind, note.where) for note in notes] == [(Kind.CHANGED, "tools[0]")] * told


def test_a_good_function_is_not_touched() -> None:
    tool = Document(b'{"type": "function", "name": "f",  "strict":false, "parameters":{"type":"object"}, "x":1.0}')
    assert registry.build(declaration.read([tool.raw]), RULES)[0].functions == [tool]


CUSTOM_FORMATS: dict[str, tuple[dict[str, Any], list[str], int]] = {
    "text": ({"format": {"type": "text"}}, [], 0),
    "none": ({}, [], 0),
    "lark": ({"format": {"type": "grammar", "syntax": "lark", "definition": "start: X"}}, ["lark grammar", "start: X"], 1),
    "regex": ({"format": {"type": "grammar", "syntax": "regex", "definition": "^a+$"}}, ["regex grammar", "^a+$"], 1),
}


@pytest.mark.requirement("tools.custom")
@pytest.mark.parametrize(("more", "words", "losses"), CUSTOM_FORMATS.values(), ids=CUSTOM_FORMATS)
def test_a_custom_tool_is_declared_as_a_function_of_one_string(more: dict[str, Any], words: list[str], losses: int) -> None:
    tool = {"type": "custom", "name": "apply_patch", "description": "Edits files.", **more}
    made, notes = registry.build(declaration.read([doc(tool).raw]), RULES)
    function = read(made.functions[0])
    assert (function["type"], function["name"], function["parameters"]["required"]) == ("function", "apply_patch", ["input"])
    assert function["description"].startswith("Edits files.")
    assert all(word in function["description"] for word in words)
    assert [(note.kind.value, note.where) for note in notes] == [("changed", "tools[0]")] * losses


IMAGE = {"type": "input_image", "image_url": "data:image/png;base64,AA=="}
OUTPUTS = {
    "string": ("text", "text"),
    "array": ([{"type": "input_text", "text": "a"}, IMAGE], [{"type": "input_text", "text": "a"}, IMAGE]),
    "object with content": ({"content": "text", "success": True}, "text"),
    "object with parts": ({"content": [IMAGE]}, [IMAGE]),
    "object with body": ({"body": "text", "success": False}, "text"),
    "object with neither": ({"success": True}, ""),
    "null": (None, ""),
}


@pytest.mark.requirement("chat.outputs")
@pytest.mark.parametrize("kind", ["function_call_output", "custom_tool_call_output"])
@pytest.mark.parametrize(("output", "sent"), OUTPUTS.values(), ids=OUTPUTS)
def test_outputs_of_all_forms(kind: str, output: Any, sent: Any) -> None:
    item = doc({"type": kind, "call_id": "c", "output": output})
    lowered = read(lowering.BY_OUTPUT[kind].lower_output(item, "input[0]"))
    assert lowered == {"type": "function_call_output", "call_id": "c", "output": sent}


def test_an_output_of_another_type_is_refused_by_path() -> None:
    with pytest.raises(InvalidRequest, match=r"input\[3\]\.output") as refused:
        lowering.FUNCTION.lower_output(doc({"type": "function_call_output", "output": 7}), "input[3]")
    assert refused.value.failure.param == "input[3].output"


def test_arguments_that_a_client_sent_as_an_object_become_a_string() -> None:
    item = Document(b'{"type":"function_call","call_id":"c","name":"f","arguments":{"a": 1.0}}')
    assert read(lowering.FUNCTION.lower_call(item, "f"))["arguments"] == '{"a": 1.0}'
