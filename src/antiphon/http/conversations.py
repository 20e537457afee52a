"""`/v1/conversations`: made, shown, changed and deleted, and their items."""

from collections.abc import Sequence
from typing import Any

from msgspec import Raw
from starlette.requests import Request
from starlette.responses import Response

from antiphon.history import continuation, item_names
from antiphon.http import bodies, caller, pages
from antiphon.http.gateway import Gateway
from antiphon.http.stored import answered, path_id, store
from antiphon.loop.ports import Before, Conversation, Entry
from antiphon.protocol import item_views, json
from antiphon.protocol import request as requests
from antiphon.protocol.document import Document
from antiphon.protocol.errors import InvalidRequest

MOST_ITEMS = 20
"""How many items one request may add."""
MOST_METADATA = 16


async def create(request: Request) -> Response:
    """A new conversation, with items to begin with."""
    gateway: Gateway = request.app.state.gateway
    body = await _body(request)
    items = _items(body, required=False)
    made = Conversation(gateway.manner.new_id("conv"), gateway.manner.now(), _metadata(body))
    owner = caller.of(request.scope).owner
    await store(request).create_conversation(owner, made)
    if items:
        await store(request).save(_addition(gateway, owner, made.id, items))
    return answered(_shown(made))


async def get(request: Request) -> Response:
    """A conversation, without its items."""
    return answered(_shown(await _found(request)))


async def update(request: Request) -> Response:
    """Sets a conversation's metadata."""
    body = await _body(request)
    if "metadata" not in body:
        raise InvalidRequest("Missing required parameter: 'metadata'.", param="metadata", code="missing_required_parameter")
    id = path_id(request, "Conversation")
    made = await store(request).update_conversation(caller.of(request.scope).owner, id, _metadata(body))
    if made is None:
        raise continuation.not_found("Conversation", id)
    return answered(_shown(made))


async def delete(request: Request) -> Response:
    """Takes a conversation away; the responses in it stay."""
    id = path_id(request, "Conversation")
    if not await store(request).delete_conversation(caller.of(request.scope).owner, id):
        raise continuation.not_found("Conversation", id)
    return answered(Document.of({"id": id, "object": "conversation.deleted", "deleted": True}))


async def items(request: Request) -> Response:
    """Its items, in pages."""
    part = pages.wanted(request.query_params)
    return answered(pages.page((await _said(request)).items, part))


async def add_items(request: Request) -> Response:
    """Adds items at its end."""
    gateway: Gateway = request.app.state.gateway
    given = _items(await _body(request), required=True)
    found = await _found(request)
    entry = _addition(gateway, caller.of(request.scope).owner, found.id, given)
    await store(request).save(entry)
    return answered(pages.listed([item_names.shown(item, entry.id, number) for number, item in enumerate(entry.input)]))


async def item(request: Request) -> Response:
    """One of its items."""
    before = await _said(request)
    kept = before.items[_place(before, request.path_params["item"])]
    return answered(bytes(item_names.shown(kept.data, kept.holder, kept.number)))


async def delete_item(request: Request) -> Response:
    """Takes one of its items out; the conversation."""
    before = await _said(request)
    kept = before.items[_place(before, request.path_params["item"])]
    found = await _found(request)
    await store(request).delete_item(caller.of(request.scope).owner, found.id, kept.holder, kept.number)
    return answered(_shown(found))


async def _found(request: Request) -> Conversation:
    id = path_id(request, "Conversation")
    found = await store(request).conversation(caller.of(request.scope).owner, id)
    if found is None:
        raise continuation.not_found("Conversation", id)
    return found


async def _said(request: Request) -> Before:
    id = path_id(request, "Conversation")
    found = await store(request).conversation_items(caller.of(request.scope).owner, id)
    if found is None:
        raise continuation.not_found("Conversation", id)
    return found


def _place(before: Before, id: str) -> int:
    index = pages.place(before.items, id)
    if index is None:
        raise continuation.not_found("Item", id)
    return index


async def _body(request: Request) -> Document:
    gateway: Gateway = request.app.state.gateway
    body = await bodies.read(request.receive, request.headers, limit=gateway.config.max_body_mb * 1024 * 1024)
    return requests.open_body(body or b"{}")[0]


def _items(body: Document, *, required: bool) -> Sequence[Raw]:
    given = body.members.get("items", Raw(b"null"))
    if json.is_null(given) and not required:
        return []
    if not json.is_array(given):
        code = "missing_required_parameter" if "items" not in body else "invalid_type"
        raise InvalidRequest("'items' must be an array of items.", param="items", code=code)
    found = json.elements(given)
    if len(found) > MOST_ITEMS:
        message = f"Invalid 'items': array too long. Expected an array with maximum length {MOST_ITEMS}, but got an array with length {len(found)} instead."
        raise InvalidRequest(message, param="items", code="array_above_max_length")
    for number, one in enumerate(found):
        item_views.read(one, f"items[{number}]")
    return found


def _metadata(body: Document) -> bytes:
    given = body.get("metadata")
    if given is None:
        return b"{}"
    texts = json.an_object(given)
    if not isinstance(given, dict) or any(not isinstance(value, str) for value in texts.values()):
        raise InvalidRequest("'metadata' must be an object of strings.", param="metadata", code="invalid_type")
    if len(texts) > MOST_METADATA or any(len(name) > 64 or len(value) > 512 for name, value in texts.items()):
        message = f"'metadata' may hold {MOST_METADATA} pairs, names of 64 characters and values of 512."
        raise InvalidRequest(message, param="metadata", code="invalid_value")
    return bytes(body.members["metadata"])


def _addition(gateway: Gateway, owner: str, conversation: str, items: Sequence[Raw]) -> Entry:
    id = gateway.manner.new_id("items")
    said = [bytes(item) for item in items]
    return Entry(id=id, owner=owner, created_at=gateway.manner.now(), status="items", input=said, conversation=conversation)


def _shown(made: Conversation) -> Document:
    members: dict[str, Any] = {"id": made.id, "object": "conversation", "created_at": made.created_at, "metadata": Raw(made.metadata)}
    return Document.of(members)
