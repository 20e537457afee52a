"""Which upstream failure means what, as a table: status × wording → status and code that make a client act rightly.

Rows are tried in order and the first that fits decides; where none fits, the upstream's own status, type, code and message are kept. Rows from
configuration come first, a dialect's next, then `ROWS`. What Codex does with each status was measured with Codex 0.169.0: 400 ends the turn,
429 ends it unless `retry-after` is there, 403, 404 and 422 are retried five times for nothing, 5xx are retried thirty times.

Not here: rendering (each edge has its own form), raising (`errors`), retrying.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import ceil
from typing import Any, NamedTuple, cast

from antiphon.protocol import json

MESSAGE_LIMIT = 2_000


@dataclass(frozen=True, slots=True)
class Failure:
    """A failure in the client's terms."""

    status: int
    message: str
    code: str | None = None
    type: str = "server_error"
    param: str | None = None
    upstream_status: int | None = None
    retry_after: str | None = None

    def error(self) -> dict[str, Any]:
        """The `error` object of OpenAI's error bodies."""
        body: dict[str, Any] = {"message": self.message, "type": self.type, "param": self.param, "code": self.code}
        if self.upstream_status is not None:
            body["upstream_status"] = self.upstream_status
        return body


class Becomes(NamedTuple):
    """What a failure becomes; None keeps the upstream's own."""

    status: int | None = None
    code: str | None = None
    type: str | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the table. Empty `statuses` or no `wording` fits all."""

    name: str
    statuses: frozenset[int]
    wording: re.Pattern[str] | None
    becomes: Becomes

    def fits(self, status: int, words: str) -> bool:
        """Whether this row speaks of such a failure."""
        return (not self.statuses or status in self.statuses) and (self.wording is None or self.wording.search(words) is not None)


def row(name: str, statuses: str, wording: str, becomes: Becomes) -> Row:
    """A row in the words that configuration uses: statuses as `"400 413 500-599"`, wording as a regular expression without case."""
    pattern = re.compile(wording, re.IGNORECASE) if wording else None
    return Row(name, frozenset(_statuses(statuses)), pattern, becomes)


def _statuses(text: str) -> Iterable[int]:
    for part in text.replace(",", " ").split():
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


_RATE = r"rate.?limit|too many requests|tokens per (minute|day)|requests per (minute|day)|\btpm\b|\brpm\b|throttl"
_CONTEXT = "|".join(
    (
        r"context_length_exceeded|exceed_context_size|context_window_exceeded|ContextWindowExceeded",
        r"maximum context length",  # OpenAI, vLLM, DeepSeek, OpenRouter, SGLang
        r"exceed(s|ed)? (the |your )?(available |model'?s? |max(imum)? )*context( (size|length|window|limit))?",  # llama.cpp, Ollama, Anthropic
        r"longer than (the )?(max(imum)?\b|model'?s)",  # vLLM, SGLang
        r"\b(prompt|prompt_tokens|context|input)\b.{0,60}\bmax_(model|seq)_len\b",  # vLLM, TabbyAPI, SiliconFlow
        r"context (length|window|size) (of only|(has been )?exceeded|exceeds|overflow)|context the overflows",  # LM Studio, llama.cpp, MiniMax
        r"greater than the (context length|max(imum)? position)|reached context length|configured context size is",  # LM Studio, DS4
        r"context (is )?full|(context|n_ctx|prompt[_ ]tokens?|input tokens?|token) (limit )?(was |has been )?(exceeded|reached)",  # llama.cpp's like
        r"too long for (the )?(requested )?model|(prompt|input|request) is too long",  # Bedrock, Anthropic
        r"prompt( tokens)? too long|max(imum)? prompt length",  # Ollama, Baidu, xAI
        r"prompt exceeds max(imum)? length|exceeded model token limit",  # GLM, Kimi
        r"input length should be|input length \d+ exceeds the maximum length|exceed max message tokens",  # Qwen's own service, Doubao
        r"reduce the length of (the|your) (messages|prompt|input)",  # Groq, Cerebras
        r"too large for model with \d+ maximum context",  # Mistral
        r"input token count.{0,40}exceeds|inputs?`? tokens.{0,40}must be <=|inputs`? must have less than",  # Gemini, TGI
        r"prompt token count.{0,40}exceeds|model_max_prompt_tokens_exceeded",  # GitHub Copilot
        r"tokens (in the prompt )?(\d+ )?cannot exceed|number of input tokens exceeds",  # Cohere, watsonx, Bedrock
        r"exceeds? (the )?max(imum)?[ _](allowed )?(input|prompt|sequence|model|number of input tokens)[ _]?(length|len)?",  # TensorRT-LLM, Poolside
        r"(prompt|token|input)[^\n]{0,60}exceed[^\n]{0,40}(max_num_tokens|model'?s limit|limit of \d)|supports up to \d+ tokens",  # TensorRT-LLM
        r"too many (input |prompt )?tokens(?!.{0,5}please wait)",  # Hugging Face, Cohere
        r"(prompt|context|input|conversation|messages?)\b[^.\n]{0,40}(?<!string )(?<!array )too (long|large)",  # whoever says it plainly
        r"(上下文|输入|tokens?|prompt)[^,，。]{0,8}(超过|超出|超长|过长)",
        r"requested tokens?.{0,40}exceed.{0,20}context",  # llama-cpp-python
    )
)
_MODEL = "|".join(
    (
        r"model_not_(found|available|supported)|invalid_model\b|DeploymentNotFound",
        r"model[ _](does |was |is )?not[ _](found|exist)|(unknown|no such|not found the|unable to access) model",
        r"model:? (with id |named )?(['\"`][^'\"`]{1,120}['\"`]|[^\s'\"`]+) (was |is )?(does not exist|not found|not loaded|not available)",
        r"invalid model( name| id|:|$)|not a valid model|model identifier is invalid|'\S+' model is not supported|no models? loaded",
        r"unsupported model|could not find model|model doesn'?t exist|not have access to model|model:? [`'\"]\S+[`'\"] is not supported",
        r"no endpoints found for|models/\S+ is not found|not_found_error\s+model: |模型不存在",  # OpenRouter, Gemini, Anthropic, GLM
    )
)
_QUOTA = (
    r"insufficient_quota|insufficient balance|insufficient credits|exceeded[ _](your )?current[ _]quota|billing.{0,20}limit"
    r"|credit balance is too low|(have any|all available) credits|spending limit"
)
_ECHO = re.compile(r"""['"]input['"]\s*:.*""", re.DOTALL)
"""Where pydantic's errors begin to quote the request: what a user wrote is not the server's wording."""

