"""What there is to know of a model server: what it can do and how it spells it. One dialect holds the rules of both APIs; the upstream's `api` chooses.

A server with one habit of its own is a preset with that field changed in `antiphon.toml`: for all of an upstream (`[upstreams.NAME.chat]`) or for
some models (`[models."NAME".chat]`). Not here: the servers that are known (`presets`), code that acts on it (`chat`, `responses`).
"""

import re
from collections import ChainMap
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any, Literal, TypeVar

import msgspec

from antiphon.protocol.failures import Row

SAMPLING = frozenset({"temperature", "top_p", "presence_penalty", "frequency_penalty", "seed", "stop"})


class ChatRules(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a server speaks Chat Completions."""

    # what is said, and by whom
    late_developer: str = "user"
    """The role of developer messages after the conversation has begun."""
    ends_with_answer: bool = True
    """Whether a prompt may end with what the model said; otherwise a user message behind it says to go on."""
    apart: frozenset[tuple[str, str]] = frozenset()
    """Pairs of roles that may not follow each other; a short assistant message goes between."""
    no_text: Literal["null", "empty", "absent"] = "null"
    """What stands in `content` where the model called tools and said nothing."""
    images: bool = True
    """Whether a user message may hold images."""
    image_urls: tuple[str, ...] = ("data:", "http:", "https:")
    """Beginnings of the image addresses that it takes."""
    images_in_outputs: bool = False
    """Whether a tool message may hold images."""
    files: bool = False
    """Whether a user message may hold files."""
    audio: bool = False
    """Whether a user message may hold audio."""

    # tools
    name_limit: int = 64
    """Longest tool name it takes."""
    name_pattern: str = "[A-Za-z0-9_-]+"
    """What a tool name must look like, as a regular expression."""
    found_tools: Literal["dispatch", "append"] = "dispatch"
    """How tools that a search found are called: through one function (`dispatch`), or declared with the others (`append`)."""
    call_id_limit: int = 0
    """Longest id of a call that it takes; 0: any. A longer one is replaced on the way there."""
    call_ids_exact: bool = False
    """Whether ids of calls must be exactly that long, of letters and digits alone."""
    tool_choice: frozenset[str] = frozenset({"none", "required", "named"})
    """What it can be told besides `auto`; `allowed`: a list of tools."""
    forced_fields: dict[str, Any] = {}
    """Fields that a request needs beside a choice that forces a call; they replace those for the reasoning effort."""
    parallel_calls: bool = True
    """Whether it knows `parallel_tool_calls`."""
    strict_tools: bool = False
    """Whether it knows a function's `strict`."""
    schema_drops: frozenset[str] = frozenset({"encrypted"})
    """Keywords of a tool's JSON schema that it does not know."""
    schema_repairs: frozenset[str] = frozenset()
    """What is rewritten in a tool's JSON schema, by the names in `schemas.REPAIRS`."""

    # settings
    max_tokens: str = "max_tokens"
    """Its name for the most tokens to write."""
    passes: frozenset[str] = SAMPLING
    """Request fields that mean the same there and go on by their own names."""
    renames: dict[str, str] = {}
    """Request fields that have another name there."""
    ranges: dict[str, tuple[float, float]] = {}
    """Numbers that it refuses outside a range, with the least and the most."""
    adds: dict[str, Any] = {}
    """Fields that every request has, unless the client sends them itself."""
    verbosity: str = ""
    """Its field for the verbosity; empty: none."""
    logprobs: bool = True
    """Whether it knows `logprobs` and `top_logprobs`."""
    json_object: Literal["json_object", "json_schema", ""] = "json_object"
    """How an answer that is any JSON object is asked for: by its own type, or by a schema that fits every object; empty: it cannot be."""
    json_schema: Literal["json_schema", "json_object", "words", ""] = "json_schema"
    """How an answer by a schema is asked for: by its own type, by `json_object` with the schema beside, or by `json_object` and the schema in
    words; empty: it cannot be."""
    stream_usage: bool = True
    """Whether it tells the usage of a stream when asked by `stream_options`."""

    # thinking
    effort: str = "reasoning_effort"
    """Its field for the reasoning effort, with a dot where it is within another; empty: none."""
    efforts: tuple[str, ...] = ()
    """Efforts that it takes; empty: any. Another becomes the nearest of these, and is told."""
    effort_fields: dict[str, dict[str, Any]] = {}
    """Fields that a request needs for an effort, by its name, or `*` for any other; an effort that is named here and not in `efforts` is told by
    these alone."""
    reasoning: tuple[str, ...] = ("reasoning_content", "reasoning", "reasoning_details")
    """Fields of a delta that hold what the model thinks."""
    think_tags: bool = True
    """Whether a text that begins with `<think>` holds the model's thoughts."""
    reasoning_back: str = ""
    """Where it wants its own reasoning back on turns with calls: a field; `<think>`: inside the text; `thinking`: as a content part; empty: nowhere."""
    reasoning_always: bool = False
    """Whether it wants its reasoning back on turns without calls too."""
    reasoning_filler: str = ""
    """What stands for reasoning that a turn with calls has none of, where the field may not be missing."""


class ResponsesRules(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a server speaks the Responses API. `verbatim`: it takes all that a client may send, and nothing is edited."""

    verbatim: bool = False
    """Whether the client's document goes on untouched."""
    keeps_state: bool = False
    """Whether it keeps state itself: then Antiphon keeps none of its responses, and `store`, `previous_response_id` and the like go on to it."""
    name_limit: int = 64
    """Longest tool name it takes."""
    name_pattern: str = "[A-Za-z0-9_-]+"
    """What a tool name must look like, as a regular expression."""
    found_tools: Literal["dispatch", "append"] = "dispatch"
    """How tools that a search found are called: through one function (`dispatch`), or declared with the others (`append`)."""
    items: frozenset[str] = frozenset({"message", "reasoning", "function_call", "function_call_output"})
    """Item types it takes; calls of other kinds are lowered to these first."""
    fields_dropped: frozenset[str] = frozenset({"client_metadata"})
    """Request fields that it refuses."""
    item_fields_dropped: frozenset[str] = frozenset({"phase", "internal_chat_message_metadata_passthrough", "encrypted_content"})
    """Fields of items that it refuses."""
    schema_drops: frozenset[str] = frozenset({"encrypted"})
    """Keywords of a tool's JSON schema that it does not know."""
    schema_repairs: frozenset[str] = frozenset()
    """What is rewritten in a tool's JSON schema, by the names in `schemas.REPAIRS`."""
    merges_instructions: bool = False
    """Whether leading developer messages must become `instructions`."""
    late_developer: str = "developer"
    """The role of developer messages after the conversation has begun."""
    pairs: bool = True
    """Whether it refuses calls and outputs that do not pair."""
    images_in_outputs: bool = True
    """Whether a tool's output may hold images."""
    tool_choice: frozenset[str] = frozenset({"none", "required", "named", "allowed"})
    """What it can be told besides `auto`; `allowed`: a list of tools."""
    formats: bool = True
    """Whether it holds an answer to `text.format`."""
    thoughts_in_content: bool = False
    """Whether a reasoning item must hold its text in `content`."""
    length_cut_completes: bool = False
    """Whether it calls a response completed that its token limit cut."""
    headers: tuple[str, ...] = ()
    """Beginnings of the client's header names that go on to it."""
    answers: tuple[str, ...] = ("x-request-id",)
    """Beginnings of its header names that go back to the client."""


class Signs(msgspec.Struct, frozen=True, kw_only=True):
    """What a server gives itself away by."""

    hosts: tuple[str, ...] = ()
    """Host names, of which it may have any below."""
    owners: tuple[str, ...] = ()
    """Who owns the models in its list."""
    page: str = ""
    """A page that only it has, from the root of the host."""
    key: str = ""
    """A member of that page."""


class Dialect(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of model server."""

    name: str
    prefers: str = "chat"
    """The API to use where it has both."""
    chat: ChatRules = ChatRules()
    responses: ResponsesRules = ResponsesRules()
    models: dict[str, dict[str, Any]] = {}
    """Rules for Chat Completions that are otherwise with some of its models, by a pattern of their names."""
    failures: tuple[Row, ...] = ()
    """Failures that it words in a way of its own."""
    efforts: tuple[str, ...] = ()
    """Reasoning efforts that Codex may offer."""
    signs: Signs = Signs()
    """What it is recognised by."""
    counts: str = ""
    """How it counts the tokens of a prompt when asked: as `openai`, `vllm` or `llama.cpp` do; empty: it does not."""
    note: str = ""
    """What a person should know."""

    def of_model(self, model: str) -> "Dialect":
        """This dialect as it is with a model."""
        fitting = [rules for name, rules in self.models.items() if fnmatchcase(model, name)]
        return msgspec.structs.replace(self, chat=msgspec.structs.replace(self.chat, **ChainMap(*reversed(fitting)))) if fitting else self

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
        changed = msgspec.convert(msgspec.to_builtins(rules) | dict(changes), type(rules))
        re.compile(changed.name_pattern)
    except (msgspec.ValidationError, re.error) as wrong:
        raise ValueError(f"{where}: {wrong}") from None
    return changed
