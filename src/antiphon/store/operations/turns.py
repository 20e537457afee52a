"""Turns: where the next one stands, what is written for it, what is read on the way to it."""

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

from msgspec import Raw

from antiphon.history import item_names
from antiphon.loop.ports import Before, Entry, KeptItem, Place
from antiphon.protocol import json
from antiphon.protocol.document import Document
from antiphon.store import form
from antiphon.store.database import Ask, AskEach, Operation, PutTurn, ask, first
from antiphon.store.form import Parts

LARGE = 16 * 1024
"""Items of this size and more are kept once for each owner, however often they are sent."""
APPENDS = frozenset({"completed", "incomplete", "queued", "items"})
"""Statuses in which a turn may stand in the lane of what it continues; what failed stands aside."""

_BLOB = "INSERT INTO blobs (hash, data) VALUES (?1, ?2) ON CONFLICT (hash) DO NOTHING"
_ITEM = "INSERT INTO items (turn, number, name, data, blob) VALUES (?1, ?2, ?3, ?4, (SELECT blob FROM blobs WHERE hash = ?5))"
_BEFORE = """
WITH RECURSIVE path (lane, upto) AS (
  SELECT CAST(?1 AS BIGINT), CAST(?2 AS BIGINT)
  UNION ALL
  SELECT l.parent_lane, l.parent_position FROM path p JOIN lanes l ON l.lane = p.lane WHERE l.parent_lane IS NOT NULL
)
SELECT t.position, i.number, t.id, t.status, t.inputs, i.data, b.data
FROM path p JOIN turns t ON t.lane = p.lane AND t.position <= p.upto
LEFT JOIN items i ON i.turn = t.turn AND i.gone IS NULL LEFT JOIN blobs b ON b.blob = i.blob
"""


class Response(NamedTuple):
    """A response object taken apart for its row, and the hash under which its form is kept."""

    parts: Parts
    fields: bytes
    hash: bytes
    input_tokens: int | None
    output_tokens: int | None


def take_apart(entry: Entry) -> Response | None:
    """An entry's response object; None where it has none."""
    if entry.response is None:
        return None
    parts = form.take_apart(entry.response, _known(entry.id, entry.created_at, entry.status, entry.parent))
    usage = json.an_object(Document(entry.response).get("usage"))
    counts = (usage.get(name) for name in ("input_tokens", "output_tokens"))
    told = [count if isinstance(count, int) and 0 <= count < 2**63 else None for count in counts]
    return Response(parts, json.encode(parts.fields), hashed(entry.owner, parts.form), *told)


def put_together(row: Sequence[Any], output: list[bytes]) -> bytes:
    """The response object of a row of (id, created_at, status, parent, form, fields)."""
    id, created_at, status, parent, spelled, fields = row
    return form.put_together(Parts(spelled, json.fields(fields), output), _known(id, created_at, status, parent))


def _known(id: str, created_at: int, status: str, parent: str | None) -> dict[str, bytes]:
    """The members of a response object that have columns of their own."""
    known = {"id": json.encode(id), "created_at": b"%d" % created_at, "status": json.encode(status)}
    return known | ({} if parent is None else {"previous_response_id": json.encode(parent)})


def write(entry: Entry) -> Operation[int]:
    """Writes a turn with its items: behind what it continues, or, where something stands there already, in a lane of its own; its number."""
    turn = yield from _prepared(entry)
    appends, behind = entry.status in APPENDS, entry.behind
    if entry.conversation is not None:
        lane, position = yield from behind_head(entry.conversation, entry.owner, entry.holder, by=int(appends))
        if lane is not None and appends:
            return (yield from _put(turn._replace(lane=lane, position=position)))
    elif behind is not None and behind.open and appends:
        number = yield from _put(turn._replace(lane=behind.lane, position=behind.position + 1))
        if number:
            return number
    return (yield from _put(turn))


def write_at(entry: Entry, lane: int, position: int) -> Operation[int]:
    """Writes a turn with its items at a place; its number, 0 where something stands there."""
    turn = yield from _prepared(entry)
    return (yield from _put(turn._replace(lane=lane, position=position)))


