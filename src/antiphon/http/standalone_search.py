"""`POST /v1/alpha/search`: the web search that Codex runs by itself, under its flag, and whose results it gives its model as a tool's output.

One request holds several commands. Pages are referred to by their addresses. What this gateway cannot look up (shares, weather, sports, pictures) is
said in the output, so that the model goes on without it.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse

from antiphon.http import bodies
from antiphon.http.gateway import Gateway
from antiphon.protocol import json, request
from antiphon.protocol.document import Document
from antiphon.protocol.errors import InvalidRequest, NotFound

SIZES = {"short": "low", "medium": "medium", "long": "high"}
CHARACTERS = 4
"""How many a token has, about."""
MOST_COMMANDS = 16
_NOT_HERE = ("image_query", "literature_search_query", "screenshot", "finance", "weather", "sports", "time")

Command = Callable[[Document], Awaitable[str]]


async def search(asked: Request) -> JSONResponse:
    """All commands of a request, and what came of them."""
    gateway: Gateway = asked.app.state.gateway
    lookup = None if gateway.hosts is None else gateway.hosts.lookup
    if lookup is None:
        raise NotFound("There is no search here: name a service in [web_search] of antiphon.toml.", code="not_found")
    body = await bodies.read(asked.receive, asked.headers, limit=gateway.config.max_body_mb * 1024 * 1024)
    document, _ = request.open_body(body)
    commands = document.document("commands")
    if commands is None:
        raise InvalidRequest("'commands': expected an object.", param="commands")
    settings = document.document("settings") or Document(b"{}")
    size = SIZES.get(commands.text("response_length") or "", settings.text("search_context_size") or "medium")
    session = await lookup(settings.but(search_context_size=size))
    known: dict[str, Command] = {"search_query": session.searched, "open": session.opened, "click": session.clicked, "find": session.found}
    wanted = [(name, Document(raw)) for name in known for raw in commands.elements(name) if json.is_object(raw)][:MOST_COMMANDS]
    outputs = await asyncio.gather(*(known[name](command) for name, command in wanted))
    outputs += [f"{name}: this cannot be looked up here." for name in _NOT_HERE if commands.elements(name)]
    return JSONResponse({"output": _cut("\n\n====\n\n".join(outputs) or "No commands.", document.get("max_output_tokens"))})


def _cut(output: str, tokens: Any) -> str:
    most = tokens * CHARACTERS if isinstance(tokens, int) and tokens > 0 else len(output)
    return output if len(output) <= most else f"{output[:most]}\n[{len(output) - most} more characters left out]"
