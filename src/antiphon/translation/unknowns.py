"""What in a request nobody here has a name for: item types without a view, kinds of tools without a row. Codex adds some every month."""

from typing import NamedTuple

from msgspec import Raw

from antiphon.protocol import item_views, json
from antiphon.protocol.document import Document
from antiphon.protocol.request import RequestView
from antiphon.tools import declaration, lowering

HOSTED = frozenset(
    {
        "web_search", "web_search_preview", "web_search_2025_08_26", "file_search", "code_interpreter", "image_generation", "mcp",
        "computer_use_preview", "computer", "apply_patch", "namespace",
    }
)  # fmt: skip
"""Kinds of tools that are known and that somebody else runs."""


class Unknown(NamedTuple):
    """One thing: what it is (`tool` or `item`), the type it gives itself, and itself."""

    what: str
    type: str
    raw: Raw


def unknowns(view: RequestView, *, items: bool) -> list[Unknown]:
    """All of a request's; `items`: whether its items are worth a look, which costs time on a long history."""
    found = [
        Unknown("tool", one.kind, one.document.raw)
        for one in declaration.read(view.tools or [])
        if one.kind not in lowering.BY_KIND and one.kind not in HOSTED
    ]
    if items and len(memoryview(view.input)) and json.is_array(view.input):
        for raw in json.elements(view.input):
            type = Document(raw).text("type") if json.is_object(raw) else None
            if type is not None and type not in item_views.ITEMS:
                found.append(Unknown("item", type, raw))
    return found
