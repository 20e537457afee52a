"""Items and tools of Codex's other days and other models: shells, agents, tools inside the input, settings in the middle."""

import json
from typing import Any

import pytest

from antiphon.protocol.document import Document
from antiphon.protocol.event_views import Event
from antiphon.protocol.request import open_body, view
from antiphon.protocol.stream_validator import StreamValidator
from antiphon.stages.restore import Restore
from antiphon.translation import chat, responses
from antiphon.translation.dialect import ChatRules, ResponsesRules
from antiphon.translation.translated import Translated

USER = {"type": "message", "role": "user", "content": "go"}


def translated(items: list[dict[str, Any]], rules: ChatRules | None = None, **settings: Any) -> Translated:
    document, _ = open_body(json.dumps({"model": "m", "input": [USER, *items], **settings}).encode())
    return chat.translate(document, rules or ChatRules())


def messages(items: list[dict[str, Any]], rules: ChatRules | None = None, **settings: Any) -> list[dict[str, Any]]:
    return translated(items, rules, **settings).body.get("messages")[1:]


def call(name: str, arguments: str) -> Document:
    return Document.of({"type": "function_call", "id": "fc_1", "call_id": "c", "status": "completed", "name": name, "arguments": arguments})


PATCH = {"type": "update_file", "path": "a.txt", "diff": "@@\n-a\n+b"}


@pytest.mark.requirement("tools.shell")
@pytest.mark.parametrize(
    ("item", "output", "arguments", "said"),
    [
        (
            {
                "type": "local_shell_call",
                "call_id": "c",
                "status": "completed",
                "action": {"type": "exec", "command": ["ls", "-l"], "timeout_ms": 5},
            },
            {"type": "local_shell_call_output", "call_id": "c", "output": "a.txt"},
            {"command": ["ls", "-l"], "timeout_ms": 5},
            "a.txt",
        ),
        (
            {"type": "local_shell_call", "id": "lsh_1", "status": "completed", "action": {"type": "exec", "command": ["ls"]}},
            {"type": "local_shell_call_output", "id": "lsh_1", "output": "b.txt"},
            {"command": ["ls"]},
            "b.txt",
        ),
        (
            {"type": "shell_call", "call_id": "c", "status": "completed", "action": {"commands": ["ls"]}},
            {
                "type": "shell_call_output",
                "call_id": "c",
                "output": [{"stdout": "c.txt", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}],
            },
            {"commands": ["ls"]},
            '{"stdout": "c.txt", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}',
        ),
        (
            {"type": "apply_patch_call", "call_id": "c", "status": "completed", "operation": PATCH},
            {"type": "apply_patch_call_output", "call_id": "c", "status": "failed", "output": "no such file"},
            PATCH,
            "no such file",
        ),
        (
            {"type": "apply_patch_call", "call_id": "c", "status": "completed", "operation": {"type": "delete_file", "path": "a"}},
            {"type": "apply_patch_call_output", "call_id": "c", "status": "completed"},
            {"type": "delete_file", "path": "a"},
            "completed",
        ),
    ],
    ids=["local_shell", "local_shell by id", "shell", "apply_patch", "apply_patch, not a word"],
)
def test_a_shell_call_of_the_past_is_a_function_call(
    item: dict[str, Any], output: dict[str, Any], arguments: dict[str, Any], said: str
) -> None:
    asked, answered = messages([item, output])
    (made,) = asked["tool_calls"]
    assert json.loads(made["function"]["arguments"]) == arguments
    assert (answered["tool_call_id"], answered["content"]) == (made["id"], said)


