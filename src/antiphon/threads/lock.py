"""One writer at a time: the lock that Codex itself takes, a file in `thread-writer-locks` of the home, and one on the thread's own file.

Held by the system for the process, so that it ends with it. Where the system has no such locks (Windows), a writer still notices that somebody
else has written (`writer`). Not here: what is written.
"""

import os
from pathlib import Path
from typing import Final

from antiphon.threads.errors import Busy
from antiphon.threads.folder import ARCHIVED, SESSIONS

try:
    import fcntl
except ImportError:  # pragma: no cover (Windows)
    fcntl = None

LOCKS: Final = "thread-writer-locks"


class Lock:
    """Taken when it is made, given back by `release`."""

    def __init__(self, path: Path, thread_id: str) -> None:
        self._held: list[int] = []
        for place in (_of_home(path, thread_id), path):
            if place is not None and fcntl is not None:
                self._take(place, thread_id)

    def release(self) -> None:
        """Lets others write."""
        while self._held:
            os.close(self._held.pop())

    def _take(self, place: Path, thread_id: str) -> None:
        assert fcntl is not None
        place.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(place, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(file)
            self.release()
            raise Busy(f"thread {thread_id} already has an active writer") from None
        self._held.append(file)


def _of_home(path: Path, thread_id: str) -> Path | None:
    for above in path.parents:
        if above.name in (SESSIONS, ARCHIVED):
            return above.parent / LOCKS / f"{thread_id}.lock"
    return None
