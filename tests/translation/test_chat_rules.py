"""Each rule of a dialect, alone: what it changes in a chat request, and what is told of it."""

import json
from typing import Any

import msgspec
import pytest

from antiphon.protocol.document import Document
from antiphon.protocol.notes import Kind
from antiphon.translation import chat
from antiphon.translation.dialect import ChatRules, Dialect
from antiphon.translation.presets import DIALECTS
from antiphon.translation.translated import Translated

pytestmark = pytest.mark.requirement("dialects.rules")

TOOLS = [{"type": "function", "name": name, "parameters": {"type": "object", "properties": {}}} for name in ("f", "g")]
SCHEMA = {"type": "json_schema", "name": "a", "schema": {"type": "object", "title": "A"}, "strict": True}
ALL = frozenset({"none", "required", "named"})


def translated(rules: ChatRules, **request: Any) -> Translated:
    return chat.translate(Document.of({"model": "m", "input": "hi", **request}), rules)


def body(made: Translated) -> dict[str, Any]:
    return json.loads(bytes(made.body))


def told(made: Translated) -> dict[str, Kind]:
    return {note.where: note.kind for note in made.notes}


SETTINGS: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any], dict[str, Kind]]] = {
    "a name there": ({"max_tokens": "max_completion_tokens"}, {"max_output_tokens": 5}, {"max_completion_tokens": 5}, {}),
    "renamed": ({"renames": {"seed": "random_seed"}, "passes": ["stop"]}, {"seed": 7}, {"random_seed": 7}, {}),
    "within a range": ({"ranges": {"temperature": [0, 1]}}, {"temperature": 0.5}, {"temperature": 0.5}, {}),
    "above a range": ({"ranges": {"temperature": [0, 1]}}, {"temperature": 1.5}, {"temperature": 1}, {"temperature": Kind.CHANGED}),
    "below a range": ({"ranges": {"top_p": [0.01, 1]}}, {"top_p": 0}, {"top_p": 0.01}, {"top_p": Kind.CHANGED}),
    "null is as unsaid": ({}, {"temperature": None, "stop": None}, {}, {}),
    "added": ({"adds": {"tool_stream": True}}, {}, {"tool_stream": True}, {}),
    "the client's own wins": ({"adds": {"x": 1}, "passes": ["x"]}, {"x": 2}, {"x": 2}, {}),
    "logprobs": ({}, {"top_logprobs": 2}, {"logprobs": True, "top_logprobs": 2}, {}),
    "no logprobs": ({"logprobs": False}, {"top_logprobs": 2}, {}, {"top_logprobs": Kind.DROPPED}),
    "usage is not asked for": ({"stream_usage": False}, {"stream": True}, {"stream": True}, {}),
    "effort as it is": ({}, {"reasoning": {"effort": "ultra"}}, {"reasoning_effort": "ultra"}, {}),
    "effort within": ({"effort": "reasoning.effort"}, {"reasoning": {"effort": "low"}}, {"reasoning": {"effort": "low"}}, {}),
    "a known effort": ({"efforts": ["low", "high"]}, {"reasoning": {"effort": "high"}}, {"reasoning_effort": "high"}, {}),
    "the nearest effort": (
        {"efforts": ["low", "high", "max"]},
        {"reasoning": {"effort": "minimal"}},
        {"reasoning_effort": "low"},
        {"reasoning.effort": Kind.CHANGED},
    ),
    "of two the higher": (
        {"efforts": ["low", "high"]},
        {"reasoning": {"effort": "medium"}},
        {"reasoning_effort": "high"},
        {"reasoning.effort": Kind.CHANGED},
    ),
    "an effort of no ladder": (
        {"efforts": ["low", "medium"]},
        {"reasoning": {"effort": "heroic"}},
        {"reasoning_effort": "medium"},
        {"reasoning.effort": Kind.CHANGED},
    ),
    "off by a field": (
        {"efforts": ["low", "high"], "effort_fields": {"none": {"thinking": {"type": "disabled"}}}},
        {"reasoning": {"effort": "none"}},
        {"thinking": {"type": "disabled"}},
        {},
    ),
    "on by a field, and how much": (
        {"effort_fields": {"*": {"thinking": {"type": "enabled"}}}},
        {"reasoning": {"effort": "high"}},
        {"thinking": {"type": "enabled"}, "reasoning_effort": "high"},
        {},
    ),
    "only on or off": (
        {"effort": "", "effort_fields": {"none": {"think": False}, "*": {"think": True}}},
        {"reasoning": {"effort": "low"}},
        {"think": True},
        {"reasoning.effort": Kind.CHANGED},
    ),
    "no effort": ({"effort": ""}, {"reasoning": {"effort": "low"}}, {}, {"reasoning.effort": Kind.DROPPED}),
    "any object": ({}, {"text": {"format": {"type": "json_object"}}}, {"response_format": {"type": "json_object"}}, {}),
    "any object by a schema": (
        {"json_object": "json_schema"},
        {"text": {"format": {"type": "json_object"}}},
        {"response_format": {"type": "json_schema", "json_schema": {"name": "answer", "schema": {"type": "object"}}}},
        {},
    ),
    "no objects": ({"json_object": ""}, {"text": {"format": {"type": "json_object"}}}, {}, {"text.format": Kind.DROPPED}),
    "a schema": (
        {},
        {"text": {"format": SCHEMA}},
        {"response_format": {"type": "json_schema", "json_schema": {"name": "a", "strict": True, "schema": SCHEMA["schema"]}}},
        {},
    ),
    "a schema beside": (
        {"json_schema": "json_object"},
        {"text": {"format": SCHEMA}},
        {"response_format": {"type": "json_object", "schema": SCHEMA["schema"]}},
        {},
    ),
    "no schemas": ({"json_schema": ""}, {"text": {"format": SCHEMA}}, {}, {"text.format": Kind.DROPPED}),
    "another format": ({}, {"text": {"format": {"type": "grammar"}}}, {}, {"text.format": Kind.DROPPED}),
}
"""Rules, what the client asks for, the fields that it becomes, and what is told."""


