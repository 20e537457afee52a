"""The model servers that are known: one row each, and a new server is a new row. What a row can say is `dialect`."""

from antiphon.protocol.failures import Becomes, row
from antiphon.translation.dialect import SAMPLING, ChatRules, Dialect, ResponsesRules

OWN_EXTRAS = frozenset(
    {"top_k", "min_p", "repetition_penalty", "chat_template_kwargs", "ignore_eos", "logit_bias", "min_tokens", "stop_token_ids"}
)  # fmt: skip


_OPENAI_CHAT = ChatRules(
    max_tokens="max_completion_tokens",
    late_developer="developer",
    files=True,
    audio=True,
    passes=SAMPLING | {"user", "metadata", "service_tier", "prompt_cache_key", "safety_identifier", "logit_bias"},
    verbosity="verbosity",
    strict_tools=True,
    tool_choice=frozenset({"none", "required", "named", "allowed"}),
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
        chat=ChatRules(ends_with_answer=False, passes=SAMPLING | OWN_EXTRAS | {"cache_prompt", "id_slot", "grammar", "n_predict"}),
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
