"""What in a request nobody here has a name for: item types without a view, kinds of tools without a row. Codex adds some every month."""

from collections.abc import Iterable
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


HOLDERS = frozenset({"additional_tools", "tool_search_output"})
"""Items that hold tools."""


def unknowns(view: RequestView, *, items: bool) -> list[Unknown]:
    """All of a request's; `items`: whether its items are worth a look, which costs time on a long history."""
    found = _tools(view.tools or [])
    if items and len(memoryview(view.input)) and json.is_array(view.input):
        for item in (Document(raw) for raw in json.elements(view.input) if json.is_object(raw)):
            type = item.text("type")
            if type in HOLDERS:
                found += _tools(item.elements("tools"))
            elif type is not None and type not in item_views.ITEMS:
                found.append(Unknown("item", type, item.raw))
    return found


def _tools(declared: Iterable[Raw]) -> list[Unknown]:
    tools = declaration.read(declared)
    return [Unknown("tool", one.kind, one.document.raw) for one in tools if one.kind not in lowering.BY_KIND and one.kind not in HOSTED]
