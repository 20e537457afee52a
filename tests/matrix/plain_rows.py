"""The rows that every Codex can run: words, commands, patches, MCP, pictures, failures, a second process. Data only."""

import json

from tests.matrix.row import (
    ALL,
    COMMAND,
    DISCONNECTED,
    GREETED,
    GREETING,
    MCP_WORD,
    NONCE,
    PICTURE,
    PICTURE_SEEN,
    RECONNECTING,
    UNKNOWN_MODEL,
    Mcp,
    Row,
    Step,
    one,
)
from tests.scripted.script import Image

FAILED = ()
MCP = {"scripted": Mcp(MCP_WORD)}
LONG = "with_a_name_so_long_that_both_together_pass_sixty_four_characters"
NO_RETRIES = {"request_max_retries": 0, "stream_max_retries": 0}
ONE_RETRY = {"request_max_retries": 0, "stream_max_retries": 1}
HELLO = "You said: say hello"
ODD_SAY = (
    'They say: {"either": "x", "properties": {"type": 1}, "tree": {"children": [{"children": [], "name": "b"}], "name": "a"}}'
    ' / {} / {"a b": [1.5, null, {"": true}], "π": "ü"}'
)
SCHEMA = {"type": "object", "properties": {"told": {"type": "string"}}, "required": ["told"], "additionalProperties": False}
PROBED = ("auto-chat", "auto-responses")  # Antiphon finds out what the server speaks
STYLED = ("chat-llama-cpp-python", "chat-ollama", "chat-vllm")  # chat servers that stream in their own way

