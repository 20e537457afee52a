"""Upkeep: counted, pruned, taken out, taken in."""

from collections.abc import Sequence
from typing import Any

from msgspec import Raw

from antiphon.loop.ports import Entry, KeptItem, Key
from antiphon.protocol import json
from antiphon.store.database import Ask, Operation, Row, ask, first
from antiphon.store.operations import keys, responses, turns

AT_ONCE = 200
"""How many lanes or turns one transaction looks at, so that others have their turn."""
_COUNTS = {
    "responses": "SELECT COUNT(*) FROM turns WHERE form IS NOT NULL",
    "items": "SELECT COUNT(*) FROM items",
    "conversations": "SELECT COUNT(*) FROM conversations",
    "running": "SELECT COUNT(*) FROM runs",
    "large pieces": "SELECT COUNT(*) FROM blobs",
}
_UNUSED = (
    "NOT EXISTS (SELECT 1 FROM turns t WHERE t.lane = lanes.lane AND t.created_at >= ?2)"
    " AND NOT EXISTS (SELECT 1 FROM runs r JOIN turns t ON t.turn = r.turn WHERE t.lane = lanes.lane)"
    " AND NOT EXISTS (SELECT 1 FROM lanes branch WHERE branch.parent_lane = lanes.lane)"
    " AND NOT EXISTS (SELECT 1 FROM conversations c WHERE c.lane = lanes.lane)"
)
"""A lane whose last turn is old, behind which nothing goes on, and that no conversation owns."""


def counts() -> Operation[dict[str, int]]:
    """How many there are of everything."""
    found: dict[str, int] = {}
    for name, sql in _COUNTS.items():
        row = yield from first(sql)
        found[name] = 0 if row is None else row[0]
    return found


def unused_lanes(after: int, before: int) -> Operation[list[int]]:
    """Some lanes behind `after` that nobody has used since."""
    rows = yield from ask(f"SELECT lane FROM lanes WHERE lane > ?1 AND {_UNUSED} ORDER BY lane LIMIT ?3", after, before, AT_ONCE)  # noqa: S608
    return [row[0] for row in rows]


def delete_lanes(lanes: Sequence[int], before: int) -> Operation[int]:
    """Takes lanes away with all that is in them, where they are still unused; how many responses that were."""
    deleted = 0
    for lane in lanes:
        row = yield from first(f"SELECT lane FROM lanes WHERE lane = ?1 AND {_UNUSED}", lane, before)  # noqa: S608 - a constant
        if row is not None:
            deleted += yield from _delete_lane(lane)
    return deleted


def _delete_lane(lane: int) -> Operation[int]:
    items = yield from ask("DELETE FROM items WHERE turn IN (SELECT turn FROM turns WHERE lane = ?1) RETURNING blob", lane)
    yield Ask("DELETE FROM events WHERE turn IN (SELECT turn FROM turns WHERE lane = ?1)", (lane,))
    gone = yield from ask("DELETE FROM turns WHERE lane = ?1 RETURNING form", lane)
    yield Ask("DELETE FROM lanes WHERE lane = ?1", (lane,))
    for blob in {row[0] for row in (*items, *gone) if row[0] is not None}:
        yield from responses.delete_unused(blob)
    return len(gone)


def delete_events(before: int) -> Operation[int]:
    """Takes away some streams of background responses that ended long ago; how many pieces that were."""
    rows = yield from ask(
        "DELETE FROM events WHERE turn IN (SELECT DISTINCT e.turn FROM events e JOIN turns t ON t.turn = e.turn"
        " WHERE t.created_at < ?1 AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.turn = e.turn) LIMIT ?2) RETURNING first",
        before,
        AT_ONCE,
    )
    return len(rows)


def lanes_out() -> Operation[list[dict[str, Any]]]:
    """Every lane, and whose conversation it is."""
    rows = yield from ask(
        "SELECT l.lane, l.parent_lane, l.parent_position, c.id, c.owner, c.created_at, c.metadata, c.head"
        " FROM lanes l LEFT JOIN conversations c ON c.lane = l.lane ORDER BY l.lane"
    )
    return [_lane(row) for row in rows]


def _lane(row: Row) -> dict[str, Any]:
    lane, parent, position, id, owner, created, metadata, head = row
    line: dict[str, Any] = {"kind": "lane", "lane": lane, "parent_lane": parent, "parent_position": position}
    if id is not None:
        line["conversation"] = {"id": id, "owner": owner, "created_at": created, "metadata": Raw(metadata), "head": head}
    return line


