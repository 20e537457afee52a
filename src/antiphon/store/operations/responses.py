"""Responses: kept, found, continued, deleted."""

from collections.abc import Sequence

from antiphon.history import item_names
from antiphon.loop.ports import Before, Kept, KeptItem, Place
from antiphon.protocol.document import Document
from antiphon.store.database import Ask, Operation, Row, ask, first
from antiphon.store.operations import turns

_FOUND = (
    "SELECT t.turn, t.lane, t.position, t.status, t.background, t.inputs, l.conversation, t.id, t.created_at, t.status, t.parent, b.data, t.fields"
    " FROM turns t JOIN lanes l ON l.lane = t.lane JOIN blobs b ON b.blob = t.form WHERE t.id = ?1 AND t.owner = ?2"
)
_OUTPUT = "SELECT i.number, i.data, b.data FROM items i LEFT JOIN blobs b ON b.blob = i.blob WHERE i.turn = ?1 AND i.number >= ?2 ORDER BY i.number"
_NAMED = (
    "SELECT i.data, b.data FROM items i JOIN turns t ON t.turn = i.turn LEFT JOIN blobs b ON b.blob = i.blob"
    " WHERE i.name = ?1 AND t.owner = ?2 ORDER BY i.turn DESC, i.number DESC"
)
_MADE = (
    "SELECT i.data, b.data FROM turns t JOIN items i ON i.turn = t.turn LEFT JOIN blobs b ON b.blob = i.blob"
    " WHERE t.id IN (?1, ?2) AND t.owner = ?3 AND i.number = ?4"
)


def find(owner: str, id: str) -> Operation[Row | None]:
    """A response's row; None where there is none, or it is somebody else's, or it was deleted: one way through, whichever it is."""
    return (yield from first(_FOUND, id, owner))


def get(owner: str, id: str) -> Operation[Kept | None]:
    """A response in the bytes that its client was sent."""
    row = yield from find(owner, id)
    if row is None:
        return None
    output = yield from ask(_OUTPUT, row[0], row[5])
    document = turns.put_together(row[7:], [_whole(item[1:]) for item in output])
    return Kept(id, row[3], bool(row[4]), document)


def before(owner: str, id: str) -> Operation[Before | None]:
    """All that led to a response, and what it is."""
    row = yield from find(owner, id)
    if row is None:
        return None
    return (yield from turns.before(Place(row[1], row[2], row[6] is None), row[3], turns.shell(row[11])))


def status(owner: str, id: str) -> Operation[str | None]:
    """What became of a response so far."""
    row = yield from first("SELECT status FROM turns WHERE id = ?1 AND owner = ?2 AND form IS NOT NULL", id, owner)
    return None if row is None else row[0]


def inputs(owner: str, id: str) -> Operation[list[KeptItem] | None]:
    """All items that led to a response, oldest first, without its output."""
    found = yield from before(owner, id)
    return None if found is None else [item for item in found.items if item.is_input or item.holder != id]


def named(owner: str, ids: Sequence[str]) -> Operation[dict[str, bytes]]:
    """Items by their ids, made ones and their own; of several with one id the newest."""
    found: dict[str, bytes] = {}
    for id in ids:
        made = item_names.position(id)
        if made is not None:
            rows = yield from ask(_MADE, f"resp_{made.part}", f"items_{made.part}", owner, made.number)
        else:
            rows = yield from ask(_NAMED, item_names.name(owner, id), owner)
        items = (_whole(row) for row in rows)
        item = next((item for item in items if made is not None or Document(item).text("id") == id), None)
        if item is not None:
            found[id] = item
    return found


def delete(owner: str, id: str) -> Operation[bool]:
    """Takes a response and its items away. Its row stays without them, so that what continued it can say what is missing."""
    row = yield from first("SELECT turn, form FROM turns WHERE id = ?1 AND owner = ?2 AND form IS NOT NULL", id, owner)
    if row is None:
        return False
    turn, form = row
    items = yield from ask("DELETE FROM items WHERE turn = ?1 RETURNING blob", turn)
    yield Ask("UPDATE turns SET status = 'deleted', form = NULL, fields = NULL, parent = NULL WHERE turn = ?1", (turn,))
    yield Ask("DELETE FROM events WHERE turn = ?1", (turn,))
    yield Ask("DELETE FROM runs WHERE turn = ?1", (turn,))
    for blob in {form, *(item[0] for item in items if item[0] is not None)}:
        yield from delete_unused(blob)
    return True


def delete_unused(blob: int) -> Operation[None]:
    """Takes a blob away that nothing refers to any more."""
    yield Ask(
        "DELETE FROM blobs WHERE blob = ?1 AND NOT EXISTS (SELECT 1 FROM turns WHERE form = ?1)"
        " AND NOT EXISTS (SELECT 1 FROM items WHERE blob = ?1)",
        (blob,),
    )


def _whole(row: Row) -> bytes:
    """An item out of (data, blob)."""
    return row[1] if row[0] is None else row[0]
