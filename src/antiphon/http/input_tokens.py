"""`POST /v1/responses/input_tokens`: how many tokens a request would have, with all that it continues. No model is asked for an answer."""

from starlette.requests import Request
from starlette.responses import Response

from antiphon.history import estimate
from antiphon.http import bodies, caller
from antiphon.http.gateway import Gateway
from antiphon.http.prepared import prepare
from antiphon.protocol import request as requests
from antiphon.protocol.document import ABSENT, Document
from antiphon.turn import Target, Turn
from antiphon.upstream.counting import count

ESTIMATED = "x-antiphon-estimated"
_NOT_COUNTED = ("stream", "background", "store")
"""Fields that OpenAI's own route does not take."""


async def input_tokens(request: Request) -> Response:
    """The count as the model's server tells it, else an estimate, which a header says."""
    gateway: Gateway = request.app.state.gateway
    body = await bodies.read(request.receive, request.headers, limit=gateway.config.max_body_mb * 1024 * 1024)
    asked = _never_kept(requests.open_body(body)[0])
    prepared = await prepare(gateway, asked, requests.view(asked), caller.of(request.scope))
    to, told = prepared.to, prepared.turn.document
    chat = Turn(told, requests.view(told), Target("chat", to.dialect, to.model), gateway.manner)
    bare = told.but(model=to.model, **{name: ABSENT for name in _NOT_COUNTED if name in told})
    counted = await count(to.upstream.client, to.dialect.counts, chat=Document(chat.body), responses=bare)
    tokens = estimate.tokens(Document(chat.body)) if counted is None else counted
    headers = {ESTIMATED: "input_tokens"} if counted is None else {}
    answer = Document.of({"object": "response.input_tokens", "input_tokens": tokens})
    return Response(bytes(answer), headers=headers, media_type="application/json")


def _never_kept(document: Document) -> Document:
    """The request as one that leaves nothing behind."""
    return document.but(store=False, **{name: ABSENT for name in ("background", "stream") if name in document})
