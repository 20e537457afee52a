"""Histories as chat messages: the prefix law, and what strict servers refuse, over random threads."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from antiphon.protocol import request
from antiphon.protocol.document import Document
from antiphon.translation import chat, responses
from antiphon.translation.dialect import ChatRules, ResponsesRules
from antiphon.translation.presets import DIALECTS
from tests.histories import TOOLS, History, histories
from tests.scripted import chat_rules

PRESETS = [dialect.chat for dialect in DIALECTS.values()]
RULES = {
    "generic": ChatRules(),
    "reasoning back": ChatRules(reasoning_back="reasoning_content", reasoning_always=True, reasoning_filler=" "),
    "images in outputs": ChatRules(images_in_outputs=True),
    "no answer at the end": ChatRules(ends_with_answer=False, apart=frozenset({("tool", "user"), ("user", "user")})),
    "no images": ChatRules(images=False),
}
STRICT = {name: rules for name, rules in RULES.items() if not rules.images_in_outputs}
STRICT_PRESETS = [rules for rules in PRESETS if rules.late_developer == "user"]
PAIRING = [rules for dialect in DIALECTS.values() if (rules := dialect.responses).pairs]
LAW = settings(deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


def asked(items: list[dict[str, Any]]) -> Document:
    return Document(json.dumps({"model": "m", "instructions": "Be brief.", "tools": TOOLS, "input": items, "stream": True}).encode())


def spelled(items: list[dict[str, Any]], rules: ChatRules) -> dict[str, Any]:
    return json.loads(bytes(chat.translate(asked(items), rules).body))


@pytest.mark.requirement("chat.prefix")
@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
@LAW
@given(history=histories())
def test_what_is_rendered_of_a_beginning_does_not_change(rules: ChatRules, history: History) -> None:
    check_beginnings(rules, history)


@pytest.mark.requirement("chat.prefix", "dialects.rules")
@LAW
@given(rules=st.sampled_from(PRESETS), history=histories())
def test_no_preset_changes_a_beginning(rules: ChatRules, history: History) -> None:
    check_beginnings(rules, history)


def check_beginnings(rules: ChatRules, history: History) -> None:
    whole = spelled(history.items, rules)
    for count in history.requests:
        beginning = spelled(history.items[:count], rules)
        assert whole["messages"][: len(beginning["messages"])] == beginning["messages"]
        assert beginning["tools"] == whole["tools"]


@pytest.mark.requirement("chat.parallel-calls", "chat.pairing", "chat.developer", "chat.images", "chat.parameters")
@pytest.mark.parametrize("rules", STRICT.values(), ids=STRICT)
@LAW
@given(history=histories())
def test_strict_servers_take_every_history(rules: ChatRules, history: History) -> None:
    check_strictly(rules, history)


@pytest.mark.requirement("chat.pairing", "dialects.rules")
@LAW
@given(rules=st.sampled_from(STRICT_PRESETS), history=histories())
def test_strict_servers_take_what_every_preset_makes(rules: ChatRules, history: History) -> None:
    check_strictly(rules, history)


def check_strictly(rules: ChatRules, history: History) -> None:
    for count in history.requests:
        body = spelled(history.items[:count], replace(rules, reasoning_back=""))  # where thoughts go is each server's own
        known = {name: value for name, value in body.items() if name in chat_rules.FIELDS}
        refused = chat_rules.refusal(known)
        assert refused is None, refused.message


@LAW
@given(rules=st.sampled_from(PAIRING), history=histories())
def test_the_prefix_law_holds_for_lowered_responses_requests(rules: ResponsesRules, history: History) -> None:
    def lowered(items: list[dict[str, Any]]) -> dict[str, Any]:
        document = asked(items)
        return json.loads(bytes(responses.translate(document, request.view(document), rules).body))

    whole = lowered(history.items)
    for count in history.requests:
        beginning = lowered(history.items[:count])
        assert whole["input"][: len(beginning["input"])] == beginning["input"]
        assert (beginning["instructions"], beginning["tools"]) == (whole["instructions"], whole["tools"])


PLACES: dict[str, tuple[list[str], list[tuple[str, str]]]] = {
    "leading ones": (["developer one", "system two", "user hi"], [("system", "Be brief.\n\none\n\ntwo"), ("user", "hi")]),
    "behind the first user message": (["user hi", "developer one"], [("system", "Be brief."), ("user", "hi"), ("LATE", "one")]),
    "between turns": (
        ["developer one", "user hi", "assistant yes", "developer two", "user go"],
        [("system", "Be brief.\n\none"), ("user", "hi"), ("assistant", "yes"), ("LATE", "two"), ("user", "go")],
    ),
    "behind what the model said first": (
        ["assistant yes", "developer one"],
        [("system", "Be brief."), ("assistant", "yes"), ("LATE", "one")],
    ),
    "a user message with nothing in it parts two answers": (
        ["user hi", "assistant a", "user ", "assistant b"],
        [("system", "Be brief."), ("user", "hi"), ("assistant", "a"), ("user", ""), ("assistant", "b")],
    ),
}


@pytest.mark.requirement("chat.developer")
@pytest.mark.parametrize("late", ["user", "developer", "system"])
@pytest.mark.parametrize(("said", "sent"), PLACES.values(), ids=PLACES)
def test_where_developer_messages_stand(said: list[str], sent: list[tuple[str, str]], late: str) -> None:
    items = [{"type": "message", "role": role, "content": text} for role, _, text in (line.partition(" ") for line in said)]
    messages = spelled(items, ChatRules(late_developer=late))["messages"]
    assert [(each["role"], each["content"]) for each in messages] == [(late if role == "LATE" else role, text) for role, text in sent]


FIRST, SECOND = (f"{number:048x}" for number in (1, 2))
ANSWERS: dict[str, tuple[bool, list[tuple[str, str]], list[str]]] = {
    "one answer": (True, [("message", FIRST), ("function_call", FIRST)], ["assistant hm+f", "tool"]),
    "no ids": (True, [("message", ""), ("function_call", "")], ["assistant hm+f", "tool"]),
    "an id and none": (True, [("message", FIRST), ("function_call", "")], ["assistant hm+f", "tool"]),
    "asked again": (True, [("message", FIRST), ("function_call", SECOND)], ["assistant hm", "user Go on.", "assistant +f", "tool"]),
    "asked again after thoughts alone": (True, [("reasoning", FIRST), ("function_call", SECOND)], ["assistant +f", "tool"]),
    "at the end": (True, [("message", FIRST)], ["assistant hm"]),
    "at the end, which may not be": (False, [("message", FIRST)], ["assistant hm", "user Go on."]),
    "a call at the end, which may be": (False, [("function_call", FIRST)], ["assistant +f", "tool"]),
}


@pytest.mark.requirement("chat.prefix")
@pytest.mark.parametrize(("ends", "said", "sent"), ANSWERS.values(), ids=ANSWERS)
def test_an_answer_behind_another_is_one_of_its_own(ends: bool, said: list[tuple[str, str]], sent: list[str]) -> None:
    forms: dict[str, dict[str, Any]] = {
        "message": {"role": "assistant", "content": "hm"},
        "reasoning": {"summary": [{"type": "summary_text", "text": "hm"}]},
        "function_call": {"call_id": "c", "name": "f", "arguments": "{}"},
    }
    items = [{"type": type, **forms[type], **({"id": f"x_{answer}_0"} if answer else {})} for type, answer in said]
    if said[-1][0] == "function_call":
        items.append({"type": "function_call_output", "call_id": "c", "output": "1"})
    messages = spelled([{"role": "user", "content": "go"}, *items], ChatRules(ends_with_answer=ends))["messages"][2:]
    assert [shown(message) for message in messages] == sent


def shown(message: dict[str, Any]) -> str:
    calls = "".join(f"+{call['function']['name']}" for call in message.get("tool_calls", ()))
    return f"{message['role']} {message['content'] or ''}{calls}" if message["role"] != "tool" else "tool"


@pytest.mark.requirement("responses.table-edits")
def test_a_role_that_nobody_knows_is_a_users_and_told() -> None:
    document = asked([{"role": "critic", "content": "No."}, {"role": "user", "content": "Yes."}])
    translated = chat.translate(document, ChatRules())
    messages, notes = translated.body.get("messages")[-2:], translated.notes
    assert [each["role"] for each in messages] == ["user", "user"]
    assert [note.where for note in notes if note.where.startswith("input")] == ["input[0].role"]


ARGUMENTS = {
    "an object": ('{"a": 1.0}', '{"a": 1.0}'),
    "nothing": ("", "{}"),
    "white space": (" \n", "{}"),
    "cut": ('{"a":', '{"arguments":"{\\"a\\":"}'),
    "not an object": ("[1]", '{"arguments":"[1]"}'),
    "words": ("ls -l", '{"arguments":"ls -l"}'),
}


@pytest.mark.parametrize(("given_arguments", "sent"), ARGUMENTS.values(), ids=ARGUMENTS)
def test_arguments_that_a_model_got_wrong_do_not_end_its_thread(given_arguments: str, sent: str) -> None:
    call = {"type": "function_call", "call_id": "c", "name": "exec_command", "arguments": given_arguments}
    messages = spelled([call, {"type": "function_call_output", "call_id": "c", "output": "failed to parse"}], ChatRules())["messages"]
    assert messages[1]["tool_calls"][0]["function"]["arguments"] == sent
