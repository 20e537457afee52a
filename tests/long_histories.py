"""Histories of a thousand items in which every type of item stands that there is, shuffled as far as that is legal. Data and chance only."""

import itertools
import random
from typing import Any

from antiphon.protocol import item_ids
from antiphon.protocol.item_views import ITEMS
from tests.histories import TOOLS, History, Item

LENGTH = 1_000
IMAGE = {"type": "input_image", "image_url": "data:image/png;base64,AA=="}
SEARCH: Item = {"type": "tool_search", "execution": "client", "description": "find", "parameters": {"type": "object", "properties": {}}}
DECLARED: list[Item] = [*TOOLS, SEARCH, {"type": "local_shell"}, {"type": "shell"}, {"type": "apply_patch"}]
FOUND: list[Item] = [
    {"type": "namespace", "name": f"mcp__{name}", "description": "", "tools": [
        {"type": "function", "name": "found", "defer_loading": True, "parameters": {"type": "object"}},
        {"type": "custom", "name": "drawn", "description": "draws"},
    ]}
    for name in ("late", "later")
]  # fmt: skip
"""Two servers with tools of the same names."""

CALLS: list[Item] = [
    {"type": "function_call", "name": "exec_command", "arguments": '{"cmd":"ls"}'},
    {"type": "function_call", "name": "tool", "namespace": "mcp__x", "arguments": "{}"},
    {"type": "function_call", "name": "exec_command", "namespace": "functions", "arguments": "not JSON"},
    {"type": "function_call", "name": "found", "namespace": "mcp__late", "arguments": '{"q":1}'},
    {"type": "function_call", "name": "found", "namespace": "mcp__later", "arguments": '{"q":2}'},
    {"type": "function_call", "name": "no longer there", "arguments": ""},
    {"type": "custom_tool_call", "name": "apply_patch", "input": "*** Begin Patch\n"},
    {"type": "custom_tool_call", "name": "free", "namespace": "mcp__x", "input": ""},
    {"type": "custom_tool_call", "name": "drawn", "namespace": "mcp__later", "input": '"\\u0000'},
    {"type": "custom_tool_call", "name": "js_repl", "input": "1+1"},
    {"type": "tool_search_call", "execution": "client", "status": "completed", "arguments": {"query": "x"}},
    {"type": "tool_search_call", "execution": "server", "status": "completed", "arguments": {"paths": ["x"]}},
    {"type": "local_shell_call", "status": "completed", "action": {"type": "exec", "command": ["ls"], "env": {}}},
    {"type": "shell_call", "status": "completed", "action": {"commands": ["ls"]}},
    {"type": "apply_patch_call", "status": "completed", "operation": {"type": "delete_file", "path": "a"}},
]
OUTPUTS = {"tool_search_call": "tool_search_output", "local_shell_call": "local_shell_call_output"}
"""What answers a call that has no other way to be answered; the others' own type is theirs with `_output` behind it."""
BODIES: list[Any] = [
    "text",
    "",
    [{"type": "input_text", "text": "a"}, IMAGE],
    {"content": "old form", "success": True},
    [{"type": "encrypted_content", "encrypted_content": "sealed"}, {"type": "input_text", "text": "b"}],
]
SHELL_BODY = [{"stdout": "a", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}]
ASIDE: list[Item] = [
    {"type": "ghost_snapshot", "ghost_commit": {"id": "a", "preexisting_untracked_dirs": [], "preexisting_untracked_files": []}},
    {"type": "compaction", "encrypted_content": "sealed"},
    {"type": "compaction", "encrypted_content": "We read a file."},
    {"type": "compaction_summary", "encrypted_content": "sealed"},
    {"type": "compaction_trigger"},
    {"type": "context_compaction"},
    {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "q"}},
    {"type": "file_search_call", "id": "fs_1", "status": "completed", "queries": ["q"], "results": None},
    {"type": "code_interpreter_call", "id": "ci_1", "status": "completed", "code": "1", "container_id": "c", "outputs": None},
    {"type": "computer_call", "id": "cu_1", "call_id": "cc", "status": "completed", "action": {"type": "screenshot"}},
    {"type": "computer_call_output", "call_id": "cc", "output": {"type": "computer_screenshot", "image_url": "data:image/png;base64,AA=="}},
    {"type": "image_generation_call", "id": "ig_1", "status": "completed", "result": "AA=="},
    {"type": "mcp_list_tools", "id": "m_1", "server_label": "x", "tools": []},
    {"type": "mcp_call", "id": "m_2", "server_label": "x", "name": "n", "arguments": "{}", "output": "o"},
    {"type": "mcp_approval_request", "id": "m_3", "server_label": "x", "name": "n", "arguments": "{}"},
    {"type": "mcp_approval_response", "approval_request_id": "m_3", "approve": True},
    {"type": "item_reference", "id": "msg_9"},
    {"type": "agent_message", "author": "a", "recipient": "b", "content": [{"type": "encrypted_content", "encrypted_content": "do"}]},
    {"type": "message", "role": "assistant", "content": '{"author":"a","recipient":"b","content":"do","trigger_turn":true}'},
    {"type": "function_call_output", "name": "clock", "output": "noon"},
    {"type": "function_call_output", "call_id": "of_nothing", "output": "?"},
    {"type": "configuration_update", "reasoning": {"effort": "low"}},
    {"type": "additional_tools", "role": "developer", "tools": [{"type": "function", "name": "later", "parameters": {"type": "object"}}]},
    {"type": "hologram", "unheard": "of"},
    {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "<model_switch>"}]},
    {"type": "message", "role": "system", "content": "note"},
    {"role": "user", "content": "short form"},
]
"""Items that may stand anywhere."""


