"""What a model server can do and how it spells it, as data. One dialect holds the rules of both APIs; the upstream's `api` chooses.

A new server is a row in `DIALECTS`; a server with one habit of its own is a preset with that field changed in `antiphon.toml`
(`[upstreams.NAME.chat]`, `[upstreams.NAME.responses]`). Not here: code that acts on it (`chat`, `responses`).
"""

import msgspec

from antiphon.protocol.failures import Becomes, Row, row

SAMPLING = frozenset({"temperature", "top_p", "presence_penalty", "frequency_penalty", "seed", "stop"})
OWN_EXTRAS = frozenset(
    {"top_k", "min_p", "repetition_penalty", "chat_template_kwargs", "ignore_eos", "logit_bias", "min_tokens", "stop_token_ids"}
)  # fmt: skip


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


_OPENAI_CHAT = ChatRules(
    max_tokens="max_completion_tokens",
    late_developer="developer",
    files=True,
    audio=True,
    passes=SAMPLING | {"user", "metadata", "service_tier", "prompt_cache_key", "safety_identifier", "logit_bias"},
    verbosity="verbosity",
    strict_tools=True,
    schema_drops=frozenset(),
)

_ROWS = (
    Dialect(name="chat", note="any server with /v1/chat/completions"),
    Dialect(name="responses", prefers="responses", note="any server with /v1/responses"),
    Dialect(
        name="openai",
        prefers="responses",
        chat=_OPENAI_CHAT,
        responses=ResponsesRules(
            verbatim=True,
            headers=("openai-", "x-codex-", "x-openai-", "x-client-request-id", "session-id", "session_id", "thread-id", "conversation_id", "originator", "version"),
            answers=("x-request-id", "x-codex-", "x-reasoning-included", "x-ratelimit-", "openai-processing-ms", "openai-version", "openai-organization"),
        ),
        efforts=("low", "medium", "high"),
        note="api.openai.com and servers that take everything it takes",
    ),
    Dialect(
        name="llama.cpp",
        chat=ChatRules(passes=SAMPLING | OWN_EXTRAS | {"cache_prompt", "id_slot", "grammar", "n_predict"}),
        responses=ResponsesRules(merges_instructions=True, late_developer="user", images_in_outputs=False, length_cut_completes=True),
        failures=(row("llama.cpp: context too long", "400 500", r"exceed_context_size_error", Becomes(400, "context_length_exceeded", "invalid_request_error")),),
        note="start it with --jinja and a chat template that knows tools",
    ),
    Dialect(
        name="vllm",
        prefers="responses",
        chat=ChatRules(passes=SAMPLING | OWN_EXTRAS | {"prompt_cache_key", "user", "cache_salt", "structured_outputs"}, strict_tools=True),
        responses=ResponsesRules(merges_instructions=True, late_developer="user", images_in_outputs=False),
        note="start it with --enable-auto-tool-choice and the --tool-call-parser of the model",
    ),
)  # fmt: skip

DIALECTS = {dialect.name: dialect for dialect in _ROWS}
