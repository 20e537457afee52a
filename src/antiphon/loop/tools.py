"""What the loop needs of a tool that the gateway runs: opened for a request, its calls begun, run and ended.

`open` validates the client's declaration, discovers what there is to call and normalises it to functions. A call then has a public item with
events around it, as the client of OpenAI's own tool sees them, and an output for the model. Implemented by `gateway_tools`.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from antiphon.loop.decision import Call
from antiphon.protocol.document import Document
from antiphon.tools.hosting import Offer

Progress = Sequence[tuple[str, Mapping[str, Any]]]
"""Events of an item: their types, and what they hold besides their place."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of a call: its public item, the model's output (text, or content parts), and the events between."""

    item: Document
    output: Any
    events: Progress = ()
    cited: Mapping[str, str] = field(default_factory=dict[str, str])
    """Places that the answer may cite, with their titles."""


@dataclass(frozen=True, slots=True)
class Begun:
    """A call as its client first sees it."""

    item: Document
    events: Progress = ()


@dataclass(frozen=True, slots=True)
class Asker:
    """For whom a tool works: whose state it may see, and what of the answer the request asked to have included."""

    owner: str
    include: frozenset[str] = frozenset()


class OpenTool(Protocol):
    """A tool of one request."""

    @property
    def offer(self) -> Offer:
        """Its functions."""
        ...

    @property
    def shown(self) -> Sequence[tuple[Begun, Ran]]:
        """Items that the client sees before the model is asked, as what an MCP server has."""
        ...

    @property
    def parallel(self) -> bool:
        """Whether several of its calls may run at once."""
        ...

    def begin(self, call: Call, id: str) -> Begun:
        """The call's public item, in progress."""
        ...

    async def run(self, call: Call, id: str) -> Ran:
        """Runs it. What goes wrong with the tool is an output that says so, never an exception."""
        ...


class Session(Protocol):
    """A search that somebody else drives: each command's output is text, also where it fails."""

    async def searched(self, command: Document) -> str:
        """`q`, `domains`: the web searched."""
        ...

    async def opened(self, command: Document) -> str:
        """`ref_id`, `lineno`: a page opened."""
        ...

    async def clicked(self, command: Document) -> str:
        """`ref_id`, `id`: a page's link followed."""
        ...

    async def found(self, command: Document) -> str:
        """`ref_id`, `pattern`: words on a page."""
        ...


Lookup = Callable[[Document], Awaitable[Session]]
"""Begins such a search, with the settings of a `web_search` declaration."""


class Tool(Protocol):
    """A kind of tool."""

    @property
    def kinds(self) -> frozenset[str]:
        """The types of declarations that it is for."""
        ...

    async def open(self, declared: Document, number: int, asker: Asker) -> OpenTool:
        """The tool as a request declares it. Raises InvalidRequest where that cannot be."""
        ...

    async def close(self) -> None:
        """Ends all that it holds."""
        ...
