"""What a request says about state, and the request that it becomes: all that came before it, then what is new.

The rules are OpenAI's: `store` is true unless said otherwise; what continues a response or a conversation has the items of both before its own;
instructions, `tool_choice` and every other setting are the new request's alone. Its tools are too, where it names any; where it does not say
`tools` at all, it has those of the response that it continues, since a model that sees calls in its history must know what was called.

Pure. Not here: reading what came before (`loop.recall`), keeping what comes out (`loop.keep`).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec import Raw

from antiphon.history import item_names
from antiphon.protocol import json
from antiphon.protocol.document import ABSENT, Document
from antiphon.protocol.errors import InvalidRequest, NotFound
from antiphon.protocol.notes import Kind, Note
from antiphon.protocol.request import RequestView

LONGEST_ID = 64
SEALED = "reasoning.encrypted_content"
TYPE_WITHIN = 256
"""Bytes at an item's beginning in which its type stands, as its maker writes it."""
_ID = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class Wish:
    """What a request wants of the store."""

    keeps: bool
    previous: str | None = None
    conversation: str | None = None
    background: bool = False

    @property
    def has_past(self) -> bool:
        """Whether something came before it."""
        return self.previous is not None or self.conversation is not None


def wish(document: Document, view: RequestView) -> Wish:
    """What a request wants. Raises InvalidRequest where that cannot be."""
    conversation = _conversation(document)
    wanted = Wish(view.store is not False, view.previous_response_id, conversation, bool(view.background))
    if wanted.previous is not None and conversation is not None:
        raise InvalidRequest(
            "Mutually exclusive parameters. Ensure you are only providing one of: 'previous_response_id' or 'conversation'.",
            param="previous_response_id", code="mutually_exclusive_parameters",
        )  # fmt: skip
    for name, id, prefix in (("previous_response_id", wanted.previous, "resp"), ("conversation", conversation, "conv")):
        if id is not None:
            _check_id(name, id, prefix)
    if wanted.background and not wanted.keeps:
        raise InvalidRequest("Background responses need 'store': true.", param="background", code="invalid_value")
    return wanted


def _conversation(document: Document) -> str | None:
    """The conversation's id, said as itself or inside an object."""
    given = document.get("conversation")
    if isinstance(given, dict):
        given = json.an_object(given).get("id")
    if given is None or isinstance(given, str):
        return given
    raise InvalidRequest("Invalid type for 'conversation': expected a conversation ID.", param="conversation", code="invalid_type")


def _check_id(name: str, id: str, prefix: str) -> None:
    shown = "".join(c if c.isprintable() else "?" for c in id[:LONGEST_ID])
    if len(id) > LONGEST_ID:
        message = f"string too long. Expected a string with maximum length {LONGEST_ID}, but got a string with length {len(id)} instead."
        raise InvalidRequest(f"Invalid '{name}': {message}", param=name, code="string_above_max_length")
    if not _ID.fullmatch(id):
        more = "Expected an ID that contains letters, numbers, underscores, or dashes, but this value contained additional characters."
        raise InvalidRequest(f"Invalid '{name}': '{shown}'. {more}", param=name, code="invalid_value")
    if not id.startswith(prefix):
        raise InvalidRequest(f"Invalid '{name}': '{shown}'. Expected an ID that begins with '{prefix}'.", param=name, code="invalid_value")


def is_id(id: str) -> bool:
    """Whether it can be an id at all."""
    return len(id) <= LONGEST_ID and _ID.fullmatch(id) is not None


def not_found(what: str, id: str) -> NotFound:
    """A 404 in OpenAI's words; the same whether it is nowhere, deleted, or somebody else's."""
    shown = "".join(c if c.isprintable() else "?" for c in id[:LONGEST_ID])
    return NotFound(f"{what} with id '{shown}' not found.")


def no_previous(id: str, *, deleted_behind: str | None = None) -> InvalidRequest:
    """What is continued is not there."""
    more = f" It was deleted, and '{deleted_behind}' continues it." if deleted_behind else ""
    return InvalidRequest(
        f"Previous response with id '{id}' not found.{more}", param="previous_response_id", code="previous_response_not_found"
    )


