"""The keys in force: those of the store, and those that an environment variable holds. Looked up anew every few seconds, so that one that is added
or revoked counts within seconds.

A key is found by its SHA-256: it is 256 random bits, so nothing can be guessed from how long the look took; the hashes are compared in constant
time all the same. Not here: what a key may do (`caller`, `limits`).
"""

import hmac
import time
from collections.abc import Callable, Mapping
from hashlib import sha256

from antiphon.loop.ports import Key, Store, StoreFailed

FRESH_SECONDS = 2.0
SHORTEST_SECRET = 16


class BadKeys(ValueError):
    """A variable whose keys cannot be used; no key is shown."""


def hashed(secret: str) -> bytes:
    """What is kept of a key."""
    return sha256(secret.encode()).digest()


def of_environment(variable: str, environ: Mapping[str, str]) -> list[Key]:
    """The keys that a variable holds, separated by white space. Their owner is the key itself, whatever its place."""
    if not variable:
        return []
    secrets = environ.get(variable, "").split()
    if not secrets or any(len(secret) < SHORTEST_SECRET for secret in secrets):
        raise BadKeys(f"{variable} must hold keys of at least {SHORTEST_SECRET} characters ('key_env')")
    return [Key(f"env_{hashed(secret).hex()[:12]}", variable, hashed(secret)) for secret in secrets]


class Keyring:
    """All keys in force, by their hashes."""

    def __init__(self, store: Store | None, given: list[Key], *, clock: Callable[[], float] = time.monotonic) -> None:
        self._store, self._given, self._clock = store, given, clock
        self._known = {key.hash: key for key in given}
        self._looked = float("-inf")

    @property
    def is_fresh(self) -> bool:
        """Whether the store need not be asked."""
        return self._store is None or self._clock() - self._looked < FRESH_SECONDS

    @property
    def is_empty(self) -> bool:
        """Whether there are none: then nobody needs one."""
        return not self._known

    async def look(self) -> None:
        """Asks the store; while it cannot answer, what it said last counts."""
        if self._store is None:
            return
        try:
            kept = [key for key in await self._store.keys() if key.revoked_at is None]
        except StoreFailed:
            if self._looked == float("-inf"):  # nothing is known: nobody may pass
                raise
        else:
            self._known = {key.hash: key for key in (*self._given, *kept)}
        self._looked = self._clock()

    def find(self, secret: str) -> Key | None:
        """The key that a secret is; None where it is none in force."""
        digest = hashed(secret)
        key = self._known.get(digest)
        return key if key is not None and hmac.compare_digest(key.hash, digest) else None
