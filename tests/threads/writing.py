"""A thread as a program that is not Codex writes it."""

from datetime import UTC, datetime
from pathlib import Path

from antiphon.protocol.document import Document
from antiphon.threads.recipe import NewThread, Recipe
from antiphon.threads.writer import Writer
from tests.threads.samples import said

AT = datetime(2026, 5, 1, 10, tzinfo=UTC)
NOW_MS = int(AT.timestamp() * 1000)
USAGE = {"input_tokens": 1, "cached_input_tokens": 0, "output_tokens": 1, "reasoning_output_tokens": 0, "total_tokens": 2}
SETTINGS = {"cwd": "/", "approval_policy": "never", "sandbox_policy": {"type": "danger-full-access"}, "model": "scripted-model"}


def id_of(number: int) -> str:
    return f"019b0000-0000-7000-8000-{number:012x}"


def new_thread(home: Path, number: int, mode: str = "legacy") -> Path:
    """One with a turn in which something was asked, thought, done and said."""
    new = NewThread(
        id=id_of(number),
        timestamp="2026-05-01T10:00:00.000Z",
        cwd="/",
        cli_version="0.169.0",
        mode=mode,
        more={"model_provider": "scripted"},
    )
    path = new.path(home, "2026-05-01T10-00-00")
    with Writer.create(path, new.meta(), now=lambda: AT) as writer:
        write_turn(writer, Recipe(new.id, writer.is_paginated), number)
    return path


def write_turn(writer: Writer, recipe: Recipe, number: int, question: str = "hello there") -> None:
    turn_id = f"019b0000-1000-7000-8000-{number:012x}"
    call = Document.of({"type": "function_call", "name": "exec_command", "arguments": '{"cmd":"ls"}', "call_id": "call_1", "id": "fc_1"})
    output = Document.of(
        {"type": "function_call_output", "call_id": "call_1", "output": "Wall time: 0.1 seconds\nOutput:\na\n", "id": "fco_1"}
    )
    ran = {
        "type": "CommandExecution",
        "id": "call_1",
        "command": ["ls"],
        "cwd": "file:///",
        "parsed_cmd": [],
        "source": "agent",
        "status": "completed",
    }
    ended = {"aggregated_output": "a\n", "exit_code": 0, "duration": {"secs": 0, "nanos": 1000}}
    thought = Document.of({"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Hm."}], "content": None})
    writer.append_all(recipe.began(turn_id, window=1000, now_ms=NOW_MS))
    writer.append_all(recipe.said(turn_id, Document.of(said("user", question)), shown_id=f"u{number}", now_ms=NOW_MS))
    writer.append_all(recipe.context({"turn_id": turn_id, **SETTINGS}))
    for item in (thought, call):
        writer.append_all(recipe.answered(turn_id, item, now_ms=NOW_MS))
    writer.append_all(recipe.done(turn_id, {**ran, **ended}, now_ms=NOW_MS))
    for item in (output, Document.of(said("assistant", "hi", id="msg_1"))):
        writer.append_all(recipe.answered(turn_id, item, now_ms=NOW_MS))
    writer.append_all(recipe.counted({"total_token_usage": USAGE, "last_token_usage": USAGE, "model_context_window": 1000}))
    writer.append_all(recipe.ended(turn_id, last_message="hi", started_ms=NOW_MS, now_ms=NOW_MS + 10))
