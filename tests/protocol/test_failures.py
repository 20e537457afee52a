"""The table of failures, against what servers really say and against what only looks like it."""

import json
from typing import Any

import pytest

from antiphon.protocol import failures
from antiphon.protocol.errors import Forbidden, GatewayError, InvalidRequest, NotFound, TooLarge, UpstreamError
from antiphon.protocol.failures import Becomes, Failure, row

CONTEXT, MODEL, RATE, QUOTA = "context_length_exceeded", "model_not_found", "rate_limit_exceeded", "insufficient_quota"


def error(message: str, **more: Any) -> bytes:
    """OpenAI's form."""
    return json.dumps({"error": {"message": message, **more}}).encode()


def told(**body: Any) -> bytes:
    return json.dumps(body).encode()


TOO_LONG: dict[str, tuple[int, bytes]] = {
    "OpenAI chat": (400, error("This model's maximum context length is 128000 tokens. However, your messages resulted in 128070 tokens. Please reduce the length of the messages.", type="invalid_request_error", param="messages", code=CONTEXT)),
    "OpenAI responses": (400, error("Your input exceeds the context window of this model. Please adjust your input and try again.", type="invalid_request_error", param="input", code=CONTEXT)),
    "OpenAI, the words alone": (400, error("Your input exceeds the context window of this model. Please adjust your input and try again.")),
    "Azure, the code alone": (400, error("The request failed.", code=CONTEXT)),
    "vLLM": (400, told(object="error", message="This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4000 in the messages, 1000 in the completion). Please reduce the length of the messages or completion.", type="BadRequestError", param=None, code=400)),
    "vLLM v1": (400, error("The decoder prompt (length 40961) is longer than the maximum model length of 40960. Make sure that `max_model_len` is no smaller than the number of text tokens.", type="BadRequestError", code=400)),
    "vLLM, counted": (400, error("You passed 40961 input tokens and requested 0 output tokens. However, the model's context length is only 40960 tokens, resulting in a maximum input length of 40960 tokens. Please reduce the length of the input prompt.", code=400)),
    "vLLM responses": (400, error("The engine prompt length 5000 exceeds the max_model_len 4096. Please reduce prompt.", type="invalid_request_error")),
    "SGLang": (400, told(object="error", message="The input (40961 tokens) is longer than the model's context length (40960 tokens).", type="BadRequestError", code=400)),
    "SGLang, with output": (400, told(object="error", message="Requested token count exceeds the model's maximum context length of 40960 tokens. You requested a total of 41000 tokens.", type="BadRequestError", code=400)),
    "llama.cpp": (400, error("the request exceeds the available context size, try increasing it", type="exceed_context_size_error", code=400, n_prompt_tokens=9000, n_ctx=4096)),
    "llama.cpp, counted": (400, error("request (9000 tokens) exceeds the available context size (4096 tokens), try increasing it", code=400)),
    "llama.cpp, 500": (500, error("Context size has been exceeded.", type="server_error", code=500)),
    "llama-cpp-python": (400, error("Requested tokens (5000) exceed context window of 4096")),
    "Ollama": (400, error("prompt too long; exceeded max context length by 120 tokens", type="api_error")),
    "Ollama, bare": (500, told(error="the input length exceeds the context length")),
    "LM Studio": (400, told(error="Trying to keep the first 12345 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough. Try to load the model with a larger context length, or provide a shorter input")),
    "LM Studio, kept": (400, told(error="The number of tokens to keep from the initial prompt is greater than the context length. Try to load the model with a larger context length, or provide a shorter input")),
    "LM Studio, reached": (400, told(error="Reached context length of 4096 tokens with this model, but this model does not currently support mid-generation context overflow.")),
    "DeepSeek": (400, error("This model's maximum context length is 65536 tokens. However, you requested 70000 tokens (66000 in the messages, 4000 in the completion). Please reduce the length of the messages or completion.", type="invalid_request_error", param=None, code="invalid_request_error")),
    "Anthropic": (400, told(type="error", error={"type": "invalid_request_error", "message": "prompt is too long: 208310 tokens > 200000 maximum"})),
    "Anthropic, with output": (400, told(type="error", error={"type": "invalid_request_error", "message": "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again"})),
    "Bedrock": (400, told(message="Input is too long for requested model.")),
    "Gemini, in a list": (400, json.dumps([{"error": {"code": 400, "message": "The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).", "status": "INVALID_ARGUMENT"}}]).encode()),
    "xAI": (400, told(code="Client specified an invalid argument", error="This model's maximum prompt length is 131072 but the request contains 537812 tokens.")),
    "Mistral": (400, told(object="error", message="Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length", type="invalid_request_prompt", code="3051")),
    "Groq": (400, error("Please reduce the length of the messages or completion.", type="invalid_request_error", param="messages", code=CONTEXT)),
    "Cerebras": (400, told(message="Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192", type="invalid_request_error", param="messages")),
    "TGI": (422, told(error="Input validation error: `inputs` tokens + `max_new_tokens` must be <= 2048. Given: 2000 `inputs` tokens and 512 `max_new_tokens`", error_type="validation")),
    "TGI, inputs alone": (422, told(error="Input validation error: `inputs` must have less than 1024 tokens. Given: 2000", error_type="validation")),
    "Fireworks": (400, error("The prompt is too long: 140000, model maximum context length: 131071")),
    "OpenRouter": (400, error("This endpoint's maximum context length is 131072 tokens. However, you requested about 200000 tokens. Please reduce the length of either one, or use the \"middle-out\" transform.", code=400, metadata={"provider_name": None})),
    "OpenRouter, the server behind it": (400, error("Provider returned error", code=400, metadata={"raw": '{"message":"prompt is too long: 208310 tokens > 200000 maximum"}', "provider_name": "Any"})),
    "Cohere": (400, told(message="too many tokens: total number of tokens in the prompt cannot exceed 128000 - received 200000. Try using a shorter prompt, or enabling prompt truncating.")),
    "Kimi": (400, error("Invalid request: Your request exceeded model token limit: 131072", type="invalid_request_error")),
    "GLM": (400, error("Prompt exceeds max length", code="1261")),
    "Qwen's own service": (400, error("<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]", type="invalid_request_error", code="invalid_parameter_error")),
    "MiniMax": (400, told(type="error", error={"type": "bad_request_error", "message": "invalid params, context window exceeds limit (2013)", "http_code": "400"})),
    "SiliconFlow, a numeric code": (400, told(code=20015, message="length of prompt_tokens (33024) must be less than max_seq_len (32768).", data=None)),
    "TabbyAPI": (400, error("Prompt length 9000 is greater than max_seq_len 4096")),
    "GitHub Copilot": (400, error("prompt token count of 128131 exceeds the limit of 128000", code="model_max_prompt_tokens_exceeded")),
    "watsonx": (400, told(errors=[{"code": "invalid_input_argument", "message": "the number of input tokens 10000 cannot exceed the total tokens limit 8192 for this model"}])),
    "LiteLLM": (400, error("litellm.ContextWindowExceededError: litellm.BadRequestError: the model behind says no")),
    "TensorRT-LLM": (400, error("Prompt length (5000) exceeds maximum input length (4096). Set log level to info and check TRTGptModel logs for how maximum input length is set")),
    "bare text": (400, b"context_length_exceeded: try a shorter prompt"),
    "Poolside": (400, error("Input length 5000 exceeds the maximum allowed input length of 4096 tokens.")),
    "DS4": (400, error("prompt has 9000 tokens, but the configured context size is 8192 tokens")),
    "a maximum model length": (400, error("The prompt (length 40000) exceeds the maximum model length 32768")),
    "Cohere, by size": (400, error("too many tokens: size limit exceeded by 500 tokens. Try using shorter or fewer inputs.")),
    "TensorRT-LLM, counted": (400, error("default_max_tokens (-500) should be greater than 0, since prompt_token_count (9000) exceed max_num_tokens 8192")),
    "TensorRT-LLM, summed": (400, error("The sum of prompt length (9000.0) and query length (1) should not exceed max_num_tokens (8192)")),
    "the model's own limit": (400, error("total number of tokens (input + output) 200000 exceeds the model's limit 131072")),
    "what it supports": (400, error("Requested 12000 tokens, but the model supports up to 8192 tokens")),
    "plain words": (400, error("The conversation is too long. Please start a new one.")),
    "plain words, large": (400, error("the prompt is too large for the context window")),
    "your model's": (400, error("This request would exceed your model's context window")),
    "positions": (400, error("prompt length (9000) is greater than the max position embeddings (8192)")),
    "full": (400, error("Failed to process prompt: context full")),
    "a limit reached": (400, error("Model context limit reached")),
    "a limit exceeded": (400, error("Prompt tokens limit exceeded: 12000 > 8192")),
    "longer than": (400, error("Input text is longer than maximum of 8192 tokens")),
    "Chinese": (400, error("输入长度超过最大限制")),
    "Chinese, of the context": (400, error("上下文长度超出模型限制")),
    "413": (413, error("maximum context length is 4096 tokens")),
}  # fmt: skip