@pytest.mark.parametrize(("rules", "asked", "fields", "notes"), SETTINGS.values(), ids=SETTINGS)
def test_settings(rules: dict[str, Any], asked: dict[str, Any], fields: dict[str, Any], notes: dict[str, Kind]) -> None:
    made = translated(ruled(rules), **asked)
    assert {name: value for name, value in body(made).items() if name not in ("model", "messages")} == fields
    assert told(made) == notes


def ruled(changes: dict[str, Any]) -> ChatRules:
    """Rules as a file gives them."""
    return DIALECTS["chat"].but(chat=changes, responses={}).chat


def test_a_schema_in_words_stands_with_the_instructions() -> None:
    rules = ruled({"json_schema": "words"})
    items = [{"role": "developer", "content": "Two."}, {"role": "user", "content": "hi"}]
    made = translated(rules, instructions="One.", input=items, text={"format": SCHEMA})
    assert body(made)["response_format"] == {"type": "json_object"}
    head, user = body(made)["messages"]
    assert user == {"role": "user", "content": "hi"}
    first, words, schema, last = head["content"].replace("Schema:\n", "Schema:\n\n").split("\n\n")
    assert (first, last) == ("One.", "Two.")
    assert "JSON" in words
    assert json.loads(schema) == SCHEMA["schema"]
    assert told(made) == {"text.format": Kind.CHANGED}


@pytest.mark.requirement("dialects.overrides")
@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)
def test_a_presets_rules_for_some_models_are_rules(dialect: Dialect) -> None:
    for pattern, changes in dialect.models.items():
        rules = dialect.of_model(pattern.replace("*", "x").replace("[78]", "8")).chat
        assert {name: getattr(rules, name) for name in changes} == changes
        assert msgspec.convert(msgspec.to_builtins(rules), ChatRules) == rules
    assert dialect.of_model("another") is dialect


NAMED = {"type": "function", "name": "g"}
CHOICES: dict[str, tuple[set[str], Any, list[str], Any, dict[str, Kind]]] = {
    "none": ({"none"}, "none", ["f", "g"], "none", {}),
    "none is not known": (set(), "none", [], None, {"tool_choice": Kind.MOVED}),
    "required": ({"required"}, "required", ["f", "g"], "required", {}),
    "required is not known": ({"named"}, "required", ["f", "g"], None, {"tool_choice": Kind.CHANGED}),
    "by name": ({"named"}, NAMED, ["f", "g"], {"type": "function", "function": {"name": "g"}}, {}),
    "names are not known": ({"required"}, NAMED, ["g"], "required", {"tool_choice": Kind.MOVED}),
    "nothing is known": (set(), NAMED, ["g"], None, {"tool_choice": Kind.CHANGED}),
    "auto": (set(), "auto", ["f", "g"], "auto", {}),
    "allowed tools": (
        {"required"},
        {"type": "allowed_tools", "mode": "required", "tools": [NAMED, {"type": "function", "name": "f"}]},
        ["f", "g"],
        "required",
        {"tool_choice.tools": Kind.CHANGED},
    ),
}
"""What a server knows, what is asked for, the tools and the choice that it is told, and what the client is told."""


