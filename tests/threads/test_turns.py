import json
from pathlib import Path
from typing import Any

import pytest

from antiphon.threads.thread import Thread
from antiphon.threads.turns import Turn
from tests.threads.recorded import RECORDED, Recorded
from tests.threads.samples import (
    FLAT,
    TYPESCRIPT,
    Json,
    assistant,
    compacted,
    event,
    item,
    line,
    message,
    meta,
    rolled_back,
    spelled,
    turn,
    user,
)
from tests.threads.test_file import put

WORK = [one for one in RECORDED if one.name == "work"]


def shown(folder: Path, *lines: Json, complete: bool = True) -> list[Turn]:
    return list(Thread.open(put(folder, spelled(meta(), *lines)).path).turns(complete=complete))


def kinds(turns: list[Turn]) -> list[list[str]]:
    return [[str(one.text("type")) for one in each.items] for each in turns]


def call(name: str, arguments: Any, call_id: str = "c1", **more: Any) -> Json:
    return item({"type": "function_call", "name": name, "arguments": json.dumps(arguments), "call_id": call_id, **more})


def output(text: Any, call_id: str = "c1", type: str = "function_call_output") -> Json:
    return item({"type": type, "call_id": call_id, "output": text})


def one_item(folder: Path, *lines: Json) -> Json:
    """The only item besides the user's words."""
    [turn] = shown(folder, *user("do it"), *lines)
    return json.loads(bytes(turn.items[-1]))


@pytest.mark.parametrize("recorded", WORK, ids=[one.version for one in WORK])
@pytest.mark.requirement("threads.turns")
def test_every_version_s_commands_patches_and_calls_are_shown(recorded: Recorded) -> None:
    first, *more = recorded.thread().turns()
    items = {str(one.text("type")): one for one in first.items}
    command = items["commandExecution"]
    assert "cat greeting.txt" in (command.text("command") or "")
    assert (command.text("aggregatedOutput"), command.get("exitCode"), command.text("status")) == ("hello\n", 0, "completed")
    assert [Path(change["path"]).name for change in items["fileChange"].get("changes")] == ["greeting.txt", "notes.txt"]
    assert [change["kind"]["type"] for change in items["fileChange"].get("changes")] == ["update", "add"]
    assert "+good morning" in items["fileChange"].get("changes")[0]["diff"]
    called = items["mcpToolCall"]
    assert called.text("server") == "echo"
    assert "polo" in json.dumps(called.get("result")["content"])
    assert [one.text("text") for one in first.items if one.text("type") == "agentMessage"] == ["I will look.", "All is done."]
    assert [one.get("summary") for one in first.items if one.text("type") == "reasoning"] == [["A file is wanted."], ["That is all."]]
    assert {part["type"] for turn in more for part in turn.items[0].get("content")} & {"image", "localImage"}


@pytest.mark.requirement("threads.turns")
def test_a_file_without_events_is_shown_as_well(tmp_path: Path) -> None:
    flat = list(Thread.open(put(tmp_path, spelled(*FLAT)).path).turns())
    assert kinds(flat) == [["userMessage", "commandExecution", "agentMessage"]]
    assert flat[0].items[1].text("aggregatedOutput") == "a\nb\n"
    old = list(Thread.open(put(tmp_path, json.dumps(TYPESCRIPT, indent=2).encode()).path).turns())
    assert kinds(old) == [["userMessage", "agentMessage"]]
    assert old[0].items[0].get("content")[0]["text"] == "say hello"


@pytest.mark.requirement("threads.turns")
def test_a_thread_that_was_begun_from_a_history_shows_that_too(tmp_path: Path) -> None:
    lines = [message("user", "before"), message("assistant", "answered"), *turn("t", *user("now"), *assistant("yes"))]
    assert kinds(shown(tmp_path, *lines)) == [["userMessage", "agentMessage"], ["userMessage", "agentMessage"]]
    assert kinds(shown(tmp_path, *lines, complete=False)) == [["userMessage", "agentMessage"]]