UNKNOWN_MODEL: dict[str, tuple[int, bytes]] = {
    "OpenAI chat": (404, error("The model `gpt-9` does not exist or you do not have access to it.", type="invalid_request_error", code=MODEL)),
    "OpenAI responses": (400, error("The requested model 'gpt-9' does not exist.", type="invalid_request_error", param="model", code=MODEL)),
    "Azure": (404, error("The API deployment for this resource does not exist. If you created the deployment within the last 5 minutes, please wait a moment and try again.", code="DeploymentNotFound")),
    "vLLM": (404, error("The model `gpt-9` does not exist.", type="NotFoundError", param="model", code=404)),
    "llama.cpp, several models": (404, error("model 'gpt-9' not found", type="not_found_error", code=404)),
    "Ollama": (404, error('model "gpt-9" not found, try pulling it first', type="api_error", param=None, code=None)),
    "Ollama, bare": (404, told(error="model 'gpt-9' not found")),
    "LM Studio": (404, error("No models loaded. Please load a model in the developer page or use the `lms load` command.", type="invalid_request_error")),
    "LM Studio, one that cannot be loaded": (400, error('Failed to load model "gpt-9". Error: Model does not exist.')),
    "DeepSeek": (400, error("Model Not Exist", type="invalid_request_error", code="invalid_request_error")),
    "Mistral": (400, told(object="error", message="Invalid model: gpt-9", type="invalid_model", code="1500")),
    "Together": (404, error("Unable to access model gpt-9. Please visit https://api.together.ai/models to view the list of supported models.", code="model_not_available")),
    "Fireworks": (404, error("Model not found, inaccessible, and/or not deployed", code="NOT_FOUND")),
    "OpenRouter": (400, error("gpt-9 is not a valid model ID", code=400)),
    "OpenRouter, nobody serves it": (404, error("No endpoints found for some/model.", code=404)),
    "xAI": (404, told(code="Some requested entity was not found", error="The model grok-9 does not exist or your team 1234 does not have access to it.")),
    "Anthropic": (404, told(type="error", error={"type": "not_found_error", "message": "model: gpt-9"})),
    "Gemini": (404, json.dumps([{"error": {"code": 404, "message": "models/gpt-9 is not found for API version v1main, or is not supported for generateContent. Call ListModels to see the list of available models.", "status": "NOT_FOUND"}}]).encode()),
    "Bedrock": (400, told(message="The provided model identifier is invalid.")),
    "Kimi": (404, error("Not found the model gpt-9 or Permission denied", type="resource_not_found_error")),
    "GLM": (400, error("模型不存在，请检查模型代码。", code="1211")),
    "GLM in English": (400, error("Unknown Model, please check the model code.", code="1211")),
    "SiliconFlow": (400, told(code=20012, message="Model does not exist. Please check it carefully.", data=None)),
    "LiteLLM": (400, error("/chat/completions: Invalid model name passed in model=gpt-9. Call `/v1/models` to view available models for your key.")),
    "Hugging Face": (400, error("The requested model 'gpt-9' is not supported by any provider you have enabled.", type="invalid_request_error", param="model", code="model_not_supported")),
    "ChatGPT": (400, told(detail="The 'gpt-9' model is not supported when using Codex with a ChatGPT account.")),
    "plain words": (400, error("Unsupported model gpt-9")),
    "not found, in other words": (404, error("Could not find model gpt-9")),
    "not supported": (400, error("model `gpt-9` is not supported")),
    "a name with blanks": (404, error('The model "My model v2" does not exist.')),
    "bare text": (404, b"model gpt-9 not found"),
}  # fmt: skip