_INVALID = "invalid_request_error"

ROWS: tuple[Row, ...] = (
    row("rate limit named in words", "400 413 422", _RATE, Becomes(429, "rate_limit_exceeded", "rate_limit_error")),
    row("context too long", "400 413 422 500", _CONTEXT, Becomes(400, "context_length_exceeded", _INVALID)),
    row("unknown model", "400 404 422", _MODEL, Becomes(400, "model_not_found", _INVALID)),
    row(
        "rate limit that speaks of a quota",
        "429",
        r"(?s)^(?=.*quota)(?=.*(per[ _-]?(second|minute|hour|day)|retry in \d))",
        Becomes(429, "rate_limit_exceeded", "rate_limit_error"),
    ),
    row("no money left", "402", "", Becomes(429, "insufficient_quota", "insufficient_quota")),
    row("no money left, in words", "400 403 429", _QUOTA, Becomes(429, "insufficient_quota", "insufficient_quota")),
    row("overloaded, in words", "500-599", r"server_is_overloaded", Becomes(code="server_is_overloaded")),
    row("permanent refusal", "403 404 405 409 410 413 415 422", "", Becomes(400, type=_INVALID)),
    row("redirect", "300-399", "", Becomes(502, "upstream_redirected")),
)
_REDIRECT = ROWS[-1]

TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
}
"""OpenAI's error type for a status, where the upstream names none."""

STATUSES = {type: status for status, type in TYPES.items()}
"""The same the other way round, for an error that comes with a good status."""

STREAM_CODES = {400: "invalid_prompt", 401: "invalid_prompt", 403: "invalid_prompt", 404: "invalid_prompt", 429: "rate_limit_exceeded"}
"""The code of `response.failed` where the failure has none of its own: Codex ends the turn on `invalid_prompt` and tries again on others."""

UNREACHABLE = "upstream_unreachable"
TIMED_OUT = "upstream_timeout"
STOPPING = "gateway_stopping"
ENDED_EARLY = "upstream_ended_early"
GARBLED = "upstream_sent_garbage"


def explain(status: int, body: bytes, *, retry_after: str | None = None, rows: Iterable[Row] = ()) -> Failure:
    """What an upstream's answer with a failing status means for the client."""
    own = _own(status, body)
    words = _words(own)
    for candidate in (*rows, *ROWS):
        if candidate.fits(status, words):
            own = _apply(candidate, own)
            break
    return replace(_shown(own, status), retry_after=_whole_seconds(retry_after))


def _whole_seconds(retry_after: str | None) -> str | None:
    """A date and whole seconds as they came; Codex takes a fraction of seconds for no `Retry-After` at all, and gives up."""
    if retry_after is None or re.fullmatch(r"[0-9]{1,9}\.[0-9]{1,9}", retry_after.strip()) is None:
        return retry_after
    return str(ceil(float(retry_after)))


def _words(own: Failure) -> str:
    """What rows look at."""
    return f"{own.type} {own.code or ''} {_ECHO.sub('', own.message)}"