PLAIN: tuple[Row, ...] = (
    one("text", step=Step(last=HELLO), upstreams=(*ALL, *PROBED)),
    one("text-unknown-model", "text", step=Step(last=HELLO, items=(UNKNOWN_MODEL, "agent_message")), catalogue="none"),
    one(
        "exec",
        step=Step(last=f"It printed: {NONCE}", items=COMMAND),
        requests=2,
        files={"nonce.txt": NONCE.encode()},
        upstreams=ALL,
    ),
    one(
        "apply-patch",
        step=Step(
            last="Patched: Success. Updated the following files:\nA new/list.txt\nM greeting.txt",
            items=("file_change", "agent_message"),
        ),
        requests=2,
        files={"greeting.txt": GREETING},
        files_after={"greeting.txt": GREETED, "new/list.txt": b"one\n\ttwo\n"},
        declared=("custom",),
        upstreams=ALL,
    ),
    one(
        "mcp",
        step=Step(last=f"The server says: {MCP_WORD}: say hello", items=(UNKNOWN_MODEL, "mcp_tool_call", "agent_message")),
        requests=2,
        catalogue="none",
        mcp=MCP,
        declared=("namespace",),
        upstreams=ALL,
    ),
    one(
        "mcp-catalogue",
        "mcp",
        step=Step(last=f"The server says: {MCP_WORD}: say hello", items=("mcp_tool_call", "agent_message")),
        requests=2,
        mcp=MCP,
        declared=("namespace",),
    ),
    one(
        "mcp-long-names",
        "mcp-described",
        step=Step(last=f"The server says: {MCP_WORD}: say hello", items=("mcp_tool_call", "agent_message")),
        requests=2,
        mcp={f"server_{LONG}": Mcp(MCP_WORD, f"echo_{LONG}")},
        upstreams=ALL,
    ),
    one(
        "mcp-odd",
        step=Step(last=ODD_SAY, items=("mcp_tool_call",) * 3 + ("agent_message",)),
        requests=2,
        mcp={"odd_server-1": Mcp(MCP_WORD, odd=True)},
        unordered=True,
        upstreams=ALL,
    ),
    one(
        "plan",
        step=Step(last="Planned: Plan updated", items=("agent_message", "todo_list")),
        requests=2,
        config={"tools.update_plan.enabled": "true"},
        upstreams=ALL,
    ),
    one(
        "review",
        "code-review",
        step=Step(prompt="check the code", arguments=("review",), last=f"It read {NONCE}.", items=COMMAND),
        requests=2,
        files={"nonce.txt": NONCE.encode()},
        upstreams=ALL,
    ),
    one(
        "mcp-image",
        step=Step(last=f"{MCP_WORD} shows {Image(PICTURE).fingerprint}", items=("mcp_tool_call", "agent_message")),
        requests=2,
        mcp=MCP,
        files={"picture.png": PICTURE},
        upstreams=ALL,
    ),
    one(
        "output-schema",
        "schema",
        step=Step(last='{"told": "say hello"}', arguments=("--output-schema", "schema.json")),
        files={"schema.json": json.dumps(SCHEMA).encode()},
        upstreams=ALL,
    ),
    one(
        "compaction",
        step=Step(last=f"Told: the file said {NONCE}", items=("agent_message", "command_execution", "agent_message")),
        requests=3,
        config={"model_auto_compact_token_limit": "8000"},
        files={"nonce.txt": NONCE.encode()},
        upstreams=ALL,
    ),
    one(
        "image",
        step=Step(last=PICTURE_SEEN, arguments=("-i", "picture.png")),
        files={"picture.png": PICTURE},
        upstreams=ALL,
    ),
    one("view-image", step=Step(last=PICTURE_SEEN), requests=2, files={"picture.png": PICTURE}, upstreams=ALL),
    one("reasoning", step=Step(last="Thought about say hello", items=("reasoning", "agent_message")), upstreams=ALL),
    one(
        "reasoned-exec",
        step=Step(
            last=f"It printed: {NONCE}",
            items=("reasoning", "agent_message", "command_execution", "reasoning", "agent_message"),
        ),
        requests=2,
        files={"nonce.txt": NONCE.encode()},
        upstreams=(*ALL, *STYLED),
    ),
    one(
        "parallel",
        step=Step(last="They printed: first, second, third", items=("command_execution",) * 3 + ("agent_message",)),
        requests=2,
        files={"one.txt": b"first", "two.txt": b"second", "three.txt": b"third"},
        unordered=True,
        upstreams=(*ALL, *STYLED),
    ),
    one(
        "web-search-declared",
        "text",
        step=Step(last=HELLO),
        config={"web_search": '"live"'},
        declared=("web_search",),
        upstreams=ALL,
    ),
    one(
        "usage",
        step=Step(
            last="counted",
            items=COMMAND,
            usage={
                "input_tokens": 5555,
                "cached_input_tokens": 2234,
                "cache_write_input_tokens": 0,
                "output_tokens": 121,
                "reasoning_output_tokens": 7,
            },
        ),
        requests=2,
        upstreams=(*ALL, *STYLED),
    ),
    one(
        "429",
        "busy",
        step=Step(exit=1, error="429 Too Many Requests", items=FAILED),
        upstreams=ALL,
    ),
    one(
        "429-retry-after",
        "busy-wait",
        step=Step(exit=1, error="429 Too Many Requests", items=FAILED),
        requests=2,
        provider=ONE_RETRY,
        upstreams=ALL,
    ),
    one("429-once", "busy-wait-once", step=Step(last=HELLO), requests=2, upstreams=ALL),
    one("500-once", "down-once", step=Step(last=HELLO), requests=2, upstreams=ALL),
    one(
        "500",
        "down",
        step=Step(exit=1, error="high demand|had an error", items=FAILED),
        requests=3,
        provider={"request_max_retries": 2, "stream_max_retries": 0},
    ),
    one("context-too-long", "too-long", step=Step(exit=1, error="ran out of room", items=FAILED), upstreams=ALL),
    one(
        "context-too-long-vllm",
        "too-long-vllm",
        step=Step(exit=1, error="ran out of room", items=FAILED),
        direct_script="too-long",
    ),
    one(
        "context-too-long-llama-cpp",
        "too-long-llama-cpp",
        step=Step(exit=1, error="ran out of room", items=FAILED),
        direct_script="too-long",
    ),
    one(
        "abort-once",
        step=Step(last=HELLO),
        requests=2,
        provider=ONE_RETRY,
        masks=(RECONNECTING,),
        upstreams=ALL,
    ),
    one(
        "asked-again",
        step=Step(last=f"I said: I will look. It printed: {NONCE}", items=("agent_message", *COMMAND)),
        requests=3,
        provider=ONE_RETRY,
        files={"nonce.txt": NONCE.encode()},
        masks=(RECONNECTING,),
        upstreams=ALL,
    ),
    *(
        one(
            name,
            step=Step(exit=1, error="stream disconnected before completion", items=FAILED),
            requests=2,
            provider=ONE_RETRY,
            masks=(RECONNECTING, DISCONNECTED),
            upstreams=ALL,
        )
        for name in ("abort", "eof", "garbage")
    ),
    one("length", step=Step(exit=1, error="max_output_tokens"), provider=ONE_RETRY, upstreams=ALL),
    one(
        "length-call",
        step=Step(exit=1, error="max_output_tokens", items=FAILED),
        provider=ONE_RETRY,
        files_after={"it-ran.txt": None},
        upstreams=ALL,
    ),
    one(
        "bad-key",
        "text",
        step=Step(exit=1, error="Incorrect API key provided", items=(UNKNOWN_MODEL,)),
        catalogue="none",
        provider=NO_RETRIES,
        bad_key=True,
        upstreams=ALL,
    ),
    Row(
        name="resume",
        script="resume",
        steps=(
            Step(prompt="remember the first", last="Asked: remember the first. Answered: ."),
            Step(
                prompt="remember the second",
                arguments=("resume", "--last"),
                last="Asked: remember the first | remember the second. Answered: Asked: remember the first. Answered: ..",
            ),
        ),
        requests=2,
        upstreams=ALL,
    ),
)
