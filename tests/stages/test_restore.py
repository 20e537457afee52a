"""Calls given back as they were declared, word by word; what needs nothing keeps its bytes."""

import json
from typing import Any

import pytest
from msgspec import Raw

from antiphon.protocol import stream_rules
from antiphon.protocol.document import Document
from antiphon.protocol.event_views import Event
from antiphon.stages.restore import Restore
from antiphon.tools import declaration, registry
from antiphon.tools.names import NameRules
from tests.stages.wire import event, read

TOOLS: list[dict[str, Any]] = [
    {"type": "function", "name": "plain"},
    {"type": "function", "name": "x y"},
    {"type": "custom", "name": "apply_patch"},
    {"type": "namespace", "name": "n", "tools": [{"type": "function", "name": "f"}, {"type": "custom", "name": "c"}]},
]
REGISTRY, _ = registry.build(declaration.read([Document(json.dumps(tool).encode()).raw for tool in TOOLS]), NameRules(64))
ODD = REGISTRY.upstream_name(None, "x y")


def call(name: str, arguments: str = "{}", **more: Any) -> dict[str, Any]:
    return {"type": "function_call", "id": "fc_1", "call_id": "c", "name": name, "arguments": arguments, **more}


ITEMS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "renamed": (call(ODD), call("x y")),
    "in a namespace": (call("n__f"), {**call("f"), "namespace": "n"}),
    "custom": (
        call("apply_patch", '{"input":"*** Begin"}', status="completed"),
        {"type": "custom_tool_call", "id": "ctc_1", "call_id": "c", "name": "apply_patch", "input": "*** Begin", "status": "completed"},
    ),
    "custom in a namespace": (
        call("n__c", '{"input":"x"}'),
        {"type": "custom_tool_call", "id": "ctc_1", "call_id": "c", "name": "c", "namespace": "n", "input": "x"},
    ),
    "unknown fields stay": (call("n__f", extra=[1]), {**call("f", extra=[1]), "namespace": "n"}),
}


@pytest.mark.requirement("tools.custom", "tools.namespace")
@pytest.mark.parametrize("type", ["response.output_item.added", "response.output_item.done"])
@pytest.mark.parametrize(("upstream", "client"), ITEMS.values(), ids=ITEMS)
def test_items_are_given_back(type: str, upstream: dict[str, Any], client: dict[str, Any]) -> None:
    (told,) = Restore(REGISTRY, {}).feed(event(type, output_index=0, item=upstream))
    assert read(told) == {"type": type, "output_index": 0, "item": client}


@pytest.mark.requirement("tools.custom", "tools.namespace")
@pytest.mark.parametrize("type", ["response.completed", "response.incomplete", "response.failed"])
@pytest.mark.parametrize(("upstream", "client"), ITEMS.values(), ids=ITEMS)
def test_items_in_terminal_events_are_given_back(type: str, upstream: dict[str, Any], client: dict[str, Any]) -> None:
    message = {"type": "message", "content": []}
    (told,) = Restore(REGISTRY, {}).feed(event(type, response={"output": [message, upstream]}))
    assert read(told)["response"]["output"] == [message, client]


UNTOUCHED = {
    "a plain function": event("response.output_item.done", output_index=0, item=call("plain")),
    "a tool nobody declared": event("response.output_item.done", output_index=0, item=call("nobody")),
    "a message": event("response.output_item.done", output_index=0, item={"type": "message", "content": []}),
    "no item": event("response.output_item.done", output_index=0),
    "arguments of a plain call": event("response.function_call_arguments.delta", output_index=0, delta="{"),
    "a response of nothing special": event("response.completed", response={"output": [call("plain")]}),
    "no response": event("response.completed"),
}


@pytest.mark.requirement("tools.function")
@pytest.mark.parametrize("given", UNTOUCHED.values(), ids=UNTOUCHED)
def test_what_reads_the_same_is_the_same_event(given: Event) -> None:
    assert [each is given for each in Restore(REGISTRY, {}).feed(given)] == [True]


@pytest.mark.requirement("tools.namespace")
def test_the_name_in_a_done_event_is_the_clients() -> None:
    stage = Restore(REGISTRY, {})
    list(stage.feed(event("response.output_item.added", output_index=0, item=call("n__f", ""))))
    (told,) = stage.feed(event("response.function_call_arguments.done", output_index=0, item_id="fc_1", name="n__f", arguments="{}"))
    assert (told.get("name"), told.get("arguments")) == ("f", "{}")


@pytest.mark.requirement("tools.custom")
def test_two_custom_calls_each_have_their_own_text() -> None:
    stage = Restore(REGISTRY, {})
    out: list[tuple[str, str]] = []
    for index, text in enumerate(("one", "two")):
        places = {"output_index": index, "item_id": f"fc_{index}"}
        list(stage.feed(event("response.output_item.added", output_index=index, item=call("apply_patch", ""))))
        for piece in ('{"input"', f':"{text}', '"}'):
            out += [
                (str(each.get("item_id")), str(each.get("delta")))
                for each in stage.feed(event("response.function_call_arguments.delta", **places, delta=piece))
            ]
    assert out == [("ctc_0", "one"), ("ctc_1", "two")]


@pytest.mark.requirement("responses.settings-echo", "models.alias")
@pytest.mark.parametrize("type", ["response.created", "response.in_progress", "response.completed"])
def test_the_clients_settings_are_echoed(type: str) -> None:
    stage = Restore(REGISTRY, {"model": Raw(b'"fast"'), "tools": Raw(b"[ ]")})
    (told,) = stage.feed(event(type, response={"model": "real", "tools": [{}], "temperature": 1}))
    assert read(told)["response"] == {"model": "fast", "tools": [], "temperature": 1}


@pytest.mark.requirement("responses.model-header")
def test_a_differing_model_header_is_taken_out() -> None:
    headers = {"OpenAI-Model": "real", "x-other": "1"}
    aliased, plain = Restore(REGISTRY, {"model": Raw(b'"fast"')}), Restore(REGISTRY, {})
    given = event("response.created", response={"model": "real", "headers": headers})
    assert [read(each)["response"]["headers"] for each in aliased.feed(given)] == [{"x-other": "1"}]
    assert list(plain.feed(given)) == [given]


@pytest.mark.requirement("tools.shell", "clients.strict")
def test_a_call_of_which_nothing_streams_begins_when_it_is_whole() -> None:
    """Before that it has nothing that its kind must have, such as commands."""
    tools, _ = registry.build(declaration.read([Raw(b'{"type":"shell"}')]), NameRules())
    restore, item = Restore(tools, {}), call("shell", '{"commands":["ls"]}', status="completed")
    events = [
        Event.made(stream_rules.ITEM_ADDED, {"output_index": 0, "item": item | {"arguments": "", "status": "in_progress"}}),
        Event.made(stream_rules.ARGUMENTS_DELTA, {"output_index": 0, "item_id": "fc_1", "delta": item["arguments"]}),
        Event.made(stream_rules.ARGUMENTS_DONE, {"output_index": 0, "item_id": "fc_1", "arguments": item["arguments"]}),
        Event.made(stream_rules.ITEM_DONE, {"output_index": 0, "item": item}),
    ]
    assert [[one.type for one in restore.feed(event)] for event in events[:-1]] == [[], [], []]
    shown = [*restore.feed(events[-1])]
    assert [one.type for one in shown] == [stream_rules.ITEM_ADDED, stream_rules.ITEM_DONE]
    assert [one.get("item")["status"] for one in shown] == ["in_progress", "completed"]
    assert [one.get("item")["action"] for one in shown] == [{"commands": ["ls"]}] * 2
