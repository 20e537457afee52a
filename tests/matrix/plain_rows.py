"""The rows of the matrix: what is run, with which settings, and what Codex must show. Data only.

What a row expects holds for Codex directly against the scripted Responses server and for every upstream behind Antiphon;
beyond that, what Codex shows through Antiphon must equal what it shows directly (`cell`), but for the row's `masks`.
"""

import hashlib
import json
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.scripted.script import Image

Files = Mapping[str, bytes]


def png(width: int, height: int) -> bytes:
    """A PNG whose pixels depend on its size."""
    line = hashlib.sha256(f"{width}x{height}".encode()).digest() * (width * 3 // 32 + 1)
    pixels = b"".join(b"\0" + line[row : row + width * 3] for row in range(height))

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(pixels)) + chunk(b"IEND", b"")


PICTURE = png(24, 16)
PICTURE_SEEN = f"Seen: {Image(PICTURE).fingerprint}"
NONCE = "nonce-7f3a91-ünïcode"
MCP_WORD = "quokka-55"
GREETING = b"hello\nbye\n"
GREETED = b'hello, "w\xc3\xb6rld" \\o/\nbye\n'
DISCONNECTED = (r"stream disconnected before completion: .*", "stream disconnected before completion: <why>")
RECONNECTING = (r"\(stream disconnected before completion: .*\)", "(stream disconnected before completion: <why>)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One Codex process. `last` is its last message ("" for none), `items` the types of its completed items."""

    prompt: str = "say hello"
    arguments: tuple[str, ...] = ()
    exit: int = 0
    last: str = ""
    error: str = ""  # a pattern that the reason of a failed turn must match
    items: tuple[str, ...] = ("agent_message",)
    usage: Mapping[str, int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    name: str
    script: str
    steps: tuple[Step, ...]
    requests: int
    seconds: float = 20.0
    # `url`: the provider's model_catalog_url, served by whom Codex talks to; `none`: Codex does not know the model.
    catalogue: str = "url"
    config: Mapping[str, str] = field(default_factory=dict[str, str])
    provider: Mapping[str, int] = field(default_factory=dict[str, int])
    mcp: Mapping[str, str] = field(default_factory=dict[str, str])  # MCP servers, and the name of echo in each
    files: Files = field(default_factory=dict[str, bytes])
    files_after: Mapping[str, bytes | None] = field(default_factory=dict[str, bytes | None])
    declared: tuple[str, ...] = ()  # kinds of tools that Codex must have declared, seen when it talks to the server directly
    bad_key: bool = False
    upstreams: tuple[str, ...] = ("chat", "responses")
    direct_script: str = ""  # where the upstream's wording has no direct counterpart
    compared: bool = True  # with what Codex shows directly
    masks: tuple[tuple[str, str], ...] = ()  # patterns in shown text that may differ from direct, and what they become
    rewritten: bool = False  # Codex itself begins a later request otherwise
    unordered: bool = False  # calls run in parallel: their items come in any order


def one(row: str, script: str = "", *, step: Step, requests: int = 1, **fields: object) -> Row:
    """A row of one process; the script has the row's name if no other is given."""
    return Row(name=row, script=script or row, steps=(step,), requests=requests, **fields)  # type: ignore[arg-type]


FAILED = ()
MCP = {"scripted": "echo"}
LONG = "with_a_name_so_long_that_both_together_pass_sixty_four_characters"
COMMAND = ("command_execution", "agent_message")
UNKNOWN_MODEL = "error"  # Codex says at the start that it does not know the model
NO_RETRIES = {"request_max_retries": 0, "stream_max_retries": 0}
ONE_RETRY = {"request_max_retries": 0, "stream_max_retries": 1}
HELLO = "You said: say hello"
SCHEMA = {"type": "object", "properties": {"told": {"type": "string"}}, "required": ["told"], "additionalProperties": False}
ALL = ("chat", "responses", "openai")
PROBED = ("auto-chat", "auto-responses")  # Antiphon finds out what the server speaks
STYLED = ("chat-llama-cpp-python", "chat-ollama", "chat-vllm")  # chat servers that stream in their own way

ROWS: tuple[Row, ...] = (
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
        mcp={f"server_{LONG}": f"echo_{LONG}"},
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
        rewritten=True,
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
    one("length", step=Step(exit=1, error="max_output_tokens"), upstreams=ALL),
    one(
        "length-call",
        step=Step(exit=1, error="max_output_tokens", items=FAILED),
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
BY_NAME = {row.name: row for row in ROWS}
