"""Every preset on each API, given a request that holds everything: what changes is what the dialect's table says, and each loss is told.

The expectations are made of the dialect's own table, so that a new row is tested as it is written.
"""

import json
import re

import pytest
from msgspec import Raw

from antiphon.protocol import notes, request
from antiphon.protocol.document import Document
from antiphon.protocol.errors import InvalidRequest
from antiphon.protocol.notes import Note
from antiphon.translation import chat, responses
from antiphon.translation.dialect import ChatRules, ResponsesRules
from antiphon.translation.presets import DIALECTS
from tests.scripted import chat_rules
from tests.translation.everything import BODY, FIELDS, ITEMS, ITEMS_LOST, TOOLS_LOST, place

WHOLE = Document(BODY.encode())
VERBATIM = {name: dialect.responses for name, dialect in DIALECTS.items() if dialect.responses.verbatim}
EDITING = {name: dialect.responses for name, dialect in DIALECTS.items() if not dialect.responses.verbatim and dialect.responses.formats}
CHAT = {name: DIALECTS[name].chat for name in ("chat", "openai", "azure", "vllm", "sglang")}
"""Presets that take whatever is asked for, by one name or another; what others change is in tests/conformance."""
BECOMES = {"tools", "input", "instructions", "tool_choice"}
"""Fields of a Responses request that become something of their own; all others stay or go."""


def losses(told: list[Note]) -> dict[str, str]:
    return {note.where: note.why for note in notes.losses(told)}


def check_tools_and_items(lost: dict[str, str]) -> None:
    assert {where: why for where, why in TOOLS_LOST.items() if not lost.pop(where, "").startswith(why)} == {}
    assert [item for item in ITEMS_LOST if lost.pop(place(item), None) is None] == []


def test_the_request_holds_everything() -> None:
    assert len(WHOLE.members) >= 40
    assert json.loads(BODY)["seed"] == 12345678901234567890


@pytest.mark.requirement("responses.pass-through", "document.unknown-items", "document.unedited")
@pytest.mark.parametrize("rules", VERBATIM.values(), ids=VERBATIM)
def test_verbatim_means_the_same_bytes(rules: ResponsesRules) -> None:
    made = responses.translate(WHOLE, request.view(WHOLE), rules)
    assert bytes(made.body) == BODY.encode()
    assert (made.notes, made.edited, made.registry.entries) == ([], False, {})


@pytest.mark.requirement("responses.table-edits", "document.edited")
@pytest.mark.parametrize("rules", EDITING.values(), ids=EDITING)
def test_exactly_the_tables_fields_of_a_responses_request_change(rules: ResponsesRules) -> None:
    made = responses.translate(WHOLE, request.view(WHOLE), rules)
    lost = losses(made.notes)
    kept = {name: bytes(spelled) for name, spelled in WHOLE.members.items() if name not in rules.fields_dropped}
    sent = {name: bytes(spelled) for name, spelled in made.body.members.items()}
    assert list(sent) == list(kept)
    changed = {name for name in kept if sent[name] != kept[name]}
    assert changed == (BECOMES if rules.merges_instructions else BECOMES - {"instructions"})
    assert {name for name in WHOLE.members if lost.pop(name, None) is not None} == rules.fields_dropped & WHOLE.members.keys()
    check_tools_and_items(lost)
    parts = {"tools[2].parameters", *(f"input[*].{name}" for name in ("phase", "encrypted_content")), place("sealed")}
    images = {f"{place('developer image')}.content[0]"} if rules.merges_instructions else set[str]()
    assert set(lost) == parts | images


@pytest.mark.requirement("responses.table-edits", "tools.function", "tools.allowed")
@pytest.mark.parametrize("rules", EDITING.values(), ids=EDITING)
def test_tools_of_a_responses_request_are_functions_alone(rules: ResponsesRules) -> None:
    body = json.loads(bytes(responses.translate(WHOLE, request.view(WHOLE), rules).body))
    names = [tool["name"] for tool in body["tools"]]
    assert [name for name in names if not name.startswith("x_y_")] == ["f", "g", "apply_patch", "mcp__x__tool", "tool_search", "call_tool"]
    assert {tool["type"] for tool in body["tools"]} == {"function"}
    assert body["tool_choice"] == {"type": "function", "name": names[1]}
    assert body["tools"][1]["output_schema"] == {"a": 1}
    assert body["tools"][2]["parameters"]["properties"] == {"encrypted": {"type": "string"}}


UNTOUCHED = ("user", "unknown parts", "function call", "output")


