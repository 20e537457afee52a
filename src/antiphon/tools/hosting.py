"""A request whose hosted tools are functions: what the gateway runs itself, as every model and translation knows how to be told of it.

The client's declaration (`web_search`, `mcp`, …) gives way to the functions that stand for it, in its place, so that all that follows has one kind
of tool less to know. Which calls are the gateway's is known by (namespace, name); the response shows the client its own declarations again.

Pure. Not here: opening tools and running calls (`loop`, `gateway_tools`), what an upstream is told (`translation`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec import Raw

from antiphon.protocol import json
from antiphon.protocol.document import Document

Key = tuple[str | None, str]
"""A tool's namespace and name, as the items of its calls tell them."""


@dataclass(frozen=True, slots=True)
class Function:
    """One function of a hosted tool."""

    name: str
    description: str
    parameters: Any
    namespace: str | None = None
    """An MCP server's label: its tools stand in a namespace."""

    @property
    def key(self) -> Key:
        """What calls of it are known by."""
        return (self.namespace, self.name)

    @property
    def document(self) -> Document:
        """Its declaration."""
        members = {"type": "function", "name": self.name, "description": self.description, "strict": False, "parameters": self.parameters}
        return Document.of(members)


@dataclass(frozen=True, slots=True)
class Offer:
    """A hosted tool of one request: where it was declared, how a `tool_choice` names it, and its functions."""

    number: int
    kind: str
    functions: Sequence[Function]
    label: str | None = None
    instructions: str = ""


@dataclass(frozen=True, slots=True)
class Hosted:
    """A request rewritten. `shown` are members of the response object as the client said them."""

    document: Document
    owners: Mapping[Key, int] = field(default_factory=dict[Key, int])
    """Whose call it is: the number of the declaration."""
    shown: Mapping[str, Any] = field(default_factory=dict[str, Any])


def hosted(document: Document, offers: Sequence[Offer]) -> Hosted:
    """The request with functions in the place of hosted tools. A function of the client's own that has the same name keeps it."""
    by_number = {offer.number: offer for offer in offers}
    tools: list[Any] = []
    owners: dict[Key, int] = {}
    declared = document.elements("tools")
    taken = _own_names(declared)
    for number, raw in enumerate(declared):
        offer = by_number.get(number)
        if offer is None:
            tools.append(raw)
            continue
        functions = [one for one in offer.functions if one.key not in taken]
        owners |= {one.key: number for one in functions}
        taken |= {one.key for one in functions}
        tools += _declared(functions, offer)
    changes: dict[str, Any] = {"tools": tools}
    if (choice := document.document("tool_choice")) is not None and (told := _choice(choice, offers)) is not choice:
        changes["tool_choice"] = told
    shown = {name: document.members[name] for name in ("tools", "tool_choice") if name in document}
    return Hosted(document.but(**changes), owners, shown)


def _own_names(declared: Sequence[Raw]) -> set[Key]:
    documents = [Document(raw) for raw in declared if json.is_object(raw)]
    return {(None, one.text("name") or "") for one in documents if one.text("type") in ("function", "custom")}


def _declared(functions: Sequence[Function], offer: Offer) -> list[Document]:
    if offer.label is None:
        return [one.document for one in functions]
    members = [one.document for one in functions]
    return [Document.of({"type": "namespace", "name": offer.label, "description": offer.instructions, "tools": members})] if members else []


def _choice(choice: Document, offers: Sequence[Offer]) -> Document:
    """A tool choice that names a hosted tool, naming its functions instead."""
    if choice.text("type") == "allowed_tools":
        listed = [one for raw in choice.elements("tools") for one in _named(Document(raw), offers)]
        return choice.but(tools=listed)
    named = _named(choice, offers)
    if len(named) == 1:
        return named[0]
    return Document.of({"type": "allowed_tools", "mode": "required", "tools": named})


def _named(choice: Document, offers: Sequence[Offer]) -> list[Document]:
    kind, label, name = choice.text("type") or "", choice.text("server_label"), choice.text("name")
    fit = [offer for offer in offers if _is_of_kind(kind, offer.kind) and label == offer.label]
    functions = [one for offer in fit for one in offer.functions if name is None or label is None or one.name == name]
    if not functions:
        return [choice]
    return [
        Document.of({"type": "function", **({"namespace": one.namespace} if one.namespace else {}), "name": one.name}) for one in functions
    ]


def _is_of_kind(named: str, declared: str) -> bool:
    """Whether a choice's word means a declared kind: the names of previews and dated versions begin alike."""
    return named == declared or (named != "" and (declared.startswith(f"{named}_") or named.startswith(f"{declared}_")))
