"""All routes of the gateway, on one screen."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from antiphon import __version__
from antiphon.http import models, problems
from antiphon.http.gateway import Gateway
from antiphon.http.guard import Guard
from antiphon.http.responses_sse import ResponsesEndpoint
from antiphon.protocol.errors import AntiphonError, GatewayError, NotFound
from antiphon.protocol.failures import Failure


def app(gateway: Gateway) -> ASGIApp:
    """The ASGI app."""
    responses = ResponsesEndpoint(gateway)
    routes = [
        Route("/v1/responses", responses, methods=["POST"]),
        Route("/v1/responses", upgrade_refused, methods=["GET"]),
        Route("/v1/responses/{id}/tool_outputs", tool_outputs, methods=["POST"]),
        Route("/v1/models", models.models),
        Route("/v1/models/{model:path}", models.model),
        Route("/health", health),
        Route("/ready", ready),
        Route("/version", version),
    ]
    made = Starlette(
        routes=routes,
        lifespan=_lifespan,
        exception_handlers={AntiphonError: problems.on_error, 404: _not_found, 405: _not_found, Exception: _own_fault},
    )
    made.state.gateway = gateway
    return Guard(_straight(responses, made), hosts=frozenset({gateway.config.host}))


def _straight(responses: ASGIApp, others: ASGIApp) -> ASGIApp:
    """The busiest route without the framework's layers around it: it tells its own errors, and they would be paid for at every event."""

    async def front(scope: Scope, receive: Receive, send: Send) -> None:
        hot = scope["type"] == "http" and scope["path"] == "/v1/responses" and scope["method"] == "POST"
        await (responses if hot else others)(scope, receive, send)

    return front


async def health(request: Request) -> JSONResponse:
    """The process lives."""
    return JSONResponse({"status": "ok"})


async def ready(request: Request) -> JSONResponse:
    """Whether any upstream answers."""
    upstreams = await request.app.state.gateway.pool.reachable()
    return JSONResponse({"ready": any(upstreams.values()), "upstreams": upstreams}, status_code=200 if any(upstreams.values()) else 503)


async def version(request: Request) -> JSONResponse:
    """What this is."""
    return JSONResponse({"name": "antiphon", "version": __version__})


async def upgrade_refused(request: Request) -> JSONResponse:
    """426 is the one answer on which Codex goes on over HTTP at once and in silence."""
    return problems.answer(
        Failure(status=426, type="invalid_request_error", code="websocket_not_supported", message="Use POST /v1/responses over HTTP."),
        {"upgrade": "HTTP/1.1", "connection": "close"},
    )


async def tool_outputs(request: Request) -> JSONResponse:
    """A route that some servers have and clients look for."""
    raise NotFound(
        "There is no tool_outputs call: send each result as a 'function_call_output' item in the 'input' of the next POST /v1/responses.",
        code="not_found",
    )


async def _not_found(request: Request, error: Exception) -> JSONResponse:
    return problems.answer(problems.no_such_route(f"{request.method} {request.url.path[:200]}"))


async def _own_fault(request: Request, error: Exception) -> JSONResponse:
    return problems.answer(GatewayError("the gateway itself failed; its log says how").failure)


@asynccontextmanager
async def _lifespan(app: Starlette) -> AsyncGenerator[None]:
    try:
        yield
    finally:
        await app.state.gateway.pool.close()