RATE_LIMITED: dict[str, tuple[int, bytes]] = {
    "Groq, a request over the minute's tokens": (413, error("Request too large for model `m` in organization `o` service tier `on_demand` on tokens per minute (TPM): Limit 6000, Requested 9000, please reduce your message size and try again.", type="tokens", code="rate_limit_exceeded")),
    "Bedrock": (400, told(__type="ThrottlingException", message="ThrottlingException: Too many requests, please wait before trying again.")),
    "a server that says it with 400": (400, error("Rate limit reached for requests")),
}  # fmt: skip

NO_MONEY: dict[str, tuple[int, bytes]] = {
    "OpenAI": (429, error("You exceeded your current quota, please check your plan and billing details.", type="insufficient_quota", code="insufficient_quota")),
    "DeepSeek": (402, error("Insufficient Balance", type="unknown_error", code="invalid_request_error")),
    "OpenRouter": (402, error("Insufficient credits. Add more using https://openrouter.ai/settings/credits", code=402)),
    "Anthropic": (400, told(type="error", error={"type": "invalid_request_error", "message": "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits."})),
    "Kimi": (429, error("Your account is suspended, please check your plan and billing details", type="exceeded_current_quota_error")),
    "GLM": (429, error("Insufficient balance or no resource package. Please recharge.", code="1113")),
    "xAI": (403, told(code="The caller does not have permission to execute the specified operation", error="Your newly created team doesn't have any credits yet.")),
    "xAI, spent": (429, told(code="Some resource has been exhausted", error="Your team 1234 has either used all available credits or reached its monthly spending limit.")),
}  # fmt: skip


