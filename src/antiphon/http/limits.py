"""How many requests a key may make: in a minute, and at once. Counted in this process."""

import math
import time
from collections import deque
from collections.abc import Callable

from antiphon.loop.ports import Key
from antiphon.protocol.errors import TooMany

MINUTE = 60.0


class Slot:
    """One request of a key that is counted as under way until `free`."""

    def __init__(self, free: Callable[[], None]) -> None:
        self._free = free
        self._is_free = False
        self.outlives = False
        """Whether it is held for longer than its HTTP request: by a background response."""

    def free(self) -> None:
        """Counts it no more."""
        if not self._is_free:
            self._is_free = True
            self._free()


class Limits:
    """What all keys have under way and have asked in the last minute."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._asked: dict[str, deque[float]] = {}
        self._under_way: dict[str, int] = {}

    def admit(self, key: Key) -> Slot:
        """Counts a request. Raises TooMany where it is one too many, which then counts for nothing."""
        now, asked = self._clock(), self._asked.setdefault(key.id, deque())
        while asked and asked[0] <= now - MINUTE:
            asked.popleft()
        if key.at_once and self._under_way.get(key.id, 0) >= key.at_once:
            raise TooMany(f"This key may have {key.at_once} requests under way at once.", retry_after=1)
        if key.per_minute and len(asked) >= key.per_minute:
            wait = max(1, math.ceil(asked[0] + MINUTE - now))
            raise TooMany(f"This key may make {key.per_minute} requests a minute. Try again in {wait} s.", retry_after=wait)
        if key.per_minute:
            asked.append(now)
        self._under_way[key.id] = self._under_way.get(key.id, 0) + 1
        return Slot(lambda: self._end(key.id))

    def _end(self, id: str) -> None:
        self._under_way[id] -= 1
        if not self._under_way[id]:
            del self._under_way[id]
