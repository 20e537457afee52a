"""Which of equal upstreams is asked first. Pure.

One that answers before one that is down; one with room before a full one; then the one that a thread was answered by last, because it still has the
beginning of its prompt in its cache; then the one with the least to do. Where all that is equal a hash of the thread decides, and so the same way
in each worker.
"""

from collections import OrderedDict
from collections.abc import Iterable
from typing import NamedTuple
from zlib import crc32

MOST_KEPT = 10_000


class Standing(NamedTuple):
    """How an upstream stands. `limit`: the most requests it is sent at once; 0: any number."""

    name: str
    up: bool
    running: int
    limit: int

    @property
    def full(self) -> bool:
        """Whether another request would have to wait there."""
        return 0 < self.limit <= self.running


def ranked(standings: Iterable[Standing], thread: str, last: str | None) -> list[Standing]:
    """The upstreams, the one to ask first at the front. `last`: the one that answered this thread before."""

    def rank(place: tuple[int, Standing]) -> tuple[object, ...]:
        index, one = place
        return (not one.up, one.full, one.name != last, one.running, crc32(f"{thread} {one.name}".encode()) if thread else index)

    return [one for _, one in sorted(enumerate(standings), key=rank)]


class Kept:
    """Which upstream answered which thread last; of the many threads that there ever were, the latest."""

    def __init__(self, most: int = MOST_KEPT) -> None:
        self._most = most
        self._last: OrderedDict[str, str] = OrderedDict()

    def get(self, thread: str) -> str | None:
        """The upstream's name; None: it is not known."""
        return self._last.get(thread)

    def keep(self, thread: str, name: str) -> None:
        """That upstream answers the thread now."""
        if thread:
            self._last[thread] = name
            self._last.move_to_end(thread)
            if len(self._last) > self._most:
                self._last.popitem(last=False)
