"""The keys that seal envelopes: from the environment, or made once in the data folder, for its owner alone.

Every process that is to open the same envelopes needs the same keys: the file, or the variable. The first key seals, the others only open; to
rotate, put a new one before them.
"""

import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from antiphon.history.sealed import Sealer, SealingKey

FILE = "sealing.keys"


class BadSealingKeys(ValueError):
    """Keys that cannot be used; the message says where they are."""


def load(folder: Path, *, variable: str = "", environ: Mapping[str, str] = os.environ) -> Sealer:
    """The sealer with the keys of the variable, or else with those of the folder, which are made when they are not there."""
    if variable:
        return _sealer(environ.get(variable, ""), variable)
    path = folder / FILE
    if not path.exists():
        _make(path)
    return _sealer(path.read_text("utf-8"), str(path))


def rotate(folder: Path) -> str:
    """Puts a new key before the others; its id."""
    path = folder / FILE
    before = path.read_text("utf-8") if path.exists() else ""
    secret = secrets.token_urlsafe(48)
    temporary = _written(path, f"{secret}\n{before}")
    temporary.replace(path)
    return SealingKey.of(secret).id


def _sealer(text: str, where: str) -> Sealer:
    try:
        keys = [SealingKey.of(secret) for secret in text.split()]
    except ValueError as bad:
        raise BadSealingKeys(f"{where}: {bad}") from None
    if not keys:
        raise BadSealingKeys(f"{where} holds no sealing key")
    return Sealer(keys)


def _make(path: Path) -> None:
    """A first key, whole from the moment it can be seen; whoever comes second takes the other's."""
    temporary = _written(path, f"{secrets.token_urlsafe(48)}\n")
    with suppress(FileExistsError):
        path.hardlink_to(temporary)
    temporary.unlink()


def _written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    return temporary
