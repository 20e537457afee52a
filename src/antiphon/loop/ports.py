"""What a run needs of the world outside, as protocols, and the values that pass through them.

`store` implements `Store`; whoever else can say what came before may implement `History` alone. Every call names the owner: what is somebody
else's is not there.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from antiphon.protocol.document import Document


class StoreFailed(Exception):
    """The store could not be read or written; nothing of what was asked for was done. The message is fit for a client."""


class Place(NamedTuple):
    """Where a turn stands. `open`: whether the next one may stand behind it in the same lane."""

    lane: int
    position: int
    open: bool


class KeptItem(NamedTuple):
    """An item, and what it is found by: the turn it came with and its number there. `is_input`: whether that turn's client said it."""

    holder: str
    number: int
    is_input: bool
    data: bytes


@dataclass(frozen=True, slots=True)
class Before:
    """What came before a request, oldest first. `missing` is the id of a turn on the way that was deleted."""

    place: Place
    items: list[KeptItem]
    status: str = "completed"
    settings: Document | None = None
    """The response object continued, as far as it is settings."""
    missing: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What is to be kept: a response that has ended, or (without `response`) items for a conversation."""

    id: str
    owner: str
    created_at: int
    status: str
    input: Sequence[bytes]
    response: bytes | None = None
    parent: str | None = None
    behind: Place | None = None
    conversation: str | None = None
    background: bool = False
    holder: str = ""
    """The process that has the conversation for this response, and lets it go with it."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A response as it is kept; `document` has the bytes that its client was sent."""

    id: str
    status: str
    background: bool
    document: bytes


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation, without its items."""

    id: str
    created_at: int
    metadata: bytes


class Events(NamedTuple):
    """Events of a background response that follow each other, in the bytes that clients get."""

    first: int
    length: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Taken:
    """A background response that another process left behind, and that is now this one's."""

    id: str
    owner: str
    request: bytes
    next: int
    document: bytes


@dataclass(frozen=True, slots=True)
class Key:
    """A key of this gateway: what it may do. Its hash is the only trace of the secret."""

    id: str
    name: str
    hash: bytes
    created_at: int = 0
    models: tuple[str, ...] = ()
    per_minute: int = 0
    at_once: int = 0
    revoked_at: int | None = None


class History(Protocol):
    """What came before."""

    async def before(self, owner: str, id: str) -> Before | None:
        """All that led to a response, itself included; None where there is no such response."""
        ...

    async def named(self, owner: str, ids: Sequence[str]) -> dict[str, bytes]:
        """The items with these ids, as far as they are there."""
        ...

    async def conversation_items(self, owner: str, id: str) -> Before | None:
        """Its items, oldest first."""
        ...

    async def save(self, entry: Entry) -> None:
        """Keeps a response. When this returns it is kept, whatever becomes of the process."""
        ...


class Store(History, Protocol):
    """Everything that is kept. Every call may raise StoreFailed."""

    async def open(self) -> None:
        """Makes it ready, and brings an older one up to date."""
        ...

    async def close(self) -> None:
        """Ends it; what was acknowledged is kept."""
        ...

    # responses

    async def response(self, owner: str, id: str) -> Kept | None:
        """A response."""
        ...

    async def inputs(self, owner: str, id: str) -> list[KeptItem] | None:
        """All items that led to a response, without its output."""
        ...

    async def delete(self, owner: str, id: str) -> bool:
        """Takes a response and its items away."""
        ...

    # background responses

    async def begin(self, entry: Entry, request: bytes, events: Events, holder: "Holder") -> None:
        """Keeps a response that has not begun to run, and that `holder` will run."""
        ...

    async def go_on(self, id: str, events: Events, holder: "Holder") -> bool:
        """Keeps events of a running response; false where it is no longer the holder's to run."""
        ...

    async def end(self, id: str, events: Events, document: bytes, holder: "Holder") -> bool:
        """Keeps the end of a running response; false where it is no longer the holder's to run."""
        ...

    async def cancel(self, owner: str, id: str, document: bytes, last: Callable[[int], bytes]) -> bool:
        """Ends a running response from outside; false where it runs no more. `last` spells the last event, given its number."""
        ...

    async def status(self, owner: str, id: str) -> str | None:
        """A response's status alone."""
        ...

    async def events(self, owner: str, id: str, after: int) -> list[Events]:
        """The events kept so far of a background response that follow number `after`; some, not necessarily all."""
        ...

    async def take_over(self, holder: "Holder", now: int) -> list[Taken]:
        """The background responses whose holders have not been heard of in time."""
        ...

    async def still_here(self, holder: "Holder") -> None:
        """Says until when all that `holder` holds is its own."""
        ...

    # conversations

    async def create_conversation(self, owner: str, conversation: Conversation) -> None:
        """Makes a new one."""
        ...

    async def conversation(self, owner: str, id: str) -> Conversation | None:
        """One that is there."""
        ...

    async def update_conversation(self, owner: str, id: str, metadata: bytes) -> Conversation | None:
        """Sets its metadata."""
        ...

    async def delete_conversation(self, owner: str, id: str) -> bool:
        """Takes it away; the responses in it stay."""
        ...

    async def delete_item(self, owner: str, id: str, holder: str, number: int) -> None:
        """Takes an item out of a conversation."""
        ...

    async def hold(self, owner: str, id: str, holder: "Holder", now: int) -> bool:
        """Takes a conversation for an answer in it; false where another answer has it."""
        ...

    async def let_go(self, owner: str, id: str, holder: "Holder") -> None:
        """Gives it back."""
        ...

    # keys

    async def keys(self) -> list[Key]:
        """All keys, revoked ones too."""
        ...

    async def add_key(self, key: Key) -> None:
        """A new key."""
        ...

    async def revoke_key(self, id: str, now: int) -> bool:
        """Ends a key; false where there is none that is in force."""
        ...

    # upkeep

    async def size(self) -> dict[str, int]:
        """How many there are of everything, and how many bytes it takes."""
        ...

    async def prune(self, *, before: int, events_before: int) -> dict[str, int]:
        """Takes away what nobody has used since; says how much."""
        ...

    def export(self) -> AsyncIterator[dict[str, Any]]:
        """All that is kept, one object at a time."""
        ...

    async def add(self, line: dict[str, Any], lanes: dict[int, int]) -> bool:
        """Takes in a line that `export` gave; false where it was there already. `lanes` is for its own use, from the first line to the last."""
        ...


class Holder(NamedTuple):
    """A process that runs something, and until when others believe it without hearing of it."""

    name: str
    until: int