@pytest.mark.requirement("tools.shell")
@pytest.mark.parametrize(
    ("kind", "arguments", "action"),
    [
        ("local_shell", '{"command":["ls"],"timeout_ms":9}', {"type": "exec", "env": {}, "command": ["ls"], "timeout_ms": 9}),
        ("local_shell", '{"command":"ls -l"}', {"type": "exec", "env": {}, "command": ["bash", "-lc", "ls -l"]}),
        ("shell", '{"commands":["ls","pwd"]}', {"commands": ["ls", "pwd"]}),
        ("shell", "ls", {"commands": ["ls"]}),
    ],
    ids=["words", "a line", "commands", "no JSON"],
)
def test_a_shell_call_comes_back_as_what_the_client_runs(kind: str, arguments: str, action: dict[str, Any]) -> None:
    turn = translated([], tools=[{"type": kind}])
    assert [tool["function"]["name"] for tool in turn.body.get("tools")] == [kind]
    raised = turn.registry.raised_call(call(kind, arguments))
    assert (raised.text("type"), raised.get("action"), raised.text("call_id")) == (f"{kind}_call", action, "c")


@pytest.mark.requirement("tools.shell")
@pytest.mark.parametrize(("arguments", "operation"), [(json.dumps(PATCH), PATCH), ("+a", {"diff": "+a"})], ids=["an operation", "no JSON"])
def test_a_patch_comes_back_as_what_the_client_applies(arguments: str, operation: dict[str, Any]) -> None:
    turn = translated([], tools=[{"type": "apply_patch"}])
    assert [tool["function"]["name"] for tool in turn.body.get("tools")] == ["apply_patch"]
    raised = turn.registry.raised_call(call("apply_patch", arguments))
    assert (raised.text("type"), raised.get("operation"), raised.text("call_id")) == ("apply_patch_call", operation, "c")


@pytest.mark.requirement("tools.additional")
def test_tools_declared_in_the_input_are_tools() -> None:
    members = [
        {"type": "custom", "name": "exec", "description": "js"},
        {"type": "function", "name": "wait", "parameters": {"type": "object"}},
    ]
    lite = {
        "type": "additional_tools",
        "role": "developer",
        "tools": [{"type": "namespace", "name": "functions", "description": "", "tools": members}],
    }
    turn = translated([lite])
    assert [tool["function"]["name"] for tool in turn.body.get("tools")] == ["functions__exec", "functions__wait"]
    assert turn.body.get("messages") == [{"role": "user", "content": "go"}]
    raised = turn.registry.raised_call(call("functions__exec", '{"input":"1+1"}'))
    assert [raised.text(name) for name in ("type", "namespace", "name", "input")] == ["custom_tool_call", "functions", "exec", "1+1"]


@pytest.mark.requirement("items.agents")
def test_a_message_between_agents_is_read_as_text() -> None:
    content = [{"type": "input_text", "text": "Task: "}, {"type": "encrypted_content", "encrypted_content": "look"}]
    (message,) = messages([{"type": "agent_message", "author": "/main", "recipient": "/main/a", "content": content}])[-1:]
    assert message["role"] == "user"
    assert "Task: look" in message["content"]


ENVELOPE = {"author": "/main", "recipient": "/main/a", "other_recipients": [], "content": "look", "trigger_turn": True}


@pytest.mark.requirement("items.agents")
@pytest.mark.parametrize(
    ("role", "text", "sent"),
    [
        ("assistant", json.dumps(ENVELOPE), ("user", "Message from /main to /main/a:\nlook")),
        ("user", json.dumps(ENVELOPE), ("user", json.dumps(ENVELOPE))),
        ("assistant", "Its trigger_turn is unset.", ("assistant", "Its trigger_turn is unset.")),
        ("assistant", '{"trigger_turn": true}', ("assistant", '{"trigger_turn": true}')),
    ],
    ids=["an agent's", "a user's", "words", "other JSON"],
)
def test_the_envelope_of_an_agents_message_in_older_versions_is_opened(role: str, text: str, sent: tuple[str, str]) -> None:
    (message,) = messages([{"type": "message", "role": role, "content": [{"type": "output_text", "text": text}]}])
    assert (message["role"], message["content"]) == sent


@pytest.mark.requirement("items.agents")
def test_a_tool_event_without_a_call_is_a_message() -> None:
    (message,) = messages([{"type": "function_call_output", "name": "clock", "output": "noon"}])
    assert message["role"] == "user"
    assert "clock" in message["content"]
    assert "noon" in message["content"]


