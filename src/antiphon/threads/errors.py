"""What can be wrong with a thread as a whole. What is wrong with a line of one is a Note, and the rest of the thread is read.

ThreadError
├── NotFound      no thread of that name, id or path
├── Ambiguous     several threads are meant
├── Unreadable    it is there, and nothing can be made of it
├── Busy          somebody else writes to it
└── Refused       what was asked of it cannot be done; the message names the parameter
"""

from pathlib import Path


class ThreadError(Exception):
    """Anything that keeps a thread from being read or written."""


class NotFound(ThreadError):
    """No thread of that name, id or path."""


class Ambiguous(ThreadError):
    """Several threads are meant."""


class Unreadable(ThreadError):
    """A file of which nothing can be made."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(f"{path}: {why}")
        self.path = path
        self.why = why


class Busy(ThreadError):
    """Somebody else writes to the thread."""


class Refused(ThreadError):
    """What was asked cannot be done; `param` names what asked for it."""

    def __init__(self, message: str, *, param: str | None = None) -> None:
        super().__init__(message)
        self.param = param
