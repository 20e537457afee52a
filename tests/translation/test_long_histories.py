"""A thousand items of every type there is, in legal orders: strict servers take what every dialect makes of them, and its prefix holds."""

import json
import random
from typing import Any

import pytest

from antiphon.protocol import request
from antiphon.translation import chat, responses
from antiphon.translation.dialect import Dialect
from antiphon.translation.presets import DIALECTS
from tests.histories import TOOLS
from tests.scripted import chat_rules, responses_rules

Item = dict[str, Any]

ITEMS = 1_000
SEARCH = {"type": "tool_search", "execution": "client", "description": "find", "parameters": {"type": "object", "properties": {}}}
DECLARED = [*TOOLS, SEARCH, {"type": "local_shell"}, {"type": "shell"}]
FOUND = [
    {
        "type": "namespace",
        "name": "mcp__late",
        "description": "",
        "tools": [{"type": "function", "name": "found", "parameters": {"type": "object"}}],
    }
]

CALLS: list[Item] = [
    {"type": "function_call", "name": "exec_command", "arguments": '{"cmd":"ls"}'},
    {"type": "function_call", "name": "tool", "namespace": "mcp__x", "arguments": "{}"},
    {"type": "function_call", "name": "found", "namespace": "mcp__late", "arguments": '{"q":1}'},
    {"type": "function_call", "name": "no longer there", "arguments": ""},
    {"type": "custom_tool_call", "name": "apply_patch", "input": "*** Begin Patch\n"},
    {"type": "custom_tool_call", "name": "free", "namespace": "mcp__x", "input": ""},
    {"type": "tool_search_call", "execution": "client", "status": "completed", "arguments": {"query": "x"}},
    {"type": "local_shell_call", "status": "completed", "action": {"type": "exec", "command": ["ls"]}},
    {"type": "shell_call", "status": "completed", "action": {"commands": ["ls"]}},
]
OUTPUTS = {"local_shell_call": "local_shell_call_output", "shell_call": "shell_call_output", "tool_search_call": "tool_search_output"}
BODIES: list[Any] = [
    "text",
    [{"type": "input_text", "text": "a"}, {"type": "input_image", "image_url": "data:image/png;base64,AA=="}],
    {"content": "old form", "success": True},
    [{"type": "encrypted_content", "encrypted_content": "sealed"}, {"type": "input_text", "text": "b"}],
]
ASIDE: list[Item] = [
    {"type": "ghost_snapshot", "ghost_commit": {"id": "a", "preexisting_untracked_dirs": [], "preexisting_untracked_files": []}},
    {"type": "compaction", "encrypted_content": "sealed"},
    {"type": "compaction_summary", "encrypted_content": "sealed"},
    {"type": "context_compaction"},
    {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "q"}},
    {"type": "image_generation_call", "id": "ig_1", "status": "completed", "result": "AA=="},
    {"type": "agent_message", "author": "a", "recipient": "b", "content": [{"type": "encrypted_content", "encrypted_content": "do"}]},
    {"type": "function_call_output", "name": "clock", "output": "noon"},
    {"type": "function_call_output", "call_id": "of_nothing", "output": "?"},
    {"type": "configuration_update", "reasoning": {"effort": "low"}},
    {"type": "additional_tools", "role": "developer", "tools": [{"type": "function", "name": "later", "parameters": {"type": "object"}}]},
    {"type": "mcp_list_tools", "server_label": "x", "tools": []},
    {"type": "hologram", "unheard": "of"},
    {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "<model_switch>"}]},
    {"type": "message", "role": "system", "content": "note"},
    {"role": "user", "content": "short form"},
]


def thousand(chance: random.Random) -> list[Item]:
    """Rounds of everything, until there are enough items."""
    items: list[Item] = [{"type": "message", "role": "developer", "content": "base"}, {"type": "message", "role": "user", "content": "go"}]
    while len(items) < ITEMS:
        items += spoken(chance, len(items))
        items += chance.sample(ASIDE, chance.randint(0, 3))
        items.append(
            {
                "type": "message",
                "id": chance.choice(["msg_1", "0", None]),
                "role": "user",
                "content": [{"type": "input_text", "text": "on"}],
            }
        )
    return items


