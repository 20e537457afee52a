"""All routes of the gateway, on one screen."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from functools import partial

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from antiphon import __version__
from antiphon.http import conversations, models, problems, relay, standalone_search, stored
from antiphon.http.auth import Auth
from antiphon.http.background import Background
from antiphon.http.endpoint import Endpoint
from antiphon.http.gateway import Gateway
from antiphon.http.guard import Guard, is_loopback
from antiphon.http.input_tokens import input_tokens
from antiphon.http.keyring import Keyring
from antiphon.http.relay import Relay
from antiphon.http.responses_sse import Exchange
from antiphon.loop.ports import StoreFailed
from antiphon.protocol.errors import AntiphonError, GatewayError, NotFound
from antiphon.protocol.failures import Failure

PREFIXES = ("/v1", "")
"""Where the API is: some clients are told the host alone and ask for `/responses`."""


def app(gateway: Gateway, keyring: Keyring, background: Background | None = None) -> ASGIApp:
    """The ASGI app; `background` comes with a store."""
    answers = {"/responses": Endpoint(gateway, partial(Exchange, background=background))}
    answers |= {path: Endpoint(gateway, partial(Relay, path=path)) for path in relay.PATHS}
    hot = {f"{prefix}{path}": endpoint for prefix in PREFIXES for path, endpoint in answers.items()}
    routes = [
        *(Route(path, endpoint, methods=["POST"]) for path, endpoint in hot.items()),
        *(route for prefix in PREFIXES for route in _api(prefix)),
        Route("/health", health),
        Route("/ready", ready),
        Route("/version", version),
    ]
    made = Starlette(
        routes=routes,
        lifespan=_lifespan,
        exception_handlers={
            AntiphonError: problems.on_error,
            StoreFailed: problems.on_error,
            404: _not_found,
            405: _other_method,
            Exception: _own_fault,
        },
    )
    made.state.gateway, made.state.background = gateway, background
    host = gateway.config.host
    return Guard(Auth(_straight(hot, made), keyring, always=not is_loopback(host), counted=hot.keys()), host=host)


def _api(prefix: str) -> list[Route]:
    """The small routes of the API."""
    return [
        Route(f"{prefix}/responses", upgrade_refused, methods=["GET"]),
        Route(f"{prefix}/responses/{{id}}/tool_outputs", tool_outputs, methods=["POST"]),
        Route(f"{prefix}/responses/input_tokens", input_tokens, methods=["POST"]),
        Route(f"{prefix}/responses/{{id}}/input_items", stored.input_items),
        Route(f"{prefix}/responses/{{id}}/cancel", stored.cancel, methods=["POST"]),
        Route(f"{prefix}/responses/{{id}}", stored.get),
        Route(f"{prefix}/responses/{{id}}", stored.delete, methods=["DELETE"]),
        Route(f"{prefix}/conversations", conversations.create, methods=["POST"]),
        Route(f"{prefix}/conversations/{{id}}", conversations.get),
        Route(f"{prefix}/conversations/{{id}}", conversations.update, methods=["POST"]),
        Route(f"{prefix}/conversations/{{id}}", conversations.delete, methods=["DELETE"]),
        Route(f"{prefix}/conversations/{{id}}/items", conversations.items),
        Route(f"{prefix}/conversations/{{id}}/items", conversations.add_items, methods=["POST"]),
        Route(f"{prefix}/conversations/{{id}}/items/{{item}}", conversations.item),
        Route(f"{prefix}/conversations/{{id}}/items/{{item}}", conversations.delete_item, methods=["DELETE"]),
        Route(f"{prefix}/alpha/search", standalone_search.search, methods=["POST"]),
        Route(f"{prefix}/models", models.models),
        Route(f"{prefix}/models/{{model:path}}", models.model),
    ]


def _straight(hot: Mapping[str, ASGIApp], others: ASGIApp) -> ASGIApp:
    """The busy routes without the framework's layers around them: they tell their own errors, and layers would be paid for at every event."""

    async def front(scope: Scope, receive: Receive, send: Send) -> None:
        endpoint = hot.get(scope["path"]) if scope["type"] == "http" and scope["method"] == "POST" else None
        await (endpoint or others)(scope, receive, send)

    return front


async def health(request: Request) -> JSONResponse:
    """The process lives."""
    return JSONResponse({"status": "ok"})


async def ready(request: Request) -> JSONResponse:
    """Whether any upstream answers."""
    upstreams = await request.app.state.gateway.pool.ready()
    any_answers = any(state["answers"] for state in upstreams.values())
    return JSONResponse({"ready": any_answers, "upstreams": upstreams}, status_code=200 if any_answers else 503)


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


async def _other_method(request: Request, error: Exception) -> Response:
    """A route that there is, asked in another way; OPTIONS asks which ways there are."""
    assert isinstance(error, HTTPException)
    allowed = dict(error.headers or {})
    if request.method == "OPTIONS":
        return Response(status_code=204, headers=allowed)
    return problems.answer(problems.no_such_method(request.method, request.url.path[:200]), allowed)


async def _own_fault(request: Request, error: Exception) -> JSONResponse:
    return problems.answer(GatewayError("the gateway itself failed; its log says how").failure)


@asynccontextmanager
async def _lifespan(app: Starlette) -> AsyncGenerator[None]:
    gateway: Gateway = app.state.gateway
    background: Background | None = app.state.background
    try:
        if gateway.store is not None:
            await gateway.store.open()
        async with asyncio.TaskGroup() as group:
            works = [group.create_task(gateway.pool.watch())]
            if background is not None:
                works.append(group.create_task(background.work()))
            yield
            for work in works:
                work.cancel()
    finally:
        await gateway.pool.close()
        if gateway.hosts is not None:
            await gateway.hosts.close()
        if gateway.store is not None:
            await gateway.store.close()