@pytest.mark.requirement("failures.context")
@pytest.mark.parametrize(("status", "body"), TOO_LONG.values(), ids=TOO_LONG)
def test_context_too_long(status: int, body: bytes) -> None:
    failure = failures.explain(status, body)
    assert (failure.status, failure.code, failure.type) == (400, CONTEXT, "invalid_request_error")
    assert failure.upstream_status == (None if status == 400 else status)


@pytest.mark.requirement("failures.unknown-model")
@pytest.mark.parametrize(("status", "body"), UNKNOWN_MODEL.values(), ids=UNKNOWN_MODEL)
def test_unknown_model(status: int, body: bytes) -> None:
    failure = failures.explain(status, body)
    assert (failure.status, failure.code, failure.type) == (400, MODEL, "invalid_request_error")


@pytest.mark.requirement("failures.rate-limit")
@pytest.mark.parametrize(("status", "body"), RATE_LIMITED.values(), ids=RATE_LIMITED)
def test_rate_limit_in_words(status: int, body: bytes) -> None:
    failure = failures.explain(status, body)
    assert (failure.status, failure.code, failure.upstream_status) == (429, RATE, status)


@pytest.mark.parametrize(("status", "body"), NO_MONEY.values(), ids=NO_MONEY)
def test_no_money_left(status: int, body: bytes) -> None:
    failure = failures.explain(status, body)
    assert (failure.status, failure.code) == (429, QUOTA)