@pytest.mark.requirement("threads.turns")
@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        pytest.param([call("shell", {"command": ["bash", "-lc", "ls"]}), output('{"output":"a\\n","metadata":{"exit_code":1,"duration_seconds":0.5}}')],
                     {"type": "commandExecution", "command": "bash -lc ls", "aggregatedOutput": "a\n", "exitCode": 1, "status": "failed", "durationMs": 500},
                     id="2025"),
        pytest.param([call("shell_command", {"command": "ls", "workdir": "/x"}), output("Exit code: 0\nWall time: 1.5 seconds\nOutput:\na\n")],
                     {"command": "ls", "cwd": "/x", "aggregatedOutput": "a\n", "exitCode": 0, "status": "completed", "durationMs": 1500}, id="early 2026"),
        pytest.param([call("exec_command", {"cmd": "ls"}),
                      output("Chunk ID: 9d74ea\nWall time: 0.4769 seconds\nProcess exited with code 2\nOriginal token count: 18\nOutput:\na\n")],
                     {"command": "ls", "aggregatedOutput": "a\n", "exitCode": 2, "status": "failed"}, id="late 2026"),
        pytest.param([item({"type": "local_shell_call", "call_id": "c1", "status": "completed", "action": {"type": "exec", "command": ["ls", "a b"]}})],
                     {"type": "commandExecution", "command": "ls 'a b'", "status": "inProgress"}, id="local shell, never answered"),
        pytest.param([call("apply_patch", {"input": "*** Begin Patch\n*** Delete File: a\n*** End Patch"}), output("ok")],
                     {"type": "fileChange", "changes": [{"path": "a", "kind": {"type": "delete"}, "diff": ""}], "status": "completed"}, id="patch"),
        pytest.param([call("shell", {"command": ["bash", "-lc", "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: b\n+x\n*** End Patch\nEOF"]}), output("ok")],
                     {"type": "fileChange", "changes": [{"path": "b", "kind": {"type": "add"}, "diff": "x\n"}]}, id="patch on a command line"),
        pytest.param([item({"type": "custom_tool_call", "call_id": "c1", "name": "apply_patch",
                            "input": "*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@\n-x\n+y\n*** End Patch"}),
                      output("apply_patch verification failed: no", type="custom_tool_call_output")],
                     {"changes": [{"path": "a", "kind": {"type": "update", "move_path": "b"}, "diff": "@@\n-x\n+y\n"}], "status": "failed"}, id="failed patch"),
        pytest.param([call("lookup", {"id": 1}, namespace="mcp__tickets__"), output([{"type": "input_text", "text": "found"}])],
                     {"type": "mcpToolCall", "server": "tickets", "tool": "lookup", "arguments": {"id": 1}, "status": "completed"}, id="mcp"),
        pytest.param([call("update_plan", {"plan": []}), output("Plan updated")],
                     {"type": "dynamicToolCall", "tool": "update_plan", "contentItems": [{"type": "inputText", "text": "Plan updated"}]}, id="any tool"),
        pytest.param([call("view_image", {"path": "/x/a.png"})], {"type": "imageView", "path": "/x/a.png"}, id="picture"),
        pytest.param([item({"type": "custom_tool_call", "call_id": "c1", "name": "js_repl", "input": "1"}),
                      output([{"type": "input_image", "image_url": "data:image/png;base64,AA"}], type="custom_tool_call_output")],
                     {"type": "dynamicToolCall", "contentItems": [{"type": "inputImage", "imageUrl": "data:image/png;base64,AA"}]}, id="js_repl"),
        pytest.param([item({"type": "web_search_call", "id": "ws_1", "action": {"type": "search", "query": "q"}})],
                     {"type": "webSearch", "query": "q", "id": "ws_1"}, id="web search"),
        pytest.param([call("shell", "no arguments"), output({"body": "x"})], {"type": "commandExecution", "aggregatedOutput": "x"}, id="odd arguments"),
        pytest.param([item({"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]})],
                     {"type": "reasoning", "summary": ["hm"]}, id="thoughts without an event"),
    ],
)  # fmt: skip
def test_what_codex_loses_is_made_from_the_model_s_items(tmp_path: Path, lines: list[Json], expected: Json) -> None:
    found = one_item(tmp_path, *lines)
    assert {name: found.get(name) for name in expected} == expected


@pytest.mark.requirement("threads.turns")
@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        pytest.param([event("mcp_tool_call_end", call_id="c1", invocation={"server": "s", "tool": "t", "arguments": {}}, result={"Err": "gone"})],
                     {"type": "mcpToolCall", "status": "failed", "error": {"message": "gone"}}, id="mcp"),
        pytest.param([call("apply_patch", {"input": "x"}), event("patch_apply_end", call_id="c1", success=False, changes={"a": {"type": "add", "content": "x"}})],
                     {"type": "fileChange", "id": "c1", "status": "failed", "changes": [{"path": "a", "kind": {"type": "add"}, "diff": "x"}]}, id="patch"),
        pytest.param([event("web_search_end", call_id="w", query="q", action={"type": "search"})], {"type": "webSearch", "query": "q"}, id="search"),
        pytest.param([event("exited_review_mode", review_output={"overall_explanation": " fine "})], {"review": "fine", "id": "item-2"}, id="review"),
        pytest.param([event("agent_reasoning", text="a"), event("agent_reasoning", text="b"), event("agent_reasoning_raw_content", text="raw")],
                     {"type": "reasoning", "summary": ["a", "b"], "content": ["raw"], "id": "item-2"}, id="thoughts merge"),
    ],
)  # fmt: skip
def test_events_are_shown(tmp_path: Path, lines: list[Json], expected: Json) -> None:
    found = one_item(tmp_path, *lines)
    assert {name: found.get(name) for name in expected} == expected


