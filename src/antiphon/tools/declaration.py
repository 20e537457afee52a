"""What a client declared in `tools`: read, flattened out of namespaces, each with the path it stood at.

Not here: what becomes of a kind upstream (`lowering`), who runs it, names.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import msgspec
from msgspec import Raw

from antiphon.protocol import json
from antiphon.protocol.document import Document
from antiphon.protocol.item_views import wrong_type


class _Tool(msgspec.Struct):
    type: str
    name: str | None = None
    description: str | None = None
    tools: list[Raw] | None = None


_TOOL = json.reader(_Tool)


@dataclass(frozen=True, slots=True)
class Declaration:
    """One tool, or one member of a namespace. `where` is its path in the request."""

    kind: str
    name: str
    namespace: str | None
    document: Document
    where: str

    @property
    def key(self) -> tuple[str | None, str]:
        """What makes it this tool and no other."""
        return (self.namespace, self.name)

    @property
    def label(self) -> str:
        """How a person would call it: its kind where it has no name."""
        return self.name or self.kind


def read(tools: Iterable[Raw], where: str = "tools", namespace: str | None = None) -> Iterator[Declaration]:
    """The declarations in order, a namespace's members in its place."""
    for number, raw in enumerate(tools):
        path = f"{where}[{number}]"
        tool = _view(raw, path)
        if tool.type == "namespace" and tool.tools is not None and namespace is None:
            yield from read(tool.tools, f"{path}.tools", tool.name or "")
        else:
            yield Declaration(tool.type, tool.name or "", namespace or None, Document(raw), path)


def _view(raw: Raw, path: str) -> _Tool:
    try:
        return json.view(raw, _TOOL)
    except json.WrongType as wrong:
        raise wrong_type(wrong, path) from None
