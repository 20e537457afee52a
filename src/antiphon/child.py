"""A child process that says one line when it is ready, and that never outlives us.

Two pipes: on its stdout the child says what we wait for, and the end of its stdin means that we are gone. A pipe ends with its process on
every platform, however that process died. Below nothing; above: `local_model` and `cli`. Not here: what the line means.
"""

import contextlib
import os
import queue
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Self

STOPS_WITHIN = 10.0


class NotReady(Exception):
    """The child ended, or took too long, before it said the line; the message is for the user."""


@dataclass(slots=True)
class Child:
    """A running child; close it, or leave its context, to stop it."""

    process: "subprocess.Popen[bytes]"
    log: Path
    """All it says, but for the one line."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def line(self, wanted: "re.Pattern[bytes]", *, within: float) -> "re.Match[bytes]":
        """The first line that fits, waited for so many seconds."""
        assert self.process.stdout is not None
        said: queue.SimpleQueue[re.Match[bytes] | None] = queue.SimpleQueue()
        # A thread, because no select works on a pipe everywhere. It reads on, so that the child never waits for us.
        threading.Thread(target=_read, args=(self.process.stdout, wanted, said), daemon=True).start()
        try:
            found = said.get(timeout=within)
        except queue.Empty:
            raise NotReady(f"was not ready within {within:.0f} s (log: {self.log})") from None
        if found is None:
            raise NotReady(f"ended: {self.last_words()} (log: {self.log})")
        return found

    def last_words(self) -> str:
        """The end of its log."""
        return self.log.read_text("utf-8", "replace").strip()[-800:] or "without a word"

    def close(self) -> None:
        """Stops it by the end of its stdin, and by force where that does not."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        try:
            self.process.wait(STOPS_WITHIN)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()


def start(arguments: Sequence[str], log: Path, environment: Mapping[str, str] = os.environ) -> Child:
    """Runs `python -m …` with this interpreter."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as errors:
        # A session of its own: Ctrl-C is for us, and what becomes of the child is for us to say.
        process = subprocess.Popen(
            [sys.executable, "-m", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=environment,
            start_new_session=True,
        )
    return Child(process, log)


def when_parent_ends(act: Callable[[], None]) -> None:
    """In the child: calls that, on a thread of its own, once the parent has closed our stdin or is gone."""

    stdin = sys.stdin.fileno()

    def wait() -> None:
        while os.read(stdin, 4096):  # past Python's buffer, whose lock the interpreter wants when it ends
            pass
        act()

    threading.Thread(target=wait, daemon=True).start()


def _read(pipe: IO[bytes], wanted: "re.Pattern[bytes]", said: "queue.SimpleQueue[re.Match[bytes] | None]") -> None:
    for line in pipe:
        if found := wanted.match(line):
            said.put(found)
    said.put(None)