@pytest.mark.requirement("threads.turns")
def test_how_a_turn_ends(tmp_path: Path) -> None:
    started = event("task_started", turn_id="t", started_at=100)
    ends = {
        "completed": [event("task_complete", turn_id="t", completed_at=105, duration_ms=5000)],
        "interrupted": [event("turn_aborted", turn_id="t", reason="interrupted")],
        "failed": [event("task_complete", turn_id="t", error={"message": "no"})],
        "inProgress": [],
    }
    for status, end in ends.items():
        [turn] = shown(tmp_path, started, *user("go"), *end)
        assert (turn.id, turn.status, turn.started_at) == ("t", status, 100)
    [turn] = shown(tmp_path, started, *ends["completed"])
    assert json.loads(bytes(turn.document()))["completedAt"] == 105
    [failed] = shown(tmp_path, started, *ends["failed"])
    assert failed.error is not None
    assert failed.error.text("message") == "no"


@pytest.mark.requirement("threads.rollback")
def test_rolled_back_turns_are_gone_and_numbers_go_back(tmp_path: Path) -> None:
    lines = [
        *user("one"),
        *assistant("a"),
        *user("two"),
        *assistant("b"),
        rolled_back(1),
        *user("three"),
        compacted("S"),
        event("context_compacted"),
    ]
    turns = shown(tmp_path, *lines, complete=False)
    assert [[one.text("id") for one in each.items] for each in turns] == [["item-1", "item-2"], ["item-3", "item-4"]]
    assert kinds(shown(tmp_path, *lines)) == [["userMessage", "agentMessage"], ["userMessage", "contextCompaction"]]
    assert kinds(shown(tmp_path, *lines, rolled_back(9))) == []


@pytest.mark.requirement("threads.turns")
def test_unknown_items_of_later_versions_are_shown_as_they_are(tmp_path: Path) -> None:
    told = {"type": "BrandNew", "id": "x", "some_field": 1}
    [turn] = shown(tmp_path, line("event_msg", {"type": "item_completed", "turn_id": "t", "item": told, "started_at_ms": 5}))
    assert json.loads(bytes(turn.items[0])) == {"type": "brandNew", "id": "x", "some_field": 1, "startedAtMs": 5}


@pytest.mark.requirement("threads.turns")
def test_what_codex_put_into_messages_is_not_shown_as_said(tmp_path: Path) -> None:
    lines = [
        message("developer", "<permissions instructions>x"),
        message("user", "<environment_context>x</environment_context>"),
        *user("hello"),
    ]
    [turn] = shown(tmp_path, *lines)
    assert [part["text"] for part in turn.items[0].get("content")] == ["hello"]
    assert len(turn.items) == 1


@pytest.mark.requirement("threads.turns")
@pytest.mark.parametrize(
    "payload", [{}, {"type": 5}, {"type": "item_completed"}, {"type": "item_completed", "item": {"type": "CommandExecution"}}]
)
def test_odd_events_are_no_crash(tmp_path: Path, payload: Json) -> None:
    assert len(shown(tmp_path, *user("one"), line("event_msg", payload), *user("two"))) == 2
