"""Failures as HTTP answers, in the form that OpenAI's clients and Codex know."""

from starlette.responses import JSONResponse

from antiphon.protocol.errors import AntiphonError
from antiphon.protocol.failures import Failure


def answer(failure: Failure, headers: dict[str, str] | None = None) -> JSONResponse:
    """The answer that tells a failure."""
    told = dict(headers or {})
    if failure.retry_after is not None:
        told["retry-after"] = failure.retry_after
    return JSONResponse({"error": failure.error()}, status_code=failure.status, headers=told)


async def on_error(request: object, error: Exception) -> JSONResponse:
    """Starlette's handler for our own errors."""
    assert isinstance(error, AntiphonError)
    return answer(error.failure)


def no_such_route(path: str) -> Failure:
    """A 404 that says what there is."""
    return Failure(
        status=404, type="invalid_request_error", code="not_found", message=f"There is no {path} here. The API is at /v1/responses."
    )
