"""Background responses: begun, going on, ended, taken over from a process that is gone.

Whoever runs one writes only while the run is its own: each write says so in the same transaction, so that a process that was taken for dead and
comes back can do no harm.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

from antiphon.loop.ports import Entry, Events, Holder, Place, Taken
from antiphon.protocol.document import Document
from antiphon.store.database import Ask, Operation, Row, ask, first
from antiphon.store.operations import conversations, responses, turns

_EVENTS = "INSERT INTO events (turn, first, count, data) VALUES (?1, ?2, ?3, ?4)"
AT_ONCE = 64
"""How many pieces of a stream are read in one go."""


def begin(entry: Entry, request: bytes, events: Events, holder: Holder) -> Operation[None]:
    """Writes a response that is to run. In a conversation it has its place only once it has ended well."""
    turn = yield from turns.write(replace(entry, conversation=None))
    yield Ask(_EVENTS, (turn, *events))
    yield Ask(
        "INSERT INTO runs (turn, request, next, conversation, held_by, held_until) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        (turn, request, events.first + events.length, entry.conversation, holder.name, holder.until),
    )


def go_on(id: str, events: Events, holder: Holder) -> Operation[bool]:
    """Writes events of a run that is the holder's."""
    row = yield from first(
        "UPDATE runs SET next = ?2, held_until = ?4 WHERE held_by = ?3 AND turn = (SELECT turn FROM turns WHERE id = ?1) RETURNING turn",
        id, events.first + events.length, holder.name, holder.until,
    )  # fmt: skip
    if row is None:
        return False
    if events.length:
        yield Ask(_EVENTS, (row[0], *events))
    yield Ask("UPDATE turns SET status = 'in_progress' WHERE turn = ?1 AND status = 'queued'", (row[0],))
    return True


def end(id: str, events: Events, document: bytes, holder: Holder) -> Operation[bool]:
    """Writes the last events and the response as it ended; the run is over."""
    run = yield from _over("DELETE FROM runs WHERE held_by = ?2 AND turn = (SELECT turn FROM turns WHERE id = ?1)", id, holder.name)
    if run is None:
        return False
    yield Ask(_EVENTS, (run[0], *events))
    yield from _ended(id, run, document)
    return True


def cancel(owner: str, id: str, document: bytes, last: Callable[[int], bytes]) -> Operation[bool]:
    """Ends a run from outside, whoever holds it."""
    run = yield from _over("DELETE FROM runs WHERE turn = (SELECT turn FROM turns WHERE id = ?1 AND owner = ?2)", id, owner)
    if run is None:
        return False
    yield Ask(_EVENTS, (run[0], run[1], 1, last(run[1])))
    yield from _ended(id, run, document)
    return True


def _over(deletes: str, *args: Any) -> Operation[Row | None]:
    """The run that is over: its turn, its next number, its conversation; None where there is none, or another was quicker."""
    return (yield from first(f"{deletes} RETURNING turn, next, conversation, held_by", *args))


def _ended(id: str, run: Row, document: bytes) -> Operation[None]:
    turn, _, conversation, holder = run
    row = yield from first("SELECT owner, lane, position, parent, created_at, inputs, form FROM turns WHERE turn = ?1", turn)
    assert row is not None, "a run has its turn"
    owner, lane, position, parent, created_at, inputs, old = row
    status = Document(document).text("status") or "failed"
    entry = Entry(
        id=id,
        owner=owner,
        created_at=created_at,
        status=status,
        input=(),
        response=document,
        parent=parent,
        behind=Place(lane, position, open=True),
    )
    response = turns.take_apart(entry)
    assert response is not None, "the entry has one"
    yield from turns.write_form(response)
    yield Ask(
        "UPDATE turns SET status = ?2, form = (SELECT blob FROM blobs WHERE hash = ?3), fields = ?4, input_tokens = ?5, output_tokens = ?6"
        " WHERE turn = ?1",
        (turn, status, response.hash, response.fields, response.input_tokens, response.output_tokens),
    )
    yield from responses.delete_unused(old)
    yield from turns.write_items(turn, owner, response.parts.output, start=inputs)
    if conversation is not None:
        yield from _into_conversation(turn, owner, _Ended(conversation, holder, status))


class _Ended(NamedTuple):
    """A conversation, which process had it, and how the response in it ended."""

    conversation: str
    holder: str
    status: str


def _into_conversation(turn: int, owner: str, told: _Ended) -> Operation[None]:
    """A response that ended well has its place now, any other has none; the conversation is free."""
    appends = told.status in turns.APPENDS
    lane, position = yield from turns.behind_head(told.conversation, owner, told.holder, by=int(appends))
    if appends and lane is not None:
        yield Ask("UPDATE turns SET lane = ?2, position = ?3 WHERE turn = ?1", (turn, lane, position))


def events(owner: str, id: str, after: int) -> Operation[list[Events]]:
    """Some of the events that follow a number."""
    rows = yield from ask(
        "SELECT e.first, e.count, e.data FROM events e JOIN turns t ON t.turn = e.turn WHERE t.id = ?1 AND t.owner = ?2 AND e.first + e.count > ?3"
        " ORDER BY e.first LIMIT ?4",
        id, owner, after + 1, AT_ONCE,
    )  # fmt: skip
    return [Events(*row) for row in rows]


def take_over(holder: Holder, now: int) -> Operation[list[Taken]]:
    """Runs whose holders are not believed to be there any more."""
    rows = yield from ask(
        "UPDATE runs SET held_by = ?1, held_until = ?2 WHERE held_by <> ?1 AND (held_until < ?3 OR held_until > ?3 + ?4)"
        " RETURNING turn, request, next",
        holder.name, holder.until, now, conversations.BELIEVED,
    )  # fmt: skip
    taken: list[Taken] = []
    for turn, request, next in rows:
        row = yield from first("SELECT id, owner FROM turns WHERE turn = ?1", turn)
        assert row is not None, "a run has its turn"
        kept = yield from responses.get(row[1], row[0])
        assert kept is not None, "and its response"
        taken.append(Taken(row[0], row[1], request, next, kept.document))
    return taken


def still_here(holder: Holder) -> Operation[None]:
    """All that the holder holds is its own for longer."""
    for table in ("runs", "conversations"):
        yield Ask(f"UPDATE {table} SET held_until = ?2 WHERE held_by = ?1", (holder.name, holder.until))  # noqa: S608 - two constants
