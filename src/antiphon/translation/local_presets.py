"""The model servers that people run themselves, one row each: as their own code has it, where that can be read, else as they were seen."""

from antiphon.protocol.failures import Becomes, row
from antiphon.translation.dialect import SAMPLING, ChatRules, Dialect, ResponsesRules, Signs

_SAMPLERS = frozenset(
    {"top_k", "min_p", "repetition_penalty", "chat_template_kwargs", "ignore_eos", "logit_bias", "min_tokens", "stop_token_ids"}
)
_LLAMA_SAMPLERS = frozenset(
    {
        "cache_prompt", "id_slot", "grammar", "n_predict", "repeat_penalty", "typical_p", "mirostat", "mirostat_tau", "mirostat_eta",
        "reasoning_format", "thinking_budget_tokens", "reasoning_budget_tokens", "timings_per_token", "return_progress",
    }
)  # fmt: skip
_EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
_FUNCTIONS = ResponsesRules(merges_instructions=True, late_developer="user", images_in_outputs=False)
"""Servers that translate their Responses API to chat themselves, and know functions alone."""
_LOCAL_IMAGES = ("data:image/jpeg", "data:image/jpg", "data:image/png")
_REFUSED = Becomes(400, type="invalid_request_error")
_TOO_LONG = Becomes(400, "context_length_exceeded", "invalid_request_error")

ROWS = (
    Dialect(
        name="llama.cpp",
        counts="llama.cpp",
        chat=ChatRules(
            ends_with_answer=False,
            passes=SAMPLING | _SAMPLERS | _LLAMA_SAMPLERS,
            tool_choice=frozenset({"none", "required"}),
            reasoning_back="reasoning_content",
        ),
        responses=ResponsesRules(
            merges_instructions=True,
            late_developer="user",
            images_in_outputs=False,
            tool_choice=frozenset({"none", "required"}),
            formats=False,
            length_cut_completes=True,
            thoughts_in_content=True,
        ),
        failures=(
            row("llama.cpp: context too long", "400 500", r"exceed_context_size_error", _TOO_LONG),
            row("llama.cpp: no such input", "500", r"(image|audio|video) input is not supported", _REFUSED),
            row("llama.cpp: without a template", "500", r"param requires --jinja", _REFUSED),
        ),
        signs=Signs(owners=("llamacpp",), page="/props", key="default_generation_settings"),
        note="start it with --jinja and a chat template that knows tools",
    ),
    Dialect(
        name="llama-cpp-python",
        chat=ChatRules(
            no_text="empty",
            passes=SAMPLING
            | {"top_k", "min_p", "repeat_penalty", "min_tokens", "logit_bias", "grammar", "mirostat_mode", "mirostat_tau", "mirostat_eta"},
            renames={"repetition_penalty": "repeat_penalty"},
            tool_choice=frozenset({"named"}),
            parallel_calls=False,
            json_schema="json_object",
            stream_usage=False,
            effort="",
        ),
        signs=Signs(owners=("me",)),
        note="python -m llama_cpp.server; its chat format must know tools",
    ),
    Dialect(
        name="vllm",
        counts="vllm",
        prefers="responses",
        chat=ChatRules(
            passes=SAMPLING
            | _SAMPLERS
            | {
                "prompt_cache_key",
                "user",
                "cache_salt",
                "structured_outputs",
                "thinking_token_budget",
                "include_reasoning",
                "bad_words",
                "priority",
            },
            strict_tools=True,
            efforts=_EFFORTS,
            reasoning_back="reasoning",
        ),
        responses=_FUNCTIONS,
        signs=Signs(owners=("vllm",)),
        note="start it with --enable-auto-tool-choice and the --tool-call-parser of the model",
    ),
    Dialect(
        name="sglang",
        chat=ChatRules(
            passes=SAMPLING | _SAMPLERS | {"user", "regex", "ebnf", "separate_reasoning", "stream_reasoning", "thinking", "lora_path"},
            strict_tools=True,
            efforts=(*_EFFORTS, "ultra"),
            reasoning_back="reasoning_content",
        ),
        responses=_FUNCTIONS,
        signs=Signs(owners=("sglang",)),
        note="start it with the --tool-call-parser and the --reasoning-parser of the model",
    ),
    Dialect(
        name="ollama",
        chat=ChatRules(
            image_urls=(*_LOCAL_IMAGES, "data:image/webp"),
            tool_choice=frozenset(),
            parallel_calls=False,
            efforts=("none", "low", "medium", "high"),
            reasoning_back="reasoning",
        ),
        responses=_FUNCTIONS,
        signs=Signs(owners=("library",), page="/api/version", key="version"),
        note="its default context is small: set OLLAMA_CONTEXT_LENGTH",
    ),
    Dialect(
        name="lmstudio",
        chat=ChatRules(
            image_urls=_LOCAL_IMAGES,
            passes=SAMPLING | {"top_k", "repeat_penalty", "logit_bias"},
            renames={"repetition_penalty": "repeat_penalty"},
            tool_choice=frozenset({"none", "required"}),
            parallel_calls=False,
            json_object="json_schema",
            logprobs=False,
            efforts=("low", "medium", "high"),
        ),
        responses=_FUNCTIONS,
        signs=Signs(owners=("organization_owner",), page="/api/v0/models", key="data"),
        note="load the model with a context that holds Codex's prompt",
    ),
)