ONLY_LOOKS_LIKE_IT: dict[str, tuple[int, bytes, tuple[int, str | None]]] = {
    "tokens per minute are no context": (429, error("Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Requested 40000. The input or output tokens must be reduced in order to run successfully.", type="tokens", code="rate_limit_exceeded"), (429, RATE)),
    "a quota per minute is a rate": (429, error("You exceeded your current quota.\n* Quota exceeded for requests per minute. Please retry in 12s."), (429, RATE)),
    "a 429 that speaks of the context": (429, error("Rate limited: this model's maximum context length counts towards your tokens per minute"), (429, None)),
    "a limit of the answer's length": (400, error("max_tokens is too large: 20000. This model supports at most 16384 completion tokens, whereas you provided 20000.", param="max_tokens", code="invalid_value"), (400, "invalid_value")),
    "a limit of the answer's length, vLLM": (400, error("max_tokens=5000 cannot be greater than max_model_len=4096. Please request fewer output tokens.", code=400), (400, None)),
    "a name too long": (400, error("Invalid 'tools[0].function.name': string too long. Expected a string with maximum length 64, but got a string with length 70 instead.", code="string_above_max_length"), (400, "string_above_max_length")),
    "too many tools": (400, error("Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 200 instead.", code="array_above_max_length"), (400, "array_above_max_length")),
    "an image too large": (400, error("Image size exceeds the maximum of 20 MB", code="image_too_large"), (400, "image_too_large")),
    "a body too large for a proxy": (413, b"<html>\r\n<head><title>413 Request Entity Too Large</title></head>\r\n<body>\r\n<center><h1>413 Request Entity Too Large</h1></center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>", (400, None)),
    "a server of another kind, full": (503, error("This model's maximum context length is being raised; try again", code=503), (503, None)),
    "a tool not found": (400, error("Tool 'read_file' not found in request.tools", code="invalid_request"), (400, "invalid_request")),
    "a tool choice not found": (400, error("Tool choice 'function' not found in 'tools' parameter.", param="tool_choice"), (400, None)),
    "no such route": (404, told(detail="Not Found"), (400, None)),
    "no such route, in words": (404, b"404 page not found", (400, None)),
    "no such item": (404, error("Item with id 'rs_1' not found. Items are not persisted when `store` is set to false.", type="invalid_request_error", param="input"), (400, None)),
    "no such response": (400, error("Previous response with id 'resp_1' not found.", param="previous_response_id", code="previous_response_not_found"), (400, "previous_response_not_found")),
    "a model that cannot do something": (400, error('registry.ollama.ai/library/gemma:2b does not support tools', type="api_error"), (400, None)),
    "a value that the model does not take": (400, error("Unsupported value: 'minimal' is not supported with the 'gpt-9' model. Supported values are: 'low', 'medium'.", param="reasoning.effort", code="unsupported_value"), (400, "unsupported_value")),
    "a model that called what is not there": (400, error("The model called a function that does not exist in tools"), (400, None)),
    "nobody serves the tools": (404, error("No endpoints found that support tool use.", code=404), (400, None)),
    "pydantic quoting the user on contexts": (422, told(detail=[{"type": "list_type", "loc": ["body", "messages"], "msg": "Input should be a valid list", "input": "why is my prompt is too long, maximum context length?"}]), (400, None)),
    "pydantic quoting the user on models": (400, told(object="error", message="[{'type': 'missing', 'loc': ('body', 'messages'), 'msg': 'Field required', 'input': {'content': 'unknown model, insufficient_quota, rate limit'}}]", type="Bad Request", code=400), (400, None)),
    "a bad key": (401, error("Incorrect API key provided: sk-x.", type="invalid_request_error", code="invalid_api_key"), (401, "invalid_api_key")),
    "no right to a model": (403, error("Project `p` does not have access to it", type="invalid_request_error"), (400, None)),
    "out of memory": (500, error("CUDA out of memory", type="InternalServerError", code=500), (500, None)),
}  # fmt: skip


@pytest.mark.requirement("failures.context", "failures.unknown-model", "failures.upstream-own")
@pytest.mark.parametrize(("status", "body", "expected"), ONLY_LOOKS_LIKE_IT.values(), ids=ONLY_LOOKS_LIKE_IT)
def test_what_only_looks_like_it(status: int, body: bytes, expected: tuple[int, str | None]) -> None:
    failure = failures.explain(status, body)
    assert (failure.status, failure.code) == expected