_NOT_CONTINUED = {
    "queued": "is still in progress: wait until it has ended",
    "in_progress": "is still in progress: wait until it has ended",
    "failed": "failed, and has nothing to continue: continue the response before it",
    "cancelled": "was cancelled, and has nothing to continue: continue the response before it",
}


def check_status(id: str, status: str) -> None:
    """Refuses to continue what has no answer."""
    if status in _NOT_CONTINUED:
        raise InvalidRequest(
            f"Previous response with id '{id}' {_NOT_CONTINUED[status]}.",
            param="previous_response_id",
            code="previous_response_not_completed",
        )


def references(items: Sequence[Raw | bytes]) -> list[str]:
    """The ids of items that stand for others, each once."""
    found = (item_names.reference(item) for item in items)
    return list(dict.fromkeys(id for id in found if id is not None))


def resolved(items: Sequence[Raw | bytes], found: Mapping[str, bytes]) -> list[Raw]:
    """The items with those in place that were referred to. Raises InvalidRequest where one is not there."""
    whole: list[Raw] = []
    for item in items:
        id = item_names.reference(item)
        if id is not None and id not in found:
            more = "Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input."
            raise InvalidRequest(f"Item with id '{id[:LONGEST_ID]}' not found. {more}", param="input")
        whole.append(Raw(found[id]) if id is not None else item if isinstance(item, Raw) else Raw(item))
    return whole


def effective(document: Document, items: Sequence[Raw] | None, settings: Document | None) -> Document:
    """The request as an upstream that keeps nothing must be told it.

    `items` is its whole input, where that is another than it says itself; `settings` are those of the response that is continued.
    """
    changes: dict[str, Any] = {name: ABSENT for name in ("previous_response_id", "conversation", "background") if name in document}
    changes["store"] = False
    if items is not None:
        changes["input"] = list(items)
    tools = settings.members.get("tools") if settings is not None else None
    if tools is not None and "tools" not in document and bytes(tools) != b"[]":
        changes["tools"] = tools
    return document.but(**changes)


def shown(wanted: Wish, id: str, created_at: int) -> dict[str, Any]:
    """What the response object says of its own: the upstream knows nothing of it."""
    told: dict[str, Any] = {"id": id, "created_at": created_at} if wanted.keeps else {}
    told |= {"store": wanted.keeps, "previous_response_id": wanted.previous, "background": wanted.background}
    return told if wanted.conversation is None else {**told, "conversation": {"id": wanted.conversation}}


def for_its_maker(items: Sequence[Raw]) -> tuple[list[Raw], list[Note]]:
    """Earlier items as an upstream takes them that would look up what it made itself, and that was told to keep nothing.

    Reasoning that it did not seal it cannot know any more; and without that, the other items must not name themselves as its own.
    """
    kept = [item for item in items if not _is_lost(item)]
    if len(kept) == len(items):
        return kept, []
    return [_nameless(item) for item in kept], [Note(Kind.DROPPED, "input", "earlier reasoning that its maker did not seal")]


def _is_lost(item: Raw) -> bool:
    if b'"reasoning"' not in bytes(memoryview(item)[:TYPE_WITHIN]) or not json.is_object(item):
        return False
    document = Document(item)
    return document.text("type") == "reasoning" and not document.text("encrypted_content")


def _nameless(item: Raw) -> Raw:
    document = Document(item) if json.is_object(item) else None
    return item if document is None or "id" not in document else document.but(id=ABSENT).raw


def asks_for_seals(document: Document) -> dict[str, Any]:
    """`include` with sealed reasoning, where the request is one for a model that reasons."""
    included = document.get("include")
    wanted: list[Any] = [*included] if isinstance(included, list) else []
    if document.document("reasoning") is None or SEALED in wanted:
        return {}
    return {"include": [*wanted, SEALED]}
