"""PostgreSQL by URL. The only file that knows asyncpg.

Each operation is a transaction on a connection of its own; the server gathers their commits. One that another transaction got in the way of (what
it was going to refer to was just pruned) is run again. Connections that died are made anew at the next operation.
"""

import asyncio
import re
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import cache
from importlib import import_module
from typing import Any
from urllib.parse import urlsplit

from antiphon.loop.ports import StoreFailed
from antiphon.store.database import TURN, AskEach, Operation, PutTurn, Request, Row, T, first

asyncpg: Any = import_module("asyncpg")  # it has no types that a strict checker could use
CONNECTIONS = 8
SECONDS = 15.0
"""How long a connection or a statement may take."""
TRIES = 3


class Postgres:
    """A `Database`."""

    flavour = "postgres"

    def __init__(self, url: str) -> None:
        self._url = url
        self._place = urlsplit(url).hostname or "the local socket"
        self._pool: Any = None

    async def open(self) -> None:
        """Connects once, so that a wrong URL is told at the start."""
        with _Told(self._place):
            self._pool = await asyncpg.create_pool(
                self._url, min_size=0, max_size=CONNECTIONS, timeout=SECONDS, command_timeout=SECONDS, max_inactive_connection_lifetime=60
            )
            async with self._pool.acquire():
                pass

    async def close(self) -> None:
        """Ends all connections."""
        if self._pool is not None:
            try:
                await asyncio.wait_for(self._pool.close(), SECONDS)
            except TimeoutError:
                self._pool.terminate()

    async def write(self, operation: Callable[[], Operation[T]]) -> T:
        """Runs it in a transaction, again where another one's deletion came between."""
        with _Told(self._place):
            for _ in range(TRIES - 1):
                try:
                    return await self._write(operation())
                except (asyncpg.IntegrityConstraintViolationError, asyncpg.TransactionRollbackError):
                    continue
            return await self._write(operation())

    async def read(self, operation: Callable[[], Operation[T]]) -> T:
        """Runs it on one snapshot."""
        with _Told(self._place):
            async with self._connection() as connection, connection.transaction(isolation="repeatable_read", readonly=True):
                running = operation()
                return await _driven(connection, running, next(running))

    async def _write(self, operation: Operation[T]) -> T:
        """What asks for one turn to be put, and no more, needs no transaction: that is one statement."""
        asked = next(operation)
        async with self._connection() as connection:
            if isinstance(asked, PutTurn):
                try:
                    asked = operation.send(await _answered(connection, asked))
                except StopIteration as end:
                    return end.value
            async with connection.transaction():
                return await _driven(connection, operation, asked)

    async def bytes_used(self) -> int:
        """The tables and their indexes."""
        return await self.read(_bytes_used)

    @asynccontextmanager
    async def _connection(self) -> AsyncGenerator[Any]:
        if self._pool is None or self._pool.is_closing():
            raise StoreFailed("The state store is closed.")
        async with self._pool.acquire(timeout=SECONDS) as connection:
            yield connection


async def _driven(connection: Any, operation: Operation[T], asked: Request) -> T:
    try:
        while True:
            asked = operation.send(await _answered(connection, asked))
    except StopIteration as end:
        return end.value


async def _answered(connection: Any, asked: Request) -> Sequence[Row]:
    if isinstance(asked, PutTurn):
        return await connection.fetch(*_put(asked))
    if isinstance(asked, AskEach):
        await connection.executemany(_numbered(asked.sql), asked.rows)
        return ()
    return await connection.fetch(_numbered(asked.sql), *asked.args)


def _put(put: PutTurn) -> tuple[Any, ...]:
    """A whole turn as one statement: PostgreSQL can write to four tables in one."""
    numbers, names, data, hashes = ([item[column] for item in put.items] for column in range(4))
    form = (None, None) if put.form is None else put.form
    return (_PUT, *put.turn, put.lane, put.position, *put.behind, *form, numbers, names, data, hashes)


_LANE, _POSITION, _PARENT, _PARENT_POSITION, _HASH, _FORM, _NUMBERS, _NAMES, _DATA, _HASHES = (f"${len(TURN) + 1 + n}" for n in range(10))
_PUT = f"""
WITH made AS (
  INSERT INTO blobs (hash, data) SELECT {_HASH}::bytea, {_FORM}::bytea WHERE {_HASH} IS NOT NULL ON CONFLICT (hash) DO NOTHING RETURNING blob
), own AS (
  INSERT INTO lanes (parent_lane, parent_position)
  SELECT {_PARENT}::bigint, {_PARENT_POSITION}::bigint WHERE {_LANE}::bigint IS NULL RETURNING lane
), put AS (
  INSERT INTO turns ({", ".join(TURN)}, lane, position, form)
  SELECT {", ".join(f"${n + 1}" for n in range(len(TURN)))}, COALESCE({_LANE}, (SELECT lane FROM own)), {_POSITION},
         COALESCE((SELECT blob FROM made), (SELECT blob FROM blobs WHERE hash = {_HASH}))
  ON CONFLICT (lane, position) DO NOTHING RETURNING turn
), said AS (
  INSERT INTO items (turn, number, name, data, blob)
  SELECT put.turn, one.number, one.name, one.data, (SELECT blob FROM blobs WHERE hash = one.hash)
  FROM put, unnest({_NUMBERS}::bigint[], {_NAMES}::bigint[], {_DATA}::bytea[], {_HASHES}::bytea[]) AS one (number, name, data, hash)
)
SELECT turn FROM put
"""  # noqa: S608 - column names and marks


@cache
def _numbered(sql: str) -> str:
    """The statement with PostgreSQL's marks for arguments."""
    return re.sub(r"\?(\d+)", r"$\1", sql)


def _bytes_used() -> Operation[int]:
    row = yield from first(
        "SELECT COALESCE(SUM(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c"
        " WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace"
    )
    return 0 if row is None else row[0]


class _Told:
    """Turns what asyncpg raises into `StoreFailed`; the URL, which may hold a password, is in no message."""

    def __init__(self, place: str) -> None:
        self._place = place

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, TimeoutError):
            raise StoreFailed(f"The state store on {self._place} did not answer in time.") from None
        if isinstance(error, OSError | asyncpg.PostgresError | asyncpg.InterfaceError):
            raise StoreFailed(f"The state store on {self._place} failed: {type(error).__name__}.") from None