@pytest.mark.requirement("responses.table-edits", "document.unknown-items")
@pytest.mark.parametrize("rules", EDITING.values(), ids=EDITING)
def test_items_of_a_responses_request_keep_their_bytes(rules: ResponsesRules) -> None:
    made = responses.translate(WHOLE, request.view(WHOLE), rules)
    sent = [bytes(item).decode() for item in made.body.elements("input")]
    assert [name for name in UNTOUCHED if ITEMS[name] not in sent] == []
    items = [json.loads(item) for item in sent]
    assert {item.get("type", "message") for item in items} == {"message", "reasoning", "function_call", "function_call_output"}
    assert {name for item in items for name in item} & rules.item_fields_dropped == set()
    roles = [item["role"] for item in items if item.get("role") in ("developer", "system")]
    assert roles == ([] if rules.merges_instructions else ["developer"] * 3)
    if rules.merges_instructions:
        assert made.body.text("instructions") == "Be brief.\n\nOne."


MAPPED = {"max_output_tokens", "reasoning", "text", "top_logprobs", "tool_choice", "tools", "stream", "parallel_tool_calls", "model", "input", "instructions"}  # fmt: skip
"""Fields that a chat request holds under another name or in another place."""
SAME_AS_UNSAID = {"moderation", "unknown_null", "truncation", "max_tool_calls", "stream_options", "metadata"}
"""Fields of the request that say what would be so without them, or are for the client alone."""


OBJECT = {"type": "object"}
FORMATS: dict[str, dict[str, object]] = {
    "json_schema": {"response_format": {"type": "json_schema", "json_schema": {"name": "a", "strict": True, "schema": OBJECT}}},
    "json_object": {"response_format": {"type": "json_object", "schema": OBJECT}},
    "words": {"response_format": {"type": "json_object"}},
    "": {},
}
"""What the schema of the request becomes."""


def mapped(rules: ChatRules) -> dict[str, object]:
    """What the mapped fields become, by the dialect's own names."""
    return {
        rules.max_tokens: 1000,
        **({rules.effort: "low"} if rules.effort else {}),
        **({rules.verbosity: "low"} if rules.verbosity else {}),
        **FORMATS[rules.json_schema],
        "logprobs": True,
        "top_logprobs": 3,
        "stream": True,
        **({"stream_options": {"include_usage": True}} if rules.stream_usage else {}),
        "parallel_tool_calls": False,
        "model": "m",
    }


@pytest.mark.requirement("responses.table-edits", "tools.unrunnable")
@pytest.mark.parametrize("rules", CHAT.values(), ids=CHAT)
def test_every_field_of_a_chat_request_is_mapped_passed_or_told(rules: ChatRules) -> None:
    made = chat.translate(WHOLE, rules)
    passed = {name for name in FIELDS if name in rules.passes}
    assert {name: bytes(made.body.members[name]).decode() for name in passed} == {name: FIELDS[name] for name in passed}
    body = json.loads(bytes(made.body))
    rest = {name: value for name, value in body.items() if name not in passed | {"messages", "tools", "tool_choice"}}
    assert rest == mapped(rules)
    lost = losses(made.notes)
    told = {name for name in FIELDS if lost.pop(name, None) is not None}
    assert told == FIELDS.keys() - passed - MAPPED - SAME_AS_UNSAID - {"include"}
    check_tools_and_items(lost)
    within = {"include[0]", "include[1]", "reasoning.context", "text.more", "tools[1].output_schema"}
    within |= set() if rules.verbosity else {"text.verbosity"}
    within |= set() if rules.strict_tools else {"tools[1].strict"}
    within |= {"tools[2].parameters"} if rules.schema_drops else set()
    within |= {f"{place('developer image')}.content[0]", f"{place('unknown parts')}.content[0]"}
    within |= set() if rules.files else {f"{place('unknown parts')}.content[1]"}
    assert set(lost) == within


@pytest.mark.requirement("chat.developer", "chat.images", "chat.parallel-calls", "chat.outputs", "tools.allowed")
@pytest.mark.parametrize("rules", CHAT.values(), ids=CHAT)
def test_the_messages_of_a_chat_request(rules: ChatRules) -> None:
    body = json.loads(bytes(chat.translate(WHOLE, rules).body))
    names = [tool["function"]["name"] for tool in body["tools"]]
    assert body["tool_choice"] == {"type": "function", "function": {"name": names[1]}}
    system, first, second, assistant, *rest = body["messages"]
    assert system == {"role": "system", "content": "Be brief.\n\nOne."}
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA==", "detail": "high"}}
    assert first == {"role": "user", "content": [{"type": "text", "text": "Hi"}, image]}
    file = {"type": "file", "file": {"file_id": "f"}}
    assert second["content"] == ([file, {"type": "text", "text": "see"}] if rules.files else "see")
    assert assistant["content"] == "Well"
    made = [(each["id"], each["function"]["name"], each["function"]["arguments"]) for each in assistant["tool_calls"]]
    assert made == [("a", "f", '{"x":1.0}'), ("b", "mcp__x__tool", "{}"), ("c", "apply_patch", '{"input":"*** Begin"}')]
    assert [message["role"] for message in rest] == ["tool", "tool", "tool", "user", rules.late_developer, "assistant", "tool"]
    assert [message["content"] for message in rest[:3]] == ["done", "[1 image(s): see the next user message]", "ok"]
    assert [part["type"] for part in rest[3]["content"]] == ["text", "image_url"]
    assert rest[4]["content"] == "Two."
    assert rest[5]["tool_calls"][0]["function"] == {"name": "tool_search", "arguments": '{"query": "x"}'}
    assert rest[6]["content"] == "aborted"


