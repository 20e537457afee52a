"""Lists in pages, as OpenAI has them: `limit`, `order`, `after`. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import Raw

from antiphon.history import continuation, item_names
from antiphon.loop.ports import KeptItem
from antiphon.protocol.document import Document
from antiphon.protocol.errors import InvalidRequest

MOST = 100
INCLUDES = (
    "web_search_call.results", "web_search_call.action.sources", "message.input_image.image_url", "computer_call_output.output.image_url",
    "code_interpreter_call.outputs", "reasoning.encrypted_content", "file_search_call.results", "message.output_text.logprobs",
)  # fmt: skip
"""What a client may ask to be included. All that is kept is shown anyway."""


class Wanted(NamedTuple):
    """Which part of a list."""

    limit: int
    newest_first: bool
    after: str | None


def wanted(query: Mapping[str, str]) -> Wanted:
    """What a query says. Raises InvalidRequest."""
    limit = number(query, "limit", 20)
    for wrong, bound, word in ((limit < 1, 1, "minimum"), (limit > MOST, MOST, "maximum")):
        if wrong:
            sign = ">=" if word == "minimum" else "<="
            message = f"Invalid 'limit': integer {'below' if word == 'minimum' else 'above'} {word} value. Expected a value {sign} {bound}, but got {limit} instead."
            raise InvalidRequest(message, param="limit", code=f"integer_{'below_min' if word == 'minimum' else 'above_max'}_value")
    order = query.get("order", "desc")
    if order not in ("asc", "desc"):
        raise InvalidRequest(f"Invalid value: '{order[:64]}'. Supported values are: 'asc' and 'desc'.", param="order", code="invalid_value")
    return Wanted(limit, order == "desc", query.get("after") or None)


def number(query: Mapping[str, str], name: str, default: int) -> int:
    """A whole number in a query."""
    given = query.get(name)
    if given is None:
        return default
    if not given.removeprefix("-").isascii() or not given.removeprefix("-").isdecimal() or len(given) > 12:
        raise InvalidRequest(f"Invalid type for '{name}': expected an integer, but got a string instead.", param=name, code="invalid_type")
    return int(given)


def check_includes(given: Sequence[str]) -> None:
    """Refuses what nothing is known of."""
    for index, name in enumerate(given):
        if name not in INCLUDES:
            supported = ", ".join(f"'{one}'" for one in INCLUDES)
            raise InvalidRequest(
                f"Invalid value: '{name[:64]}'. Supported values are: {supported}.", param=f"include[{index}]", code="invalid_value"
            )


def page(items: Sequence[KeptItem], part: Wanted) -> Document:
    """A page of items, each with an id. Raises NotFound where `after` is none of them."""
    ordered = list(reversed(items)) if part.newest_first else list(items)
    start = 0
    if part.after is not None:
        index = place(ordered, part.after)
        if index is None:
            raise continuation.not_found("Item", part.after)
        start = index + 1
    shown = [item_names.shown(item.data, item.holder, item.number) for item in ordered[start : start + part.limit]]
    return listed(shown, has_more=start + part.limit < len(ordered))


def place(items: Sequence[KeptItem], id: str) -> int | None:
    """Where the item with an id is; of several the last."""
    found = [index for index, item in enumerate(items) if identity(item) == id]
    return found[-1] if found else None


def identity(item: KeptItem) -> str | None:
    """The id that an item is shown with."""
    return Document(item_names.shown(item.data, item.holder, item.number)).text("id")


def listed(shown: Sequence[Raw], *, has_more: bool = False) -> Document:
    """Items as a list object."""
    ids: list[Any] = [Document(item).members.get("id") for item in shown] or [None]
    return Document.of({"object": "list", "data": list(shown), "first_id": ids[0], "last_id": ids[-1], "has_more": has_more})
