"""The requests that the bench's client makes: prepared once, the same for every party.

The name of the model is what tells the scripted upstream how to answer, because it is what every gateway passes on: `bench-burst`, `bench-paced`,
`bench-first`, `bench-json` (see `bench.upstream`).
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any

MODEL = "bench"
SETTINGS: dict[str, Any] = {
    "tool_choice": "auto", "parallel_tool_calls": True, "store": False, "include": [], "prompt_cache_key": "bench",
}  # fmt: skip
OUTPUT = "".join(f"{line:4}\tif (table[{line}] == '\\0') return \"naïve → {line}\";  // /* {line * 7919} */\n" for line in range(30))
"""What a command wrote: lines with tabs, quotes, escapes and a little that is not ASCII; about 2 KB."""


def _compact(value: Any) -> bytes:
    """As Codex spells it: compact, and in UTF-8."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def _head(answer: str) -> dict[str, Any]:
    return {"model": f"{MODEL}-{answer}", "stream": answer != "json", "store": False}


def small(answer: str) -> bytes:
    """One short question."""
    return _compact({**_head(answer), "input": "Tell me of the fox."})


def codex(answer: str, size: int) -> bytes:
    """A long thread as Codex sends it, of about so many bytes: instructions, functions and an MCP server, thoughts, calls, outputs, messages.

    No freeform tool with a grammar, which Codex has too: agentic-api refuses it.
    """
    items = [_message("developer", "You are a coding agent. " * 800), _message("user", "<environment_context>\n</environment_context>")]
    held = 0
    turns = _turns()
    while held < size - 40_000:
        turn = next(turns)
        held += len(_compact(turn))
        items += turn
    return _compact({**_head(answer), "input": items, "tools": list(_tools()), **SETTINGS, "client_metadata": {"turn": "1"}})


def _turns() -> Iterator[list[dict[str, Any]]]:
    number = 0
    while True:
        summary = [{"type": "summary_text", "text": f"**Looking at part {number}**\n\nWhat does it do?"}]
        thought = {"type": "reasoning", "id": f"rs_{number}", "summary": summary, "encrypted_content": None}
        turn = [thought, *_call(number, f"Exit code: 0\nOutput:\n{OUTPUT}")]
        if number % 8 == 7:
            turn += [_message("assistant", f"Part {number} is done."), _message("user", "Go on, please.")]
        yield turn
        number += 1


def _call(number: int, output: str) -> Iterable[dict[str, Any]]:
    arguments = _compact({"cmd": f"sed -n '{number},+30p' src/table.c", "wait": 10.5}).decode()
    call = {"type": "function_call", "id": f"fc_{number}", "status": "completed", "call_id": f"call_{number}", "arguments": arguments}
    yield {**call, "name": f"tool_{number % 12}"}
    yield {"type": "function_call_output", "id": f"fco_{number}", "call_id": f"call_{number}", "output": output}


def _tools() -> Iterator[dict[str, Any]]:
    schema = {"type": "object", "properties": {"cmd": {"type": "string"}, "wait": {"type": "number"}}, "required": ["cmd"]}
    for number in range(12):
        yield {
            "type": "function",
            "name": f"tool_{number}",
            "description": "Runs a command. " * 20,
            "strict": False,
            "parameters": schema,
        }


def _message(role: str, text: str) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}
