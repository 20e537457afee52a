"""Conversations: lanes with a name, to which only they add."""

from antiphon.loop.ports import Before, Conversation, Holder, Place
from antiphon.store.database import Ask, Operation, first
from antiphon.store.operations import turns

BELIEVED = 600
"""Seconds after which a hold cannot end: one that does was made by a clock that has been put back since, and counts for nothing."""
FREE = "(held_by IS NULL OR held_until < ?4 OR held_until > ?4 + ?5)"


def create(owner: str, new: Conversation) -> Operation[None]:
    """A new conversation and its lane."""
    lane = yield from turns.new_lane(None, new.id)
    yield Ask(
        "INSERT INTO conversations (id, owner, created_at, metadata, lane, head) VALUES (?1, ?2, ?3, ?4, ?5, -1)",
        (new.id, owner, new.created_at, new.metadata, lane),
    )


def get(owner: str, id: str) -> Operation[Conversation | None]:
    """A conversation without its items."""
    row = yield from first("SELECT id, created_at, metadata FROM conversations WHERE id = ?1 AND owner = ?2", id, owner)
    return None if row is None else Conversation(*row)


def update(owner: str, id: str, metadata: bytes) -> Operation[Conversation | None]:
    """Sets the metadata."""
    row = yield from first(
        "UPDATE conversations SET metadata = ?3 WHERE id = ?1 AND owner = ?2 RETURNING id, created_at, metadata", id, owner, metadata
    )
    return None if row is None else Conversation(*row)


def delete(owner: str, id: str) -> Operation[bool]:
    """Takes the name away; its lane goes with age, as those of responses do."""
    row = yield from first("DELETE FROM conversations WHERE id = ?1 AND owner = ?2 RETURNING lane", id, owner)
    return row is not None


def items(owner: str, id: str) -> Operation[Before | None]:
    """All that was said in it. What was deleted of it is no gap: a conversation is what is left of it."""
    row = yield from first("SELECT lane, head FROM conversations WHERE id = ?1 AND owner = ?2", id, owner)
    if row is None:
        return None
    found = yield from turns.before(Place(row[0], row[1], open=False))
    return Before(found.place, found.items)


def delete_item(owner: str, id: str, holder: str, number: int) -> Operation[None]:
    """Takes an item out: what was added by itself is deleted, a response keeps what it said."""
    row = yield from first(
        "SELECT t.turn, t.status FROM turns t JOIN conversations c ON c.lane = t.lane WHERE c.id = ?1 AND c.owner = ?2 AND t.id = ?3",
        id,
        owner,
        holder,
    )
    if row is None:
        return
    if row[1] == "items":
        yield Ask("DELETE FROM items WHERE turn = ?1 AND number = ?2", (row[0], number))
    else:
        yield Ask("UPDATE items SET gone = 1 WHERE turn = ?1 AND number = ?2", (row[0], number))


def hold(owner: str, id: str, holder: Holder, now: int) -> Operation[bool]:
    """Takes it for one answer."""
    row = yield from first(
        f"UPDATE conversations SET held_by = ?3, held_until = ?6 WHERE id = ?1 AND owner = ?2 AND {FREE} RETURNING lane",  # noqa: S608 - a constant
        id, owner, holder.name, now, BELIEVED, holder.until,
    )  # fmt: skip
    return row is not None


def let_go(owner: str, id: str, holder: Holder) -> Operation[None]:
    """Gives it back."""
    yield Ask(
        "UPDATE conversations SET held_by = NULL, held_until = NULL WHERE id = ?1 AND owner = ?2 AND held_by = ?3", (id, owner, holder.name)
    )
