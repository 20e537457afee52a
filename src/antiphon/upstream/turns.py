"""Whose turn it is, where requests must wait: threads take turns, and within a thread the first come is the first served. Pure.

So a thread that asks for much waits for itself and not the others for it: each waits for at most one request of every other thread before its own
next one. Requests that name no thread share one turn.
"""

from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Generic, TypeVar

Waiter = TypeVar("Waiter")


class Turns(Generic[Waiter]):
    """Those who wait, in a ring of threads."""

    def __init__(self) -> None:
        self._ring: OrderedDict[str, deque[Waiter]] = OrderedDict()
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, thread: str, waiter: Waiter) -> None:
        """Somebody begins to wait."""
        self._ring.setdefault(thread, deque()).append(waiter)
        self._count += 1

    def leave(self, thread: str, waiter: Waiter) -> None:
        """Somebody waits no longer; nothing where it was its turn already."""
        queue = self._ring.get(thread, ())
        if waiter in queue:
            self._take(thread, waiter)

    def next(self, fits: Callable[[Waiter], bool]) -> Waiter | None:
        """The next whose turn it is and whom this fits; its thread goes to the end of the ring."""
        for thread, queue in self._ring.items():
            for waiter in queue:
                if fits(waiter):
                    self._take(thread, waiter)
                    if thread in self._ring:
                        self._ring.move_to_end(thread)
                    return waiter
        return None

    def _take(self, thread: str, waiter: Waiter) -> None:
        self._ring[thread].remove(waiter)
        self._count -= 1
        if not self._ring[thread]:
            del self._ring[thread]
