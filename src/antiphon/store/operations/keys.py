"""Keys: which there are."""

from antiphon.loop.ports import Key
from antiphon.store.database import Ask, Operation, ask, first

_COLUMNS = "id, name, hash, created_at, models, per_minute, at_once, revoked_at"


def all_keys() -> Operation[list[Key]]:
    """Every key, the oldest first."""
    rows = yield from ask(f"SELECT {_COLUMNS} FROM keys ORDER BY created_at, id")  # noqa: S608 - a constant
    return [
        Key(id, name, hash, created, tuple(models.split()), minute, once, revoked)
        for id, name, hash, created, models, minute, once, revoked in rows
    ]


def add(key: Key) -> Operation[None]:
    """A new key."""
    yield Ask(
        f"INSERT INTO keys ({_COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",  # noqa: S608 - a constant
        (key.id, key.name, key.hash, key.created_at, " ".join(key.models), key.per_minute, key.at_once, key.revoked_at),
    )


def revoke(id: str, now: int) -> Operation[bool]:
    """Ends a key."""
    row = yield from first("UPDATE keys SET revoked_at = ?2 WHERE id = ?1 AND revoked_at IS NULL RETURNING id", id, now)
    return row is not None