MESSAGES: dict[str, tuple[bytes, str]] = {
    "OpenAI": (error("no"), "no"),
    "the object itself": (told(message="no"), "no"),
    "error is text": (told(error="no"), "no"),
    "FastAPI": (told(detail="no"), "no"),
    "FastAPI's list": (told(detail=[{"loc": ["body"], "msg": "no"}]), '[{"loc":["body"],"msg":"no"}]'),
    "msg": (told(code=1, msg="no"), "no"),
    "a list": (json.dumps([{"error": {"message": "no"}}]).encode(), "no"),
    "a list of nothing known": (b"[1, 2]", "[1, 2]"),
    "no known member": (told(oops=1), '{"oops": 1}'),
    "an empty error": (told(error={}), '{"error": {}}'),
    "a null message": (told(error={"message": None, "code": "x"}), '{"error": {"message": null, "code": "x"}}'),
    "bare text": (b"  no\n such  thing\n", "no such thing"),
    "HTML": (b"<html><head><title>502 Bad Gateway</title><style>a{}</style></head><body><script>x<1</script><h1>no</h1></body></html>", "502 Bad Gateway no"),
    "bytes that are no text": (b"\xff no", "\ufffd no"),
    "a lone surrogate": (b'{"error":{"message":"a\\ud800b"}}', "a\ufffdb"),
    "JSON cut short": (b'{"error":{"message":"no', '{"error":{"message":"no'),
    "too deep": (b"[" * 100, "[" * 100),
    "a number too large": (b'{"message":"no","n":1e999}', "no"),
    "nothing": (b"", "the model server answered 418 without a word"),
    "a very long one": (b"x" * 10_000, "x" * failures.MESSAGE_LIMIT),
}  # fmt: skip


@pytest.mark.requirement("failures.upstream-own")
@pytest.mark.parametrize(("body", "message"), MESSAGES.values(), ids=MESSAGES)
def test_the_message_is_the_upstreams(body: bytes, message: str) -> None:
    assert failures.explain(418, body).message == message


@pytest.mark.parametrize("body", [b"<" * 20_000, b"[" * 200_000, b"[1e999," + b"[" * 200_000, b'{"code":' + b"1" * 5_000 + b"}"], ids=len)
def test_a_body_made_to_hurt_is_a_failure_like_any(body: bytes) -> None:
    assert failures.explain(500, body).status == 500


@pytest.mark.requirement("failures.permanent")
@pytest.mark.parametrize("status", [403, 404, 405, 409, 410, 413, 415, 422])
def test_a_permanent_refusal_is_400(status: int) -> None:
    failure = failures.explain(status, error("no", code="their_code", param="x"))
    assert failure == Failure(400, "no", "their_code", "invalid_request_error", "x", upstream_status=status)
    assert failure.error() == {
        "message": "no",
        "type": "invalid_request_error",
        "param": "x",
        "code": "their_code",
        "upstream_status": status,
    }


@pytest.mark.requirement("failures.upstream-own")
@pytest.mark.parametrize(
    ("status", "type"),
    [(400, "invalid_request_error"), (401, "authentication_error"), (408, "invalid_request_error"), (418, "invalid_request_error"),
     (429, "rate_limit_error"), (500, "server_error"), (502, "server_error"), (503, "server_error"), (529, "server_error")],
)  # fmt: skip
def test_what_no_row_knows_keeps_its_status(status: int, type: str) -> None:
    failure = failures.explain(status, error("no"))
    assert failure == Failure(status, "no", None, type)
    assert "upstream_status" not in failure.error()


@pytest.mark.requirement("failures.rate-limit")
@pytest.mark.parametrize("retry_after", ["17", "Wed, 21 Oct 2026 07:28:00 GMT", None])
def test_retry_after_is_the_upstreams(retry_after: str | None) -> None:
    failure = failures.explain(429, error("Slow down"), retry_after=retry_after)
    assert (failure.status, failure.retry_after) == (429, retry_after)


def test_a_redirect_is_a_bad_gateway() -> None:
    failure = failures.explain(307, b"")
    assert (failure.status, failure.code, failure.upstream_status) == (502, "upstream_redirected", 307)


@pytest.mark.parametrize("status", [600, 999])
def test_a_status_that_http_does_not_have_is_a_bad_gateway(status: int) -> None:
    failure = failures.explain(status, error("no"))
    assert (failure.status, failure.message, failure.upstream_status) == (502, "no", status)


def test_overload_keeps_its_status() -> None:
    failure = failures.explain(503, error("busy", code="server_is_overloaded"))
    assert (failure.status, failure.code) == (503, "server_is_overloaded")


