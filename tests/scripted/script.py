"""A scripted model: what it sees of a request (`View`) and what it answers (`Answer`, `Failure`).

One script drives every kind of server, so nothing here belongs to one wire: tools are found by the end of their name,
and a call of a freeform tool is given as its text, whatever the upstream was told that tool is. Above: `scenarios`
(the scripts), and a `Wire` for each server that reads requests into a View and writes an Answer out. Not here: HTTP.
"""

import base64
import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, cast

Json: TypeAlias = dict[str, Any]
HASH = re.compile(r"_[0-9a-f]{8}$")  # that a gateway may put behind a name to tell it from another


def mapping(value: object) -> Json:
    """The value if it is a JSON object, else an empty one."""
    return cast("Json", value) if isinstance(value, dict) else {}


def listing(value: object) -> list[Any]:
    """The value if it is a JSON array, else an empty one."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def objects(value: object) -> list[Json]:
    """The objects of a JSON array."""
    return [cast("Json", each) for each in listing(value) if isinstance(each, dict)]


class ScriptError(Exception):
    """The request lacks what the script needs; the server answers 400 with these words and the run fails."""


@dataclass(frozen=True, slots=True)
class Tool:
    name: str
    namespace: str = ""
    kind: str = "function"
    parameters: Mapping[str, Any] = field(default_factory=dict[str, Any])
    description: str = ""

    @property
    def path(self) -> str:
        """The whole name, as gateways write it where there are no namespaces."""
        return f"{self.namespace}__{self.name}" if self.namespace else self.name

    def is_called(self, ending: str) -> bool:
        """Whether its name ends so, or did before a hash was put behind it."""
        return HASH.sub("", self.name).endswith(ending) or self.name.endswith(ending)


@dataclass(frozen=True, slots=True)
class Image:
    data: bytes

    @property
    def fingerprint(self) -> str:
        return f"{len(self.data)} bytes, sha256 {hashlib.sha256(self.data).hexdigest()[:16]}"

    @classmethod
    def from_url(cls, url: str) -> "Image":
        return cls(decoded(url))


@dataclass(frozen=True, slots=True)
class File(Image):
    name: str


def decoded(url: str) -> bytes:
    """What a data URL holds."""
    head, comma, body = url.partition(",")
    if not comma or not head.endswith(";base64"):
        raise ScriptError(f"not a base64 data URL: {url[:40]!r}")
    return base64.b64decode(body, validate=True)


@dataclass(frozen=True, slots=True)
class Said:
    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Output:
    call_id: str
    text: str

    tools: tuple["Tool", ...] = ()  # that a tool search found

    @property
    def body(self) -> str:
        """What the tool itself printed, without what Codex puts around it: lines, and before summer 2026 the JSON of an MCP result."""
        _, head, body = self.text.partition("Output:")
        words = (body if head else self.text).strip()
        if not words.startswith("[{"):
            return words
        try:
            return "\n".join(str(part.get("text")) for part in objects(json.loads(words)))
        except ValueError:
            return words


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What a model could know of one request. `number` counts the requests of this server, from 1."""

    number: int
    model: str
    tools: tuple[Tool, ...]
    said: tuple[Said, ...]
    outputs: tuple[Output, ...]
    images: tuple[Image, ...]
    files: tuple[File, ...] = ()
    reasoning: tuple[str, ...] = ()  # the model's own earlier thoughts, as far as they came back
    schema: Json = field(default_factory=dict[str, Any])  # that the answer must follow

    def tool(self, ending: str) -> Tool:
        """The one tool whose name ends so, as gateways put a namespace before it."""
        return self._only([tool for tool in self.tools if tool.is_called(ending)], f"end with {ending!r}")

    def tool_that(self, description: str) -> Tool:
        """The one tool that is described so, whatever its name has become."""
        return self._only([tool for tool in self.tools if description in tool.description], f"say {description!r}")

    def _only(self, found: list[Tool], asked: str) -> Tool:
        if len(found) != 1:
            raise ScriptError(f"{len(found)} tools {asked}; declared: {', '.join(tool.name for tool in self.tools)}")
        return found[0]

    def texts(self, role: str) -> list[str]:
        return [said.text for said in self.said if said.role == role]

    @property
    def prompt(self) -> str:
        """The last words of the user."""
        return self.texts("user")[-1]


@dataclass(frozen=True, slots=True)
class Text:
    text: str


@dataclass(frozen=True, slots=True)
class Reasoning:
    text: str


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call. A `str` payload is the raw input of a freeform tool. A tool of kind `tool_search` is called by its own item."""

    tool: Tool
    payload: Mapping[str, Any] | str

    @property
    def arguments(self) -> str:
        """The payload as function arguments; text goes into the one parameter that the declaration requires."""
        if not isinstance(self.payload, str):
            return json.dumps(self.payload)
        required = [str(name) for name in listing(self.tool.parameters.get("required"))]
        if len(required) != 1:
            raise ScriptError(f"{self.tool.name} takes text, but requires {required!r} and not one parameter")
        return json.dumps({required[0]: self.payload})


Part = Text | Reasoning | Call
# complete: as it should end; length: cut by the output limit; the others break off inside the last part:
# abort drops the connection, eof ends the body without a terminal event, garbage writes no JSON and ends, hang says no more
# until the client goes.
Ending = Literal["complete", "length", "abort", "eof", "garbage", "hang"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    input: int = 100
    cached: int = 10
    output: int = 20
    reasoning: int = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    parts: tuple[Part, ...]
    usage: Usage = Usage()
    ending: Ending = "complete"
    thread: str = ""  # which conversation the model takes this to be, where a script plays several

    @property
    def breaks_off(self) -> bool:
        """Whether the last part stays unfinished; a text that the limit ends is still closed."""
        return self.ending not in ("complete", "length") or (self.ending == "length" and isinstance(self.parts[-1], Call))


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """An HTTP failure. `body` replaces OpenAI's form of the error where a server words it otherwise."""

    status: int
    message: str = ""
    kind: str = "invalid_request_error"
    code: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: Mapping[str, Any] | None = None

    def document(self) -> Json:
        if self.body is not None:
            return dict(self.body)
        return {"error": {"message": self.message, "type": self.kind, "param": None, "code": self.code}}


Reply = Answer | Failure
Script = Callable[[View], Reply]


def answer(*parts: Part | str, thread: str = "") -> Answer:
    """An ordinary answer; a str is text."""
    return Answer(parts=tuple(Text(part) if isinstance(part, str) else part for part in parts), thread=thread)


def pieces(text: str, size: int = 7) -> list[str]:
    """The text as the deltas of a stream."""
    return [text[start : start + size] for start in range(0, len(text), size)]
