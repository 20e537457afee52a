"""The model servers of companies, one row each: as their own documentation and SDKs have it, and as their users saw them refuse."""

from typing import Any

from antiphon.protocol.failures import Becomes, row
from antiphon.translation.dialect import SAMPLING, ChatRules, Dialect, ResponsesRules, Signs

_EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
_CHOICES = frozenset({"none", "required", "named", "allowed"})
_THINKING_OFF = {"thinking": {"type": "disabled"}}
_THINKING_ON = {"thinking": {"type": "enabled"}}
_MISTRALS_ORDER: dict[str, Any] = {
    "apart": frozenset({("tool", "user")}), "ends_with_answer": False, "call_id_limit": 9, "call_ids_exact": True,
}  # fmt: skip
_MOONSHOTS_SCHEMAS: dict[str, Any] = {
    "name_pattern": "[A-Za-z][A-Za-z0-9_-]*",
    "schema_drops": frozenset({"encrypted", "nullable", "if", "then", "else"}),
    "schema_repairs": frozenset({"flat_root", "lone_refs", "no_nulls", "no_tuples", "types", "types_in_branches"}),
}
_FUNCTIONS = ResponsesRules(late_developer="user", images_in_outputs=False)
_OPENAI_CHAT = ChatRules(
    late_developer="developer",
    files=True,
    audio=True,
    call_id_limit=40,
    tool_choice=_CHOICES,
    strict_tools=True,
    schema_drops=frozenset(),
    max_tokens="max_completion_tokens",
    passes=SAMPLING | {"user", "metadata", "service_tier", "prompt_cache_key", "safety_identifier", "logit_bias"},
    verbosity="verbosity",
)
_VERBATIM = ResponsesRules(
    verbatim=True,
    headers=(
        "openai-", "x-codex-", "x-openai-", "x-client-request-id", "session-id", "session_id", "thread-id", "conversation_id", "originator",
        "version",
    ),
    answers=(
        "x-request-id", "x-codex-", "x-reasoning-included", "x-ratelimit-", "openai-processing-ms", "openai-version", "openai-organization",
    ),
)  # fmt: skip

