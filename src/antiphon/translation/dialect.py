"""What there is to know of a model server: what it can do and how it spells it. One dialect holds the rules of both APIs; the upstream's `api` chooses.

A server with one habit of its own is a preset with that field changed in `antiphon.toml`: for all of an upstream (`[upstreams.NAME.chat]`) or for
some models (`[models."NAME".chat]`). Not here: the servers that are known (`presets`), code that acts on it (`chat`, `responses`).
"""

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from antiphon.protocol.failures import Row

SAMPLING = frozenset({"temperature", "top_p", "presence_penalty", "frequency_penalty", "seed", "stop"})


class ChatRules(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a server speaks Chat Completions."""

    name_limit: int = 64
    """Longest tool name it takes."""
    found_tools: str = "dispatch"
    """How tools that a search found are called: through one function (`dispatch`), or declared with the others (`append`)."""
    max_tokens: str = "max_tokens"
    """Its name for the most tokens to write."""
    late_developer: str = "user"
    """The role of developer messages after the conversation has begun."""
    ends_with_answer: bool = True
    """Whether a prompt may end with what the model said; otherwise a user message behind it says to go on."""
    images: bool = True
    """Whether a user message may hold images."""
    images_in_outputs: bool = False
    """Whether a tool message may hold images."""
    files: bool = False
    """Whether a user message may hold files."""
    audio: bool = False
    """Whether a user message may hold audio."""
    passes: frozenset[str] = SAMPLING
    """Request fields that mean the same there and go on by their own names."""
    effort: str = "reasoning_effort"
    """Its field for the reasoning effort; empty: none."""
    verbosity: str = ""
    """Its field for the verbosity; empty: none."""
    response_format: frozenset[str] = frozenset({"json_object", "json_schema"})
    """The output formats it can be held to."""
    reasoning: tuple[str, ...] = ("reasoning_content", "reasoning")
    """Fields of a delta that hold what the model thinks."""
    think_tags: bool = True
    """Whether a text that begins with `<think>` holds the model's thoughts."""
    reasoning_back: str = ""
    """The field in which it wants its own reasoning back on turns with calls; `<think>`: inside the text; empty: not at all."""
    schema_drops: frozenset[str] = frozenset({"encrypted"})
    """Keywords of a tool's JSON schema that it does not know."""
    stream_usage: bool = True
    """Whether it tells the usage of a stream when asked by `stream_options`."""
    strict_tools: bool = False
    """Whether it knows a function's `strict`."""


class ResponsesRules(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a server speaks the Responses API. `verbatim`: it takes all that a client may send, and nothing is edited."""

    verbatim: bool = False
    """Whether the client's document goes on untouched."""
    name_limit: int = 64
    """Longest tool name it takes."""
    found_tools: str = "dispatch"
    """How tools that a search found are called: through one function (`dispatch`), or declared with the others (`append`)."""
    items: frozenset[str] = frozenset({"message", "reasoning", "function_call", "function_call_output"})
    """Item types it takes; calls of other kinds are lowered to these first."""
    fields_dropped: frozenset[str] = frozenset({"client_metadata"})
    """Request fields that it refuses."""
    item_fields_dropped: frozenset[str] = frozenset({"phase", "internal_chat_message_metadata_passthrough", "encrypted_content"})
    """Fields of items that it refuses."""
    schema_drops: frozenset[str] = frozenset({"encrypted"})
    """Keywords of a tool's JSON schema that it does not know."""
    merges_instructions: bool = False
    """Whether leading developer messages must become `instructions`."""
    late_developer: str = "developer"
    """The role of developer messages after the conversation has begun."""
    pairs: bool = True
    """Whether it refuses calls and outputs that do not pair."""
    images_in_outputs: bool = True
    """Whether a tool's output may hold images."""
    length_cut_completes: bool = False
    """Whether it calls a response completed that its token limit cut."""
    headers: tuple[str, ...] = ()
    """Beginnings of the client's header names that go on to it."""
    answers: tuple[str, ...] = ("x-request-id",)
    """Beginnings of its header names that go back to the client."""


class Dialect(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of model server."""

    name: str
    prefers: str = "chat"
    """The API to use where it has both."""
    chat: ChatRules = ChatRules()
    responses: ResponsesRules = ResponsesRules()
    failures: tuple[Row, ...] = ()
    """Failures that it words in a way of its own."""
    efforts: tuple[str, ...] = ()
    """Reasoning efforts that it is known to take."""
    note: str = ""
    """What a person should know."""

    def but(self, *, chat: Mapping[str, Any], responses: Mapping[str, Any]) -> "Dialect":
        """This dialect with some rules changed. Raises ValueError, with the path, where a rule cannot be so."""
        if not chat and not responses:
            return self
        return msgspec.structs.replace(
            self, chat=_changed(self.chat, chat, "chat"), responses=_changed(self.responses, responses, "responses")
        )


Rules = TypeVar("Rules", ChatRules, ResponsesRules)


def _changed(rules: Rules, changes: Mapping[str, Any], where: str) -> Rules:
    try:
        return msgspec.convert(msgspec.to_builtins(rules) | dict(changes), type(rules))
    except msgspec.ValidationError as wrong:
        raise ValueError(f"{where}: {wrong}") from None
