"""What a database is to the operations: it runs a generator that asks for SQL, in one transaction.

An operation yields `Ask` and is sent rows; it never sees a connection, so that it is written once and reads the same on SQLite's thread and over a
socket. Its SQL is what both databases know, with `?1` for arguments.
"""

from collections.abc import Callable, Generator, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

T = TypeVar("T")
Row = Sequence[Any]


class Ask(NamedTuple):
    """One statement."""

    sql: str
    args: Sequence[Any] = ()


class AskEach(NamedTuple):
    """One statement for each of some arguments; gives no rows."""

    sql: str
    rows: Sequence[Sequence[Any]]


class PutTurn(NamedTuple):
    """A turn with its items, at a place or in a new lane: one row, the turn's number; none where its place is taken.

    It is a request of its own because nothing is done as often: a database that can do it in one statement may.
    """

    form: tuple[bytes, bytes] | None
    """The form's hash and the form."""
    turn: tuple[Any, ...]
    """What the columns TURN hold."""
    lane: int | None
    position: int
    behind: tuple[int | None, int | None]
    """Where a new lane begins, where `lane` is None."""
    items: Sequence[tuple[int, int | None, bytes | None, bytes | None]]
    """Each one's number, name, data, or the hash of its blob."""


TURN = ("id", "owner", "parent", "created_at", "status", "background", "inputs", "input_tokens", "output_tokens", "fields")
Request = Ask | AskEach | PutTurn
Operation = Generator[Request, Sequence[Row], T]


class Database(Protocol):
    """Runs operations. Both raise `loop.ports.StoreFailed`."""

    @property
    def flavour(self) -> str:
        """`sqlite` or `postgres`: which migrations it takes."""
        ...

    async def open(self) -> None:
        """Connects."""
        ...

    async def close(self) -> None:
        """Disconnects."""
        ...

    async def write(self, operation: Callable[[], Operation[T]]) -> T:
        """What the operation returns, once all that it did is there for good."""
        ...

    async def read(self, operation: Callable[[], Operation[T]]) -> T:
        """What the operation returns; it must not change anything."""
        ...

    async def bytes_used(self) -> int:
        """The room it takes."""
        ...


def ask(sql: str, *args: Any) -> Operation[Sequence[Row]]:
    """All rows of a statement."""
    return (yield Ask(sql, args))


def put_turn(put: PutTurn) -> Operation[Sequence[Row]]:
    """The statements that a `PutTurn` stands for."""
    lane = put.lane
    if put.form is not None:
        yield Ask("INSERT INTO blobs (hash, data) VALUES (?1, ?2) ON CONFLICT (hash) DO NOTHING", put.form)
    if lane is None:
        rows = yield Ask("INSERT INTO lanes (parent_lane, parent_position) VALUES (?1, ?2) RETURNING lane", put.behind)
        lane = rows[0][0]
    rows = yield Ask(_PUT, (*put.turn, lane, put.position, None if put.form is None else put.form[0]))
    if rows and put.items:
        yield AskEach(
            "INSERT INTO items (turn, number, name, data, blob) VALUES (?1, ?2, ?3, ?4, (SELECT blob FROM blobs WHERE hash = ?5))",
            [(rows[0][0], *item) for item in put.items],
        )
    return rows


_MARKS = ", ".join(f"?{number}" for number in range(1, len(TURN) + 3))
_PUT = (
    f"INSERT INTO turns ({', '.join(TURN)}, lane, position, form) VALUES ({_MARKS}, (SELECT blob FROM blobs WHERE hash = ?{len(TURN) + 3}))"  # noqa: S608
    " ON CONFLICT (lane, position) DO NOTHING RETURNING turn"
)


def first(sql: str, *args: Any) -> Operation[Row | None]:
    """The first row of a statement."""
    rows = yield Ask(sql, args)
    return rows[0] if rows else None
