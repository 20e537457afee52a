"""`GET /v1/models`: one body for OpenAI's clients and for Codex."""

from starlette.requests import Request
from starlette.responses import JSONResponse

from antiphon import catalogue
from antiphon.http import caller, problems
from antiphon.http.gateway import Gateway
from antiphon.protocol.failures import Failure


async def models(request: Request) -> JSONResponse:
    """All models that can be asked for, aliases too."""
    gateway: Gateway = request.app.state.gateway
    return JSONResponse(catalogue.render(await _known(request), deferred_tools=gateway.config.deferred_tools))


async def model(request: Request) -> JSONResponse:
    """One of them, as OpenAI's clients ask for it."""
    wanted = request.path_params["model"]
    for known in catalogue.render(await _known(request))["data"]:
        if known["id"] == wanted:
            return JSONResponse(known)
    failure = Failure(
        status=404,
        type="invalid_request_error",
        code="model_not_found",
        param="model",
        message=f"The model '{wanted[:200]}' does not exist.",
    )
    return problems.answer(failure)


async def _known(request: Request) -> list[catalogue.Model]:
    """Those that the caller may use."""
    gateway: Gateway = request.app.state.gateway
    asks = caller.of(request.scope)
    return [one for one in catalogue.aliased(await gateway.pool.models(), gateway.config.aliases) if asks.may_use(one.id)]