def spoken(chance: random.Random, number: int) -> list[Item]:
    """A round of the model's: thoughts, words and calls in any order, then their outputs in any order, with messages in between."""
    calls = [dict(call) for call in chance.sample(CALLS, chance.randint(0, 4))]
    for place, call in enumerate(calls):
        call["call_id"] = f"call_{number if chance.random() < 0.8 else 0}_{place}"
    said: list[Item] = [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}], "encrypted_content": chance.choice([None, "sealed"])},
        {
            "type": "message",
            "role": "assistant",
            "phase": "commentary",
            "content": [{"type": "output_text", "text": "so", "annotations": []}],
        },
        *calls,
    ]
    chance.shuffle(said)
    back = [output(call, chance) for call in calls if chance.random() < 0.95]
    chance.shuffle(back)
    if back and chance.random() < 0.3:
        back.insert(chance.randrange(len(back) + 1), {"type": "message", "role": "developer", "content": "meanwhile"})
    return [*said, *back]


def output(call: Item, chance: random.Random) -> Item:
    type = OUTPUTS.get(call["type"]) or chance.choice([f"{call['type']}_output", "function_call_output"])
    if type == "tool_search_output":
        return {"type": type, "call_id": call["call_id"], "execution": "client", "status": "completed", "tools": FOUND}
    return {"type": type, "call_id": call["call_id"], "output": chance.choice(BODIES)}


def body(items: list[Item]) -> bytes:
    return json.dumps({"model": "m", "stream": True, "input": items, "tools": DECLARED, "tool_choice": "auto"}).encode()


def translated(items: list[Item], dialect: Dialect, api: str) -> Item:
    document, _ = request.open_body(body(items))
    if api == "chat":
        return json.loads(bytes(chat.translate(document, dialect.chat).body))
    return json.loads(bytes(responses.translate(document, request.view(document), dialect.responses).body))


SEEDS = [("chat", seed) for seed in range(4)] + [(name, 4 + number) for number, name in enumerate(DIALECTS)]


@pytest.mark.requirement("chat.pairing", "tools.round-trip")
@pytest.mark.parametrize(("name", "seed"), SEEDS)
def test_a_strict_chat_server_takes_it(name: str, seed: int) -> None:
    dialect = DIALECTS[name].but(chat={"reasoning_back": ""}, responses={})  # where thoughts go is each server's own
    whole = translated(thousand(random.Random(seed)), dialect, "chat")
    sent = {field: value for field, value in whole.items() if field in chat_rules.FIELDS}
    if dialect.chat.late_developer == "developer":  # a dialect that knows the role may use it, which the strict server does not
        for message in sent["messages"]:
            message["role"] = "user" if message["role"] == "developer" else message["role"]
    assert chat_rules.refusal(sent) is None
    assert len(sent["messages"]) > ITEMS / 3


@pytest.mark.requirement("responses.table-edits")
@pytest.mark.parametrize(("name", "seed"), [one for one in SEEDS if not DIALECTS[one[0]].responses.verbatim])
def test_a_strict_responses_server_takes_it(name: str, seed: int) -> None:
    sent = translated(thousand(random.Random(seed)), DIALECTS[name], "responses")
    assert responses_rules.refusal(sent, strict=True) is None


@pytest.mark.requirement("chat.prefix")
def test_what_was_sent_before_stays_where_it_was() -> None:
    items = [item for item in thousand(random.Random(9)) if item.get("type") not in ("additional_tools", "configuration_update")]
    ends = [place for place, item in enumerate(items) if item.get("role") == "user" and item.get("content") != "short form"]
    before: list[Any] = []
    for end in ends[:: len(ends) // 12]:
        now = translated(items[: end + 1], DIALECTS["chat"], "chat")
        assert now["messages"][: len(before)] == before
        before = now["messages"]
