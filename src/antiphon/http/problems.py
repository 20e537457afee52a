"""Failures as HTTP answers, in the form that OpenAI's clients and Codex know."""

from starlette.responses import JSONResponse

from antiphon.loop.ports import StoreFailed
from antiphon.observe import log
from antiphon.protocol.errors import AntiphonError, GatewayError, InvalidRequest, StoreUnavailable
from antiphon.protocol.failures import Failure


def answer(failure: Failure, headers: dict[str, str] | None = None) -> JSONResponse:
    """The answer that tells a failure."""
    told = dict(headers or {})
    if failure.retry_after is not None:
        told["retry-after"] = failure.retry_after
    return JSONResponse({"error": failure.error()}, status_code=failure.status, headers=told)


async def on_error(request: object, error: Exception) -> JSONResponse:
    """Starlette's handler for our own errors."""
    return answer(told(error))


def told(error: Exception) -> Failure:
    """What broke while a request was answered, in the client's terms."""
    if isinstance(error, AntiphonError):
        return error.failure
    if isinstance(error, StoreFailed):
        return StoreUnavailable(str(error)).failure
    if isinstance(error, RecursionError):
        return InvalidRequest("The body is nested too deeply.", code="invalid_json").failure
    return own_fault().failure


def own_fault() -> GatewayError:
    """Called where an error is handled that nobody foresaw."""
    log.LOGGER.exception("a request broke inside the gateway")
    return GatewayError("the gateway itself failed; its log says how")


def no_such_route(path: str) -> Failure:
    """A 404 that says what there is."""
    there = "The API is at /v1: POST /v1/responses and /v1/chat/completions, GET /v1/models."
    return Failure(status=404, type="invalid_request_error", code="not_found", message=f"There is no {path} here. {there}")


def no_such_method(method: str, path: str) -> Failure:
    """A 405."""
    message = f"{path} cannot be asked with {method}."
    return Failure(status=405, type="invalid_request_error", code="method_not_allowed", message=message)