@pytest.mark.requirement("tools.allowed")
@pytest.mark.parametrize(("known", "asked", "tools", "choice", "notes"), CHOICES.values(), ids=CHOICES)
def test_a_choice_that_cannot_be_told_is_brought_about(
    known: set[str], asked: Any, tools: list[str], choice: Any, notes: dict[str, Kind]
) -> None:
    made = translated(ChatRules(tool_choice=frozenset(known)), tools=TOOLS, tool_choice=asked)
    assert [tool["function"]["name"] for tool in body(made).get("tools", [])] == tools
    assert body(made).get("tool_choice") == choice
    assert told(made) == notes
    assert (made.choice.one if made.choice is not None else None) == ("g" if asked == NAMED else None)


def test_one_tool_that_is_required_is_chosen_by_name() -> None:
    made = translated(ChatRules(tool_choice=frozenset({"named"})), tools=TOOLS[:1], tool_choice="required")
    assert body(made)["tool_choice"] == {"type": "function", "function": {"name": "f"}}
    assert told(made) == {}


@pytest.mark.parametrize(("asked", "off"), [("required", True), (NAMED, True), ("auto", False), ("none", False)])
def test_a_forced_call_may_need_thinking_to_be_off(asked: Any, off: bool) -> None:
    rules = ChatRules(forced_fields={"thinking": {"type": "disabled"}})
    made = translated(rules, tools=TOOLS, tool_choice=asked, reasoning={"effort": "high"})
    assert (body(made).get("thinking"), body(made).get("reasoning_effort")) == (({"type": "disabled"}, None) if off else (None, "high"))
    assert told(made) == ({"reasoning.effort": Kind.CHANGED} if off else {})


@pytest.mark.parametrize(("known", "wish", "sent", "notes"), [
    (True, False, False, {}), (True, True, True, {}), (False, True, None, {}), (False, False, None, {"parallel_tool_calls": Kind.DROPPED}),
])  # fmt: skip
def test_parallel_calls(known: bool, wish: bool, sent: bool | None, notes: dict[str, Kind]) -> None:
    made = translated(ChatRules(parallel_calls=known), tools=TOOLS, parallel_tool_calls=wish)
    assert (body(made).get("parallel_tool_calls"), told(made)) == (sent, notes)


def call(call_id: str, text: str = "") -> list[dict[str, Any]]:
    said = [{"type": "message", "role": "assistant", "content": text}] if text else []
    return [
        *said,
        {"type": "function_call", "call_id": call_id, "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": call_id, "output": "1"},
    ]


@pytest.mark.requirement("chat.pairing")
@pytest.mark.parametrize("given", ["call_0123456789", "abcDEF123", "abc_EF123", "", "naïvenaïv"])
def test_ids_of_calls_fit_and_agree(given: str) -> None:
    made = body(translated(ChatRules(call_id_limit=9, call_ids_exact=True), input=[*call(given), *call(f"{given}2")]))["messages"]
    ids = [one["id"] for message in made for one in message.get("tool_calls", [])]
    assert ids == [message["tool_call_id"] for message in made if message["role"] == "tool"]
    assert all(len(one) == 9 and one.isascii() and one.isalnum() for one in ids)
    assert len(set(ids)) == 2
    if given == "abcDEF123":
        assert ids[0] == given


def test_short_ids_stay_where_only_length_counts() -> None:
    rules = ChatRules(call_id_limit=40)
    made = body(translated(rules, input=[*call("call_short"), *call("c" * 41)]))["messages"]
    assert [len(message["tool_call_id"]) for message in made if message["role"] == "tool"] == [10, 40]


@pytest.mark.parametrize(
    ("rule", "content"), [("null", {"content": None}), ("empty", {"content": ""}), ("absent", {})], ids=["null", "empty", "absent"]
)
def test_a_call_without_words(rule: Any, content: dict[str, Any]) -> None:
    asked, _ = body(translated(ChatRules(no_text=rule), input=call("c")))["messages"]
    assert {name: value for name, value in asked.items() if name == "content"} == content


