"""Where requests wait for a place at one of equal upstreams, and are given one by turns.

A place that becomes free is given to somebody who waits, there and then: a place is only ever free when nobody waits for it. Not here: whose turn it
is (`turns`), which upstream is the best (`choice`).
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Set
from dataclasses import dataclass, field

from antiphon.protocol import failures
from antiphon.protocol.errors import UpstreamError
from antiphon.upstream.choice import Kept, Standing, ranked
from antiphon.upstream.turns import Turns

RETRY_SECONDS = 10
"""When to come again, for who found the line full."""


@dataclass(eq=False, slots=True)
class Waiter:
    """A request that waits, and the upstreams that may have it."""

    thread: str
    names: Set[str]
    given: asyncio.Future[str] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


class Line:
    """The line before equal upstreams. `standing` tells how one stands, but for what is running; `longest`: how many may wait."""

    def __init__(self, names: list[str], standing: Callable[[str, int], Standing], *, longest: int) -> None:
        self._names = names
        self._standing = standing
        self._longest = longest
        self._running: Counter[str] = Counter()
        self._waiting: Turns[Waiter] = Turns()
        self._kept = Kept()

    def running(self, name: str) -> int:
        """How many requests an upstream is busy with."""
        return self._running[name]

    @property
    def waiting(self) -> int:
        """How many requests wait."""
        return len(self._waiting)

    async def take(self, thread: str, names: Set[str]) -> str:
        """A place at one of these upstreams, which is to be given back by `leave`; waits for it where there is none."""
        for one in ranked(self._standings(names), thread, self._kept.get(thread)):
            if self._may(one.name, names):
                return self._give(one.name, thread)
        if len(self._waiting) >= self._longest:
            raise UpstreamError(failures.too_many_waiting(f"{len(self._waiting)} requests wait for this model already", RETRY_SECONDS))
        return await self._wait(Waiter(thread, names))

    async def _wait(self, waiter: Waiter) -> str:
        self._waiting.add(waiter.thread, waiter)
        try:
            return await waiter.given
        except asyncio.CancelledError:
            self._waiting.leave(waiter.thread, waiter)
            if waiter.given.done() and not waiter.given.cancelled():  # it was its turn at the very moment it left
                self.leave(waiter.given.result())
            raise

    def leave(self, name: str) -> None:
        """The place is free again."""
        self._running[name] -= 1
        self.settle()

    def settle(self) -> None:
        """Gives places that are free to those who wait for one. To be called when an upstream's health has changed."""
        for name in self._names if len(self._waiting) else ():
            while not self._standing(name, self._running[name]).full and (waiter := self._next(name)) is not None:
                waiter.given.set_result(self._give(name, waiter.thread))

    def _next(self, name: str) -> Waiter | None:
        return self._waiting.next(lambda one: not one.given.done() and name in one.names and self._may(name, one.names))

    def _give(self, name: str, thread: str) -> str:
        self._running[name] += 1
        if len(self._names) > 1:
            self._kept.keep(thread, name)
        return name

    def _may(self, name: str, names: Set[str]) -> bool:
        """Whether there is a place at an upstream for a request that may go to `names`: one that is down is asked only where all are."""
        one = self._standing(name, self._running[name])
        return not one.full and (one.up or not any(other.up for other in self._standings(names)))

    def _standings(self, names: Set[str]) -> list[Standing]:
        return [self._standing(name, self._running[name]) for name in self._names if name in names]
