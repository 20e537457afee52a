"""What the clients are asked to do: for each scenario what the scripted model does, and what a client must report of it.

The model's name is the scenario's, so that one server plays them all. An answer is made of what the request holds (a tool's output, a file's bytes,
a schema's names), so that whatever got lost on the way is missing in it. Not here: how a client does it (`python/`, `node/`, `curl/`).
"""

import base64
import json
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.scripted.scenarios import BUSY_WAIT, breaking, failing, image
from tests.scripted.script import Call, Failure, Image, Reasoning, Reply, Script, ScriptError, View, answer, mapping

BOTH = ("chat", "responses")
LONG = "It is a long way to the end of this sentence, naïve as it may sound. 🌍 " * 4
ADA = {"name": "Ada", "age": 36, "tags": ["first", "pröspect"]}


def _png() -> bytes:
    """A red dot."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    size = chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + size + chunk(b"IDAT", zlib.compress(b"\0\xff\0\0")) + chunk(b"IEND", b"")


PICTURE = _png()
FILE = b"%PDF-1.4\nA page about n\xc3\xb6thing.\n%%EOF\n"
SHOWN = {
    "image": f"data:image/png;base64,{base64.b64encode(PICTURE).decode()}",
    "file": f"data:application/pdf;base64,{base64.b64encode(FILE).decode()}",
    "filename": "a page.pdf",
}


def stream(view: View) -> Reply:
    return answer(Reasoning("They want it long."), LONG)


def tools(view: View) -> Reply:
    """Three calls at once, behind a word; then their outputs in the order of the calls."""
    if view.outputs:
        return answer("They said: " + ", ".join(output.body for output in view.outputs))
    calls = (Call(view.tool("weather"), {"city": city}) for city in ("Paris", "Oslo"))
    return answer(Reasoning("Three calls."), "I look.", *calls, Call(view.tool("clock"), {"zone": "UTC"}))


def structured(view: View) -> Reply:
    """Follows the schema, and none that has not come."""
    if mapping(view.schema.get("properties")).keys() != ADA.keys():
        raise ScriptError(f"the schema of the answer came as {json.dumps(view.schema)}")
    return answer(json.dumps(ADA))


def file(view: View) -> Reply:
    """Some clients give a file a name of their own, but it must have one."""
    return answer("Read: " + "; ".join(one.fingerprint for one in view.files if one.name.endswith(".pdf")))


def turns(view: View) -> Reply:
    """Tells all that was said, so that a turn which got lost is missing."""
    answers = [words for words in view.texts("assistant") if "Asked: " in words]
    told = f"Asked: {' '.join(view.texts('user'))} Answered: {len(answers)}."
    return answer(Reasoning("I remember."), told)


def patch(view: View) -> Reply:
    """Has a file made; the client says how that went."""
    if view.outputs:
        return answer(f"Done: {view.outputs[-1].body}")
    return answer(Call(view.tool("apply_patch"), {"type": "create_file", "path": "new.txt", "diff": "+one\n+two"}))


def howto(view: View) -> Reply:
    """What the programs of the how-tos ask for."""
    properties = mapping(view.schema.get("properties"))
    if properties:
        return answer(json.dumps({name: "Ada" if mapping(one).get("type") == "string" else 36 for name, one in properties.items()}))
    if view.outputs:
        return answer(f"It is: {view.outputs[-1].body}")
    return answer(Call(view.tool("weather"), {"city": "Paris"})) if view.tools else said(view)


TOO_LONG = Failure(status=400, message="This model's maximum context length is 4096 tokens.", code="context_length_exceeded")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One thing that clients do. A client reports some of `told`, and nothing else."""

    script: Script
    told: Mapping[str, Any]
    upstreams: tuple[str, ...] = BOTH
    fails: bool = False
    """Whether it is meant to end badly: a client may log that."""


def said(view: View) -> Reply:
    return answer(f"You said: {view.prompt}")


SAID = {"text": "You said: hello, wörld 🌍"}
SCENARIOS: dict[str, Scenario] = {
    "text": Scenario(script=said, told=SAID),
    "stream": Scenario(script=stream, told={"text": LONG, "thoughts": ["They want it long."], "pieces": True}),
    "tools": Scenario(script=tools, told={"text": "They said: sunny, rain, noon in UTC", "called": ["weather", "weather", "clock"]}),
    "structured": Scenario(script=structured, told={"answer": ADA}),
    "image": Scenario(script=image, told={"text": f"Seen: {Image(PICTURE).fingerprint}"}),
    "file": Scenario(script=file, told={"text": f"Read: {Image(FILE).fingerprint}"}),
    "turns": Scenario(script=turns, told={"text": "Asked: My name is Ada. I live in Rome. Who am I? Answered: 2."}),
    "kept": Scenario(script=turns, told={"text": "Asked: My name is Ada. I live in Rome. Who am I? Answered: 2."}),
    "failing": Scenario(script=failing(TOO_LONG), told={"failed": "context_length_exceeded"}, fails=True),
    "busy": Scenario(script=failing(BUSY_WAIT), told={"failed": "rate_limit_exceeded"}, fails=True),
    "broken": Scenario(script=breaking("abort"), told={"failed": "server_error"}, fails=True),
    "chat": Scenario(script=said, told=SAID, upstreams=("chat",)),
    "patch": Scenario(script=patch, told={"text": "Done: Made new.txt.", "made": "one\ntwo"}),
}


def play(view: View) -> Reply:
    """What the model does: its name is the scenario."""
    return howto(view) if view.model == "howto" else SCENARIOS[view.model].script(view)
