"""Lines of every era as Codex writes them, for tests that need a thread of their own making."""

import json
from typing import Any

Json = dict[str, Any]
THREAD = "0199aaaa-0000-7000-8000-000000000001"
AT = "2026-01-01T00:00:00.000Z"


def spelled(*lines: Json) -> bytes:
    """The lines as a file."""
    return b"".join(json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n" for line in lines)


def line(type: str, payload: Json, **more: Any) -> Json:
    return {"timestamp": AT, **more, "type": type, "payload": payload}


def meta(id: str = THREAD, **more: Any) -> Json:
    told = {"timestamp": AT, "cwd": "/home/user/project", "originator": "codex_exec", "cli_version": "0.98.0", "source": "cli"}
    return line("session_meta", {"id": id, **told, "model_provider": "scripted", **more})


def event(type: str, **fields: Any) -> Json:
    return line("event_msg", {"type": type, **fields})


def said(role: str, *texts: str, **more: Any) -> Json:
    """A message item."""
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text} for text in texts], **more}


def item(payload: Json, **more: Any) -> Json:
    return line("response_item", payload, **more)


def message(role: str, *texts: str) -> Json:
    return item(said(role, *texts))


def user(text: str) -> list[Json]:
    """What a legacy file holds of a user's words: for the model, and for people."""
    told = event("user_message", message=text, images=[], local_images=[], text_elements=[])
    return [message("user", text), told]


def assistant(text: str) -> list[Json]:
    return [event("agent_message", message=text), message("assistant", text)]


def turn(turn_id: str, *lines: Json) -> list[Json]:
    """A turn with its bounds, as files since 0.105 have it."""
    started = event("task_started", turn_id=turn_id, model_context_window=65536)
    return [started, *lines, event("task_complete", turn_id=turn_id, last_agent_message=None)]


def compacted(message: str, *replacement: Json) -> Json:
    """With a replacement history where items are given."""
    return line("compacted", {"message": message, **({"replacement_history": list(replacement)} if replacement else {})})


def rolled_back(turns: int) -> Json:
    return event("thread_rolled_back", num_turns=turns)


FLAT: tuple[Json, ...] = (
    {"id": THREAD, "timestamp": "2025-07-01T08:00:00.000Z", "instructions": None, "git": {}},
    {"record_type": "state"},
    {"type": "message", "id": None, "role": "user", "content": [{"type": "input_text", "text": "list the files"}]},
    {"record_type": "state"},
    {"type": "function_call", "id": "fc_1", "name": "shell", "arguments": '{"command":["ls"]}', "call_id": "call_1"},
    {
        "type": "function_call_output",
        "call_id": "call_1",
        "output": '{"output":"a\\nb\\n","metadata":{"exit_code":0,"duration_seconds":0.1}}',
    },
    {"type": "message", "id": "msg_1", "role": "assistant", "content": [{"type": "output_text", "text": "There are a and b."}]},
)
TYPESCRIPT: Json = {
    "session": {"timestamp": "2025-04-20T08:00:00.000Z", "id": THREAD, "instructions": 'The "items" are [here].'},
    "items": [
        {"role": "user", "content": [{"type": "input_text", "text": "say hello"}], "type": "message"},
        {
            "id": "msg_1",
            "type": "message",
            "status": "completed",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "hello"}],
        },
    ],
}
ENVELOPE: tuple[Json, ...] = (
    meta(),
    *turn("turn-1", *user("say hello"), *assistant("hello")),
    *turn("turn-2", *user("say bye"), *assistant("bye")),
)
