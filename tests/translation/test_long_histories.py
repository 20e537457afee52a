"""A thousand items of every type there is, in legal orders: strict servers take what every dialect makes of them, and its prefix holds."""

import json
import random
import re
from itertools import pairwise
from typing import Any

import pytest

from antiphon.protocol import request
from antiphon.translation import chat, responses
from antiphon.translation.dialect import ChatRules, Dialect
from antiphon.translation.presets import DIALECTS
from tests.histories import Item
from tests.long_histories import DECLARED, LENGTH, missing, thousand
from tests.scripted import chat_rules, responses_rules

HISTORIES = {seed: thousand(random.Random(seed)) for seed in range(3)}
RESPONSES = [name for name, dialect in DIALECTS.items() if not dialect.responses.verbatim]
SEEDS = [(name, number % len(HISTORIES)) for number, name in enumerate(DIALECTS)]


def translated(items: list[Item], dialect: Dialect, api: str, tools: list[Item] = DECLARED) -> Item:
    asked = {"model": "m", "stream": True, "input": items, "tools": tools, "tool_choice": "auto", "parallel_tool_calls": False}
    document, _ = request.open_body(json.dumps(asked).encode())
    if api == "chat":
        return json.loads(bytes(chat.translate(document, dialect.chat).body))
    return json.loads(bytes(responses.translate(document, request.view(document), dialect.responses).body))


def plain(sent: Item, rules: ChatRules) -> Item:
    """The request without what is this server's own: fields, the role of late developer messages, where thoughts go."""
    for message in sent["messages"]:
        for thought in ("thinking", rules.reasoning_back):
            message.pop(thought, None)
        if message["role"] == rules.late_developer == "developer":
            message["role"] = "user"
        if isinstance(message.get("content"), list):
            message["content"] = [part for part in message["content"] if part["type"] != "thinking"] or None
        if message["role"] == "assistant" and not message.get("content") and "tool_calls" not in message:
            message["content"] = "(only thoughts)"
    return {field: value for field, value in sent.items() if field in chat_rules.FIELDS}


def own_rules(sent: Item, rules: ChatRules) -> list[str]:
    """Where a request breaks what its own server wants."""
    roles = [message["role"] for message in sent["messages"]]
    ids = [call["id"] for message in sent["messages"] for call in message.get("tool_calls", ())]
    exact = re.compile(rf"[A-Za-z0-9]{{{rules.call_id_limit}}}")
    broken = [f"{pair} touch" for pair in pairwise(roles) if pair in rules.apart]
    broken += [f"the id {id} is too long" for id in ids if rules.call_id_limit and len(id) > rules.call_id_limit]
    broken += [f"the id {id} is not exact" for id in ids if rules.call_ids_exact and exact.fullmatch(id) is None]
    broken += ["the model has the last word"] if roles[-1] == "assistant" and not rules.ends_with_answer else []
    return broken + (["an id for two calls"] if len(set(ids)) < len(ids) else [])


@pytest.mark.parametrize("seed", HISTORIES)
def test_the_histories_are_long_and_hold_everything(seed: int) -> None:
    assert len(HISTORIES[seed].items) >= LENGTH
    assert missing(HISTORIES[seed].items) == set()


@pytest.mark.requirement("chat.pairing", "tools.round-trip")
@pytest.mark.parametrize("tools", [DECLARED, []], ids=["tools", "no tools"])
@pytest.mark.parametrize(("name", "seed"), SEEDS)
def test_a_strict_chat_server_takes_it(name: str, seed: int, tools: list[Item]) -> None:
    rules = DIALECTS[name].chat
    sent = translated(HISTORIES[seed].items, DIALECTS[name], "chat", tools)
    assert own_rules(sent, rules) == []
    assert chat_rules.refusal(plain(sent, rules)) is None
    assert len(sent["messages"]) > LENGTH / 3


@pytest.mark.requirement("responses.table-edits")
@pytest.mark.parametrize("tools", [DECLARED, []], ids=["tools", "no tools"])
@pytest.mark.parametrize(("name", "seed"), [one for one in SEEDS if one[0] in RESPONSES])
def test_a_strict_responses_server_takes_it(name: str, seed: int, tools: list[Item]) -> None:
    sent = translated(HISTORIES[seed].items, DIALECTS[name], "responses", tools)
    assert responses_rules.refusal(sent, strict=True) is None
    assert len(sent["input"]) > LENGTH / 3


@pytest.mark.requirement("chat.prefix")
@pytest.mark.parametrize(
    ("api", "name", "seed"), [("chat", *one) for one in SEEDS] + [("responses", *one) for one in SEEDS if one[0] in RESPONSES]
)
def test_what_was_sent_before_stays_where_it_was(api: str, name: str, seed: int) -> None:
    items, ends, before = HISTORIES[seed].items, HISTORIES[seed].requests, list[Any]()
    broke_off = [end for end in ends if items[end - 1].get("role") == "assistant"][:3]
    for end in sorted({*ends[:: len(ends) // 6], *broke_off}):
        said = translated(items[:end], DIALECTS[name], api)["messages" if api == "chat" else "input"]
        assert said[: len(before)] == before
        before = said
