"""Keeps what nobody had a name for, so that it can be looked at later: its shape always, its body only where `capture` is on.

One JSON object a line, each kind of thing once per client; the file never grows beyond a limit. `antiphon unknown` lists it.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

from antiphon.protocol import json, shapes
from antiphon.translation.unknowns import Unknown

LIMIT = 4 * 1024 * 1024
NAMED = 200
"""How much of a name is kept."""


class Journal:
    """The file, and what is known to stand there."""

    def __init__(self, path: Path, *, capture: bool) -> None:
        self._path = path
        self._capture = capture

    @cached_property
    def _seen(self) -> set[tuple[Any, ...]]:
        """What was written, by any process before."""
        try:
            return {tuple(entry.get(name) for name in ("what", "type", "client")) for entry in self.entries()}
        except OSError:  # what cannot be read is written again, or not at all
            return set()

    def add(self, found: Iterable[Unknown], *, client: str, now: int) -> None:
        """Writes what is new."""
        for one in found:
            key = (one.what, one.type[:NAMED], client[:NAMED])
            if key not in self._seen and len(self._seen) < LIMIT:
                self._seen.add(key)
                self._write(one, client, now)

    def entries(self) -> Iterator[dict[str, Any]]:
        """What was ever written, oldest first; a line that was cut is passed over."""
        for line in self._path.read_bytes().splitlines() if self._path.exists() else ():
            with suppress(ValueError):
                yield json.an_object(json.value(line))

    def _write(self, one: Unknown, client: str, now: int) -> None:
        value = json.value(one.raw)
        entry: dict[str, Any] = {"at": now, "what": one.what, "type": one.type[:NAMED], "client": client[:NAMED]}
        entry["shape"] = shapes.shape(value)
        if self._capture:
            entry["body"] = value  # not its own spelling, which may have line ends in it
        line = json.encode(entry) + b"\n"
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            if not self._path.exists() or self._path.stat().st_size + len(line) <= LIMIT:
                with os.fdopen(_opened_for_the_owner(self._path), "ab") as file:
                    file.write(line)
        except OSError:  # a full or read-only disk is no reason to fail a request; the log line says the same
            return


def _opened_for_the_owner(path: Path) -> int:
    """What clients send is for nobody else to read."""
    return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)


def path(folder: Path) -> Path:
    """Where the journal lies in the data folder."""
    return folder / "unknown.jsonl"
