"""What a row of the matrix is: what is run, with which settings, and what Codex must show. And what many rows share.

What a row expects holds for Codex directly against the scripted Responses server and for every upstream behind Antiphon;
beyond that, what Codex shows through Antiphon must equal what it shows directly (`cell`), but for the row's `masks`.
"""

import hashlib
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


@dataclass(frozen=True, slots=True)
class Mcp:
    """One MCP server: the word it says and the name of its echo."""

    word: str
    echo: str = "echo"
    odd: bool = False  # whether it has tools with odd names and schemas too


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """What is typed into the terminal once it shows `after` (blanks do not count).

    `hanging`: not before the upstream's answer hangs; `answered`: not before it has answered so many requests.
    """

    send: str = ""
    after: str = ""
    hanging: bool = False
    answered: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One Codex process. `last` is its last message ("" for none), `items` the types of its completed items.

    With `keys` it is the terminal program, which shows no events: what must be seen is what the keys wait for.
    """

    prompt: str = "say hello"
    keys: tuple[Keys, ...] = ()
    interrupted: bool = False  # by SIGINT, once the upstream's answer hangs
    sandbox: tuple[str, ...] = ("-s", "danger-full-access")
    arguments: tuple[str, ...] = ()
    exit: int = 0
    last: str = ""
    error: str = ""  # a pattern that the reason of a failed turn must match
    items: tuple[str, ...] = ("agent_message",)
    usage: Mapping[str, int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """Where a prompt's beginning has to move: a pattern of the place, what Antiphon logs of it, and why it cannot stay."""

    at: str
    why: str
    logged: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    name: str
    script: str
    steps: tuple[Step, ...]
    requests: int
    seconds: float = 20.0
    # `url`: the provider's model_catalog_url, served by whom Codex talks to; `none`: Codex does not know the model;
    # `json`: a file with what `model` says, where a server would not claim as much.
    catalogue: str = "url"
    model: Mapping[str, object] = field(default_factory=dict[str, object])
    config: Mapping[str, str] = field(default_factory=dict[str, str])
    provider: Mapping[str, int] = field(default_factory=dict[str, int])
    mcp: Mapping[str, Mcp] = field(default_factory=dict[str, "Mcp"])
    files: Files = field(default_factory=dict[str, bytes])
    files_after: Mapping[str, bytes | None] = field(default_factory=dict[str, bytes | None])
    declared: tuple[str, ...] = ()  # kinds of tools that Codex must have declared, seen when it talks to the server directly
    bad_key: bool = False
    upstreams: tuple[str, ...] = ("chat", "responses")
    direct_script: str = ""  # where the upstream's wording has no direct counterpart
    compared: bool = True  # with what Codex shows directly
    masks: tuple[tuple[str, str], ...] = ()  # patterns in shown text that may differ from direct, and what they become
    moved: Mapping[str, Moved] = field(default_factory=dict[str, Moved])  # by upstream; anywhere else a prompt's beginning must stay
    leaves: bool = False  # the client goes while the upstream answers, and the upstream must see it
    unordered: bool = False  # calls run in parallel: their items come in any order


def one(row: str, script: str = "", *, step: Step, requests: int = 1, **fields: object) -> Row:
    """A row of one process; the script has the row's name if no other is given."""
    return Row(name=row, script=script or row, steps=(step,), requests=requests, **fields)  # type: ignore[arg-type]


COMMAND = ("command_execution", "agent_message")
UNKNOWN_MODEL = "error"  # Codex says at the start that it does not know the model
ALL = ("chat", "responses", "openai")