def thousand(chance: random.Random) -> History:
    """Rounds of everything, until there are enough items and one of each type."""
    history = History([{"type": "message", "role": "developer", "content": "base"}, {"type": "message", "role": "user", "content": "go"}])
    numbers = itertools.count(1)
    while len(history.items) < LENGTH or missing(history.items):
        history.requests.append(len(history.items))
        if broke_off := chance.random() < 0.1:  # behind these words; the client sends them back with their ids and asks again
            history.items += said(chance, next(numbers), ids=True)
            history.requests.append(len(history.items))
        history.items += answer(chance, next(numbers), ids=broke_off or chance.random() < 0.5)
        history.items += chance.sample(ASIDE, chance.randint(0, 3))
        text = [{"type": "input_text", "text": "on"}]
        history.items.append({"type": "message", "id": chance.choice(["msg_1", "0", None]), "role": "user", "content": text})
    return history


def missing(items: list[Item]) -> set[str]:
    """The known types of items of which there is none."""
    return ITEMS.keys() - {item.get("type", "message") for item in items}


def said(chance: random.Random, number: int, *, ids: bool) -> list[Item]:
    """Thoughts and words of one answer, with the ids it gave them or without."""
    sealed = chance.choice([None, "sealed"])
    words: list[Item] = [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}], "encrypted_content": sealed},
        {
            "type": "message",
            "role": "assistant",
            "phase": "commentary",
            "content": [{"type": "output_text", "text": "so", "annotations": []}],
        },
    ]
    for place, one in enumerate(words if ids else ()):
        one["id"] = item_ids.made("msg", f"resp_{number:048x}", place)
    return words


def answer(chance: random.Random, number: int, *, ids: bool) -> list[Item]:
    """Thoughts, words and calls in any order, then their outputs in any order, with messages in between."""
    calls = [dict(call) for call in chance.sample(CALLS, chance.randint(0, 4))]
    for place, call in enumerate(calls):
        call["call_id"] = f"call_{number if chance.random() < 0.8 else 0}_{place}"
        if call.get("execution") == "server":
            call["call_id"] = None
        if ids:
            call["id"] = item_ids.made("fc", f"resp_{number:048x}", place)
    told = [*said(chance, number, ids=ids), *calls]
    chance.shuffle(told)
    back = [output(call, chance) for call in calls if chance.random() < 0.95]
    chance.shuffle(back)
    if back and chance.random() < 0.3:
        back.insert(chance.randrange(len(back) + 1), {"type": "message", "role": "developer", "content": "meanwhile"})
    return [*told, *back]


def output(call: Item, chance: random.Random) -> Item:
    type = OUTPUTS.get(call["type"]) or chance.choice([f"{call['type']}_output", "function_call_output"])
    made: Item = {"type": type, "call_id": call["call_id"]}
    if type == "tool_search_output":
        return made | {"execution": call["execution"], "status": "completed", "tools": FOUND}
    return made | {"output": chance.choice([*BODIES, SHELL_BODY] if type == "shell_call_output" else BODIES)}