ROWS = (
    Dialect(
        name="openai",
        counts="openai",
        prefers="responses",
        chat=_OPENAI_CHAT,
        responses=_VERBATIM,
        efforts=("low", "medium", "high"),
        signs=Signs(hosts=("openai.com",)),
        note="api.openai.com and servers that take everything it takes",
    ),
    Dialect(
        name="azure",
        counts="openai",
        prefers="responses",
        chat=ChatRules(
            late_developer="developer",
            call_id_limit=40,
            tool_choice=_CHOICES,
            strict_tools=True,
            schema_drops=frozenset(),
            max_tokens="max_completion_tokens",
            passes=SAMPLING | {"user", "metadata", "logit_bias", "prompt_cache_key"},
            verbosity="verbosity",
        ),
        responses=ResponsesRules(verbatim=True, answers=("x-request-id", "apim-request-id", "x-ms-", "x-ratelimit-")),
        efforts=("low", "medium", "high"),
        signs=Signs(hosts=("openai.azure.com", "cognitiveservices.azure.com", "services.ai.azure.com")),
        note="models are called by the names of their deployments",
    ),
    Dialect(
        name="openrouter",
        chat=ChatRules(
            files=True,
            audio=True,
            call_id_limit=40,
            strict_tools=True,
            passes=SAMPLING
            | {"top_k", "min_p", "top_a", "repetition_penalty", "logit_bias", "user", "provider", "models", "plugins", "transforms", "session_id"},
            verbosity="verbosity",
            effort="reasoning.effort",
            efforts=_EFFORTS,
            reasoning_back="reasoning",
        ),
        models={"mistralai/*": _MISTRALS_ORDER, "moonshotai/*": _MOONSHOTS_SCHEMAS},
        responses=_FUNCTIONS,
        efforts=("low", "medium", "high"),
        signs=Signs(hosts=("openrouter.ai",)),
        note="a model has habits of whoever serves it: give it rules in [models]",
    ),
    Dialect(
        name="groq",
        chat=ChatRules(
            strict_tools=True,
            max_tokens="max_completion_tokens",
            passes=frozenset({"temperature", "top_p", "stop", "seed", "service_tier", "user", "include_reasoning", "reasoning_format"}),
            logprobs=False,
            stream_usage=False,
            efforts=("low", "medium", "high"),
        ),
        models={
            "openai/gpt-oss*": {"reasoning_back": "reasoning"},
            "qwen/qwen3-32b": {"effort": "", "effort_fields": {"none": {"reasoning_effort": "none"}, "*": {"reasoning_effort": "default"}}},
        },
        responses=_FUNCTIONS,
        failures=(
            row("groq: no call came of it", "400", r"tool_use_failed|json_validate_failed", Becomes(502, type="server_error")),
            row("groq: larger than a minute's allowance", "413", r"tokens per minute|\bTPM\b", Becomes(400, "context_length_exceeded", "invalid_request_error")),
        ),
        signs=Signs(hosts=("groq.com",)),
        note="at most 128 tools",
    ),
    Dialect(
        name="deepseek",
        chat=ChatRules(
            images=False,
            parallel_calls=False,
            forced_fields=_THINKING_OFF,
            passes=frozenset({"temperature", "top_p", "presence_penalty", "frequency_penalty", "stop", "thinking"}),
            json_schema="words",
            efforts=("low", "high", "max"),
            effort_fields={"none": _THINKING_OFF},
            reasoning_back="reasoning_content",
            reasoning_always=True,
            reasoning_filler=" ",
        ),
        responses=_FUNCTIONS,
        efforts=("low", "high", "max"),
        signs=Signs(hosts=("deepseek.com",)),
        note="thinks unless told otherwise",
    ),
    Dialect(
        name="kimi",
        chat=ChatRules(
            image_urls=("data:", "ms:"),
            tool_choice=frozenset({"none"}),
            parallel_calls=False,
            **_MOONSHOTS_SCHEMAS,
            max_tokens="max_completion_tokens",
            passes=frozenset({"stop", "prompt_cache_key", "safety_identifier", "thinking"}),
            efforts=("low", "high", "max"),
            effort_fields={"none": _THINKING_OFF},
            reasoning_back="reasoning_content",
            reasoning_always=True,
            reasoning_filler=" ",
        ),
        models={
            "kimi-k2*": {"effort": "", "effort_fields": {"none": _THINKING_OFF, "*": _THINKING_ON}},
            "kimi-k3*": {"effort_fields": {}},
            "moonshot-v1*": {
                "passes": SAMPLING | {"prompt_cache_key", "safety_identifier"}, "effort": "", "effort_fields": {}, "reasoning_back": "",
                "json_schema": "words",
            },
        },
        efforts=("low", "high", "max"),
        signs=Signs(hosts=("moonshot.ai", "moonshot.cn", "kimi.com")),
        note="sets temperature and the like itself",
    ),
    Dialect(
        name="glm",
        chat=ChatRules(
            tool_choice=frozenset(),
            parallel_calls=False,
            passes=frozenset({"temperature", "top_p", "stop", "do_sample", "thinking", "tool_stream", "user_id", "request_id"}),
            ranges={"temperature": (0, 1), "top_p": (0.01, 1)},
            json_schema="words",
            logprobs=False,
            stream_usage=False,
            efforts=_EFFORTS,
            effort_fields={"none": _THINKING_OFF, "*": _THINKING_ON},
            reasoning_back="reasoning_content",
            reasoning_always=True,
        ),
        failures=(row("glm: no money left", "429", r"\b1113\b", Becomes(429, "insufficient_quota", "insufficient_quota")),),
        efforts=("low", "medium", "high"),
        signs=Signs(hosts=("z.ai", "bigmodel.cn")),
        note="has no list of models: name them in [upstreams.NAME] models",
    ),
    Dialect(
        name="qwen",
        chat=ChatRules(
            no_text="empty",
            forced_fields={"enable_thinking": False},
            passes=SAMPLING
            | {"top_k", "repetition_penalty", "enable_thinking", "thinking_budget", "enable_search", "search_options", "vl_high_resolution_images"},
            json_schema="words",
            effort="",
            effort_fields={"none": {"enable_thinking": False}, "*": {"enable_thinking": True}},
            reasoning_back="reasoning_content",
        ),
        models={"qwen3.[78]-*": {"json_schema": "json_schema"}},
        responses=_FUNCTIONS,
        failures=(
            row("qwen: no money left", "400 403", r"\bArrearage\b", Becomes(429, "insufficient_quota", "insufficient_quota")),
            row("qwen: refused by its filter", "400", r"data_inspection_failed|DataInspectionFailed", Becomes(400, "content_filter", "invalid_request_error")),
        ),
        signs=Signs(hosts=("aliyuncs.com",)),
        note="DashScope, by its compatible-mode URL",
    ),
    Dialect(
        name="mistral",
        chat=ChatRules(
            **_MISTRALS_ORDER,
            strict_tools=True,
            passes=frozenset(
                {
                    "temperature", "top_p", "presence_penalty", "frequency_penalty", "stop", "metadata", "prompt_cache_key", "top_k",
                    "repetition_penalty", "min_tokens", "safe_prompt", "prompt_mode", "prediction", "guardrails",
                }
            ),
            renames={"seed": "random_seed"},
            ranges={"temperature": (0, 1.5)},
            stream_usage=False,
            efforts=_EFFORTS,
        ),
        models={"magistral*": {"reasoning_back": "thinking"}},
        failures=(row("mistral: order of messages", "400 422", r"invalid_request_message_order", Becomes(400, "invalid_prompt", "invalid_request_error")),),
        signs=Signs(hosts=("mistral.ai",)),
        note="api.mistral.ai",
    ),
)  # fmt: skip