def turns_out(after: int) -> Operation[tuple[int, list[dict[str, Any]]]]:
    """Some turns behind `after` that have ended, with the number of the last one looked at; none: that was all."""
    rows = yield from ask(
        "SELECT t.turn, t.lane, t.position, t.background, t.inputs, t.owner, t.id, t.created_at, t.status, t.parent, b.data, t.fields, r.turn"
        " FROM turns t LEFT JOIN blobs b ON b.blob = t.form LEFT JOIN runs r ON r.turn = t.turn"
        " WHERE t.turn > ?1 ORDER BY t.turn LIMIT ?2",
        after,
        AT_ONCE,
    )
    lines: list[dict[str, Any]] = []
    for row in rows:
        if row[12] is None:
            line = yield from _turn(row)
            lines.append(line)
    return (rows[-1][0] if rows else 0), lines


def _turn(row: Row) -> Operation[dict[str, Any]]:
    turn, lane, position, background, inputs, owner, id, created_at, status, parent, form, _, _ = row
    items = yield from ask(
        "SELECT i.number, i.gone, i.data, b.data FROM items i LEFT JOIN blobs b ON b.blob = i.blob WHERE i.turn = ?1 ORDER BY i.number",
        turn,
    )
    whole = [KeptItem(id, number, number < inputs, blob if data is None else data) for number, _, data, blob in items]
    output = [item.data for item in whole if not item.is_input]
    return {
        "kind": "turn", "lane": lane, "position": position, "id": id, "owner": owner, "created_at": created_at, "status": status,
        "parent": parent, "background": bool(background), "input": [Raw(item.data) for item in whole if item.is_input],
        "gone": [row[0] for row in items if row[1] is not None],
        "response": None if form is None else Raw(turns.put_together(row[6:12], output)),
    }  # fmt: skip


def keys_out() -> Operation[list[dict[str, Any]]]:
    """Every key's hash and rights."""
    found = yield from keys.all_keys()
    return [
        {
            "kind": "key", "id": key.id, "name": key.name, "hash": key.hash.hex(), "created_at": key.created_at, "revoked_at": key.revoked_at,
            "models": list(key.models), "per_minute": key.per_minute, "at_once": key.at_once,
        }
        for key in found
    ]  # fmt: skip


def take_in(line: dict[str, Any], lanes: dict[int, int]) -> Operation[bool]:
    """Writes what a line says. Raises ValueError or KeyError where it is none of ours."""
    kind = line.pop("kind")
    if kind == "key":
        return (yield from _key_in(line))
    if kind == "lane":
        return (yield from _lane_in(line, lanes))
    if kind == "turn":
        return (yield from _turn_in(line, lanes))
    raise ValueError(f"unknown kind {kind!r}")


def _key_in(line: dict[str, Any]) -> Operation[bool]:
    given: dict[str, Any] = {**line, "hash": bytes.fromhex(line["hash"]), "models": tuple(line["models"])}
    key = Key(**given)
    known = yield from first("SELECT id FROM keys WHERE id = ?1 OR hash = ?2", key.id, key.hash)
    if known is None:
        yield from keys.add(key)
    return known is None


def _lane_in(line: dict[str, Any], lanes: dict[int, int]) -> Operation[bool]:
    conversation = line.get("conversation")
    known = None
    if conversation is not None:
        known = yield from first("SELECT lane FROM conversations WHERE id = ?1", conversation["id"])
    if known is not None:
        lanes[line["lane"]] = known[0]
        return False
    parent = None if line["parent_lane"] is None else lanes[line["parent_lane"]]
    row = yield from first(
        "INSERT INTO lanes (parent_lane, parent_position, conversation) VALUES (?1, ?2, ?3) RETURNING lane",
        parent, line["parent_position"], conversation and conversation["id"],
    )  # fmt: skip
    assert row is not None, "RETURNING"
    lanes[line["lane"]] = row[0]
    if conversation is not None:
        yield Ask(
            "INSERT INTO conversations (id, owner, created_at, metadata, lane, head) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            (
                conversation["id"],
                conversation["owner"],
                conversation["created_at"],
                json.encode(conversation["metadata"]),
                row[0],
                conversation["head"],
            ),
        )
    return True


def _turn_in(line: dict[str, Any], lanes: dict[int, int]) -> Operation[bool]:
    known = yield from first("SELECT turn FROM turns WHERE id = ?1", line["id"])
    if known is not None:
        return False
    response = line["response"]
    entry = Entry(
        id=line["id"], owner=line["owner"], created_at=line["created_at"], status=line["status"], parent=line["parent"],
        input=[bytes(item) for item in line["input"]], background=line["background"],
        response=None if response is None else bytes(response),
    )  # fmt: skip
    turn = yield from turns.write_at(entry, lanes[line["lane"]], line["position"])
    for number in line["gone"]:
        yield Ask("UPDATE items SET gone = 1 WHERE turn = ?1 AND number = ?2", (turn, number))
    return bool(turn)