SEALED = "gAAAAABo" + "x1_-" * 60
SHOWN: dict[str, tuple[dict[str, Any], tuple[str, str] | None, str]] = {
    "sealed compaction": ({"type": "compaction", "encrypted_content": SEALED}, None, "dropped"),
    "its other name": ({"type": "compaction_summary", "encrypted_content": SEALED}, None, "dropped"),
    "an older form": ({"type": "context_compaction", "encrypted_content": SEALED}, None, "dropped"),
    "an older form without anything": ({"type": "context_compaction"}, None, "dropped"),
    "compaction that nobody sealed": (
        {"type": "compaction", "encrypted_content": "We read a file."},
        ("user", "Summary of the conversation so far:\nWe read a file."),
        "",
    ),
    "compaction with a summary": (
        {"type": "compaction", "encrypted_content": SEALED, "summary": [{"type": "summary_text", "text": "We read."}]},
        ("user", "Summary of the conversation so far:\nWe read."),
        "",
    ),
    "a sealed message of an agent": (
        {"type": "agent_message", "author": "a", "recipient": "b", "content": [{"type": "encrypted_content", "encrypted_content": SEALED}]},
        ("user", "Message from a to b:\n[sealed: only its maker can read it]"),
        "",
    ),
    "an image": (
        {"type": "image_generation_call", "id": "ig_1", "status": "completed", "revised_prompt": "a cat", "result": "AA=="},
        ("assistant", "[I generated an image here: a cat]"),
        "changed",
    ),
    "an image of nothing told": (
        {"type": "image_generation_call", "status": "completed", "result": "AA=="},
        ("assistant", "[I generated an image here.]"),
        "changed",
    ),
    "a web search": ({"type": "web_search_call", "status": "completed", "action": {"type": "search", "query": "q"}}, None, "dropped"),
}


@pytest.mark.requirement("items.foreign")
@pytest.mark.parametrize(("item", "sent", "told"), SHOWN.values(), ids=SHOWN)
def test_what_another_server_made_is_shown_as_far_as_it_can_be_read_and_told(
    item: dict[str, Any], sent: tuple[str, str] | None, told: str
) -> None:
    turn = translated([item])
    assert [(each["role"], each["content"]) for each in turn.body.get("messages")[1:]] == ([sent] if sent else [])
    assert [f"{note.kind} {note.where}" for note in turn.notes] == ([f"{told} input[1]"] if told else [])


@pytest.mark.requirement("tools.shell")
@pytest.mark.parametrize(("where", "there"), [("local", True), ("container_auto", False), ("container_reference", False)])
def test_a_shell_in_a_container_of_the_server_is_nobody_elses_to_run(where: str, *, there: bool) -> None:
    turn = translated([], tools=[{"type": "shell", "environment": {"type": where}}])
    assert ("tools" in turn.body) is there
    assert [note.where for note in turn.notes] == ([] if there else ["tools[0]"])


@pytest.mark.requirement("names.history")
@pytest.mark.parametrize("declared", [None, "functions"])
@pytest.mark.parametrize("called", [None, "functions"])
def test_a_call_is_the_same_with_and_without_the_namespace_of_all_functions(declared: str | None, called: str | None) -> None:
    tool = {"type": "function", "name": "run", "parameters": {"type": "object"}}
    tools = [tool] if declared is None else [{"type": "namespace", "name": declared, "description": "", "tools": [tool]}]
    past = {"type": "function_call", "call_id": "c", "name": "run", "arguments": "{}", **({"namespace": called} if called else {})}
    body = translated([past], tools=tools).body
    assert body.get("messages")[1]["tool_calls"][0]["function"]["name"] == body.get("tools")[0]["function"]["name"]


@pytest.mark.requirement("items.odd")
def test_an_id_that_is_none_is_not_sent_on() -> None:
    items = [{**USER, "id": id} for id in (None, "", "0", "msg_1")]
    document, _ = open_body(json.dumps({"model": "m", "input": items}).encode())
    turn = responses.translate(document, view(document), ResponsesRules())
    assert [item.get("id", "absent") for item in turn.body.get("input")] == ["absent", "absent", "0", "msg_1"]
    assert turn.notes == []


