"""Whether a server is worth asking, from what became of the requests to it. Pure: the time is an argument.

A failure makes it down for a while, which grows while it goes on failing; in the middle of that while it is asked whether it answers again. An
answer to that ends the pause; only an answered request ends the counting, so a server that lists its models and answers nothing else is left
alone for longer and longer. A server that is down is still asked where there is no other.
"""

from math import inf

SHORTEST = 1.0
LONGEST = 30.0
LONGEST_TOLD = 60.0
"""However long a `Retry-After` says: there may be nobody else."""


class Health:
    """What is known of one server."""

    def __init__(self) -> None:
        self._failures = 0
        self._until = -inf
        self.ask_at = inf
        """When to ask it whether it answers again; never while nothing is wrong, or while it said itself how long it takes."""
        self.why = ""

    def is_up(self, now: float) -> bool:
        """Whether it is worth asking before others."""
        return now >= self._until

    def failed(self, now: float, why: str, *, told: float | None = None) -> bool:
        """A request failed; whether that is news. `told`: for how long, by its own word. Requests that fail together count once."""
        if not self.is_up(now):
            return False
        self._pause(now, why, told)
        return True

    def unanswered(self, now: float, why: str) -> None:
        """It was asked, and does not answer yet."""
        self._pause(now, why, None)

    def answers(self) -> bool:
        """It was asked, and answers; whether that is news."""
        was_down = self._until > -inf
        self._until, self.ask_at, self.why = -inf, inf, ""
        return was_down

    def succeeded(self) -> bool:
        """A request was answered; whether that is news."""
        self._failures = 0
        return self.answers()

    def _pause(self, now: float, why: str, told: float | None) -> None:
        self._failures += 1
        pause = min(LONGEST, SHORTEST * 2 ** min(self._failures - 1, 10)) if told is None else min(told, LONGEST_TOLD)
        self._until, self.why = now + pause, why
        self.ask_at = now + pause / 2 if told is None else inf