@pytest.mark.requirement("chat.prefix")
def test_roles_that_may_not_touch_are_parted() -> None:
    rules = ChatRules(apart=frozenset({("tool", "user"), ("user", "user")}))
    user = {"role": "user", "content": "hi"}
    items = [user, user, *call("c"), user]
    roles = [message["role"] for message in body(translated(rules, input=items))["messages"]]
    assert roles == ["user", "assistant", "user", "assistant", "tool", "assistant", "user"]
    for end in range(1, len(items)):
        shorter = body(translated(rules, input=items[:end]))["messages"]
        whole = body(translated(rules, input=items))["messages"]
        assert end == 3 or whole[: len(shorter)] == shorter  # a prompt never ends with a call that has no answer


IMAGES = ["data:image/png;base64,AA==", "HTTPS://a/b.png", "https:\\/\\/a/b.png", "http://a/b.png", "file:///etc/passwd", "ms://file"]


@pytest.mark.requirement("chat.images")
@pytest.mark.parametrize(
    ("rule", "kept"), [(("data:", "http:", "https:"), [0, 1, 2, 3]), (("data:image/png",), [0]), (("data:", "ms:"), [0, 5]), ((), [])]
)
def test_images_by_their_address(rule: tuple[str, ...], kept: list[int]) -> None:
    parts = [f'{{"type":"input_image","image_url":"{url}"}}' for url in IMAGES]
    content = f'[{{"type":"input_text","text":"see"}},{",".join(parts)}]'
    document = Document(f'{{"model":"m","input":[{{"role":"user","content":{content}}}]}}'.encode())
    made = chat.translate(document, ChatRules(image_urls=rule))
    (message,) = body(made)["messages"]
    shown = [{"type": "image_url", "image_url": {"url": json.loads(f'"{IMAGES[number]}"')}} for number in kept]
    assert message["content"] == ([{"type": "text", "text": "see"}, *shown] if kept else "see")
    assert set(told(made)) == {f"input[0].content[{number + 1}]" for number in range(len(IMAGES)) if number not in kept}


THOUGHT = {"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "hm"}]}
SEALED = {"type": "reasoning", "summary": [], "encrypted_content": "x"}
ANSWER = {"type": "message", "role": "assistant", "content": "done"}
BACK: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "nowhere": ({}, {}, {}),
    "in a field": ({"reasoning_back": "reasoning"}, {"reasoning": "hm"}, {}),
    "always": ({"reasoning_back": "reasoning", "reasoning_always": True}, {"reasoning": "hm"}, {"reasoning": "hm"}),
    "in the text": ({"reasoning_back": "<think>"}, {"content": "<think>\nhm\n</think>\n\n"}, {}),
    "as a part": (
        {"reasoning_back": "thinking", "reasoning_always": True},
        {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]},
        {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "done"}]},
    ),
}


@pytest.mark.requirement("chat.reasoning-back")
@pytest.mark.parametrize(("rules", "asked", "answered"), BACK.values(), ids=BACK)
def test_thoughts_return_where_the_server_wants_them(rules: dict[str, Any], asked: dict[str, Any], answered: dict[str, Any]) -> None:
    made = body(translated(ruled(rules), input=[THOUGHT, *call("c"), THOUGHT, ANSWER]))["messages"]
    calls = {name: value for name, value in made[0].items() if name not in ("role", "tool_calls")}
    assert calls == {"content": None, **asked}
    assert made[2] == {"role": "assistant", "content": "done", **answered}


@pytest.mark.requirement("chat.reasoning-back")
def test_what_may_not_be_missing_is_filled_in_on_calls_alone() -> None:
    rules = ChatRules(reasoning_back="reasoning_content", reasoning_always=True, reasoning_filler=" ")
    made = body(translated(rules, input=[SEALED, *call("c"), *call("d"), SEALED, ANSWER]))["messages"]
    assert [message.get("reasoning_content") for message in made if message["role"] == "assistant"] == [" ", " ", None]


@pytest.mark.requirement("names.charset")
def test_a_name_may_have_to_begin_with_a_letter() -> None:
    rules = ChatRules(name_pattern="[A-Za-z][A-Za-z0-9_-]*")
    names = ["exec_command", "9lives", "_private", "-x", "n" * 70, "9" * 70]
    made = translated(rules, tools=[{"type": "function", "name": name} for name in names])
    sent = [tool["function"]["name"] for tool in body(made)["tools"]]
    assert sent[0] == "exec_command"
    assert all(name[0].isalpha() and len(name) <= 64 for name in sent)
    assert len(set(sent)) == len(names)