@pytest.mark.requirement("items.settings")
@pytest.mark.parametrize("given", [{"reasoning": {"effort": "low", "summary": "auto"}}, {}], ids=["another", "none"])
def test_a_configuration_update_reaches_a_responses_server_as_the_effort(given: dict[str, Any]) -> None:
    updates = [{"type": "configuration_update", "reasoning": {"effort": effort}} for effort in ("high", "medium")]
    document, _ = open_body(json.dumps({"model": "m", "input": [*updates[:1], USER, *updates[1:]], **given}).encode())
    turn = responses.translate(document, view(document), ResponsesRules())
    assert turn.body.get("reasoning") == {**given.get("reasoning", {}), "effort": "medium"}
    assert turn.body.get("input") == [USER]
    assert turn.notes == []


@pytest.mark.requirement("items.settings")
def test_a_configuration_update_changes_the_effort_and_is_not_shown() -> None:
    update = {"type": "configuration_update", "reasoning": {"effort": "high"}}
    turn = translated([update], reasoning={"effort": "low"})
    assert turn.body.get("reasoning_effort") == "high"
    assert turn.notes == []


@pytest.mark.requirement("chat.reasoning-back")
@pytest.mark.parametrize(
    ("field", "shown"),
    [("", None), ("reasoning_content", "hm"), ("reasoning", "hm"), ("<think>", None)],
)
def test_thoughts_return_on_turns_with_calls(field: str, shown: str | None) -> None:
    thought = {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "hm"}], "encrypted_content": None}
    made = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
    answer = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "done"}]}
    rules = ChatRules(reasoning_back=field)
    asked, _, last = messages([thought, made, {"type": "function_call_output", "call_id": "c", "output": "1"}, thought, answer], rules)
    assert {name: asked.get(name) for name in ("reasoning_content", "reasoning") if name in asked} == ({field: shown} if shown else {})
    assert (asked["content"] or "").startswith("<think>\nhm\n</think>") is (field == "<think>")
    assert last == {"role": "assistant", "content": "done"}


@pytest.mark.requirement("tools.discovery")
def test_a_streamed_dispatched_call_is_one_call_of_the_found_tool() -> None:
    found = {
        "type": "namespace",
        "name": "mcp__a",
        "description": "",
        "tools": [{"type": "function", "name": "echo", "parameters": {"type": "object"}}],
    }
    past = [
        {"type": "tool_search_call", "call_id": "s", "execution": "client", "arguments": {"query": "e"}},
        {"type": "tool_search_output", "call_id": "s", "execution": "client", "status": "completed", "tools": [found]},
    ]
    restore = Restore(translated(past, tools=[{"type": "tool_search", "execution": "client"}]).registry, {})
    item = {"type": "function_call", "id": "fc_1", "call_id": "c", "status": "in_progress", "name": "call_tool", "arguments": ""}
    arguments = '{"name":"mcp__a__echo","arguments":{"q":1}}'
    places = {"item_id": "fc_1", "output_index": 0}
    stream = [
        Event.made("response.created", {"response": {}}),
        Event.made("response.output_item.added", {"output_index": 0, "item": item}),
        Event.made("response.function_call_arguments.delta", {**places, "delta": arguments}),
        Event.made("response.function_call_arguments.done", {**places, "arguments": arguments}),
        Event.made("response.output_item.done", {"output_index": 0, "item": {**item, "status": "completed", "arguments": arguments}}),
    ]
    seen = [event for one in stream for event in restore.feed(one)]
    validator = StreamValidator()
    assert [note for event in seen for note in validator.feed(event)] == []
    assert [event.type.rpartition(".")[2] for event in seen] == ["created", "added", "delta", "done", "done"]
    done = seen[-1].get("item")
    assert [done[name] for name in ("type", "namespace", "name", "arguments")] == ["function_call", "mcp__a", "echo", '{"q":1}']
