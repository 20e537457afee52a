"""The store: the operations on a database, as the port has them."""

from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from antiphon.loop.ports import Before, Conversation, Entry, Events, Holder, Kept, KeptItem, Key, Taken
from antiphon.store import migrations
from antiphon.store.database import Database
from antiphon.store.operations import background, conversations, keys, responses, turns, upkeep

FILE = "state.db"


class BadStore(ValueError):
    """A setting that names no store."""


def store(named: str, folder: Path) -> "State | None":
    """The store of the setting; None where none is to be kept. Nothing is opened yet."""
    if named == "none":
        return None
    if named.startswith(("postgresql://", "postgres://")):
        from antiphon.store.postgres import Postgres  # noqa: PLC0415 - only who uses it waits for it

        return State(Postgres(named))
    from antiphon.store.sqlite import Sqlite  # noqa: PLC0415 - as above

    if named in ("sqlite", "memory"):
        return State(Sqlite(folder / FILE if named == "sqlite" else None))
    if named.endswith((".db", ".sqlite", ".sqlite3")):
        return State(Sqlite(Path(named).expanduser()))
    raise BadStore(f"store: expected sqlite, memory, none, a path that ends in .db, or postgresql://…, got {named.partition('@')[0]!r}")


def place(named: str, folder: Path) -> str:
    """Where that store is, for people: a password is not shown. Empty where none is to be kept."""
    if named.startswith(("postgresql://", "postgres://")):
        at = urlsplit(named)
        return f"PostgreSQL on {at.hostname or 'a local socket'}, database {at.path.removeprefix('/') or 'of the user'}"
    return {"none": "", "memory": "memory, until this process ends", "sqlite": str(folder / FILE)}.get(named, named)


class State:
    """A `Store`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def open(self) -> None:
        """Opens the database and brings it up to date."""
        await self._database.open()
        await self._database.write(partial(migrations.bring_up_to_date, self._database.flavour))

    async def close(self) -> None:
        """Closes the database."""
        await self._database.close()

    async def before(self, owner: str, id: str) -> Before | None:
        """All that led to a response, itself included."""
        return await self._database.read(partial(responses.before, owner, id))

    async def named(self, owner: str, ids: Sequence[str]) -> dict[str, bytes]:
        """Items by their ids."""
        return await self._database.read(partial(responses.named, owner, ids))

    async def save(self, entry: Entry) -> None:
        """Keeps a response."""
        await self._database.write(partial(turns.write, entry))

    async def response(self, owner: str, id: str) -> Kept | None:
        """A response."""
        return await self._database.read(partial(responses.get, owner, id))

    async def inputs(self, owner: str, id: str) -> list[KeptItem] | None:
        """What led to a response, without its output."""
        return await self._database.read(partial(responses.inputs, owner, id))

    async def delete(self, owner: str, id: str) -> bool:
        """Takes a response away."""
        return await self._database.write(partial(responses.delete, owner, id))

    async def begin(self, entry: Entry, request: bytes, events: Events, holder: Holder) -> None:
        """Keeps a response that is to run."""
        await self._database.write(partial(background.begin, entry, request, events, holder))

    async def go_on(self, id: str, events: Events, holder: Holder) -> bool:
        """Keeps events of a running response."""
        return await self._database.write(partial(background.go_on, id, events, holder))

    async def end(self, id: str, events: Events, document: bytes, holder: Holder) -> bool:
        """Keeps the end of a running response."""
        return await self._database.write(partial(background.end, id, events, document, holder))

    async def cancel(self, owner: str, id: str, document: bytes, last: Callable[[int], bytes]) -> bool:
        """Ends a running response from outside."""
        return await self._database.write(partial(background.cancel, owner, id, document, last))

    async def status(self, owner: str, id: str) -> str | None:
        """A response's status."""
        return await self._database.read(partial(responses.status, owner, id))

    async def events(self, owner: str, id: str, after: int) -> list[Events]:
        """Some events of a background response."""
        return await self._database.read(partial(background.events, owner, id, after))

    async def take_over(self, holder: Holder, now: int) -> list[Taken]:
        """Background responses that others left behind."""
        return await self._database.write(partial(background.take_over, holder, now))

    async def still_here(self, holder: Holder) -> None:
        """Says that the holder is there."""
        await self._database.write(partial(background.still_here, holder))

    async def create_conversation(self, owner: str, conversation: Conversation) -> None:
        """A new conversation."""
        await self._database.write(partial(conversations.create, owner, conversation))

    async def conversation(self, owner: str, id: str) -> Conversation | None:
        """A conversation."""
        return await self._database.read(partial(conversations.get, owner, id))

    async def update_conversation(self, owner: str, id: str, metadata: bytes) -> Conversation | None:
        """Sets a conversation's metadata."""
        return await self._database.write(partial(conversations.update, owner, id, metadata))

    async def delete_conversation(self, owner: str, id: str) -> bool:
        """Takes a conversation away."""
        return await self._database.write(partial(conversations.delete, owner, id))

    async def conversation_items(self, owner: str, id: str) -> Before | None:
        """A conversation's items."""
        return await self._database.read(partial(conversations.items, owner, id))

    async def delete_item(self, owner: str, id: str, holder: str, number: int) -> None:
        """Takes an item out of a conversation."""
        await self._database.write(partial(conversations.delete_item, owner, id, holder, number))

    async def hold(self, owner: str, id: str, holder: Holder, now: int) -> bool:
        """Takes a conversation for one answer."""
        return await self._database.write(partial(conversations.hold, owner, id, holder, now))

    async def let_go(self, owner: str, id: str, holder: Holder) -> None:
        """Gives a conversation back."""
        await self._database.write(partial(conversations.let_go, owner, id, holder))

    async def keys(self) -> list[Key]:
        """All keys."""
        return await self._database.read(keys.all_keys)

    async def add_key(self, key: Key) -> None:
        """A new key."""
        await self._database.write(partial(keys.add, key))

    async def revoke_key(self, id: str, now: int) -> bool:
        """Ends a key."""
        return await self._database.write(partial(keys.revoke, id, now))

    async def size(self) -> dict[str, int]:
        """Counts, and bytes."""
        return {**await self._database.read(upkeep.counts), "bytes": await self._database.bytes_used()}

    async def prune(self, *, before: int, events_before: int) -> dict[str, int]:
        """Takes away what is old, in small steps."""
        pruned = 0
        while some := await self._prune_lanes(before):  # behind what goes may stand what is not needed any more either
            pruned += some
        streams = 0
        while some := await self._database.write(partial(upkeep.delete_events, events_before)):
            streams += some
        return {"responses": pruned, "pieces of streams": streams}

    async def _prune_lanes(self, before: int) -> int:
        """Once through all lanes."""
        pruned = 0
        last = -1
        while lanes := await self._database.read(partial(upkeep.unused_lanes, last, before)):
            pruned += await self._database.write(partial(upkeep.delete_lanes, lanes, before))
            last = lanes[-1]
        return pruned

    async def export(self) -> AsyncIterator[dict[str, Any]]:
        """Everything, line by line."""
        for line in [*await self._database.read(upkeep.keys_out), *await self._database.read(upkeep.lanes_out)]:
            yield line
        last, lines = await self._database.read(partial(upkeep.turns_out, 0))
        while last:
            for line in lines:
                yield line
            last, lines = await self._database.read(partial(upkeep.turns_out, last))

    async def add(self, line: dict[str, Any], lanes: dict[int, int]) -> bool:
        """Takes a line in."""
        return await self._database.write(partial(upkeep.take_in, dict(line), lanes))