@pytest.mark.requirement("failures.upstream-own")
def test_rows_of_ones_own_come_first() -> None:
    mine = row("mine", "400-403 500", "the cat is out", Becomes(429, "cat", "cat_error"))
    assert failures.explain(400, error("The Cat is out"), rows=[mine]) == Failure(
        429, "The Cat is out", "cat", "cat_error", upstream_status=400
    )
    assert failures.explain(404, error("The Cat is out"), rows=[mine]).code is None
    assert failures.explain(400, error("The dog is out"), rows=[mine]).status == 400


def test_a_row_that_changes_nothing_shields_from_later_ones() -> None:
    shield = row("keep", "404", "", Becomes())
    assert failures.explain(404, error("no"), rows=[shield]).status == 404


IN_STREAM: dict[str, tuple[Any, tuple[int, str | None]]] = {
    "a code": ({"message": "no", "code": "their_code"}, (500, "their_code")),
    "a status as code": ({"message": "no", "code": 400}, (400, None)),
    "a status as text": ({"message": "no", "code": "429"}, (429, "429")),
    "a status": ({"message": "no", "status": 503, "code": "x"}, (503, "x")),
    "a code that is no status": ({"message": "no", "code": 1261}, (500, None)),
    "a digit that int does not know": ({"message": "no", "code": "²"}, (500, "²")),
    "digits beyond measure": ({"message": "no", "code": "9" * 5_000}, (500, "9" * 5_000)),
    "true is no status": ({"message": "no", "code": True}, (500, None)),
    "text": ("no", (500, None)),
    "nothing": (None, (500, None)),
    "context, in words": ({"message": "Context size has been exceeded."}, (400, CONTEXT)),
    "context, by its code": ({"message": "no", "code": CONTEXT}, (400, CONTEXT)),
    "unknown model": ({"message": "no", "code": MODEL}, (400, MODEL)),
    "unknown model, in words": ({"message": "The model `x` does not exist"}, (400, MODEL)),
    "rate limit": ({"message": "no", "code": RATE}, (429, RATE)),
    "a type that has a status": ({"message": "no", "type": "authentication_error"}, (401, None)),
    "a status against its words": ({"message": "model not found", "status": 503}, (503, None)),
    "an empty object": ({}, (500, None)),
}


@pytest.mark.requirement("failures.in-stream")
@pytest.mark.parametrize(("body", "expected"), IN_STREAM.values(), ids=IN_STREAM)
def test_an_error_in_a_stream(body: Any, expected: tuple[int, str | None]) -> None:
    failure = failures.in_stream(body)
    assert (failure.status, failure.code) == expected


@pytest.mark.requirement("failures.in-stream")
@pytest.mark.parametrize(
    ("failure", "code"),
    [(Failure(400, "", CONTEXT), CONTEXT), (Failure(400, ""), "invalid_prompt"), (Failure(401, ""), "invalid_prompt"), (Failure(429, ""), RATE),
     (Failure(500, ""), "server_error"), (Failure(502, "", "upstream_unreachable"), "upstream_unreachable")],
)  # fmt: skip
def test_the_code_of_a_failed_response(failure: Failure, code: str) -> None:
    assert failures.stream_code(failure) == code


@pytest.mark.parametrize(
    ("failure", "status"),
    [(InvalidRequest("x").failure, 400), (TooLarge("x").failure, 413), (NotFound("x").failure, 404), (Forbidden("x").failure, 403),
     (GatewayError("x").failure, 500), (UpstreamError(Failure(429, "x")).failure, 429),
     (failures.unreachable("x"), 502), (failures.timed_out("x"), 504), (failures.ended_early("x"), 502)],
)  # fmt: skip
def test_every_error_is_a_failure_with_a_status(failure: Failure, status: int) -> None:
    assert (failure.status, failure.message) == (status, "x")


def test_a_request_error_names_its_parameter() -> None:
    failure = InvalidRequest("no", param="input[0]", code="invalid_type").failure
    assert failure.error() == {"message": "no", "type": "invalid_request_error", "param": "input[0]", "code": "invalid_type"}