def _put(turn: PutTurn) -> Operation[int]:
    rows = yield turn
    return rows[0][0] if rows else 0


def _prepared(entry: Entry) -> Operation[PutTurn]:
    """A turn for a lane of its own, its large items written."""
    response = take_apart(entry)
    items = [*entry.input, *([] if response is None else response.parts.output)]
    yield from _write_large(entry.owner, items)
    columns = (None, None, None) if response is None else (response.input_tokens, response.output_tokens, response.fields)
    behind = (None, None) if entry.behind is None else (entry.behind.lane, entry.behind.position)
    return PutTurn(
        form=None if response is None else (response.hash, response.parts.form),
        turn=(entry.id, entry.owner, entry.parent, entry.created_at, entry.status, int(entry.background), len(entry.input), *columns),
        lane=None, position=0 if behind[1] is None else behind[1] + 1, behind=behind, items=list(_item_rows(entry.owner, items, 0)),
    )  # fmt: skip


def write_form(response: Response) -> Operation[None]:
    """Writes a response object's form, where it is not there yet."""
    yield Ask(_BLOB, (response.hash, response.parts.form))


def write_items(turn: int, owner: str, items: Sequence[bytes], *, start: int) -> Operation[None]:
    """Writes items of a turn, numbered from `start`."""
    yield from _write_large(owner, items)
    if items:
        yield AskEach(_ITEM, [(turn, *row) for row in _item_rows(owner, items, start)])


def _write_large(owner: str, items: Sequence[bytes]) -> Operation[None]:
    large = [(hashed(owner, item), item) for item in items if len(item) >= LARGE]
    if large:
        yield AskEach(_BLOB, large)


def _item_rows(owner: str, items: Sequence[bytes], start: int) -> Iterator[tuple[int, int | None, bytes | None, bytes | None]]:
    for number, item in enumerate(items, start):
        name = item_names.name_of(owner, item)
        yield (number, name, None, hashed(owner, item)) if len(item) >= LARGE else (number, name, item, None)


def behind_head(conversation: str, owner: str, holder: str, *, by: int) -> Operation[tuple[int | None, int]]:
    """The next place in a conversation (or, `by` 0, its last), which the holder lets go with it; None where it was deleted meanwhile."""
    row = yield from first(
        "UPDATE conversations SET head = head + ?3, held_by = CASE WHEN held_by = ?4 THEN NULL ELSE held_by END"
        " WHERE id = ?1 AND owner = ?2 RETURNING lane, head",
        conversation, owner, by, holder,
    )  # fmt: skip
    return (None, 0) if row is None else (row[0], row[1])


def new_lane(behind: Place | None, conversation: str | None = None) -> Operation[int]:
    """A lane of its own, that begins behind a turn of another."""
    lane, position = (None, None) if behind is None else behind[:2]
    row = yield from first(
        "INSERT INTO lanes (parent_lane, parent_position, conversation) VALUES (?1, ?2, ?3) RETURNING lane", lane, position, conversation
    )
    assert row is not None
    return row[0]


def before(place: Place, status: str = "completed", settings: Document | None = None) -> Operation[Before]:
    """All items up to a place, by one scan of its lane (and of those it branched off)."""
    rows = yield from ask(_BEFORE, place.lane, place.position)
    items: list[KeptItem] = []
    missing: str | None = None
    for _, number, id, state, inputs, data, blob in sorted(rows, key=lambda row: (row[0], row[1] or 0)):
        if state == "deleted":
            missing = missing or id
        elif number is not None:
            items.append(KeptItem(id, number, number < inputs, blob if data is None else data))
    return Before(place, items, status, settings, missing)


def hashed(owner: str, content: bytes) -> bytes:
    """What a blob is found by: its content and whose it is, so that nobody's content tells of another's."""
    return blake2b(content, digest_size=16, key=blake2b(owner.encode(), digest_size=32).digest()).digest()


def shell(data: bytes | None) -> Document | None:
    """The settings in a form, for reading."""
    return None if data is None else Document(Raw(data))
