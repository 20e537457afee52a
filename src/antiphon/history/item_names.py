"""The names by which items are found again.

A client's items often have none, and an upstream's may repeat (some servers call every message `msg_1`): so no id of theirs is ever a key. An item
without an id is shown with one that is made of its response's and its number there. An item with an id is looked for by a hash of that id and of
whose it is, and may be found more than once. Pure.
"""

import re
from hashlib import blake2b
from typing import NamedTuple

from msgspec import Raw

from antiphon.protocol import json
from antiphon.protocol.document import Document

_PREFIXES = {
    "message": "msg",
    "reasoning": "rs",
    "function_call": "fc",
    "function_call_output": "fco",
    "custom_tool_call": "ctc",
    "custom_tool_call_output": "ctco",
    "compaction": "cmp",
}
_MADE = re.compile(r"[a-z]+_([0-9a-f]{32,64})_in(\d{1,9})")
_OWN_PART = re.compile(r"[a-z]+_([0-9a-f]{32,64})")
LONGEST_REFERENCE = 400


class Position(NamedTuple):
    """Where a made id says that its item is: the random part of the id of what it came with, and its number there."""

    part: str
    number: int


def shown(item: bytes, holder: str, number: int) -> Raw:
    """An item with an id; `holder` is the id of the response or addition that it came with."""
    document = Document(item)
    if not json.is_object(item) or document.text("id"):
        return document.raw
    own = _OWN_PART.fullmatch(holder)
    made = f"{_PREFIXES.get(document.text('type') or 'message', 'item')}_{own[1] if own else holder}_in{number}"
    return Document.of({"id": made, **document.members, **({"id": made} if "id" in document else {})}).raw


def position(id: str) -> Position | None:
    """Where the item of a made id is; None where the id is a client's or an upstream's own."""
    made = _MADE.fullmatch(id)
    return None if made is None else Position(made[1], int(made[2]))


def name(owner: str, id: str) -> int:
    """The number under which an item with an id of its own is found."""
    return int.from_bytes(blake2b(f"{owner}\0{id}".encode(), digest_size=8).digest()) >> 1


def name_of(owner: str, item: bytes) -> int | None:
    """The same of an item; None where it has no id, or only somebody else's."""
    id = Document(item).text("id") if json.is_object(item) else None
    return None if not id or reference(item) is not None else name(owner, id)


def reference(item: Raw | bytes) -> str | None:
    """The id that an item refers to; None where it stands for itself. A reference may leave out its type."""
    if len(memoryview(item)) > LONGEST_REFERENCE or not json.is_object(item):
        return None
    document = Document(item)
    if document.text("type") == "item_reference" or document.members.keys() == {"id"}:
        return document.text("id")
    return None