def as_told(status: int, body: bytes) -> Failure:
    """The same as its server tells it, for a client that speaks that server's API; no redirect and no odd status is passed on."""
    own = _own(status, body)
    return _shown(_apply(_REDIRECT, own) if _REDIRECT.fits(status, "") else own, status)


def is_openais(body: bytes) -> bool:
    """Whether the body of a failing answer has the form in which OpenAI tells an error."""
    try:
        told = json.an_object(json.an_object(json.value(body)).get("error"))
    except ValueError:
        return False
    return isinstance(told.get("message"), str)


def _shown(own: Failure, status: int) -> Failure:
    shown = own.status if 400 <= own.status < 600 else 502  # a status that HTTP does not have cannot be passed on
    return replace(own, status=shown, upstream_status=status if shown != status else None)


def in_stream(error: Any, *, rows: Iterable[Row] = ()) -> Failure:
    """What an `error` object with a good status means: the same table, by the status that it names, or else by its words."""
    body = json.an_object(error) or {"message": str(error)}
    named = next((int(one) for one in (body.get("status"), body.get("code")) if one is not None and _is_status(one)), None)
    told = json.encode({"error": body})
    rows = tuple(rows)
    if named is None and (known := _by_words(told, rows)) is not None:
        return known
    return explain(named or STATUSES.get(str(body.get("type")), 500), told, rows=rows)


def _by_words(body: bytes, rows: tuple[Row, ...]) -> Failure | None:
    """The failure in words that a row knows, whatever status they would have come with."""
    own = _own(500, body)
    words = _words(own)
    for candidate in (*rows, *ROWS):
        if candidate.wording is not None and candidate.wording.search(words):
            return _apply(candidate, own)
    return None


def stream_code(failure: Failure) -> str:
    """The code under which a failure travels in `response.failed`."""
    return failure.code or STREAM_CODES.get(failure.status, "server_error")


def unreachable(message: str) -> Failure:
    """The upstream could not be spoken to at all."""
    return Failure(status=502, code=UNREACHABLE, message=message)


def timed_out(message: str) -> Failure:
    """The upstream did not answer in time."""
    return Failure(status=504, code=TIMED_OUT, message=message)


def too_many_waiting(message: str, seconds: int) -> Failure:
    """The request may not even wait; Codex comes back after that time, without it it would not."""
    return Failure(429, message, code="rate_limit_exceeded", type="rate_limit_error", retry_after=str(seconds))


def stopping() -> Failure:
    """The gateway ends; whoever takes its place may answer, so the client should come again."""
    return Failure(503, "the gateway is being stopped: send the request again", code=STOPPING, retry_after="1")


def ended_early(message: str) -> Failure:
    """The stream stopped before its terminal event."""
    return Failure(status=502, code="server_error", message=message)


def _apply(chosen: Row, own: Failure) -> Failure:
    status, code, type = chosen.becomes
    return replace(own, status=status or own.status, code=code or own.code, type=type or own.type)


def _own(status: int, body: bytes) -> Failure:
    """The failure as the upstream itself tells it; servers spell it in half a dozen ways."""
    told = _error_object(body)
    message = _first_text(told, "message", "detail", "error", "msg") or _plain(body) or f"the model server answered {status} without a word"
    if raw := _first_text(json.an_object(told.get("metadata")), "raw"):  # OpenRouter: what the server behind it said
        message = f"{message}: {raw}"
    kind = _first_text(told, "type") or TYPES.get(status, "server_error" if status >= 500 else "invalid_request_error")
    code = _first_text(told, "code")
    return Failure(status=status, message=message[:MESSAGE_LIMIT], code=code, type=kind, param=_first_text(told, "param"))


def _error_object(body: bytes) -> dict[str, Any]:
    try:
        whole = json.value(json.mend(body))
    except ValueError:
        return {}
    if isinstance(whole, list) and whole:  # some Google-shaped servers wrap the object in a list
        whole = cast("list[Any]", whole)[0]
    told = json.an_object(whole)
    return json.an_object(told.get("error")) or told


def _first_text(told: dict[str, Any], *names: str) -> str | None:
    for name in names:
        found = told.get(name)
        if isinstance(found, str) and found:
            return found
        if isinstance(found, list | dict) and found and name != "error":
            return json.encode(found).decode()
    return None


def _plain(body: bytes) -> str:
    """The words of a body that is not JSON, such as a proxy's HTML page."""
    return " ".join(
        re.sub(r"<(script|style).*?</\1>|<[^<>]*>", " ", body.decode(errors="replace")[:20_000], flags=re.DOTALL | re.IGNORECASE).split()
    )


def _is_status(found: Any) -> bool:
    return isinstance(found, int | str) and re.fullmatch("[45][0-9]{2}", str(found)) is not None
