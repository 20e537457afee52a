"""`/v1/responses/{id}` and what is below it: responses that are kept, shown, streamed again, cancelled and deleted.

What is not there, was deleted or is somebody else's is answered alike: by the same query, in the same words.
"""

from starlette.requests import Request
from starlette.responses import Response

from antiphon.history import continuation
from antiphon.http import caller, pages
from antiphon.http.background import RUNNING, Background
from antiphon.http.following import Following
from antiphon.http.gateway import Gateway
from antiphon.loop.ports import Kept, Store
from antiphon.protocol.document import Document
from antiphon.protocol.errors import InvalidRequest, NotFound

_TRUE = frozenset({"true", "1"})


def answered(document: Document | bytes) -> Response:
    """A JSON answer in the document's own bytes."""
    return Response(bytes(document), media_type="application/json")


def store(request: Request) -> Store:
    """The store. Raises NotFound where the gateway keeps no state."""
    gateway: Gateway = request.app.state.gateway
    if gateway.store is None:
        raise NotFound("This gateway keeps no state: start it with --store sqlite or --store postgresql://…", code="not_found")
    return gateway.store


def background(request: Request) -> Background:
    """Who runs background responses."""
    return request.app.state.background


def path_id(request: Request, what: str) -> str:
    """The id in the path. Raises NotFound where it can be none: a database need not be asked for such."""
    id = request.path_params["id"]
    if not continuation.is_id(id):
        raise continuation.not_found(what, id)
    return id


async def get(request: Request) -> Response:
    """A response, or the stream of one that runs in the background."""
    kept = await _kept(request)
    pages.check_includes([*request.query_params.getlist("include"), *request.query_params.getlist("include[]")])
    if request.query_params.get("stream", "").lower() not in _TRUE:
        return answered(kept.document)
    if not kept.background:
        raise InvalidRequest("This response cannot be streamed because it was not created with background=true.", param="stream")
    after = pages.number(request.query_params, "starting_after", -1)
    gateway: Gateway = request.app.state.gateway
    keepalive = gateway.config.keepalive_seconds
    return Following(background(request), caller.of(request.scope).owner, kept.id, after=after, keepalive=keepalive)  # pyright: ignore[reportReturnType] - starlette calls it


async def delete(request: Request) -> Response:
    """Takes a response away; one that runs is stopped."""
    id = path_id(request, "Response")
    if not await store(request).delete(caller.of(request.scope).owner, id):
        raise continuation.not_found("Response", id)
    background(request).forget(id)
    return answered(Document.of({"id": id, "object": "response", "deleted": True}))


async def cancel(request: Request) -> Response:
    """Ends a background response; one that has ended is shown as it is."""
    kept = await _kept(request)
    if not kept.background:
        raise InvalidRequest("Cannot cancel a synchronous response.")
    if kept.status in RUNNING:
        ended = await background(request).cancel(caller.of(request.scope).owner, kept)
        kept = ended or kept
    return answered(kept.document)


async def input_items(request: Request) -> Response:
    """All items that a response was made from, those of responses before it too."""
    part = pages.wanted(request.query_params)
    pages.check_includes([*request.query_params.getlist("include"), *request.query_params.getlist("include[]")])
    id = path_id(request, "Response")
    found = await store(request).inputs(caller.of(request.scope).owner, id)
    if found is None:
        raise continuation.not_found("Response", id)
    return answered(pages.page(found, part))


async def _kept(request: Request) -> Kept:
    id = path_id(request, "Response")
    found = await store(request).response(caller.of(request.scope).owner, id)
    if found is None:
        raise continuation.not_found("Response", id)
    return found
