"""SQLite in a file: one thread writes, another reads, each on a connection of its own.

What waits for the writer goes into one transaction (group commit): one sync to the disk for all that came in meanwhile, and each of them is told
only when it is there. An operation that fails is undone alone. In memory there is one thread for both.
"""

import asyncio
import os
import sqlite3
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple

from antiphon.loop.ports import StoreFailed
from antiphon.store.database import AskEach, Operation, PutTurn, Request, Row, T, first, put_turn

MOST_AT_ONCE = 128
BUSY_SECONDS = 15.0
"""How long to wait for another process that writes."""
PAGE_BYTES = 16384
"""A row of some kilobytes shares its page with others, so that little room is lost between them."""
CLOSED = "The state store is closed."


class _Work(NamedTuple):
    make: Callable[[], Operation[Any]]
    loop: asyncio.AbstractEventLoop
    done: "asyncio.Future[Any]"


class Sqlite:
    """A `Database`. `path` None: in memory."""

    flavour = "sqlite"

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._writer = _Thread(path, reads_only=False)
        self._reader = self._writer if path is None else _Thread(path, reads_only=True)

    async def open(self) -> None:
        """Makes the file, for its owner alone, and starts the threads."""
        if self._path is not None:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600))
        for thread in dict.fromkeys((self._writer, self._reader)):
            thread.start()

    async def close(self) -> None:
        """Ends the threads once they have done what waits."""
        for thread in dict.fromkeys((self._reader, self._writer)):
            await asyncio.to_thread(thread.stop)

    async def write(self, operation: Callable[[], Operation[T]]) -> T:
        """Runs it on the writer, and waits for the disk."""
        return await self._writer.do(operation)

    async def read(self, operation: Callable[[], Operation[T]]) -> T:
        """Runs it on the reader."""
        return await self._reader.do(operation)

    async def bytes_used(self) -> int:
        """The file's pages."""
        return await self.read(_bytes_used)


def _bytes_used() -> Operation[int]:
    row = yield from first("SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()")
    return 0 if row is None else row[0]


class _Thread:
    """A thread with a connection and a queue of work."""

    def __init__(self, path: Path | None, *, reads_only: bool) -> None:
        self._path, self._reads_only = path, reads_only
        self._queue: SimpleQueue[_Work | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name=f"antiphon-{'reader' if reads_only else 'writer'}", daemon=True)
        self._ended = False

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._ended = True
        self._queue.put(None)
        if self._thread.ident is not None:
            self._thread.join()

    async def do(self, make: Callable[[], Operation[T]]) -> T:
        if self._ended:
            raise StoreFailed(CLOSED)
        loop = asyncio.get_running_loop()
        done: asyncio.Future[T] = loop.create_future()
        self._queue.put(_Work(make, loop, done))
        return await done

    def _run(self) -> None:
        connection: sqlite3.Connection | None = None
        more = True
        while more:
            batch, more = self._batch()
            try:
                connection = connection or _connect(self._path)
                outcomes = _together(connection, batch, begin="BEGIN" if self._reads_only else "BEGIN IMMEDIATE")
            except sqlite3.Error as error:
                outcomes = [_failed(error)] * len(batch)
            _tell(batch, outcomes)
        if connection is not None:
            connection.close()

    def _batch(self) -> tuple[list[_Work], bool]:
        """What waits, at least one; and whether there will be more."""
        batch: list[_Work] = []
        work = self._queue.get()
        while work is not None:
            batch.append(work)
            if len(batch) == MOST_AT_ONCE:
                return batch, True
            try:
                work = self._queue.get_nowait()
            except Empty:
                return batch, True
        return batch, False


def _connect(path: Path | None) -> sqlite3.Connection:
    connection = sqlite3.connect(path or ":memory:", isolation_level=None, timeout=BUSY_SECONDS, cached_statements=256)
    for pragma in (
        f"page_size = {PAGE_BYTES}",
        "journal_mode = WAL",
        "synchronous = FULL",
        "secure_delete = ON",
        "foreign_keys = ON",
        "temp_store = MEMORY",
        "cache_size = -16000",
    ):
        connection.execute(f"PRAGMA {pragma}")
    return connection


def _together(connection: sqlite3.Connection, batch: Sequence[_Work], *, begin: str) -> list[Any]:
    """What becomes of each, all in one transaction. A failure to commit is everybody's."""
    if not batch:
        return []
    connection.execute(begin)
    try:
        outcomes = [_alone(connection, work.make) for work in batch]
        connection.execute("COMMIT")
    except sqlite3.Error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return outcomes


def _alone(connection: sqlite3.Connection, make: Callable[[], Operation[Any]]) -> Any:
    """An operation's result, or what it raised; then nothing of it is left."""
    connection.execute("SAVEPOINT one")
    try:
        outcome = _driven(connection, make())
    except Exception as error:
        if not connection.in_transaction:  # a full disk ends the whole transaction
            raise
        connection.execute("ROLLBACK TO one")
        outcome = _failed(error)
    connection.execute("RELEASE one")
    return outcome


def _driven(connection: sqlite3.Connection, operation: Operation[T]) -> T:
    try:
        asked = next(operation)
        while True:
            asked = operation.send(_answered(connection, asked))
    except StopIteration as end:
        return end.value


def _answered(connection: sqlite3.Connection, asked: Request) -> Sequence[Row]:
    if isinstance(asked, PutTurn):
        return _driven(connection, put_turn(asked))
    if isinstance(asked, AskEach):
        connection.executemany(asked.sql, asked.rows)
        return ()
    return connection.execute(asked.sql, asked.args).fetchall()


def _failed(error: Exception) -> Exception:
    return StoreFailed(f"The state store failed: {error}.") if isinstance(error, sqlite3.Error) else error


def _tell(batch: Sequence[_Work], outcomes: Sequence[Any]) -> None:
    by_loop: dict[asyncio.AbstractEventLoop, list[tuple[_Work, Any]]] = {}
    for work, outcome in zip(batch, outcomes, strict=True):
        by_loop.setdefault(work.loop, []).append((work, outcome))
    for loop, pairs in by_loop.items():
        if not loop.is_closed():
            loop.call_soon_threadsafe(_settle, pairs)


def _settle(pairs: Sequence[tuple[_Work, Any]]) -> None:
    for work, outcome in pairs:
        if work.done.done():  # its task was cancelled
            continue
        if isinstance(outcome, Exception):
            work.done.set_exception(outcome)
        else:
            work.done.set_result(outcome)