@pytest.mark.parametrize("name", [name for name, rules in CHAT.items() if rules.late_developer == "user"])
def test_strict_servers_take_what_they_know_of_it(name: str) -> None:
    body = json.loads(bytes(chat.translate(WHOLE, CHAT[name]).body))
    refused = chat_rules.refusal({field: value for field, value in body.items() if field in chat_rules.FIELDS})
    assert refused is None, refused.message


@pytest.mark.requirement("responses.table-edits")
@pytest.mark.parametrize("rules", CHAT.values(), ids=CHAT)
def test_the_header_is_capped_and_has_a_count(rules: ChatRules) -> None:
    made = chat.translate(WHOLE, rules)
    count = len(losses(made.notes))
    header = notes.header(made.notes) or ""
    assert count > notes.SHOWN
    assert header.endswith(f", +{count - notes.SHOWN} more; count={count}")
    assert header.count(", ") == notes.SHOWN
    assert header.isascii()


def test_nothing_lost_means_no_header() -> None:
    document = Document(b'{"model":"m","input":"hi","tools":[{"type":"function","name":"x y"}]}')
    assert notes.header(chat.translate(document, ChatRules()).notes) is None


def test_a_request_of_nothing_special_keeps_its_bytes() -> None:
    body = b'{"model": "m",  "input":[{"role":"user","content":"hi"}], "tools":[{"type":"function","name":"f","parameters":{"type":"object"}}], "x":1.0}'
    made = responses.translate(Document(body), request.view(Document(body)), ResponsesRules())
    assert (bytes(made.body), made.edited) == (body, False)


CHOICES: dict[str, tuple[str, object, object]] = {
    "auto": ('"auto"', "auto", "auto"),
    "required": ('"required"', "required", "required"),
    "by name": ('{"type":"function","name":"f"}', {"type": "function", "name": "f"}, {"type": "function", "function": {"name": "f"}}),
    "custom": ('{"type":"custom","name":"c"}', {"type": "function", "name": "c"}, {"type": "function", "function": {"name": "c"}}),
    "in a namespace": (
        '{"type":"function","namespace":"n","name":"g"}',
        {"type": "function", "name": "n__g"},
        {"type": "function", "function": {"name": "n__g"}},
    ),
    "unknown": ('{"type":"function","name":"nobody"}', None, None),
    "hosted": ('{"type":"web_search"}', None, None),
    "allowed": (
        '{"type":"allowed_tools","mode":"required","tools":[{"type":"function","name":"f"},{"type":"function","namespace":"n","name":"g"},{"type":"web_search"}]}',
        {"type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": "f"}, {"type": "function", "name": "n__g"}]},
        "required",
    ),
}  # fmt: skip


@pytest.mark.requirement("tools.allowed")
@pytest.mark.parametrize(("choice", "native", "chatted"), CHOICES.values(), ids=CHOICES)
def test_tool_choices_name_what_the_upstream_sees(choice: str, native: object, chatted: object) -> None:
    tools = '[{"type":"function","name":"f"},{"type":"custom","name":"c"},{"type":"namespace","name":"n","tools":[{"type":"function","name":"g"}]}]'
    document = Document(f'{{"model":"m","input":"hi","tools":{tools},"tool_choice":{choice}}}'.encode())
    lowered = responses.translate(document, request.view(document), ResponsesRules())
    translated = chat.translate(document, ChatRules())
    assert (lowered.body.get("tool_choice"), translated.body.get("tool_choice")) == (native, chatted)
    for made, told in ((lowered, native), (translated, chatted)):
        assert ("tool_choice" in losses(made.notes)) is (told is None)


