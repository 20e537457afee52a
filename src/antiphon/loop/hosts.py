"""The tools that this gateway runs, and the memory of their calls: what a request is made of before its first model call.

Not here: single tools (`gateway_tools`), the rounds (`rounds`), how a request is rewritten (`tools.hosting`).
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from antiphon.history import memory
from antiphon.history.sealed import Sealer
from antiphon.loop.rounds import Hosting, Limits, NewTurn
from antiphon.loop.tools import Asker, Lookup, OpenTool, Tool
from antiphon.protocol import json, request
from antiphon.protocol.document import Document
from antiphon.protocol.notes import Note
from antiphon.protocol.request import RequestView
from antiphon.protocol.stream_builder import NewId
from antiphon.tools import hosting


@dataclass(frozen=True, slots=True)
class Set:
    """A request made ready: rewritten, with its tools open. `open` is None where the gateway runs none of them."""

    document: Document
    open: Callable[[NewTurn], Hosting] | None = None
    shown: Mapping[str, Any] = field(default_factory=dict[str, Any])
    notes: Sequence[Note] = ()


class Hosts:
    """All of them."""

    def __init__(
        self, tools: Sequence[Tool], *, sealer: Callable[[], Sealer], limits: Limits, new_id: NewId, lookup: Lookup | None = None
    ) -> None:
        self._tools = {kind: tool for tool in tools for kind in tool.kinds}
        self._sealer, self._limits, self._new_id = sealer, limits, new_id
        self.lookup = lookup

    async def set(self, document: Document, view: RequestView, owner: str) -> Set:
        """The request for its model. Raises InvalidRequest where a tool is declared in a way that cannot be."""
        document, notes = self._recalled(document, view, owner)
        opened = await self._opened(view, Asker(owner, frozenset(_included(document))))
        if not opened:
            return Set(document, notes=notes)
        rewritten = hosting.hosted(document, [tool.offer for tool in opened.values()])
        return Set(rewritten.document, lambda again: self._hosting(opened, rewritten, owner, again), rewritten.shown, notes)

    async def close(self) -> None:
        """Ends all that the tools hold."""
        for tool in dict.fromkeys(self._tools.values()):
            await tool.close()

    def _recalled(self, document: Document, view: RequestView, owner: str) -> tuple[Document, list[Note]]:
        """The input as the model saw it."""
        if not len(memoryview(view.input)) or json.is_text(view.input) or not memory.has_memory(view.input):
            return document, []
        items, notes = memory.recalled(request.items(view.input), memory.opener(self._sealer(), owner), {})
        return document.but(input=items), notes

    async def _opened(self, view: RequestView, asker: Asker) -> dict[int, OpenTool]:
        declared = [(number, Document(raw)) for number, raw in enumerate(view.tools or []) if json.is_object(raw)]
        ours = [(number, one, tool) for number, one in declared if (tool := self._tools.get(one.text("type") or "")) is not None]
        opened = await asyncio.gather(*(tool.open(one, number, asker) for number, one, tool in ours))
        return {number: tool for (number, _, _), tool in zip(ours, opened, strict=True)}

    def _hosting(self, opened: dict[int, OpenTool], rewritten: hosting.Hosted, owner: str, again: NewTurn) -> Hosting:
        calls = rewritten.document.get("max_tool_calls")
        limits = self._limits if not isinstance(calls, int) else self._limits.with_calls(calls)
        return Hosting(opened, dict(rewritten.owners), again, limits, self._new_id, owner, self._sealer())


def _included(document: Document) -> list[str]:
    return [json.text(one) for one in document.elements("include") if json.is_text(one)]
