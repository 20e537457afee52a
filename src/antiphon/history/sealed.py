"""Sealed envelopes: content that a stateless client carries for us, and that only we can read.

Authenticated encryption with a synthetic nonce (AES-SIV): what is equal before is equal after, so that a prompt's prefix stays where it was when
an item is sealed again. What an envelope is for, and whose it is, are sealed with it: one that is carried elsewhere does not open. Keys rotate:
the first seals, all open.

    antiphon-1.KEY.CONTENT      KEY names the key and tells nothing of it, CONTENT is base64 for URLs

Not here: what is sealed (compaction, hosted calls), or where the keys lie (`store.sealing_keys`).
"""

from base64 import b64decode, urlsafe_b64encode
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha256, sha512

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV

FORM = "antiphon-1"
SHORTEST_SECRET = 32
"""Characters that a key must have at least: shorter ones can be guessed."""


class Why(StrEnum):
    """Why an envelope does not open."""

    FOREIGN = "sealed by somebody else"
    UNKNOWN_KEY = "sealed with a key that is not here"
    DAMAGED = "damaged, or sealed for another purpose or owner"


class NotOpened(ValueError):
    """An envelope stays shut; `why` says which way."""

    def __init__(self, why: Why) -> None:
        super().__init__(why.value)
        self.why = why


@dataclass(frozen=True, slots=True)
class SealingKey:
    """A key out of any secret text; its id is safe to show."""

    id: str
    cipher: AESSIV = field(repr=False)

    @classmethod
    def of(cls, secret: str) -> "SealingKey":
        """Raises ValueError where the secret could be guessed."""
        if len(secret) < SHORTEST_SECRET:
            raise ValueError(f"a sealing key needs at least {SHORTEST_SECRET} characters")
        material = sha512(b"antiphon sealing key\0" + secret.encode()).digest()
        return cls(sha256(b"antiphon sealing key id\0" + material).hexdigest()[:12], AESSIV(material))


class Sealer:
    """Closes and opens envelopes. The first of its keys closes."""

    def __init__(self, keys: Sequence[SealingKey]) -> None:
        self._closing = keys[0]
        self._keys = {key.id: key for key in keys}

    def close(self, content: bytes, *, purpose: str, owner: str) -> str:
        """The envelope of some content."""
        sealed = self._closing.cipher.encrypt(content, _bound(purpose, owner))
        return f"{FORM}.{self._closing.id}.{urlsafe_b64encode(sealed).decode().rstrip('=')}"

    def open(self, envelope: str, *, purpose: str, owner: str) -> bytes:
        """The content of an envelope. Raises NotOpened."""
        form, _, rest = envelope.partition(".")
        key_id, _, spelled = rest.partition(".")
        if form != FORM:
            raise NotOpened(Why.FOREIGN)
        key = self._keys.get(key_id)
        if key is None:
            raise NotOpened(Why.UNKNOWN_KEY)
        try:
            sealed = b64decode(spelled + "=" * (-len(spelled) % 4), altchars=b"-_", validate=True)
            return key.cipher.decrypt(sealed, _bound(purpose, owner))
        except (ValueError, InvalidTag):
            raise NotOpened(Why.DAMAGED) from None


def _bound(purpose: str, owner: str) -> list[bytes]:
    """What is authenticated beside the content; each on its own, so that no pair of texts can stand for another."""
    return [b"purpose:" + purpose.encode(), b"owner:" + owner.encode()]