@pytest.mark.requirement("tools.allowed", "dialects.rules")
@pytest.mark.parametrize(
    ("known", "choice", "tools", "told"),
    [
        ({"required"}, {"type": "function", "name": "g"}, ["g"], "required"),
        (set(), {"type": "function", "name": "g"}, ["g"], None),
        (set(), "none", None, None),
        ({"none"}, "none", ["f", "g"], "none"),
        (set(), "required", ["f", "g"], None),
    ],
)
def test_a_choice_that_a_responses_server_cannot_be_told(known: set[str], choice: object, tools: list[str] | None, told: object) -> None:
    declared = [{"type": "function", "name": name, "parameters": {"type": "object"}} for name in ("f", "g")]
    document = Document.of({"model": "m", "input": "hi", "tools": declared, "tool_choice": choice})
    made = responses.translate(document, request.view(document), ResponsesRules(tool_choice=frozenset(known)))
    body = json.loads(bytes(made.body))
    assert ([tool["name"] for tool in body["tools"]] if "tools" in body else None, body.get("tool_choice")) == (tools, told)
    assert made.notes != [] or told == choice


FORMAT = {"type": "json_schema", "name": "a", "schema": {"type": "object"}}


@pytest.mark.requirement("dialects.rules")
def test_a_form_that_a_responses_server_passes_over_is_told() -> None:
    document = Document.of({"model": "m", "input": "hi", "text": {"verbosity": "low", "format": FORMAT}})
    made = responses.translate(document, request.view(document), ResponsesRules(formats=False))
    assert json.loads(bytes(made.body))["text"] == {"verbosity": "low"}
    assert losses(made.notes) == {"text.format": "json_schema"}
    plain = Document.of({"model": "m", "input": "hi", "text": {"format": {"type": "text"}}})
    assert not responses.translate(plain, request.view(plain), ResponsesRules(formats=False)).edited


@pytest.mark.requirement("dialects.rules")
def test_thoughts_stand_where_a_responses_server_looks_for_them() -> None:
    summary = [{"type": "summary_text", "text": "Hm"}]
    both = {"type": "reasoning", "summary": summary, "content": [{"type": "reasoning_text", "text": "Hmm"}]}
    items = [{"role": "user", "content": "hi"}, {"type": "reasoning", "summary": summary}, both, {"role": "assistant", "content": "yes"}]
    document = Document.of({"model": "m", "input": items})
    made = json.loads(bytes(responses.translate(document, request.view(document), ResponsesRules(thoughts_in_content=True)).body))
    assert [item["content"][0]["text"] for item in made["input"] if item.get("type") == "reasoning"] == ["Hm", "Hmm"]


WRONG_CHOICES = {
    "a number": ("5", "tool_choice", "`str | object | null`, got `int`"),
    "a list": ("[]", "tool_choice", "`str | object | null`, got `array`"),
    "allowed tools that are none": ('{"type":"allowed_tools","mode":"auto","tools":[5]}', "tool_choice.tools[0]", "`object`, got `int`"),
}


@pytest.mark.requirement("http.invalid-request")
@pytest.mark.parametrize(("choice", "param", "why"), WRONG_CHOICES.values(), ids=WRONG_CHOICES)
def test_a_choice_of_another_shape_is_refused_by_path(choice: str, param: str, why: str) -> None:
    document = Document(f'{{"model":"m","input":"hi","tools":[{{"type":"function","name":"f"}}],"tool_choice":{choice}}}'.encode())
    for translate in (
        lambda: responses.translate(document, request.view(document), ResponsesRules()),
        lambda: chat.translate(document, ChatRules()),
    ):
        with pytest.raises(InvalidRequest, match=re.escape(why)) as refused:
            translate()
        assert refused.value.failure.param == param


def test_without_tools_there_is_no_choice_among_them() -> None:
    document = Document(b'{"model":"m","input":"hi","tools":[{"type":"web_search"}],"tool_choice":"auto","parallel_tool_calls":true}')
    for made in (responses.translate(document, request.view(document), ResponsesRules()), chat.translate(document, ChatRules())):
        assert {"tools", "tool_choice", "parallel_tool_calls"} & made.body.members.keys() == set()


def test_defaults_are_no_losses() -> None:
    spelled = {
        "store": b"false",
        "truncation": b'"disabled"',
        "service_tier": b'"default"',
        "metadata": b"{}",
        "background": b"false",
        "user": b"null",
    }
    document = Document(b'{"model":"m","input":"hi"}').but(**{name: Raw(value) for name, value in spelled.items()})
    assert chat.translate(document, ChatRules()).notes == []


@pytest.mark.requirement("responses.table-edits", "clients.scenarios")
@pytest.mark.parametrize("rules", EDITING.values(), ids=EDITING)
def test_what_an_sdks_helper_put_into_a_call_goes_without_being_missed(rules: ResponsesRules) -> None:
    call = {"type": "function_call", "call_id": "c", "name": "look", "arguments": '{"a":1}'}
    output = {"type": "function_call_output", "call_id": "c", "output": "x"}
    document = Document.of({"model": "m", "input": [call | {"parsed_arguments": {"a": 1}}, output]})
    made = responses.translate(document, request.view(document), rules)
    assert made.body.get("input") == [call, output]
    assert losses(made.notes) == {}
